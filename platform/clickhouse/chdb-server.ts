import { createHash, timingSafeEqual } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Session } from 'chdb';
import { assertBound, EngineError, formatOfInsertData, literal, readingFrom, readStatementRequest, statusOf, writingTo, type StatementRequest } from './http-request.ts';
import { SessionPool, type PooledSession } from './session-pool.ts';

/**
 * The embedded columnar engine as a process of its own: chDB behind ClickHouse's HTTP interface, on loopback, for one
 * password. It must be a process, since the engine crashes in worker threads, and stays on the main thread of it.
 * Its first line of standard input is its configuration; the end of standard input is the end of the parent, and of it.
 */
interface ServerConfig {
  readonly storePath: string;
  readonly spoolPath: string;
  readonly password: string;
  readonly port: number;
  readonly sessions: number;
}

const USER = 'liftgraph';
const MAX_STATEMENT_BYTES = 16 * 1024 * 1024;
/** Statements with data come in the address. */
const MAX_HEADER_BYTES = 1024 * 1024;
const DRAIN_MS = 15_000;
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
  ['max_memory_usage', String(1024 ** 3)],
  ['output_format_arrow_compression_method', 'none'],
  ['session_timezone', 'UTC'],
];
/** Caches sized for a shared machine; what the engine would take by default assumes the machine is its own. */
const CONNECTION_ARGS = ['--mark_cache_size=134217728', '--background_pool_size=2', '--background_schedule_pool_size=2'];

class ChdbServer {
  readonly #config: ServerConfig;
  readonly #pool: SessionPool;
  /** Stops statements; must never wait for one. */
  readonly #control: Session;
  readonly #http: Server;
  readonly #running = new Set<Promise<void>>();
  #sequence = 0;
  #stopping = false;

  constructor(config: ServerConfig) {
    this.#config = config;
    this.#pool = new SessionPool(config.storePath, CONNECTION_ARGS, config.sessions);
    this.#control = new Session(config.storePath);
    this.#http = createServer({ keepAliveTimeout: 30_000, requestTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
      const work = this.#handle(request, response).finally(() => this.#running.delete(work));
      this.#running.add(work);
    });
  }

  async listen(): Promise<number> {
    // The engine finishes opening its directory with the first statement, not with the connection.
    await this.#control.queryAsync('SELECT 1');
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(this.#config.port, '127.0.0.1', resolve);
    });
    const address = this.#http.address();
    return typeof address === 'object' && address !== null ? address.port : this.#config.port;
  }

  /** Takes no more requests, lets those that run finish for a while, then stops them. */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#http.close();
    this.#http.closeIdleConnections();
    const timer = setTimeout(() => void this.#kill("Settings['log_comment'] LIKE 'request-%'"), DRAIN_MS);
    await Promise.allSettled(this.#running);
    clearTimeout(timer);
    this.#control.close();
    this.#pool.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const tag = `request-${(this.#sequence += 1)}`;
    try {
      if (this.#stopping) throw new EngineError(236, 'ABORTED', 'The server is shutting down');
      const url = new URL(request.url ?? '/', 'http://loopback');
      if (url.pathname === '/ping') return void response.end('Ok.\n');
      this.#authenticate(request);
      await this.#serve(request, response, url, tag);
    } catch (error) {
      fail(request, response, error);
    }
  }

  #authenticate(request: IncomingMessage): void {
    const basic = Buffer.from(request.headers.authorization?.replace(/^Basic /, '') ?? '', 'base64').toString();
    const header = (name: string) => String(request.headers[name] ?? '');
    const given = header('x-clickhouse-key') === '' ? basic : `${header('x-clickhouse-user')}:${header('x-clickhouse-key')}`;
    const digest = (text: string) => createHash('sha256').update(text).digest();
    if (!timingSafeEqual(digest(given), digest(`${USER}:${this.#config.password}`))) {
      throw new EngineError(516, 'AUTHENTICATION_FAILED', 'Authentication failed: password is incorrect');
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse, url: URL, tag: string): Promise<void> {
    const parsed = readStatementRequest(url);
    const settings = new Map(DEFAULT_SETTINGS.filter(([name]) => !parsed.settings.has(name)));
    const call = { ...parsed, settings: new Map([...settings, ...parsed.settings]) };
    const database = url.searchParams.get('database') || undefined;
    if (call.queryId !== undefined) response.setHeader('X-ClickHouse-Query-Id', call.queryId);

    const inUrl = call.query !== undefined && formatOfInsertData(call.query) !== undefined;
    if (inUrl) {
      await this.#insert(call, database, tag, request);
      response.end();
      return;
    }
    const body = await text(request);
    const statement = [call.query, body].filter(Boolean).join('\n');
    assertBound(statement, call.params);
    response.once('close', () => {
      if (!response.writableFinished) void this.#kill(`Settings['log_comment'] = ${literal(tag)}`);
    });
    if (call.waitsForEnd) return this.#answerWhole(call, database, tag, statement, response);
    await this.#pool.with(async (pooled) => {
      // Whoever waited for a session may have gone meanwhile.
      if (!response.destroyed) await this.#answer(pooled, pooled.setup(database, tag, call), statement, call.defaultFormat, response);
    });
  }

  /** The body goes to a file first: constant memory at any size, and no data inside a statement. */
  async #insert(call: StatementRequest, database: string | undefined, tag: string, request: IncomingMessage): Promise<void> {
    const file = join(this.#config.spoolPath, tag);
    try {
      const target = createWriteStream(file, { flags: 'wx', mode: 0o600 });
      await (request.headers['content-encoding'] === 'gzip' ? pipeline(request, createGunzip(), target) : pipeline(request, target));
      if (target.bytesWritten === 0) return;
      const statement = readingFrom(file, call.query!);
      assertBound(statement, call.params);
      await this.#pool.with(async (pooled) => void (await pooled.session.queryAsync(pooled.setup(database, tag, call) + statement)));
    } finally {
      await rm(file, { force: true });
    }
  }

  /** The result goes to a file first: constant memory at any size, and an error comes instead of an answer, never in the middle of one. */
  async #answerWhole(call: StatementRequest, database: string | undefined, tag: string, statement: string, response: ServerResponse): Promise<void> {
    const file = join(this.#config.spoolPath, tag);
    try {
      // The session is free again before the client reads, who may take his time.
      await this.#pool.with(async (pooled) => {
        if (!response.destroyed) await pooled.session.queryAsync(pooled.setup(database, tag, call) + writingTo(file, statement));
      });
      if (!response.destroyed) await pipeline(createReadStream(file), response);
    } finally {
      await rm(file, { force: true });
    }
  }

  async #answer(pooled: PooledSession, setup: string, statement: string, defaultFormat: string, response: ServerResponse): Promise<void> {
    const streamed = STREAMED_FORMAT.exec(statement);
    if (streamed === null) {
      const result = await pooled.session.queryAsync(setup + statement, { format: defaultFormat });
      response.setHeader('X-ClickHouse-Format', defaultFormat);
      response.setHeader('X-ClickHouse-Summary', JSON.stringify({ read_rows: String(result.rowsRead), read_bytes: String(result.bytesRead) }));
      response.end(result.bytes());
      return;
    }
    // Large results leave the engine block by block: neither it nor this process holds them whole.
    await pooled.session.queryAsync(setup);
    const stream = pooled.session.queryStream(statement.slice(0, streamed.index), { format: 'ArrowStream' });
    for await (const chunk of stream) {
      if (response.destroyed) break;
      if (!response.headersSent) response.setHeader('X-ClickHouse-Format', 'ArrowStream');
      if (!response.write(chunk.raw())) await drained(response);
    }
    response.end();
  }

  /** Never awaited to the end of the killed statement: a synchronous KILL deadlocks against the statement it waits for. */
  async #kill(condition: string): Promise<void> {
    await this.#control.queryAsync(`KILL QUERY WHERE ${condition} ASYNC`).catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}

async function text(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_STATEMENT_BYTES) throw new EngineError(62, 'SYNTAX_ERROR', 'the statement is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof EngineError ? error.code : Number(/Code: (\d+)/.exec(message)?.[1] ?? 0) || undefined;
  if (response.headersSent) return void response.destroy();
  response.statusCode = statusOf(code);
  if (code !== undefined) response.setHeader('X-ClickHouse-Exception-Code', String(code));
  // The rest of an upload that was refused is not worth reading.
  if (!request.complete) response.setHeader('Connection', 'close');
  response.end(message.slice(Math.max(0, message.indexOf('Code: '))));
}

async function firstLine(): Promise<string> {
  return new Promise((resolve) => {
    let line = '';
    const onData = (chunk: Buffer) => {
      line += chunk.toString();
      const end = line.indexOf('\n');
      if (end < 0) return;
      process.stdin.off('data', onData);
      resolve(line.slice(0, end));
    };
    process.stdin.on('data', onData);
  });
}

const config = JSON.parse(await firstLine()) as ServerConfig;
await rm(config.spoolPath, { recursive: true, force: true });
await mkdir(config.spoolPath, { recursive: true, mode: 0o700 });
await mkdir(config.storePath, { recursive: true, mode: 0o700 });
const server = new ChdbServer(config);
const stop = (): void => {
  setTimeout(() => process.exit(1), 2 * DRAIN_MS).unref();
  void server.stop().then(() => process.exit(0));
};
process.on('SIGTERM', stop);
process.stdin.on('end', stop);
process.stdin.resume();
const port = await server.listen();
process.stdout.write(`${JSON.stringify({ port })}\n`);
