import type { RequestContext } from '../../schema/principal.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { ProblemError } from '../../schema/problems.ts';
import { CrowdedTurnsError, FairTurns } from '../../platform/fair-turns.ts';
import { PacedTurns } from '../../platform/paced-turns.ts';
import type { AuditArchive } from './audit-archive.ts';
import { ChainChecker, type ChainCheck } from './audit-chain.ts';
import { entryHash, GENESIS, parseEntry, type AuditEntry, type ChainedEntry, type ChainHead } from './audit-entry.ts';
import { auditActor, recordAuditEvent } from './audit-event.ts';
import type { AuditHeadsFile, FindHeadKey } from './audit-heads.ts';
import { INSTALLATION_CHAIN } from './audit-migration.ts';
import type { AuditSealer } from './audit-sealer.ts';
import { AuditStore, type AuditFilter, type ChainExtent } from './audit-store.ts';

/** A few milliseconds' work. */
const ENTRIES_A_PIECE = 100;

/** An entry as it is served: what is hashed, and the hash. */
export type ServedEntry = AuditEntry & { readonly hash: string };

export interface AuditPage {
  readonly entries: readonly ServedEntry[];
  readonly totalCount: number;
  /** Whether every entry of the page has its hash and is linked to its neighbours, the newest of all to the head. */
  readonly chainVerified: boolean;
}

/** What came of checking a chain against the signed heads. */
export interface ChainVerification extends Omit<ChainCheck, 'reason'> {
  readonly reason: ChainCheck['reason'] | 'heads_missing';
  /** Last entry that a signed head vouches for; null where none was signed yet. */
  readonly signedThrough: number | null;
}

export interface AuditLogServices {
  readonly database: Database;
  readonly sealer: AuditSealer;
  readonly archive: AuditArchive;
  readonly heads: AuditHeadsFile;
  /** Every key that ever signed here; those revoked since included, or a revocation would hide what they witnessed. */
  readonly findKey: FindHeadKey;
}

/** The sealed log of every tenant, as it is read and checked. Whatever waits is sealed first. */
export class AuditLog {
  readonly #services: AuditLogServices;
  readonly #verifications = new FairTurns({ places: 2, perTenant: 1, waitingPerTenant: 3 });
  /** Of the thread that answers everybody. */
  readonly #pieces = new PacedTurns();

  constructor(services: AuditLogServices) {
    this.#services = services;
  }

  /** Entries of a tenant that match, the newest first. */
  async list(chain: string, filter: AuditFilter, limit: number, offset: number): Promise<AuditPage> {
    await this.#services.sealer.seal(chain);
    const store = this.#store(chain);
    const [extent, inDatabase] = [await store.extent(), await store.count(filter)];
    const links = await store.select(filter, limit, offset);
    const archived = await this.#archived(extent, filter, limit - links.length, Math.max(0, offset - inDatabase));
    const all = [...links, ...archived.links];
    return {
      entries: all.flatMap(served),
      totalCount: inDatabase + archived.count,
      chainVerified: await this.#isSound(chain, extent, all),
    };
  }

  /** How many entries match, archived ones included. */
  async count(chain: string, filter: AuditFilter): Promise<number> {
    return (await this.list(chain, filter, 0, 0)).totalCount;
  }

  /**
   * Re-hashes a range of the chain and compares it with the heads that were signed. A chain that does not hold is told
   * as a critical event, which joins the chain behind the break.
   * @param end the last entry when absent; one behind the last is the last
   * @throws ProblemError `validation_error` when the range is empty, `rate_limit_exceeded` (`concurrency`) when several
   * of the chain wait already
   */
  async verify(
    context: RequestContext,
    chain: string,
    start: number,
    end: number | undefined,
  ): Promise<ChainVerification> {
    const over = await this.#verificationOf(chain);
    try {
      return await this.#verified(context, chain, start, end);
    } finally {
      over();
    }
  }

  /** One of a chain at a time: each reads all of it. */
  async #verificationOf(chain: string): Promise<() => void> {
    try {
      return await this.#verifications.take(chain);
    } catch (error) {
      if (!(error instanceof CrowdedTurnsError)) throw error;
      throw new ProblemError(
        'rate_limit_exceeded',
        'Several verifications of your audit log wait for one that is under way. Ask again when it is over.',
        { code: 'concurrency', retryAfterS: 2 },
      );
    }
  }

  async #verified(
    context: RequestContext,
    chain: string,
    start: number,
    end: number | undefined,
  ): Promise<ChainVerification> {
    await this.#services.sealer.seal(chain);
    const store = this.#store(chain);
    // The database first: a head is in the file before the database knows of it.
    const extent = await store.extent();
    const { heads, unproven } = await this.#services.heads.headsOf(chain, this.#services.findKey);
    const lastHead = heads.at(-1)?.sequence ?? 0;
    const length = Math.max(extent.head.sequence, lastHead);
    const last = Math.min(end ?? length, length);
    if (start > Math.max(last, 1))
      throw new ProblemError(
        'validation_error',
        `start_sequence: must not be after ` +
          `${end === undefined || end > length ? `the last entry, ${length}` : 'end_sequence'}`,
        { code: 'invalid_range', param: '/start_sequence' },
      );
    const check = await checkRange(
      store,
      extent,
      chain,
      Math.max(start, extent.floor.sequence + 1),
      last,
      heads,
      this.#pieces,
    );
    const result: ChainVerification = {
      ...witnessed(check, extent, lastHead, unproven),
      signedThrough: lastHead === 0 ? null : lastHead,
    };
    if (!result.intact) await this.#tellFailure(context, chain, result);
    return result;
  }

  #store(chain: string): AuditStore {
    return new AuditStore(this.#services.database, this.#services.archive, chain);
  }

  /** Matching entries of the archive, the newest first, after skipping so many; a segment in memory at a time. */
  async #archived(
    { segments }: ChainExtent,
    filter: AuditFilter,
    limit: number,
    skip: number,
  ): Promise<{ readonly links: readonly ChainedEntry[]; readonly count: number }> {
    const links: ChainedEntry[] = [];
    let count = 0;
    for (const segment of segments.toReversed()) {
      const isOutside =
        (filter.since !== undefined && segment.lastOccurredAt < filter.since) ||
        (filter.beforeSequence !== undefined && segment.firstSequence >= filter.beforeSequence);
      const isWhole = Object.values(filter).every((value) => value === undefined);
      const length = segment.lastSequence - segment.firstSequence + 1;
      if (isOutside) continue;
      if (isWhole && (links.length === limit || count + length <= skip)) {
        count += length;
        continue;
      }
      const matching: ChainedEntry[] = [];
      for await (const link of this.#services.archive.read(segment.fileName))
        if (matches(link, filter)) matching.push(link);
      matching.reverse();
      links.push(...matching.slice(Math.max(0, skip - count), Math.max(0, skip - count) + limit - links.length));
      count += matching.length;
    }
    return { links, count };
  }

  /** Whether each of these entries has its hash, is what its successor is linked to, and follows its predecessor. */
  async #isSound(
    chain: string,
    { head, floor, segments }: ChainExtent,
    links: readonly ChainedEntry[],
  ): Promise<boolean> {
    const known = new Map<number, string>([
      [0, GENESIS.hash],
      [floor.sequence, floor.hash],
      ...segments.map(({ lastSequence, lastHash }) => [lastSequence, lastHash] as const),
    ]);
    for (const { sequence, hash } of links) known.set(sequence, hash);
    const neighbours = [...new Set(links.flatMap(({ sequence }) => [sequence - 1, sequence + 1]))].filter(
      (sequence) => !known.has(sequence),
    );
    const rows = neighbours.length === 0 ? [] : await this.#store(chain).rowsAt(neighbours);
    for (const { sequence, hash } of rows) known.set(sequence, hash);
    const isLinked = (link: ChainedEntry): boolean => {
      const [entry] = served(link);
      // The predecessor of an archived entry that is not on this page is in the same file; verifying reads it.
      const previous =
        known.get(link.sequence - 1) ??
        (segments.some(
          ({ firstSequence, lastSequence }) => firstSequence < link.sequence && link.sequence <= lastSequence,
        )
          ? entry?.previous_hash
          : undefined);
      return (
        entry !== undefined &&
        entry.sequence === link.sequence &&
        entry.previous_hash === previous &&
        entryHash(entry.previous_hash, link.entry) === link.hash
      );
    };
    const successors = rows.filter(({ sequence }) => links.some((link) => link.sequence === sequence - 1));
    const isWhole = links.every(({ sequence, hash }) =>
      sequence === head.sequence ? hash === head.hash : sequence < head.sequence,
    );
    return isWhole && links.every(isLinked) && successors.every(isLinked);
  }

  #tellFailure(
    context: RequestContext,
    chain: string,
    { firstBrokenSequence, reason, entriesVerified }: ChainVerification,
  ): Promise<void> {
    return this.#services.database.asNobody(
      (em) =>
        recordAuditEvent(em, context, {
          accountId: chain === INSTALLATION_CHAIN ? null : chain,
          type: 'audit.verification_failed',
          actor: auditActor(context.principal),
          target: null,
          outcome: 'failure',
          environment: context.principal?.environment ?? 'live',
          details: { first_broken_sequence: firstBrokenSequence, reason, entries_verified: entriesVerified },
        }),
      { turnOf: chain },
    );
  }
}

async function checkRange(
  store: AuditStore,
  { floor }: ChainExtent,
  chain: string,
  start: number,
  last: number,
  heads: readonly ChainHead[],
  pieces: PacedTurns,
): Promise<ChainCheck> {
  let after = start === floor.sequence + 1 ? floor : undefined;
  if (after === undefined)
    for await (const { sequence, hash } of store.entries(start - 1, start - 1)) after = { sequence, hash };
  if (after?.sequence !== start - 1)
    return { intact: false, entriesVerified: 0, firstBrokenSequence: start - 1, reason: 'missing', headsMatched: 0 };
  const checker = new ChainChecker(
    chain,
    after,
    heads.filter(({ sequence }) => sequence <= last),
  );
  let over = await pieces.take(chain);
  let taken = 0;
  try {
    for await (const entry of store.entries(start, last)) {
      if (!checker.take(entry)) break;
      taken += 1;
      if (taken % ENTRIES_A_PIECE !== 0) continue;
      over();
      over = await pieces.take(chain);
    }
  } finally {
    over();
  }
  return checker.finish(last);
}

/** The check, and whether the file of heads is what it should be. */
function witnessed(
  check: ChainCheck,
  { signedSequence }: ChainExtent,
  lastHead: number,
  unproven: number,
): Omit<ChainVerification, 'signedThrough'> {
  if (!check.intact) return check;
  if (unproven > 0) return { ...check, intact: false, reason: 'head_unproven' };
  return signedSequence > lastHead
    ? { ...check, intact: false, firstBrokenSequence: lastHead + 1, reason: 'heads_missing' }
    : check;
}

/** An entry that was tampered with beyond recognition is not served. */
function served({ entry, hash }: ChainedEntry): ServedEntry[] {
  const parsed = parseEntry(entry);
  return parsed === null ? [] : [{ ...parsed, hash }];
}

function matches(
  link: ChainedEntry,
  { eventType, severity, since, actorId, beforeSequence, environment }: AuditFilter,
): boolean {
  const [entry] = served(link);
  if (entry === undefined) return false;
  return (
    (eventType === undefined || entry.event_type === eventType) &&
    (severity === undefined || entry.severity === severity) &&
    (since === undefined || entry.occurred_at >= since.toISOString()) &&
    (actorId === undefined || entry.actor.id === actorId) &&
    (beforeSequence === undefined || entry.sequence < beforeSequence) &&
    (environment === undefined || entry.environment === environment)
  );
}
