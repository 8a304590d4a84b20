import { createHash, timingSafeEqual } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { Session } from 'chdb';
import { endProcess } from './end-process.ts';
import { drained, fail, flushed, textOf } from './http-answer.ts';
import {
  assertBound,
  EngineError,
  formatOfInsertData,
  literal,
  readingFrom,
  readStatementRequest,
  writingTo,
  type StatementRequest,
} from './http-request.ts';
import { ResultFiles } from './result-files.ts';
import { SessionPool } from './session-pool.ts';
import { StatementWatch, StuckStatementError } from './statement-watch.ts';

export interface ChdbServerOptions {
  readonly storePath: string;
  readonly spoolPath: string;
  readonly password: string;
  /** 0 for a free one. */
  readonly port: number;
  /** For statements of tenants. */
  readonly sessions: number;
  /** What results that wait for their readers leave free on the disk. */
  readonly reserveBytes: number;
}

/** A statement on its way through. */
interface Visit {
  /** Names it among all that run. */
  readonly tag: string;
  readonly call: StatementRequest;
  readonly database: string | undefined;
  /** Aborts when the client has gone. */
  readonly client: AbortSignal;
}

const USER = 'liftgraph';
const MIB = 1024 ** 2;
/** Statements with data come in the address. */
const MAX_HEADER_BYTES = 1024 * 1024;
/** Of a statement's time. */
const MAX_LIMIT_S = 3_600;
const DRAIN_MS = 5_000;
/** What a killed statement has left to end when the process stops. */
const KILL_MS = 1_000;
const PING_MS = 2_000;
const FLUSH_MS = 500;
/** Whoever waited this long for a session did not have the time that its statement was given. */
const LONG_WAIT_MS = 1_000;
const STREAMED_FORMAT = /\bformat\s+(ArrowStream)\s*;?\s*$/i;
/**
 * Unless the request says otherwise. Spooled data arrives in one piece, so inserts must not wait for others. Compiling
 * expressions to machine code stops the fourth use of a statement for half a second, and gains ours nothing.
 */
const DEFAULT_SETTINGS: readonly (readonly [string, string])[] = [
  ['compile_aggregate_expressions', '0'],
  ['compile_expressions', '0'],
  ['compile_sort_description', '0'],
  ['async_insert', '0'],
  ['max_execution_time', '300'],
  ['max_memory_usage', String(512 * MIB)],
  ['output_format_arrow_compression_method', 'none'],
  ['session_timezone', 'UTC'],
];
/**
 * Caches sized for a shared machine, and a bound for all statements together; what the engine would take by default
 * assumes the machine is its own. Beyond the bound the largest statement is refused, and the others wait a moment for
 * its memory.
 */
const CONNECTION_ARGS = [
  `--max_server_memory_usage=${768 * MIB}`,
  `--mark_cache_size=${64 * MIB}`,
  `--primary_index_cache_size=${64 * MIB}`,
  `--query_condition_cache_size=${16 * MIB}`,
  `--parquet_metadata_cache_size=${8 * MIB}`,
  '--background_pool_size=2',
  '--background_schedule_pool_size=2',
];

/**
 * chDB behind ClickHouse's HTTP interface, on loopback, for one password. Whoever makes one gives it the process: it
 * ends the process when it stops, and when a statement cannot be ended.
 */
export class ChdbServer {
  readonly #options: ChdbServerOptions;
  readonly #pool: SessionPool;
  readonly #results: ResultFiles;
  /** Stops statements and answers probes; must never wait for anybody's. */
  readonly #control: Session;
  readonly #watch = new StatementWatch((tag) => this.#kill(tag));
  readonly #http: Server;
  readonly #running = new Set<Promise<void>>();
  #sequence = 0;
  #stopping = false;

  constructor(options: ChdbServerOptions) {
    this.#options = options;
    this.#pool = new SessionPool(options.storePath, CONNECTION_ARGS, options.sessions);
    this.#control = new Session(options.storePath);
    this.#results = new ResultFiles({ folder: options.spoolPath, reserveBytes: options.reserveBytes });
    this.#http = createServer(
      { keepAliveTimeout: 30_000, requestTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES },
      (request, response) => {
        const work = this.#handle(request, response).finally(() => this.#running.delete(work));
        this.#running.add(work);
      },
    );
  }

  /** @returns the port */
  async listen(): Promise<number> {
    // The engine finishes opening its directory with the first statement, not with the connection.
    await this.#control.queryAsync('SELECT 1');
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(this.#options.port, '127.0.0.1', resolve);
    });
    const address = this.#http.address();
    return typeof address === 'object' && address !== null ? address.port : this.#options.port;
  }

  /**
   * Takes no more requests, lets those that somebody waits for finish for a while, then ends the process whatever still
   * runs.
   */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    // Tells the supervisor that this thread is free to stop.
    process.stdout.write('stopping\n');
    this.#http.close();
    this.#http.closeIdleConnections();
    const answered = Promise.allSettled(this.#running);
    await Promise.race([answered, this.#watch.untilOnlyKilled(), sleep(DRAIN_MS)]);
    this.#watch.endAll();
    await Promise.race([answered, sleep(KILL_MS)]);
    endProcess();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const tag = `request-${(this.#sequence += 1)}`;
    const client = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) client.abort();
    });
    try {
      if (this.#stopping) throw new EngineError(236, 'ABORTED', 'The server is shutting down');
      const url = new URL(request.url ?? '/', 'http://loopback');
      if (url.pathname === '/ping') return void response.end(await this.#ping());
      this.#authenticate(request);
      await this.#serve(request, response, url, { tag, client: client.signal });
    } catch (error) {
      fail(request, response, error);
      if (error instanceof StuckStatementError) await this.#giveUp(response, tag);
    }
    await flushed(response);
  }

  /** Whether the engine takes statements. @throws EngineError 202 when it does not answer, or no session comes free */
  async #ping(): Promise<string> {
    const isAlive = await Promise.race([
      this.#control.queryAsync('SELECT 1').then(() => true),
      sleep(PING_MS, false, { ref: false }),
    ]);
    if (!isAlive || this.#pool.isStalled)
      throw new EngineError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'The engine takes no statements at the moment');
    return 'Ok.\n';
  }

  #authenticate(request: IncomingMessage): void {
    const basic = Buffer.from(request.headers.authorization?.replace(/^Basic /, '') ?? '', 'base64').toString();
    const header = (name: string) => String(request.headers[name] ?? '');
    const given =
      header('x-clickhouse-key') === '' ? basic : `${header('x-clickhouse-user')}:${header('x-clickhouse-key')}`;
    const digest = (text: string) => createHash('sha256').update(text).digest();
    if (!timingSafeEqual(digest(given), digest(`${USER}:${this.#options.password}`))) {
      throw new EngineError(516, 'AUTHENTICATION_FAILED', 'Authentication failed: password is incorrect');
    }
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    { tag, client }: Pick<Visit, 'tag' | 'client'>,
  ): Promise<void> {
    const parsed = readStatementRequest(url);
    const settings = new Map(DEFAULT_SETTINGS.filter(([name]) => !parsed.settings.has(name)));
    const call = { ...parsed, settings: new Map([...settings, ...parsed.settings]) };
    const visit = { tag, client, call, database: url.searchParams.get('database') || undefined };
    if (call.queryId !== undefined) response.setHeader('X-ClickHouse-Query-Id', call.queryId);

    const inUrl = call.query !== undefined && formatOfInsertData(call.query) !== undefined;
    if (inUrl) {
      await this.#insert(visit, request);
      response.end();
      return;
    }
    const body = await textOf(request);
    const statement = [call.query, body].filter(Boolean).join('\n');
    assertBound(statement, call.params);
    if (call.waitsForEnd) return this.#answerWhole(visit, statement, response);
    await this.#inTurn(visit, (session, setup, ended) =>
      this.#answer(session, setup, statement, call.defaultFormat, response, ended),
    );
  }

  /**
   * Has the work done in a session of its own when the statement's tenant has its turn. The wait is part of its time.
   */
  async #inTurn(
    visit: Visit,
    work: (session: Session, setup: string, ended: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const { tag, call, database, client } = visit;
    const limitMs = limitOf(call.settings);
    const late = AbortSignal.timeout(limitMs);
    const startedMs = performance.now();
    let waitedMs = 0;
    try {
      await this.#pool.with(call.params.get('account_id') ?? '', AbortSignal.any([client, late]), async (pooled) => {
        waitedMs = performance.now() - startedMs;
        const isWrite = call.query !== undefined;
        await this.#watch.run({ tag, limitMs: limitMs - waitedMs, client, isWrite }, (ended) =>
          work(pooled.session, pooled.setup(database, tag, call), ended),
        );
      });
    } catch (error) {
      const isLate =
        error === late.reason ||
        (waitedMs > LONG_WAIT_MS && isOutOfTime(error) && !(error instanceof StuckStatementError));
      throw isLate
        ? new EngineError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'The statement waited too long for a session')
        : error;
    }
  }

  /**
   * The body goes to a file first: constant memory at any size, and no data inside a statement. Only whoever has a turn
   * takes disk for it.
   */
  async #insert(visit: Visit, request: IncomingMessage): Promise<void> {
    const { call, tag } = visit;
    const file = join(this.#options.spoolPath, tag);
    const statement = readingFrom(file, call.query!);
    assertBound(statement, call.params);
    try {
      await this.#inTurn(visit, async (session, setup, signal) => {
        const target = createWriteStream(file, { flags: 'wx', mode: 0o600 });
        await (request.headers['content-encoding'] === 'gzip'
          ? pipeline(request, createGunzip(), target, { signal })
          : pipeline(request, target, { signal }));
        if (target.bytesWritten > 0) await session.queryAsync(setup + statement);
      });
    } finally {
      await rm(file, { force: true });
    }
  }

  /**
   * The result goes to a file first: constant memory at any size, and an error comes instead of an answer, never in the
   * middle of one.
   */
  async #answerWhole(visit: Visit, statement: string, response: ServerResponse): Promise<void> {
    const { call, tag, client } = visit;
    await using file = this.#results.file(call.params.get('account_id') ?? '', tag, call.maxFileBytes);
    // The session is free again before the client reads, who may take his time.
    await this.#inTurn({ ...visit, client: AbortSignal.any([client, file.excess]) }, (session, setup) =>
      file.watched(async () => void (await session.queryAsync(setup + writingTo(file.path, statement)))),
    );
    if (!response.destroyed) await pipeline(file.read(), response);
  }

  async #answer(
    session: Session,
    setup: string,
    statement: string,
    defaultFormat: string,
    response: ServerResponse,
    ended: AbortSignal,
  ): Promise<void> {
    const streamed = STREAMED_FORMAT.exec(statement);
    if (streamed === null) {
      const result = await session.queryAsync(setup + statement, { format: defaultFormat });
      response.setHeader('X-ClickHouse-Format', defaultFormat);
      response.setHeader(
        'X-ClickHouse-Summary',
        JSON.stringify({ read_rows: String(result.rowsRead), read_bytes: String(result.bytesRead) }),
      );
      response.end(result.bytes());
      return;
    }
    // Large results leave the engine block by block: neither it nor this process holds them whole.
    await session.queryAsync(setup);
    const stream = session.queryStream(statement.slice(0, streamed.index), { format: 'ArrowStream' });
    for await (const chunk of stream) {
      if (response.destroyed) break;
      ended.throwIfAborted();
      if (!response.headersSent) response.setHeader('X-ClickHouse-Format', 'ArrowStream');
      if (!response.write(chunk.raw())) await drained(response, ended);
    }
    response.end();
  }

  /**
   * Never awaited to the end of the killed statement: a synchronous KILL deadlocks against the statement it waits for.
   */
  async #kill(tag: string): Promise<void> {
    await this.#control
      .queryAsync(`KILL QUERY WHERE Settings['log_comment'] = ${literal(tag)} ASYNC`)
      .catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  }

  /**
   * A statement cannot be ended: its caller is told, so that nobody sends it again, and the process ends with
   * everything in it.
   */
  async #giveUp(response: ServerResponse, tag: string): Promise<void> {
    this.#stopping = true;
    await Promise.race([flushed(response), sleep(FLUSH_MS)]);
    endProcess(`${tag} could not be ended`);
  }
}

const isOutOfTime = (error: unknown): boolean => error instanceof EngineError && error.code === 159;

/** In milliseconds; a statement without a limit has the longest. */
function limitOf(settings: ReadonlyMap<string, string>): number {
  const seconds = Number(settings.get('max_execution_time'));
  return 1_000 * (seconds > 0 && seconds < MAX_LIMIT_S ? seconds : MAX_LIMIT_S);
}
