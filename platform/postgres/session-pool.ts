import { AsyncLocalStorage } from 'node:async_hooks';
import {
  PostgresDialect, PostgresDriver,
  type DatabaseConnection, type Driver, type PostgresDialectConfig, type PostgresPool, type TransactionSettings,
} from 'kysely';
import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { ProblemError } from '../../schema/problems.ts';
import type { Logger } from '../telemetry/logs.ts';
import { ScopedQuery, type TimedQuery } from './scoped-query.ts';
import { SharedLines } from './shared-lines.ts';
import { StandingQueue } from './standing-queue.ts';
import { settingsOf, type TenantScope } from './tenant-scope.ts';

/** One for all: writing down where each was thrown would take longer than to refuse it, just when there is no time. */
const OVERLOADED = new ProblemError('service_unavailable', 'The service has more requests at hand than it can answer. Come back in a second.', { code: 'overloaded', retryAfterS: 1 });

export type IsolationLevel = 'read committed' | 'repeatable read' | 'serializable';

export interface SessionOptions {
  /** Undefined: no tenant, row level security shows nothing. */
  readonly tenant: TenantScope | string | undefined;
  /** Until the whole transaction has to be over. */
  readonly timeoutMs: number;
  readonly isolation: IsolationLevel;
}

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

/** Statements of {@link Session.beginSql}. */
const BEGIN_STATEMENTS = 2;

/** One attempt at a transaction: who it is for, how long it may take, and the connection it got. */
export class Session {
  /** What opens the transaction; it travels with the first statement, since a round trip costs more than most statements. */
  readonly beginSql: string;
  #client: PoolClient | undefined;
  #expired = false;
  #isBeginDue = false;
  #closing = '';
  /** True once the server answered anything. */
  answered = false;

  /** @throws TypeError when the scope names what is no UUID or environment */
  constructor({ tenant, timeoutMs, isolation }: SessionOptions) {
    const settings = { ...settingsOf(tenant), statement_timeout: String(Math.max(1, Math.ceil(timeoutMs))) };
    this.beginSql = `begin isolation level ${isolation}; select ${Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ')}`;
  }

  get expired(): boolean {
    return this.#expired;
  }

  attach(client: PoolClient): void {
    this.#client = client;
    if (this.#expired) void client.end();
  }

  detach(): void {
    this.#client = undefined;
  }

  begin(): void {
    this.#isBeginDue = true;
  }

  /** Keeps a statement for the end of the transaction, where it travels with COMMIT; one that raises keeps it from committing. */
  closeWith(statement: string): void {
    this.#closing += `${statement}; `;
  }

  /** Sends a statement through `send`, which is the client's own `query`, behind BEGIN where that is due. */
  async query(send: Send, statement: string, values: readonly unknown[]): Promise<QueryResult> {
    const isFirst = this.#isBeginDue;
    this.#isBeginDue = false;
    const text = COMMIT.test(statement) ? `${this.#closing}${statement}` : statement;
    let result: QueryResult;
    if (!isFirst) result = await send(text, values);
    else if (END_OF_TRANSACTION.test(text)) return NOTHING;
    else if (values.length === 0) result = lastOf(await send(`${this.beginSql}; ${text}`));
    else {
      await send(this.beginSql);
      result = await send(text, values);
    }
    this.answered = true;
    return result;
  }

  /** Time is up: with a statement in flight, end() destroys the socket, and the statement rejects at once. */
  expire(): void {
    this.#expired = true;
    void this.#client?.end();
  }

  /** Throws away a connection that was never given back: Kysely keeps it when BEGIN, COMMIT or ROLLBACK fail. */
  abandon(): void {
    this.#client?.release(true);
  }
}

/**
 * A node-postgres pool behind Kysely's PostgreSQL dialect, whose transactions take tenant and time limit
 * from the {@link Session} they are run in: `sessions.run(session, …)`. Beside it, lines for questions of one statement.
 */
export class SessionPool {
  readonly sessions = new AsyncLocalStorage<Session>();
  readonly pool: Pool;
  readonly dialect: PostgresDialect;
  readonly #linePool: Pool;
  readonly #lines: SharedLines;
  readonly #queue: StandingQueue;
  /** Connections older than the last one found dead are not trusted any more. */
  #generation = 0;
  readonly #generationOf = new WeakMap<PoolClient, number>();

  /** @param linePool of pipelined connections */
  constructor(pool: Pool, linePool: Pool, logger: Logger) {
    this.pool = pool;
    this.#linePool = linePool;
    this.#lines = new SharedLines({ connect: () => this.#connectTrusted(linePool), max: linePool.options.max, nowMs: () => performance.now() });
    this.#queue = new StandingQueue({
      nowMs: () => performance.now(),
      turned: (isStanding, refused) => logger.warn({ refused }, isStanding ? 'overloaded: more requests come than can be answered, and most are refused from now on' : 'no longer overloaded'),
    });
    for (const each of [pool, linePool]) each.on('connect', (client) => this.#generationOf.set(client, this.#generation));
    const config: PostgresDialectConfig = { pool: this.#sessionAware() };
    this.dialect = new SessionDialect(config, this.sessions);
  }

  /** A connection hung before it answered anything: the network is gone, and so are its siblings. */
  distrustOpenConnections(): void {
    this.#generation += 1;
    this.#lines.distrustAll();
  }

  /** @throws ProblemError `service_unavailable`, code `overloaded` */
  refuseWhenOverloaded(announced: number): void {
    // As many questions as there are connections are being answered, however they share lines.
    const questions = Math.max(0, this.#lines.pending + announced - this.pool.options.max);
    if (this.#queue.isTooLong(this.pool.waitingCount + questions)) throw OVERLOADED;
  }

  load(): DatabaseLoad {
    const { options, totalCount, idleCount, waitingCount } = this.pool;
    return { max: options.max, open: totalCount, idle: idleCount, waiting: waitingCount, lines: this.#linePool.totalCount, questions: this.#lines.pending };
  }

  /** A short statement over a line that it shares with others, with row level security showing the rows of `tenant`, if any. */
  async ask<Row extends QueryResultRow>(query: TimedQuery, tenant?: TenantScope | string): Promise<Row[]> {
    const settings = tenant === undefined ? undefined : settingsOf(tenant);
    return this.#noticingSilence(async () => {
      const { rows } = await this.#lines.send((client) => (settings === undefined ? client.query<Row>(query) : ScopedQuery.send<Row>(client, settings, [], query)));
      return rows;
    });
  }

  /** One statement on a connection of its own. */
  async perform<Row extends QueryResultRow>(query: TimedQuery): Promise<Row[]> {
    return (await this.#alone((client) => client.query<Row>(query))).rows;
  }

  /** Statements that are one transaction of `tenant`, on a connection of its own; over within `timeoutMs`, the wait for that included. */
  async performAs(tenant: TenantScope | string, statements: readonly [QueryConfig, ...QueryConfig[]], timeoutMs: number): Promise<void> {
    const settings = settingsOf(tenant);
    const deadlineMs = performance.now() + timeoutMs;
    await this.#alone((client) => ScopedQuery.send(client, settings, statements.slice(0, -1), { ...statements.at(-1)!, query_timeout: Math.max(1, deadlineMs - performance.now()) }));
  }

  /** What goes wrong costs the connection, since nobody knows what it is still busy with. */
  async #alone<Result>(send: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#connectTrusted(this.pool);
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
        const client = await this.#connectTrusted(this.pool);
        if (session !== undefined) lend(client, session);
        return client;
      },
      end: async () => this.pool.end(),
      options: this.pool.options,
    };
  }

  async #connectTrusted(pool: Pool): Promise<PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if (this.#generationOf.get(client) === this.#generation) return client;
      client.release(true);
    }
  }
}

type Send = (text: string, values?: readonly unknown[]) => Promise<QueryResult>;
const COMMIT = /^commit$/i;
const END_OF_TRANSACTION = /^(?:commit|rollback)$/i;
/** A transaction that asked nothing was never opened. */
const NOTHING: QueryResult = { command: '', rowCount: null, oid: 0, fields: [], rows: [] };

/** node-postgres answers several statements at once with a list. */
function lastOf(results: unknown): QueryResult {
  const own = (results as QueryResult[]).slice(BEGIN_STATEMENTS);
  return own.length === 1 ? own[0]! : (own as unknown as QueryResult);
}

/** Gives the connection to the session until either side releases it; the second release does nothing. */
function lend(client: PoolClient, session: Session): void {
  const release = client.release.bind(client);
  const query = client.query.bind(client) as Send;
  let lent = true;
  client.release = (destroy) => {
    if (!lent) return;
    lent = false;
    session.detach();
    Reflect.deleteProperty(client, 'query');
    release(destroy);
  };
  // Kysely asks in this one form.
  client.query = ((text: string, values: readonly unknown[] = []) => session.query(query, text, values)) as typeof client.query;
  session.attach(client);
}

class SessionDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;
  readonly #sessions: AsyncLocalStorage<Session>;

  constructor(config: PostgresDialectConfig, sessions: AsyncLocalStorage<Session>) {
    super(config);
    this.#config = config;
    this.#sessions = sessions;
  }

  override createDriver(): Driver {
    return new SessionDriver(this.#config, this.#sessions);
  }
}

class SessionDriver extends PostgresDriver {
  readonly #sessions: AsyncLocalStorage<Session>;

  constructor(config: PostgresDialectConfig, sessions: AsyncLocalStorage<Session>) {
    super(config);
    this.#sessions = sessions;
  }

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const session = this.#sessions.getStore();
    if (session === undefined) return super.beginTransaction(connection, settings);
    session.begin();
  }
}
