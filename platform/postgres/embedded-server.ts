import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync, chownSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { z } from 'zod';
import type { Logger } from '../telemetry/logs.ts';
import { APPLICATION_ROLE, type DatabaseUrls } from './application-role.ts';
import { embeddedBinaries, type EmbeddedBinaries } from './embedded-binaries.ts';
import { makeServerFolder, reachableFolder, serverAccount, type ServerAccount } from './server-account.ts';
import { ServerProcess, runningPort, runProgram, stopOrphan } from './server-process.ts';

export interface EmbeddedPostgres extends DatabaseUrls {
  /** Where its files are: in the data directory, or elsewhere when the server's account cannot reach that. */
  readonly folder: string;
  /** Shuts the server down; everything committed is on disk. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Exists, and is held by this process alone (`holdDataDirectory`). */
  readonly dataDir: string;
  readonly logger: Logger;
}

/** `postgres.json` in the data directory: where the cluster is (relative when inside) and how to enter it. */
const recordSchema = z.object({
  folder: z.string(),
  superuserPassword: z.string(),
  ownerPassword: z.string(),
  applicationPassword: z.string(),
});
type Record = z.output<typeof recordSchema>;

const OWNER_ROLE = 'liftgraph_owner';
const DATABASE = 'liftgraph';
const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 10;
const RESTART_DELAY_MS = 250;
const START_ATTEMPTS = 3;

/** Durability and checksums stay at PostgreSQL's safe defaults. */
const SETTINGS: Readonly<{ [name: string]: string }> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  jit: 'off',
  // After a crash everything is made durable before recovery: in one call where the system has one, not file by file.
  ...(process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}),
  timezone: 'UTC',
  log_timezone: 'UTC',
  // A log per day of the week, each overwritten a week later.
  logging_collector: 'on',
  log_directory: '../log',
  log_filename: 'postgresql-%a.log',
  log_rotation_age: '1d',
  log_truncate_on_rotation: 'on',
};

/**
 * PostgreSQL of our own in the data directory, on a free port of the loopback interface. It ends with this process,
 * even when that is killed, and is started again when it dies by itself.
 * @throws Error in plain words when this system cannot run it
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const startedMs = performance.now();
  const { logger } = options;
  const dataDir = resolve(options.dataDir);
  const account = serverAccount();
  const record = readRecord(dataDir) ?? makeRecord(dataDir, account);
  const folder = resolve(dataDir, record.folder);
  const cluster = join(folder, 'data');
  makeServerFolder(account, folder);
  const binaries = embeddedBinaries(account, folder);
  if (!existsSync(join(cluster, 'PG_VERSION'))) await initialise(account, binaries, cluster, record.superuserPassword);
  if (await stopOrphan(cluster))
    logger.warn({ cluster }, 'a PostgreSQL server left over from a killed process was stopped');

  const server = new EmbeddedServer(account, binaries, cluster, record, logger);
  await server.start();
  const tookMs = Math.round(performance.now() - startedMs);
  logger.info(
    { folder, tookMs, ...(account === undefined ? {} : { account: account.name }) },
    'embedded PostgreSQL is up',
  );
  return {
    folder,
    ownerUrl: urlOf(OWNER_ROLE, record.ownerPassword, server.port),
    applicationUrl: urlOf(APPLICATION_ROLE, record.applicationPassword, server.port),
    stop: () => server.stop(),
  };
}

/** How to enter the server that another process runs on this data directory; undefined where none runs. */
export function runningEmbeddedPostgres(dataDir: string): DatabaseUrls | undefined {
  const record = readRecord(resolve(dataDir));
  const port = record === undefined ? undefined : runningPort(join(resolve(dataDir, record.folder), 'data'));
  if (record === undefined || port === undefined) return undefined;
  return {
    ownerUrl: urlOf(OWNER_ROLE, record.ownerPassword, port),
    applicationUrl: urlOf(APPLICATION_ROLE, record.applicationPassword, port),
  };
}

function urlOf(role: string, password: string, port: number, database: string = DATABASE): string {
  return `postgresql://${role}:${password}@127.0.0.1:${port}/${database}`;
}

class EmbeddedServer {
  #process: ServerProcess | undefined;
  #port = 0;
  #stopping = false;
  readonly #account: ServerAccount | undefined;
  readonly #binaries: EmbeddedBinaries;
  readonly #cluster: string;
  readonly #record: Record;
  readonly #logger: Logger;

  constructor(
    account: ServerAccount | undefined,
    binaries: EmbeddedBinaries,
    cluster: string,
    record: Record,
    logger: Logger,
  ) {
    this.#account = account;
    this.#binaries = binaries;
    this.#cluster = cluster;
    this.#record = record;
    this.#logger = logger;
  }

  async start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      // Another program may take the port between our look and the server's.
      this.#port = await freePort();
      try {
        await this.#launch();
        break;
      } catch (error) {
        await this.#process?.stop();
        if (attempt === START_ATTEMPTS) throw error;
        this.#logger.warn({ err: error }, 'PostgreSQL did not start, trying again');
      }
    }
    void this.#restartWhenItDies();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#process?.stop();
  }

  get port(): number {
    return this.#port;
  }

  async #launch(): Promise<void> {
    const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.#process = new ServerProcess(this.#account, this.#binaries.postgres, [
      '-D',
      this.#cluster,
      '-p',
      String(this.#port),
      ...settings,
    ]);
    await this.#untilReady(this.#process);
  }

  async #untilReady(server: ServerProcess): Promise<void> {
    const deadlineMs = performance.now() + READY_TIMEOUT_MS;
    for (;;) {
      const client = new Client({
        connectionString: urlOf('postgres', this.#record.superuserPassword, this.#port, 'postgres'),
        connectionTimeoutMillis: 5_000,
      });
      // The server may end while we ask; the query rejects then, and this event adds nothing.
      client.on('error', () => undefined);
      try {
        await client.connect();
        await createRolesAndDatabase(client, this.#record);
        return;
      } catch (error) {
        if (!server.running)
          throw new Error(`PostgreSQL ended while starting: ${server.output || (error as Error).message}`, {
            cause: error,
          });
        if (!isStarting(error)) throw error;
        if (performance.now() > deadlineMs)
          throw new Error(`PostgreSQL was not ready after ${READY_TIMEOUT_MS / 1000} s`, { cause: error });
        await sleep(READY_POLL_MS);
      } finally {
        await client.end();
      }
    }
  }

  async #restartWhenItDies(): Promise<void> {
    for (;;) {
      await this.#process?.exited;
      if (this.#stopping) return;
      this.#logger.error({ output: this.#process?.output }, 'embedded PostgreSQL ended by itself, starting it again');
      await sleep(RESTART_DELAY_MS);
      if (this.#stopping) return;
      try {
        await stopOrphan(this.#cluster);
        // On the same port: everyone's connections find it again.
        await this.#launch();
        this.#logger.info('embedded PostgreSQL is back');
      } catch (error) {
        this.#logger.error({ err: error }, 'embedded PostgreSQL did not start again');
        await this.#process?.stop();
      }
    }
  }
}

function readRecord(dataDir: string): Record | undefined {
  const path = join(dataDir, 'postgres.json');
  return existsSync(path) ? recordSchema.parse(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
}

function makeRecord(dataDir: string, account: ServerAccount | undefined): Record {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const folder = reachableFolder(account, dataDir, randomUUID());
  const inside = !relative(dataDir, folder).startsWith('..');
  const record = {
    folder: inside ? relative(dataDir, folder) : folder,
    superuserPassword: newPassword(),
    ownerPassword: newPassword(),
    applicationPassword: newPassword(),
  };
  const path = join(dataDir, 'postgres.json');
  writeFileSync(`${path}.new`, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
  return record;
}

function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

async function initialise(
  account: ServerAccount | undefined,
  binaries: EmbeddedBinaries,
  cluster: string,
  password: string,
): Promise<void> {
  const unfinished = `${cluster}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  const passwordFile = `${cluster}.password`;
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account !== undefined) chownSync(passwordFile, account.uid, account.gid);
  try {
    await runProgram(account, binaries.initdb, [
      '-D',
      unfinished,
      '-U',
      'postgres',
      '--pwfile',
      passwordFile,
      '-A',
      'scram-sha-256',
      '-E',
      'UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      ...(process.platform === 'linux' ? ['--sync-method=syncfs'] : []),
    ]);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  // Atomic: a cluster that was interrupted in the making never looks made.
  renameSync(unfinished, cluster);
}

/** As superuser, once; the database comes last and so proves the rest. */
async function createRolesAndDatabase(client: Client, record: Record): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
  if (rowCount === 1) return;
  await client.query(loginSql(OWNER_ROLE, 'createdb', record.ownerPassword));
  await client.query(loginSql(APPLICATION_ROLE, 'nocreatedb', record.applicationPassword));
  await client.query(`create database ${DATABASE} owner ${OWNER_ROLE}`);
}

function loginSql(name: string, rights: string, password: string): string {
  return `
    do $$ begin create role ${name}; exception when duplicate_object then null; end $$;
    alter role ${name} login nosuperuser nobypassrls nocreaterole ${rights} password '${password}'`;
}

function isStarting(error: unknown): boolean {
  const code = (error as { code?: string }).code;
  // 57P03: starting up or recovering.
  return (
    code === 'ECONNREFUSED' ||
    code === 'ECONNRESET' ||
    code === '57P03' ||
    (error as Error).message.startsWith('Connection terminated')
  );
}

function freePort(): Promise<number> {
  return new Promise((resolvePort, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolvePort(port));
    });
  });
}
