import type { Environment } from '../../schema/principal.ts';
import type { Database, SqlEntityManager } from '../../platform/postgres/database.ts';
import type { AuditArchive, AuditSegment } from './audit-archive.ts';
import { GENESIS, type ChainedEntry, type ChainHead } from './audit-entry.ts';

const BATCH = 1_000;

/** What narrows a list of entries. What is left out does not narrow. */
export interface AuditFilter {
  readonly eventType?: string | undefined;
  readonly severity?: string | undefined;
  /** Inclusive. */
  readonly since?: Date | undefined;
  readonly actorId?: string | undefined;
  /** Exclusive. */
  readonly beforeSequence?: number | undefined;
  readonly environment?: Environment | undefined;
}

/** How long a chain is, and what is left of it here. */
export interface ChainExtent {
  /** By the chain's own record. */
  readonly head: ChainHead;
  /** Of the last head that was signed; 0 for none. */
  readonly signedSequence: number;
  /** Where what is still served begins: the last entry that only the archive of more than two years ago knows. */
  readonly floor: ChainHead;
  /** Segments behind the floor, the oldest first. */
  readonly segments: readonly AuditSegment[];
}

interface EntryRow {
  sequence: string;
  entry: string;
  hash: string;
}

/** The entries of one chain, wherever they are: rows of the database, and behind them files of the archive. */
export class AuditStore {
  readonly #database: Database;
  readonly #archive: AuditArchive;
  readonly #chain: string;

  /** @param chain UUID of the tenant */
  constructor(database: Database, archive: AuditArchive, chain: string) {
    this.#database = database;
    this.#archive = archive;
    this.#chain = chain;
  }

  extent(): Promise<ChainExtent> {
    return this.#read(async (em) => {
      const [chain] = await em.execute<{ signed: string }[]>(
        `select signed_sequence as signed from events.audit_chains where account_id = ?`,
        [this.#chain],
      );
      const [head] = await em.execute<{ sequence: string; hash: string }[]>(
        `select * from events.audit_head(?::uuid)`,
        [this.#chain],
      );
      const rows = await em.execute<
        { first: string; last: string; hash: string; at: string; name: string; purged: boolean }[]
      >(
        `select first_sequence as first, last_sequence as last, last_hash as hash,
          to_jsonb(last_occurred_at) #>> '{}' as at, file_name as name,
            last_occurred_at < now() - interval '2 years' as purged
         from events.audit_segments where account_id = ? order by first_sequence`,
        [this.#chain],
      );
      const purged = rows.findLast((row) => row.purged);
      const segments = rows.map((row): AuditSegment => ({
        firstSequence: Number(row.first),
        lastSequence: Number(row.last),
        lastHash: row.hash,
        lastOccurredAt: new Date(row.at),
        fileName: row.name,
      }));
      const floor = purged === undefined ? GENESIS : { sequence: Number(purged.last), hash: purged.hash };
      return {
        head: head === undefined ? GENESIS : { sequence: Number(head.sequence), hash: head.hash },
        signedSequence: Number(chain?.signed ?? 0),
        floor,
        segments: segments.filter((segment) => segment.firstSequence > floor.sequence),
      };
    });
  }

  /**
   * The entries from one number to another, in order, a batch in memory at a time. Entries that are moved to the
   * archive meanwhile are found there. Ends early where a whole batch is not there.
   * @throws ProblemError `service_unavailable` where a file of the archive is not there
   */
  async *entries(from: number, to: number): AsyncGenerator<ChainedEntry> {
    for (let next = from; next <= to;) {
      const { file, rows } = await this.#batch(next, to);
      if (file === null) {
        if (rows.length === 0) return;
        yield* rows;
        next = rows.at(-1)!.sequence + 1;
      } else {
        // What is not an entry has no number, and is passed on for its reader to stumble over.
        for await (const entry of this.#archive.read(file.name))
          if (!(entry.sequence < next || entry.sequence > to)) yield entry;
        next = file.last + 1;
      }
    }
  }

  /** The file that holds an entry, or the rows that follow from it on. */
  #batch(
    next: number,
    to: number,
  ): Promise<{
    readonly file: { readonly name: string; readonly last: number } | null;
    readonly rows: readonly ChainedEntry[];
  }> {
    return this.#read(async (em) => {
      const [segment] = await em.execute<{ name: string; last: string }[]>(
        `select file_name as name, last_sequence as last from events.audit_segments where account_id = ? and ? ` +
          `between first_sequence and last_sequence`,
        [this.#chain, next],
      );
      if (segment !== undefined) return { file: { name: segment.name, last: Number(segment.last) }, rows: [] };
      const rows = await em.execute<EntryRow[]>(
        `select sequence, entry, hash from events.audit_entries where account_id = ? and sequence between ? and ? ` +
          `order by sequence `,
        [this.#chain, next, Math.min(to, next + BATCH - 1)],
      );
      return { file: null, rows: rows.map(linkOf) };
    });
  }

  /** The entries with these numbers that are rows of the database. */
  rowsAt(sequences: readonly number[]): Promise<ChainedEntry[]> {
    return this.#read(async (em) => {
      const rows = await em.execute<EntryRow[]>(
        `select sequence, entry, hash from events.audit_entries where account_id = ? and sequence in (select ` +
          `value::bigint from jsonb_array_elements_text(?::jsonb)) order by sequence`,
        [this.#chain, JSON.stringify(sequences)],
      );
      return rows.map(linkOf);
    });
  }

  /** Matching rows of the database, the newest first. */
  select(filter: AuditFilter, limit: number, offset: number): Promise<ChainedEntry[]> {
    return this.#read(async (em) => {
      const rows = await em.execute<EntryRow[]>(
        `select * from events.audit_entries_of_session(?, ?, ?, ?, ?, ?, ?, ?)`,
        [...filterValues(filter), limit, offset],
      );
      return rows.map(linkOf);
    });
  }

  count(filter: AuditFilter): Promise<number> {
    return this.#read(async (em) => {
      const [row] = await em.execute<[{ n: string }]>(
        `select events.count_audit_entries_of_session(?, ?, ?, ?, ?, ?) as n`,
        filterValues(filter),
      );
      return Number(row.n);
    });
  }

  #read<T>(work: (em: SqlEntityManager) => Promise<T>): Promise<T> {
    return this.#database.asTenant(this.#chain, work, { isolation: 'repeatable read' });
  }
}

function linkOf(row: EntryRow): ChainedEntry {
  return { sequence: Number(row.sequence), entry: row.entry, hash: row.hash };
}

function filterValues({
  eventType,
  severity,
  since,
  actorId,
  beforeSequence,
  environment,
}: AuditFilter): (string | number | null)[] {
  return [
    eventType ?? null,
    severity ?? null,
    since?.toISOString() ?? null,
    actorId ?? null,
    beforeSequence ?? null,
    environment ?? null,
  ];
}
