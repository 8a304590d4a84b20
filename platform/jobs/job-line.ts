import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../../schema/problems.ts';
import { FairTurns, type Release } from '../fair-turns.ts';
import type { SqlEntityManager } from '../postgres/database.ts';
import type { Logger } from '../telemetry/logs.ts';
import { JOBS_SCHEMA as SCHEMA } from './jobs-migrations.ts';

/** How many jobs of one tenant and share may run, and wait besides, at a time; any number may wait unless given. */
export interface JobLimits {
  readonly running: number;
  readonly waiting?: number;
}

/** A job as it waits. */
export interface WaitingJob {
  readonly id: string;
  readonly queue: string;
  readonly tenant: string;
  readonly share: string;
  readonly singletonKey: string;
  readonly isLarge: boolean;
  readonly data: object;
  /** Time of ISO 8601, or an interval from now on, as PostgreSQL has them. */
  readonly start: { readonly at: Date } | { readonly inS: number };
}

/** What a ticket was given, with a place to do it at. */
export interface Taken {
  readonly data: unknown;
  readonly tenant: string;
  readonly isLarge: boolean;
  readonly leave: LeavePlace;
}

/** Gives a place back, and counts the time that it was held to its tenant; a second call does nothing. */
export type LeavePlace = () => Promise<void>;

interface TakenRow {
  readonly data: unknown;
  readonly tenant: string;
  readonly is_large: boolean | null;
  readonly waits: boolean;
}

export interface JobLineOptions {
  readonly queue: string;
  readonly limits: JobLimits | undefined;
  /** Attempts after the first one. */
  readonly retryLimit: number;
  /** Of this queue, in this process. */
  readonly places: number;
  readonly logger: Logger;
}

/** As much of a connection pool as is needed here. */
interface Sql {
  executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

const CROWDED_RETRY_S = 5;
const TURN_POLL_MS = 100;

/**
 * Puts a job in the line of its queue, as part of the caller's transaction.
 * @returns false where one with its singleton key waits already
 */
export async function joinLine(em: SqlEntityManager, job: WaitingJob): Promise<boolean> {
  const [startAfter, start] =
    'at' in job.start
      ? ['?::timestamptz', job.start.at.toISOString()]
      : [`now() + ?::float8 * interval '1 second'`, job.start.inS];
  const joined = await em.execute<unknown[]>(
    `insert into ${SCHEMA}.waiting (id, queue, tenant, share, singleton_key, is_large, data, start_after)
      values (?, ?, ?, ?, ?, ?, ?::jsonb, ${startAfter})
     on conflict (queue, singleton_key) do nothing returning id`,
    [job.id, job.queue, job.tenant, job.share, job.singletonKey, job.isLarge, JSON.stringify(job.data), start],
  );
  return joined.length > 0;
}

/** Takes a waiting job out of the line, with the ticket that came with it, and one that waits for its next attempt. */
export async function leaveLine(em: SqlEntityManager, queue: string, singletonKey: string): Promise<void> {
  await em.execute(
    `with gone as (delete from ${SCHEMA}.waiting where queue = ? and singleton_key = ? returning id)
     delete from ${SCHEMA}.job where name = ? and state in ('created', 'retry')
       and (singleton_key = ? or (data is null and id in (select id from gone)))`,
    [queue, singletonKey, queue, singletonKey],
  );
}

/**
 * One transaction of a share at a time counts, until it commits: so the limit is exact, whoever enqueues where.
 * @throws ProblemError `rate_limit_exceeded` / `concurrency`
 */
export async function refuseCrowd(
  em: SqlEntityManager,
  queue: string,
  { running, waiting }: JobLimits,
  tenant: string,
  share: string,
): Promise<void> {
  if (waiting === undefined) return;
  await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`${queue} ${tenant} ${share}`]);
  const [row] = await em.execute<[{ unfinished: number }]>(
    `select ((select count(*) from ${SCHEMA}.job
      where name = ? and group_id = ? and group_tier = ? and state = 'active')
           + (select count(*) from ${SCHEMA}.job where name = ? and group_id = ? and group_tier = ? and state < 'active'
             and not blocked)
           + (select count(*) from ${SCHEMA}.waiting where queue = ? and tenant = ? and share = ?))::int as unfinished`,
    [queue, tenant, share, queue, tenant, share, queue, tenant, share],
  );
  const most = running + waiting;
  if (row.unfinished < most) return;
  throw new ProblemError(
    'rate_limit_exceeded',
    `${most} of your analyses are running or waiting already (${running} run at a time). Try again when one has ` +
      `finished.`,
    { code: 'concurrency', retryAfterS: CROWDED_RETRY_S },
  );
}

/** Who takes a place: they go by turns. */
const FROM_THE_LINE = 'line';
const COMING_BACK = 'back';

/**
 * Gives tickets of one queue their jobs: a worker that becomes free comes with a ticket, which names no job, and leaves
 * with that of the tenant whose turn it is. From then on ticket and job are one, through every further attempt. Whoever
 * works has one of the places of this process.
 */
export class JobLine {
  readonly #sql: Sql;
  readonly #logger: Logger;
  /** Of the queue: its name, how many of a share may run, attempts after the first one. */
  readonly #values: readonly [string, number | null, number];
  readonly #places: FairTurns;
  readonly #large: FairTurns;
  /** One of those who come back waits for a place: the one whose tenant's turn it is. */
  readonly #back = new FairTurns({ places: 1, perTenant: 1 });

  constructor(sql: Sql, { queue, limits, retryLimit, places, logger }: JobLineOptions) {
    this.#sql = sql;
    this.#logger = logger;
    this.#values = [queue, limits?.running ?? null, retryLimit];
    this.#places = new FairTurns({ places, perTenant: places });
    // Large jobs leave one place of this process to the others.
    const largePlaces = Math.max(1, places - 1);
    this.#large = new FairTurns({ places: largePlaces, perTenant: largePlaces });
  }

  /** Waits while everybody who waits has as many running as may; null when nobody waits. */
  async takeNext(ticketId: string, signal: AbortSignal): Promise<Taken | null> {
    for (;;) {
      const leavePlace = await this.#places.take(FROM_THE_LINE, signal);
      const leaveLarge = this.#large.free > 0 ? await this.#large.take('') : undefined;
      const leave = (): void => {
        leaveLarge?.();
        leavePlace();
      };
      const row = await this.#ask(ticketId, leaveLarge !== undefined).catch((error: unknown) => {
        leave();
        throw error;
      });
      if (row.is_large === false) leaveLarge?.();
      if (row.is_large !== null)
        return { data: row.data, tenant: row.tenant, isLarge: row.is_large, leave: this.#counted(row.tenant, leave) };
      leave();
      if (!row.waits) return null;
      await sleep(TURN_POLL_MS, undefined, { signal });
    }
  }

  /** Whether a job that was taken before would have to wait for a place. */
  isFullFor({ isLarge }: Pick<Taken, 'isLarge'>): boolean {
    return this.#places.free === 0 || (isLarge && this.#large.free === 0);
  }

  /** A place for a job that was taken before. */
  async comeBack({ tenant, isLarge }: Pick<Taken, 'tenant' | 'isLarge'>, signal: AbortSignal): Promise<LeavePlace> {
    const leaveLarge = isLarge ? await this.#large.take(tenant, signal) : undefined;
    try {
      const next = await this.#back.take(tenant, signal);
      const leavePlace = await this.#places.take(COMING_BACK, signal).finally(next);
      return this.#counted(tenant, () => {
        leaveLarge?.();
        leavePlace();
      });
    } catch (error) {
      leaveLarge?.();
      throw error;
    }
  }

  #counted(tenant: string, release: Release): LeavePlace {
    const sinceMs = performance.now();
    let isLeft = false;
    return async () => {
      if (isLeft) return;
      isLeft = true;
      const seconds = (performance.now() - sinceMs) / 1000;
      await this.#sql
        .executeSql(
          `update ${SCHEMA}.turns set used = ${SCHEMA}.used_lately(used, used_at) + $3, used_at = clock_timestamp() ` +
            `where queue = $1 and tenant = $2`,
          [this.#values[0], tenant, seconds],
        )
        // The job has done its work: that its cost is not on record is no reason to do it again.
        .catch((error: unknown) =>
          this.#logger.warn(
            { err: error, queue: this.#values[0] },
            'a job is done, and the time that it took is not counted to its tenant',
          ),
        )
        // Whoever is next is chosen by the times on record: first the record, then the place.
        .finally(release);
    };
  }

  async #ask(ticketId: string, mayBeLarge: boolean): Promise<TakenRow> {
    const { rows } = await this.#sql.executeSql(`select * from ${SCHEMA}.take_next($1, $4, $2, $5, $3)`, [
      ...this.#values,
      ticketId,
      mayBeLarge,
    ]);
    return rows[0] as TakenRow;
  }
}
