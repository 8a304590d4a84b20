import { setTimeout as sleep } from 'node:timers/promises';
import { MikroORM, createPostgreSqlTypeParsers, type Options, type SqlEntityManager } from '@mikro-orm/postgresql';
import { Pool, TypeOverrides, types as pgTypes, type PoolConfig, type QueryConfig } from 'pg';
import type { Logger } from '../telemetry/logs.ts';
import { isLostRace, outageAsProblem } from './outage.ts';
import { refuseUnsafeDatabase } from './safety.ts';
import type { TimedQuery } from './scoped-query.ts';
import { Session, type IsolationLevel } from './session.ts';
import { SessionPool, type DatabaseLoad } from './session-pool.ts';
import { wholeAccount, type TenantScope } from './tenant-scope.ts';

export { wholeAccount, type SqlEntityManager, type TenantScope };

export interface TransactionOptions {
  /** Until the transaction must be over, retries and waiting for a connection included; longer ones are cut. */
  readonly timeoutMs?: number;
  readonly isolation?: IsolationLevel;
  /** UUID of the account in whose turn a connection is waited for, where the transaction itself is nobody's. */
  readonly turnOf?: string;
}

/** A statement with `$1` for its first value; sent and planned once per connection under its name. */
export interface Question {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What is known of a request before anything is done for it. */
export interface Pressure {
  /** Questions that others have gathered and not asked yet. */
  readonly announced?: number;
  /** Whether its caller has next to nothing under way besides; false unless told. */
  readonly isModest?: boolean;
}

type Work<T> = (em: SqlEntityManager) => Promise<T>;

/**
 * PostgreSQL as one owner sees it. Every access is a transaction, committed when `work` returns and rolled back
 * when it throws. A lost race (40001, 40P01) runs `work` again, up to three times, so it must have no effects
 * outside the database. An outage throws ProblemError `service_unavailable` within `timeoutMs`.
 */
export interface Database {
  /**
   * Runs with row level security showing exactly the rows of this scope; a principal is one. An account's UUID alone is
   * enough for tables that know neither environment nor workspace; those that do look empty without.
   */
  asTenant<T>(tenant: TenantScope | string, work: Work<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Runs without a tenant: tenant tables look empty, only SECURITY DEFINER functions and tables without tenants answer.
   */
  asNobody<T>(work: Work<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Keeps a statement for the end of the transaction of `em`, which has to be one of this database: it is sent in one
   * piece with COMMIT, which saves a round trip. Nobody hears what it answers; by raising it keeps the transaction from
   * committing.
   * @throws Error outside of a transaction
   */
  closeWith(em: SqlEntityManager, statement: string, values: readonly unknown[]): void;
  /**
   * One short statement without a tenant, in a transaction of its own and so in one round trip, which it shares with
   * others: for what every request asks. It must wait neither for locks nor for the disk, since others wait behind it,
   * and it is not repeated when it loses a race.
   */
  ask<Row extends object>(question: Question): Promise<Row[]>;
  /** The same with row level security showing the rows of this scope. */
  askAs<Row extends object>(tenant: TenantScope | string, question: Question): Promise<Row[]>;
  /**
   * One statement without a tenant on a connection of its own, for one that may wait; not repeated either.
   * @param turnOf names in whose turn the connection is waited for
   */
  perform<Row extends object>(statement: Question, turnOf?: string): Promise<Row[]>;
  /**
   * A transaction for the rows of this scope whose statements need no answers of each other: all travel together, on a
   * connection of their own, so that the whole costs one round trip. It is run again when it loses a race.
   */
  performAs(tenant: TenantScope | string, statements: readonly [Question, ...Question[]]): Promise<void>;
  /**
   * To be called for every request, before anything is done for it.
   * @throws ProblemError `service_unavailable`, code `overloaded`, where too many wait for a connection already
   */
  refuseWhenOverloaded(pressure?: Pressure): void;
  /**
   * To be called before anything is stored that is more than bookkeeping.
   * @throws ProblemError `service_unavailable`, code `disk_nearly_full`, as {@link DatabaseOptions.refuseWithoutRoom}
   * has it
   */
  refuseWithoutRoom(): void;
  /** How busy the connections of this process are. */
  load(): DatabaseLoad;
  /** Resolves when the database answers within a second, else throws ProblemError `service_unavailable`. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /**
   * Of the application role: neither superuser nor owner. See {@link applicationUrl} for a server with one role only.
   */
  readonly url: string;
  readonly entities: NonNullable<Options['entities']>;
  readonly applicationName: string;
  readonly poolMax: number;
  readonly logger: Logger;
  /**
   * Default of {@link TransactionOptions.timeoutMs}; 2,500 ms, so that an answer leaves within 3 s. Workers take more.
   */
  readonly timeoutMs?: number;
  /** Throws while the disk of the stores is nearly full. Nobody watches that disk when absent. */
  readonly refuseWithoutRoom?: () => void;
}

const DEFAULT_TIMEOUT_MS = 2_500;
/** Of the time limit: longest wait for a connection. */
const CONNECT_SHARE = 0.6;
const PING_TIMEOUT_MS = 1_000;
const IDLE_CONNECTION_MS = 60_000;
/** A transaction whose process froze gives its locks back after this long. */
const IDLE_IN_TRANSACTION_MS = 30_000;
/** One is enough while every question is short. */
const MAX_LINES = 4;
/** Of the time limit; the server ends a question itself before the line is given up, with all that wait there. */
const QUESTION_SHARE = 0.4;
const MAX_RETRIES = 3;
const RETRY_BASE_MS = 8;
/** Missing from the names that pg knows. */
const TEXT_ARRAY_OID = 1009 as Parameters<typeof pgTypes.getTypeParser>[0];

/**
 * Opens a pool and MikroORM on it.
 * @throws UnsafeDatabaseError when the role could bypass row level security or commits are not durable
 * @throws ProblemError `service_unavailable` when the server cannot be reached
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const linePool = createPool(options, timeoutMs, {
    pipeline: true,
    max: MAX_LINES,
    statement_timeout: timeoutMs * QUESTION_SHARE,
  });
  const sessionPool = new SessionPool(createPool(options, timeoutMs), linePool, options.logger);
  try {
    await refuseUnsafeDatabase(sessionPool.pool);
    const orm = await MikroORM.init({
      entities: options.entities,
      dbName: 'liftgraph',
      driverOptions: sessionPool.dialect,
      discovery: { warnWhenNoEntities: false },
      // Databases and schemas are made by migrations, as their owner.
      ensureDatabase: false,
      logger: (message) => options.logger.warn({ component: 'mikro-orm' }, message),
      colors: false,
    });
    return new PostgresDatabase(orm, sessionPool, { ...options, timeoutMs });
  } catch (error) {
    await sessionPool.end();
    throw outageAsProblem(error);
  }
}

function createPool(options: DatabaseOptions, timeoutMs: number, differently: PoolConfig = {}): Pool {
  const types = new TypeOverrides();
  // MikroORM maps dates itself, from text. Arrays of dates have the syntax of text arrays.
  const parseArray = pgTypes.getTypeParser(TEXT_ARRAY_OID, 'text') as (text: string) => string[];
  for (const [oid, parser] of Object.entries(createPostgreSqlTypeParsers(parseArray)))
    types.setTypeParser(Number(oid), 'text', parser);
  const pool = new Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.poolMax,
    connectionTimeoutMillis: timeoutMs * CONNECT_SHARE,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    statement_timeout: timeoutMs,
    keepAlive: true,
    types,
    ...differently,
  });
  // Without listeners a connection lost while idle, or between two statements, would end the process.
  pool.on('error', (error) => options.logger.warn({ err: error }, 'an idle PostgreSQL connection was lost'));
  pool.on('connect', (client) =>
    client.on('error', (error) => options.logger.debug({ err: error }, 'a PostgreSQL connection was lost')),
  );
  return pool;
}

/** node-postgres would write into the array. */
function sendable({ name, text, values }: Question): QueryConfig {
  return { name, text, values: [...values] };
}

class PostgresDatabase implements Database {
  readonly #orm: MikroORM;
  readonly #sessionPool: SessionPool;
  readonly #logger: Logger;
  readonly #timeoutMs: number;
  readonly #refuseWithoutRoom: (() => void) | undefined;

  constructor(
    orm: MikroORM,
    sessionPool: SessionPool,
    { logger, timeoutMs, refuseWithoutRoom }: DatabaseOptions & { readonly timeoutMs: number },
  ) {
    this.#orm = orm;
    this.#sessionPool = sessionPool;
    this.#logger = logger;
    this.#timeoutMs = timeoutMs;
    this.#refuseWithoutRoom = refuseWithoutRoom;
  }

  asTenant<T>(tenant: TenantScope | string, work: Work<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#transaction(tenant, work, options);
  }

  asNobody<T>(work: Work<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#transaction(undefined, work, options);
  }

  closeWith(em: SqlEntityManager, statement: string, values: readonly unknown[]): void {
    const session = this.#sessionPool.sessions.getStore();
    if (session === undefined) throw new Error('there is no transaction here that a statement could close');
    session.closeWith(em.getPlatform().formatQuery(statement, [...values]));
  }

  async #transaction<T>(
    tenant: TenantScope | string | undefined,
    work: Work<T>,
    options: TransactionOptions,
  ): Promise<T> {
    const { timeoutMs = this.#timeoutMs, isolation = 'read committed', turnOf } = options;
    return this.#racing(timeoutMs, (remainingMs) =>
      this.#attempt(new Session({ tenant, turnOf, timeoutMs: remainingMs, isolation }), work, remainingMs),
    );
  }

  /** Runs `attempt` again when it loses a race, as long as there is time. */
  async #racing<T>(timeoutMs: number, attempt: (remainingMs: number) => Promise<T>): Promise<T> {
    const deadlineMs = performance.now() + timeoutMs;
    for (let attempts = 0; ; attempts += 1) {
      try {
        return await attempt(deadlineMs - performance.now());
      } catch (error) {
        const pauseMs = RETRY_BASE_MS * 2 ** attempts * (0.5 + Math.random());
        if (!isLostRace(error) || attempts === MAX_RETRIES || performance.now() + pauseMs > deadlineMs)
          throw outageAsProblem(error);
        await sleep(pauseMs);
      }
    }
  }

  async #attempt<T>(session: Session, work: Work<T>, timeoutMs: number): Promise<T> {
    const timer = setTimeout(() => this.#expire(session), timeoutMs);
    try {
      return await this.#sessionPool.sessions.run(session, () =>
        this.#orm.em.fork({ clear: true }).transactional(work),
      );
    } catch (error) {
      // A connection in order is given back in the microtasks that follow; what is left then is lost.
      setImmediate(() => session.abandon());
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #expire(session: Session): void {
    if (!session.answered) this.#sessionPool.distrustOpenConnections();
    this.#logger.warn({ answered: session.answered }, 'a database transaction ran out of time and was cut');
    session.expire();
  }

  ask<Row extends object>(question: Question): Promise<Row[]> {
    return this.#one(question, (query) => this.#sessionPool.ask<Row>(query));
  }

  askAs<Row extends object>(tenant: TenantScope | string, question: Question): Promise<Row[]> {
    return this.#one(question, (query) => this.#sessionPool.ask<Row>(query, tenant));
  }

  perform<Row extends object>(statement: Question, turnOf?: string): Promise<Row[]> {
    return this.#one(statement, (query) => this.#sessionPool.perform<Row>(query, turnOf));
  }

  async performAs(tenant: TenantScope | string, statements: readonly [Question, ...Question[]]): Promise<void> {
    const [first, ...others] = statements;
    await this.#racing(this.#timeoutMs, (remainingMs) =>
      this.#sessionPool.performAs(tenant, [sendable(first), ...others.map(sendable)], remainingMs),
    );
  }

  async #one<Row>(question: Question, send: (query: TimedQuery) => Promise<Row[]>): Promise<Row[]> {
    try {
      // With the wait for a connection before it, the answer still leaves within 3 s.
      return await send({ ...sendable(question), query_timeout: this.#timeoutMs / 2 });
    } catch (error) {
      throw outageAsProblem(error);
    }
  }

  refuseWhenOverloaded({ announced = 0, isModest = false }: Pressure = {}): void {
    this.#sessionPool.refuseWhenOverloaded(announced, isModest);
  }

  refuseWithoutRoom(): void {
    this.#refuseWithoutRoom?.();
  }

  load(): DatabaseLoad {
    return this.#sessionPool.load();
  }

  async ping(): Promise<void> {
    const probe = { text: 'select 1', query_timeout: PING_TIMEOUT_MS };
    await this.#sessionPool.pool.query(probe).catch((error: unknown) => {
      throw outageAsProblem(error);
    });
  }

  async close(): Promise<void> {
    // Kysely ends a pool that it has used; connections of an unused one would keep the process alive for a minute.
    await this.#sessionPool.end(() => this.#orm.close(true));
  }
}
