import { z } from 'zod';
import type { BREAK_REASONS } from '../../schema/value-lists.ts';
import { chainName, entryHash, type ChainedEntry, type ChainHead } from './audit-entry.ts';

/** Why a chain does not hold by itself; heads that are missing are found beside it. */
export type BreakReason = (typeof BREAK_REASONS)[number];

/** What came of checking a range of a chain. */
export interface ChainCheck {
  readonly intact: boolean;
  /** Entries found right, up to the first that is not. */
  readonly entriesVerified: number;
  readonly firstBrokenSequence: number | null;
  readonly reason: BreakReason | null;
  /** Signed heads that the entries agree with. */
  readonly headsMatched: number;
}

const linkSchema = z.object({ chain_id: z.string(), sequence: z.int(), previous_hash: z.string() });

/** Checks entries one by one, in constant memory. */
export class ChainChecker {
  readonly #chainName: string;
  readonly #heads: readonly ChainHead[];
  #last: ChainHead;
  #nextHead = 0;
  #verified = 0;
  #matched = 0;
  #broken: { readonly sequence: number; readonly reason: BreakReason } | null = null;

  /**
   * @param chain UUID of the tenant
   * @param after what the first entry has to be linked to
   * @param heads that were signed, in the order of their sequence
   */
  constructor(chain: string, after: ChainHead, heads: readonly ChainHead[]) {
    this.#chainName = chainName(chain);
    this.#heads = heads.filter((head) => head.sequence >= after.sequence && head.sequence > 0);
    this.#last = after;
    this.#compareHeads(after);
  }

  /** Takes the next entry; false from the first broken one on. */
  take(link: ChainedEntry): boolean {
    if (this.#broken !== null) return false;
    const expected = this.#last.sequence + 1;
    if (link.sequence > expected) return this.#break(expected, 'missing');
    if (link.sequence !== expected || !this.#isSound(link)) return this.#break(expected, 'altered');
    this.#compareHeads(link);
    if (this.#broken !== null) return false;
    this.#last = { sequence: link.sequence, hash: link.hash };
    this.#verified += 1;
    return true;
  }

  /** @param end the last entry that has to be there */
  finish(end: number): ChainCheck {
    if (this.#broken === null && this.#last.sequence < end) this.#break(this.#last.sequence + 1, 'missing');
    const { sequence = null, reason = null } = this.#broken ?? {};
    return {
      intact: reason === null,
      entriesVerified: this.#verified,
      firstBrokenSequence: sequence,
      reason,
      headsMatched: this.#matched,
    };
  }

  #isSound({ entry, hash, sequence }: ChainedEntry): boolean {
    const link = linkOf(entry);
    return (
      link?.chain_id === this.#chainName &&
      link.sequence === sequence &&
      link.previous_hash === this.#last.hash &&
      entryHash(this.#last.hash, entry) === hash
    );
  }

  /** Heads of one sequence may be there twice: a signer that was killed signs again. */
  #compareHeads({ sequence, hash }: ChainHead): void {
    for (
      let head = this.#heads[this.#nextHead];
      head !== undefined && head.sequence <= sequence;
      head = this.#heads[this.#nextHead]
    ) {
      this.#nextHead += 1;
      if (head.hash === hash) this.#matched += 1;
      else return void this.#break(sequence, 'head_mismatch');
    }
  }

  #break(sequence: number, reason: BreakReason): false {
    this.#broken = { sequence, reason };
    return false;
  }
}

/** What an entry says of its place; null for what is not an entry. */
function linkOf(entry: string): z.output<typeof linkSchema> | null {
  try {
    return linkSchema.safeParse(JSON.parse(entry)).data ?? null;
  } catch {
    return null;
  }
}
