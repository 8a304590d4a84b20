import { GENESIS_HASH, ledgerHashOf, type Commission } from './commission-entry.ts';

/** What came of checking a chain of commissions. */
export interface ChainCheck {
  readonly intact: boolean;
  readonly length: number;
  readonly firstBrokenSequence: number | null;
}

/** A place in the chain of an agent: that of its head, or of what somebody has seen of it. */
export interface ChainPlace {
  readonly sequence: number;
  readonly hash: string;
}

/** Checks the entries of a chain one by one, from the first on, in constant memory. */
export class CommissionChainChecker {
  readonly #witness: ChainPlace | null;
  #last: ChainPlace = { sequence: 0, hash: GENESIS_HASH };
  #brokenAt: number | null = null;

  /** @param witness an entry that somebody outside of the ledger has seen; null where nobody has seen any */
  constructor(witness: ChainPlace | null) {
    this.#witness = witness;
  }

  get isBroken(): boolean {
    return this.#brokenAt !== null;
  }

  /** Takes the next entry. */
  take(entry: Commission): void {
    if (this.#brokenAt !== null) return;
    const { sequence, previousHash, ledgerHash } = entry;
    const isNext = sequence === this.#last.sequence + 1 && previousHash === this.#last.hash;
    const isSeen = sequence !== this.#witness?.sequence || ledgerHash === this.#witness.hash;
    if (isNext && isSeen && ledgerHashOf(entry) === ledgerHash) this.#last = { sequence, hash: ledgerHash };
    else this.#brokenAt = this.#last.sequence + 1;
  }

  /** @param head where the chain says that it ends; null where it says that there is none */
  finish(head: ChainPlace | null): ChainCheck {
    const length = Math.max(head?.sequence ?? 0, this.#witness?.sequence ?? 0, this.#last.sequence);
    const isHeadRight =
      this.#last.sequence === (head?.sequence ?? 0) && this.#last.hash === (head?.hash ?? GENESIS_HASH);
    if (this.#last.sequence < length || !isHeadRight)
      this.#brokenAt ??= Math.min(this.#last.sequence + 1, Math.max(length, 1));
    return { intact: this.#brokenAt === null, length, firstBrokenSequence: this.#brokenAt };
  }
}
