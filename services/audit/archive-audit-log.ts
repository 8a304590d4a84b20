import type { Client } from 'pg';
import type { AuditArchive } from './audit-archive.ts';
import { ChainChecker } from './audit-chain.ts';
import { GENESIS, type ChainedEntry, type ChainHead } from './audit-entry.ts';

/** Entries leave the database at this age. */
export const ARCHIVE_AFTER_DAYS = 90;
/** A file is read whole when a page of it is asked for. */
const SEGMENT_ENTRIES = 10_000;
const BATCH = 1_000;

export interface ArchivedSegment {
  readonly chain: string;
  readonly fileName: string;
  readonly entries: number;
}

/** A chain that does not hold is not archived: it would look sound from then on. */
export class BrokenChainError extends Error {
  override readonly name = 'BrokenChainError';
  readonly code = 'chain_broken';
}

interface Remainder {
  readonly chain: string;
  /** Last entry that was archived before. */
  readonly after: ChainHead;
  /** Last entry that is old enough, and older than the head that was signed last. */
  readonly last: number;
}

/**
 * Moves entries that are old enough into files of the archive, segment by segment. A segment is in its file, on disk,
 * before it leaves the database; a run that is cut off is taken up by the next.
 * @param owner connection of the role that owns the schemas: no other may take entries out of the log
 * @throws BrokenChainError
 */
export async function* archiveAuditLog(
  owner: Client,
  archive: AuditArchive,
  afterDays: number = ARCHIVE_AFTER_DAYS,
): AsyncGenerator<ArchivedSegment> {
  for (const remainder of await remainders(owner, afterDays)) {
    let { after } = remainder;
    while (after.sequence < remainder.last) {
      const first = after.sequence + 1;
      const last = Math.min(remainder.last, after.sequence + SEGMENT_ENTRIES);
      const checker = new ChainChecker(remainder.chain, after, []);
      const fileName = await archive.write(
        remainder.chain,
        first,
        last,
        checked(checker, entriesOf(owner, remainder.chain, first, last), (link) => (after = link)),
      );
      const { intact, firstBrokenSequence } = checker.finish(last);
      if (!intact)
        throw new BrokenChainError(
          `The chain ${remainder.chain} is broken at ${firstBrokenSequence}: nothing of it is archived from ${first} ` +
            `on. Verify it: POST /v1/audit/verify.`,
        );
      await owner.query('select events.archive_audit_entries($1, $2, $3, $4, $5)', [
        remainder.chain,
        first,
        last,
        after.hash,
        fileName,
      ]);
      yield { chain: remainder.chain, fileName, entries: last - first + 1 };
    }
  }
}

async function remainders(owner: Client, afterDays: number): Promise<Remainder[]> {
  const { rows } = await owner.query<{ chain: string; after: string | null; hash: string | null; last: string }>(
    `select c.account_id as chain, s.last_sequence as after, s.last_hash as hash,
            least(c.signed_sequence, coalesce(young.sequence, c.sequence + 1)) - 1 as last
     from events.audit_chains c
     left join lateral (select last_sequence, last_hash from events.audit_segments
       where account_id = c.account_id order by last_sequence desc limit 1) s on true
     left join lateral (select min(sequence) as sequence from events.audit_entries
       where account_id = c.account_id
         and (entry::jsonb ->> 'occurred_at')::timestamptz >= now() - make_interval(days => $1)) young on true
     order by 1`,
    [afterDays],
  );
  return rows.map(({ chain, after, hash, last }) => ({
    chain,
    after: after === null || hash === null ? GENESIS : { sequence: Number(after), hash },
    last: Number(last),
  }));
}

async function* entriesOf(owner: Client, chain: string, first: number, last: number): AsyncGenerator<ChainedEntry> {
  for (let next = first; next <= last; next += BATCH) {
    const { rows } = await owner.query<{ sequence: string; entry: string; hash: string }>(
      'select sequence, entry, hash from events.audit_entries where account_id = $1 and sequence between $2 and $3 ' +
        'order by sequence',
      [chain, next, Math.min(last, next + BATCH - 1)],
    );
    for (const row of rows) yield { ...row, sequence: Number(row.sequence) };
  }
}

async function* checked(
  checker: ChainChecker,
  entries: AsyncIterable<ChainedEntry>,
  taken: (link: ChainedEntry) => void,
): AsyncGenerator<ChainedEntry> {
  for await (const link of entries) {
    if (!checker.take(link)) return;
    taken(link);
    yield link;
  }
}
