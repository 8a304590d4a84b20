import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  ClickHouseError,
  ClickHouseLogLevel,
  createClient,
  type ClickHouseClient,
  type ClickHouseSettings,
} from '@clickhouse/client';
import { RecordBatchReader, type RecordBatch } from 'apache-arrow';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { isOutage, outageAsProblem, statementEnded } from './outage.ts';

export interface ClickHouseOptions {
  /** `http(s)://user:password@host:port` of the embedded engine or of a server. */
  readonly url: string;
  readonly database: string;
  readonly logger: Logger;
}

/** A value bound to a `{name:Type}` placeholder. */
export type StatementParam = string | number | boolean | readonly string[] | readonly number[];

export interface StatementOptions {
  readonly params?: Readonly<Record<string, StatementParam>>;
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Ends the statement, in the engine too; a wait for its turn counts. 30 s unless given. */
  readonly timeoutMs?: number;
  /** Ends it earlier. */
  readonly signal?: AbortSignal;
}

export interface FileOptions extends StatementOptions {
  /**
   * The embedded engine counts the bytes of the file; a server counts what its rows take before they are packed. As
   * many as come unless given.
   */
  readonly maxBytes?: number;
}

/**
 * The columnar store: a thin face over ClickHouse's client, the same for the embedded engine and for a server. Every
 * call throws ProblemError `service_unavailable` when the store cannot be reached or is out of resources, with the code
 * `statement_ended` when it takes too long: then it must not simply be sent again.
 */
export interface ClickHouse {
  /** Rows of a SELECT (without FORMAT), each parsed by the schema. */
  rows<S extends z.ZodType>(statement: string, row: S, options?: StatementOptions): Promise<z.output<S>[]>;
  /** Blocks of a SELECT (without FORMAT) as Arrow, while they come: no row becomes an object. */
  batches(statement: string, options?: StatementOptions): AsyncIterable<RecordBatch>;
  /**
   * The result of a SELECT (without FORMAT) as a file in one of the engine's own formats. Resolves when the statement
   * has succeeded and all of the file is there to be read; it waits on disk, never in memory. The embedded engine
   * counts it there, for the tenant that the parameter `account_id` names.
   * @throws ResultTooLargeError beyond `maxBytes`; ProblemError `service_unavailable`, code `disk_full`
   */
  file(
    statement: string,
    format: 'CSVWithNames' | 'JSONEachRow' | 'Parquet',
    options?: FileOptions,
  ): Promise<AsyncIterable<Uint8Array>>;
  /** Runs `INSERT … FORMAT x` over the data. `INSERT … SELECT … FROM input('…') FORMAT x` works too. */
  insert(statement: string, data: Uint8Array | AsyncIterable<Uint8Array>, options?: StatementOptions): Promise<void>;
  /** Any statement without a result. */
  command(statement: string, options?: StatementOptions): Promise<void>;
  ping(): Promise<void>;
  /**
   * Creates the database and runs the statements it has not seen yet, in order. Each must be harmless when two
   * processes start together and both run it (`IF NOT EXISTS`).
   */
  migrate(statements: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/**
 * The engine ends the statement itself, and its own process if it must; this ends the waiting when it does not answer
 * at all.
 */
const PATIENCE_MS = 15_000;
const PING_TIMEOUT_MS = 3_000;
/** Far above what the engine runs at a time: its turns are fair among tenants, a line in front of it would not be. */
const MAX_CONNECTIONS = 1_024;
/** The socket's own limit is a net below the per-statement ones. */
const SOCKET_TIMEOUT_MS = 3_600_000;
const DATABASE_NAME = /^[A-Za-z_]\w{0,63}$/;

/**
 * Opens nothing yet: connections are made when they are needed. @throws RangeError for a database name that is not a
 * plain identifier
 */
export function connectClickHouse(options: ClickHouseOptions): ClickHouse {
  if (!DATABASE_NAME.test(options.database)) throw new RangeError('the database name must be a plain identifier');
  return new HttpClickHouse(options);
}

class HttpClickHouse implements ClickHouse {
  readonly #options: ClickHouseOptions;
  readonly #client: ClickHouseClient;

  constructor(options: ClickHouseOptions) {
    this.#options = options;
    this.#client = clientOf(options.url, options.database);
  }

  async rows<S extends z.ZodType>(statement: string, row: S, options: StatementOptions = {}): Promise<z.output<S>[]> {
    return guarded(options, async (call) => {
      const result = await this.#client.query({ query: statement, format: 'JSONEachRow', ...call });
      return (await result.json()).map((value) => row.parse(value));
    });
  }

  async *batches(statement: string, options: StatementOptions = {}): AsyncIterable<RecordBatch> {
    const call = callOf(options);
    let stream: Readable | undefined;
    try {
      ({ stream } = await this.#client.exec({ query: `${statement} FORMAT ArrowStream`, ...call }));
      // The embedded engine sends each block as an Arrow stream of its own; a server sends one for all.
      for await (const reader of RecordBatchReader.readAll(stream)) {
        // A block without rows has list columns without children, which no reader of columns expects.
        for await (const batch of reader) if (batch.numRows > 0) yield batch;
      }
      // The reader takes a stream that was cut off for one that is over.
      if (!stream.readableEnded) throw stream.errored ?? new Error('Premature close');
    } catch (error) {
      // What the reader makes of half a block tells nothing.
      throw problemOf(stream?.errored ?? error, call);
    }
  }

  async file(statement: string, format: string, options: FileOptions = {}): Promise<AsyncIterable<Uint8Array>> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, settings, maxBytes } = options;
    // The client listens for the signal, and does not look at it first.
    options.signal?.throwIfAborted();
    // The time limit is the statement's; whoever reads the file may take longer.
    const limits = {
      max_execution_time: Math.ceil(timeoutMs / 1000),
      wait_end_of_query: 1,
      ...(maxBytes === undefined ? {} : { max_result_bytes: maxBytes }),
    };
    const { stream } = await guarded(
      { ...options, timeoutMs: SOCKET_TIMEOUT_MS, settings: { ...settings, ...limits } },
      (call) => this.#client.exec({ query: `${statement} FORMAT ${format}`, ...call }),
    );
    if (options.signal !== undefined) endWith(stream, options.signal);
    return read(stream);
  }

  async insert(
    statement: string,
    data: Uint8Array | AsyncIterable<Uint8Array>,
    options: StatementOptions = {},
  ): Promise<void> {
    await guarded(options, async (call) => {
      const values =
        data instanceof Uint8Array
          ? Readable.from([data], { objectMode: false })
          : Readable.from(data, { objectMode: false });
      const { stream } = await this.#client.exec({ query: statement, values, ...call });
      await drain(stream);
    });
  }

  async command(statement: string, options: StatementOptions = {}): Promise<void> {
    await guarded(options, (call) => this.#client.command({ query: statement, ...call }));
  }

  async ping(): Promise<void> {
    const result = await this.#client.ping({ select: false, abort_signal: AbortSignal.timeout(PING_TIMEOUT_MS) });
    if (!result.success) throw outageAsProblem(result.error);
  }

  async migrate(statements: readonly string[]): Promise<void> {
    await this.#createDatabase();
    await this.command(
      'CREATE TABLE IF NOT EXISTS schema_statements (digest String) ENGINE = MergeTree ORDER BY digest',
    );
    const result = await guarded({}, (call) =>
      this.#client.query({ query: 'SELECT DISTINCT digest FROM schema_statements', format: 'JSONEachRow', ...call }),
    );
    const done = new Set((await result.json<{ digest: string }>()).map(({ digest }) => digest));
    const missing = statements
      .map((statement) => ({ statement, digest: digestOf(statement) }))
      .filter(({ digest }) => !done.has(digest));
    const ran: string[] = [];
    try {
      for (const { statement, digest } of missing) {
        await this.command(statement, { timeoutMs: SOCKET_TIMEOUT_MS });
        ran.push(digest);
      }
    } finally {
      // All at once, since noting one costs the engine as much as creating a table. What a crash leaves unnoted runs
      // again.
      if (ran.length > 0)
        await this.command('INSERT INTO schema_statements SELECT arrayJoin({digests:Array(String)})', {
          params: { digests: ran },
        });
    }
    if (missing.length > 0)
      this.#options.logger.info(
        { statements: missing.length, first: missing[0]!.statement.slice(0, 80) },
        'columnar schema changed',
      );
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #createDatabase(): Promise<void> {
    const client = clientOf(this.#options.url, 'default');
    try {
      await guarded({}, (call) =>
        client.command({ query: `CREATE DATABASE IF NOT EXISTS \`${this.#options.database}\``, ...call }),
      );
    } finally {
      await client.close();
    }
  }
}

function clientOf(url: string, database: string): ClickHouseClient {
  return createClient({
    url,
    database,
    application: 'liftgraph',
    request_timeout: SOCKET_TIMEOUT_MS,
    max_open_connections: MAX_CONNECTIONS,
    log: { level: ClickHouseLogLevel.OFF },
  });
}

interface Call {
  /** Whether the statement has had all of its time, and its caller still waits. */
  readonly isOverdue: () => boolean;
  readonly clickhouse_settings: ClickHouseSettings;
  readonly abort_signal: AbortSignal;
  readonly query_params?: Record<string, unknown>;
}

function callOf({ params, settings, timeoutMs = DEFAULT_TIMEOUT_MS, signal }: StatementOptions): Call {
  const patience = AbortSignal.timeout(timeoutMs + PATIENCE_MS);
  const limitMs = performance.now() + timeoutMs;
  return {
    isOverdue: () => performance.now() >= limitMs && signal?.aborted !== true,
    clickhouse_settings: { max_execution_time: Math.ceil(timeoutMs / 1000), ...settings } as ClickHouseSettings,
    abort_signal: signal === undefined ? patience : AbortSignal.any([patience, signal]),
    ...(params === undefined ? {} : { query_params: params }),
  };
}

async function guarded<T>(options: StatementOptions, work: (call: Call) => Promise<T>): Promise<T> {
  const call = callOf(options);
  try {
    return await work(call);
  } catch (error) {
    throw problemOf(error, call);
  }
}

/** A connection that is lost when the statement has had its time did not meet an outage of others: it may be stuck. */
function problemOf(error: unknown, { isOverdue }: Call): unknown {
  return isOverdue() && !(error instanceof ClickHouseError) && isOutage(error)
    ? statementEnded(error)
    : outageAsProblem(error);
}

/** The client forgets the signal once the answer has begun; whoever leaves before reading it would leave its file. */
function endWith(stream: Readable, signal: AbortSignal): void {
  const end = (): void => void stream.destroy();
  if (signal.aborted) return end();
  signal.addEventListener('abort', end, { once: true });
  stream.once('close', () => signal.removeEventListener('abort', end));
}

async function* read(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of stream) yield piece as Uint8Array;
  } catch (error) {
    throw outageAsProblem(error);
  }
}

async function drain(stream: Readable): Promise<void> {
  for await (const piece of stream) void piece;
}

/** Of what a statement says, however its lines are broken. */
function digestOf(statement: string): string {
  return createHash('sha256').update(statement.replaceAll(/\s+/g, ' ').trim()).digest('hex');
}
