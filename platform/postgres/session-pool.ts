import { AsyncLocalStorage } from 'node:async_hooks';
import type { PostgresDialect, PostgresPool } from 'kysely';
import type { Pool, PoolClient, QueryConfig, QueryResultRow } from 'pg';
import { ProblemError } from '../../schema/problems.ts';
import { FairTurns } from '../fair-turns.ts';
import type { Logger } from '../telemetry/logs.ts';
import { ScopedQuery, type TimedQuery } from './scoped-query.ts';
import { lend, type Session } from './session.ts';
import { SessionDialect } from './session-dialect.ts';
import { SharedLines } from './shared-lines.ts';
import { LONGEST, StandingQueue } from './standing-queue.ts';
import { settingsOf, type TenantScope } from './tenant-scope.ts';

/** One for all: writing down where each was thrown would take longer than to refuse it, just when there is no time. */
const OVERLOADED = new ProblemError(
  'service_unavailable',
  'The service has more requests than it can answer. Try again in a second.',
  { code: 'overloaded', retryAfterS: 1 },
);

/**
 * Questions of tenants that are on the lines at a time: enough to keep these busy, and to be answered in a few
 * milliseconds.
 */
const QUESTIONS = { places: 64, perTenant: 32 } as const;
/** Of the connections: as many as one account may have at a time. The others are there for whoever comes meanwhile. */
const SHARE_OF_ONE = 3 / 4;

/** How busy the connections of a process are. */
export interface DatabaseLoad {
  /** Connections for transactions: at most, open, and open without work. */
  readonly max: number;
  readonly open: number;
  readonly idle: number;
  /** Who waits for one. */
  readonly waiting: number;
  /** Connections that short questions share, and questions that are not answered yet. */
  readonly lines: number;
  readonly questions: number;
}

/**
 * A node-postgres pool behind Kysely's PostgreSQL dialect, whose transactions take tenant and time limit from the
 * {@link Session} they are run in: `sessions.run(session, …)`. Beside it, lines for questions of one statement.
 */
export class SessionPool {
  readonly sessions = new AsyncLocalStorage<Session>();
  readonly pool: Pool;
  readonly dialect: PostgresDialect;
  readonly #linePool: Pool;
  readonly #lines: SharedLines;
  readonly #queue: StandingQueue;
  readonly #turns: FairTurns;
  readonly #questions = new FairTurns(QUESTIONS);
  /** Who asks without a tenant is a tenant of his own. */
  #strangers = 0;
  /** Connections older than the last one found dead are not trusted any more. */
  #generation = 0;
  readonly #generationOf = new WeakMap<PoolClient, number>();

  /** @param linePool of pipelined connections */
  constructor(pool: Pool, linePool: Pool, logger: Logger) {
    this.pool = pool;
    this.#linePool = linePool;
    this.#turns = new FairTurns({
      places: pool.options.max,
      perTenant: Math.max(1, Math.floor(pool.options.max * SHARE_OF_ONE)),
    });
    this.#lines = new SharedLines({
      connect: () => this.#connectTrusted(linePool),
      max: linePool.options.max,
      nowMs: () => performance.now(),
    });
    this.#queue = new StandingQueue({
      nowMs: () => performance.now(),
      turned: (isStanding, refused) =>
        logger.warn(
          { refused },
          isStanding
            ? 'overloaded: more requests come than can be answered, and most are refused from now on'
            : 'no longer overloaded',
        ),
    });
    for (const each of [pool, linePool])
      each.on('connect', (client) => this.#generationOf.set(client, this.#generation));
    this.dialect = new SessionDialect({ pool: this.#sessionAware() }, this.sessions);
  }

  /** A connection hung before it answered anything: the network is gone, and so are its siblings. */
  distrustOpenConnections(): void {
    this.#generation += 1;
    this.#lines.distrustAll();
  }

  /**
   * @param isModest of a caller that has next to nothing under way: its turn comes before the crowds of others
   * @throws ProblemError `service_unavailable`, code `overloaded`
   */
  refuseWhenOverloaded(announced: number, isModest: boolean): void {
    // As many questions as there are connections are being answered, however they share lines.
    const asked = Math.max(0, this.#lines.pending + announced - this.pool.options.max);
    // Nobody waits where places are free, and accounts wait for places of their own only.
    const crowded = [this.#turns, this.#questions].filter(({ free }) => free === 0);
    const before = (of: (turns: FairTurns) => number): number => crowded.reduce((sum, turns) => sum + of(turns), asked);
    const isTooLong = isModest
      ? before((turns) => turns.waitingTenants) >= LONGEST
      : this.#queue.isTooLong(before((turns) => turns.waiting));
    if (isTooLong) throw OVERLOADED;
  }

  load(): DatabaseLoad {
    const { options, totalCount, idleCount } = this.pool;
    return {
      max: options.max,
      open: totalCount,
      idle: idleCount,
      waiting: this.#turns.waiting,
      lines: this.#linePool.totalCount,
      questions: this.#lines.pending,
    };
  }

  /**
   * A short statement over a line that it shares with others, with row level security showing the rows of `tenant`, if
   * any.
   */
  async ask<Row extends QueryResultRow>(query: TimedQuery, tenant?: TenantScope | string): Promise<Row[]> {
    const settings = tenant === undefined ? undefined : settingsOf(tenant);
    const giveBack = tenant === undefined ? undefined : await this.#questions.take(accountOf(tenant));
    return this.#noticingSilence(async () => {
      const { rows } = await this.#lines.send((client) =>
        settings === undefined ? client.query<Row>(query) : ScopedQuery.send<Row>(client, settings, [], query),
      );
      return rows;
    }).finally(giveBack);
  }

  /** One statement on a connection of its own. */
  async perform<Row extends QueryResultRow>(query: TimedQuery, turnOf?: string): Promise<Row[]> {
    return (await this.#alone(turnOf, (client) => client.query<Row>(query))).rows;
  }

  /**
   * Statements that are one transaction of `tenant`, on a connection of its own; over within `timeoutMs`, the wait for
   * that included.
   */
  async performAs(
    tenant: TenantScope | string,
    statements: readonly [QueryConfig, ...QueryConfig[]],
    timeoutMs: number,
  ): Promise<void> {
    const settings = settingsOf(tenant);
    const deadlineMs = performance.now() + timeoutMs;
    await this.#alone(tenant, (client) =>
      ScopedQuery.send(client, settings, statements.slice(0, -1), {
        ...statements.at(-1)!,
        query_timeout: Math.max(1, deadlineMs - performance.now()),
      }),
    );
  }

  /** What goes wrong costs the connection, since nobody knows what it is still busy with. */
  async #alone<Result>(
    tenant: TenantScope | string | undefined,
    send: (client: PoolClient) => Promise<Result>,
  ): Promise<Result> {
    const client = await this.#connectInTurn(tenant);
    return this.#noticingSilence(async () => {
      try {
        const result = await send(client);
        client.release();
        return result;
      } catch (error) {
        client.release(true);
        throw error;
      }
    });
  }

  /** @param before ends what uses the pool */
  async end(before: () => Promise<void> = async () => undefined): Promise<void> {
    // Connections on their way out may still hear that the server stops.
    for (const each of [this.pool, this.#linePool]) each.removeAllListeners('error').on('error', () => undefined);
    await before();
    await Promise.all([this.pool, this.#linePool].map((each) => (each.ending ? undefined : each.end())));
  }

  async #noticingSilence<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // The time limit of node-postgres: the server has not answered at all.
      if ((error as Error).message === 'Query read timeout') this.distrustOpenConnections();
      throw error;
    }
  }

  #sessionAware(): PostgresPool {
    return {
      connect: async () => {
        const session = this.sessions.getStore();
        const client = await this.#connectInTurn(session?.tenant ?? session?.turnOf);
        if (session !== undefined) lend(client, session);
        return client;
      },
      end: async () => this.pool.end(),
      options: this.pool.options,
    };
  }

  /**
   * A connection when it is the tenant's turn, who gives the turn back with it. Waits as long as for the connection
   * itself.
   */
  async #connectInTurn(tenant: TenantScope | string | undefined): Promise<PoolClient> {
    const holder = tenant === undefined ? `stranger ${(this.#strangers += 1)}` : accountOf(tenant);
    const waitMs = this.pool.options.connectionTimeoutMillis;
    const giveBack = await this.#turns
      .take(holder, waitMs === undefined ? undefined : AbortSignal.timeout(waitMs))
      .catch((error: unknown) => {
        // As node-postgres says it.
        throw new Error('timeout exceeded when trying to connect', { cause: error });
      });
    try {
      const client = await this.#connectTrusted(this.pool);
      const release = client.release.bind(client);
      client.release = (destroy) => {
        giveBack();
        release(destroy);
      };
      return client;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  async #connectTrusted(pool: Pool): Promise<PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if (this.#generationOf.get(client) === this.#generation) return client;
      client.release(true);
    }
  }
}

function accountOf(tenant: TenantScope | string): string {
  return typeof tenant === 'object' ? tenant.accountId : tenant;
}
