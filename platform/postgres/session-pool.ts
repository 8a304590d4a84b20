import { AsyncLocalStorage } from 'node:async_hooks';
import {
  CompiledQuery, PostgresDialect, PostgresDriver,
  type DatabaseConnection, type Driver, type PostgresDialectConfig, type PostgresPool, type TransactionSettings,
} from 'kysely';
import { Pool, type PoolClient } from 'pg';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export type IsolationLevel = 'read committed' | 'repeatable read' | 'serializable';

export interface SessionOptions {
  /** Undefined: no tenant, row level security shows nothing. */
  readonly accountId: string | undefined;
  /** Until the whole transaction has to be over. */
  readonly timeoutMs: number;
  readonly isolation: IsolationLevel;
}

/** One transaction to come: who it is for and how long it may take. */
export class Session {
  readonly beginSql: string;
  readonly #deadlineMs: number;
  #client: PoolClient | undefined;
  #expired = false;
  answered = false;

  /** @throws TypeError when the account id is no UUID: it goes into SQL text, folded into BEGIN's round trip */
  constructor(options: SessionOptions, nowMs: number) {
    const { accountId, timeoutMs, isolation } = options;
    if (accountId !== undefined && !UUID.test(accountId)) throw new TypeError('an account id has to be a UUID');
    this.#deadlineMs = nowMs + timeoutMs;
    this.beginSql =
      `begin isolation level ${isolation}; ` +
      `select set_config('liftgraph.account_id', '${accountId ?? ''}', true), set_config('statement_timeout', '${Math.ceil(timeoutMs)}', true)`;
  }

  remainingMs(nowMs: number): number {
    return this.#deadlineMs - nowMs;
  }

  get expired(): boolean {
    return this.#expired;
  }

  attach(client: PoolClient): void {
    this.#client = client;
    this.answered = false;
    if (this.#expired) this.#cut();
  }

  detach(): void {
    this.#client = undefined;
  }

  /** Time is up: cuts the connection, so that a statement that hangs on a dead network rejects now. */
  expire(): void {
    this.#expired = true;
    this.#cut();
  }

  #cut(): void {
    // With a statement in flight, end() destroys the socket at once; the pool then drops the client.
    void this.#client?.end();
  }
}

/**
 * A node-postgres pool behind Kysely's PostgreSQL dialect, whose transactions take tenant and time limit
 * from the {@link Session} they are run in: `sessions.run(session, …)`.
 */
export class SessionPool {
  readonly sessions = new AsyncLocalStorage<Session>();
  readonly pool: Pool;
  readonly dialect: PostgresDialect;
  /** Connections older than the last one found dead are not trusted any more. */
  #generation = 0;
  readonly #generationOf = new WeakMap<PoolClient, number>();

  constructor(pool: Pool) {
    this.pool = pool;
    pool.on('connect', (client) => this.#generationOf.set(client, this.#generation));
    const config: PostgresDialectConfig = { pool: this.#sessionAware() };
    this.dialect = new SessionDialect(config, this.sessions);
  }

  /** A connection hung before it answered anything: the network is gone, and so are its siblings. */
  distrustOpenConnections(): void {
    this.#generation += 1;
  }

  #sessionAware(): PostgresPool {
    return {
      connect: async () => {
        const session = this.sessions.getStore();
        const client = await this.#connectTrusted();
        session?.attach(client);
        return client;
      },
      end: async () => this.pool.end(),
      options: this.pool.options,
    };
  }

  async #connectTrusted(): Promise<PoolClient> {
    for (;;) {
      const client = await this.pool.connect();
      if (this.#generationOf.get(client) === this.#generation) return client;
      client.release(true);
    }
  }
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
    await connection.executeQuery(CompiledQuery.raw(session.beginSql));
    session.answered = true;
  }

  override async releaseConnection(connection: Parameters<PostgresDriver['releaseConnection']>[0]): Promise<void> {
    this.#sessions.getStore()?.detach();
    return super.releaseConnection(connection);
  }
}
