import { fork, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, type QueryResultRow } from 'pg';
import { pino } from 'pino';
import {
  runningEmbeddedPostgres,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../platform/postgres/embedded-server.ts';

const logger = pino({ level: 'silent' });
const holder = fileURLToPath(new URL('postgres-holder.mjs', import.meta.url));
const isRoot = process.getuid?.() === 0;
let folder: string;
const folders: string[] = [];
const servers: EmbeddedPostgres[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'liftgraph-embedded-'));
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  for (const path of [folder, ...folders.splice(0)]) rmSync(path, { recursive: true, force: true });
});

async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, logger });
  servers.push(server);
  return server;
}

async function query<T extends QueryResultRow>(url: string, sql: string): Promise<T[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The server's process id, while there is one. */
function postmaster(dataDir: string): number | undefined {
  const record = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')) as { folder: string };
  const pidFile = join(resolve(dataDir, record.folder), 'data', 'postmaster.pid');
  return existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').split('\n')[0]) : undefined;
}

/** A process that ended but was not yet collected by its parent no longer runs. */
function isRunning(pid: number): boolean {
  return ![undefined, 'Z', 'X'].includes(processState(pid)?.[0]);
}

/** State and parent, as /proc tells them; undefined when there is no such process. */
function processState(pid: number): [state: string, parent: number] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [state!, Number(parent)];
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Another process that runs a server on the directory until it is killed. */
async function holdElsewhere(
  dataDir: string,
  identity: { uid?: number; gid?: number } = {},
): Promise<{ child: ChildProcess; urls: Pick<EmbeddedPostgres, 'ownerUrl' | 'applicationUrl'> }> {
  const child = fork(holder, [dataDir], { execArgv: [], ...identity });
  const [urls] = (await once(child, 'message')) as [Pick<EmbeddedPostgres, 'ownerUrl' | 'applicationUrl'>];
  return { child, urls };
}

test('the roles are an owner that is no superuser and an application that is neither', async () => {
  const server = await start(folder);
  const rights = 'select rolname, rolsuper, rolbypassrls, rolcreaterole from pg_roles where rolname = current_user';
  expect(await query(server.ownerUrl, rights)).toEqual([
    { rolname: 'liftgraph_owner', rolsuper: false, rolbypassrls: false, rolcreaterole: false },
  ]);
  expect(await query(server.applicationUrl, rights)).toEqual([
    { rolname: 'liftgraph_app', rolsuper: false, rolbypassrls: false, rolcreaterole: false },
  ]);
  await expect(query(server.applicationUrl, 'create schema mine')).rejects.toMatchObject({ code: '42501' });
  await expect(query(server.applicationUrl, 'set role liftgraph_owner')).rejects.toMatchObject({ code: '42501' });
  await server.stop();
});

test('settings keep what was acknowledged, and whoever has the password on this machine gets in', async () => {
  const server = await start(folder);
  const settings = [
    'fsync',
    'full_page_writes',
    'synchronous_commit',
    'data_checksums',
    'listen_addresses',
    'server_encoding',
    'TimeZone',
  ];
  const [row] = await query<{ settings: string[] }>(
    server.ownerUrl,
    `select array[${settings.map((name) => `current_setting('${name}')`).join(', ')}] as settings`,
  );
  expect(row!.settings).toEqual(['on', 'on', 'on', 'on', '127.0.0.1', 'UTF8', 'UTC']);
  const withoutPassword = new URL(server.applicationUrl);
  withoutPassword.password = 'guess';
  await expect(query(withoutPassword.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  expect(statSync(join(folder, 'postgres.json')).mode & 0o777).toBe(0o600);
  await server.stop();
});

test('whoever has the directory finds the server while it runs, and only then', async () => {
  expect(runningEmbeddedPostgres(folder)).toBeUndefined();
  const server = await start(folder);
  expect(runningEmbeddedPostgres(folder)).toEqual({ ownerUrl: server.ownerUrl, applicationUrl: server.applicationUrl });
  await server.stop();
  expect(runningEmbeddedPostgres(folder)).toBeUndefined();
});

test('data outlives a stop, and nothing keeps running', async () => {
  const first = await start(folder);
  await query(first.ownerUrl, 'create table kept (value int)');
  await query(first.ownerUrl, 'insert into kept values (42)');
  const pid = postmaster(folder)!;
  await first.stop();
  expect(isRunning(pid)).toBe(false);
  const second = await start(folder);
  expect(await query(second.ownerUrl, 'select value from kept')).toEqual([{ value: 42 }]);
  await second.stop();
});

test('a server whose Node process is killed with -9 stops; what it acknowledged is there once restarted', async () => {
  const { child, urls } = await holdElsewhere(folder);
  await query(urls.ownerUrl, 'create table kept as select 42 as value');
  const pid = postmaster(folder)!;
  child.kill('SIGKILL');
  await until(() => !isRunning(pid));
  const server = await start(folder);
  expect(await query(server.ownerUrl, 'select value from kept')).toEqual([{ value: 42 }]);
  await server.stop();
});

test('a server left over because its shell was killed as well is stopped at the next start', async () => {
  const { child } = await holdElsewhere(folder);
  const pid = postmaster(folder)!;
  const watchers = childrenOf(child.pid!);
  expect(watchers).toHaveLength(1);
  // The shell and what it waits with; the server alone is left.
  for (const watcher of [...watchers, ...childrenOf(watchers[0]!).filter((each) => each !== pid)])
    process.kill(watcher, 'SIGKILL');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isRunning(pid)).toBe(true);
  const server = await start(folder);
  expect(isRunning(pid)).toBe(false);
  expect(postmaster(folder)).not.toBe(pid);
  await server.stop();
});

test('a server that dies by itself is started again on the same port', async () => {
  const server = await start(folder);
  await query(server.ownerUrl, 'create table kept as select 42 as value');
  process.kill(postmaster(folder)!, 'SIGKILL');
  const answer = async (): Promise<unknown> => query(server.ownerUrl, 'select value from kept').catch(() => answer());
  expect(await answer()).toEqual([{ value: 42 }]);
  await server.stop();
});

test('a start that was interrupted while the cluster was made begins anew', async () => {
  const first = await start(folder);
  await first.stop();
  const cluster = join(folder, 'postgres', 'data');
  // What initdb leaves when it is killed half-way.
  rmSync(cluster, { recursive: true });
  mkdirSync(`${cluster}.unfinished/base`, { recursive: true });
  const second = await start(folder);
  expect(await query(second.ownerUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
  await second.stop();
});

// Only root can hand a server to another account.
if (isRoot)
  describe('started by root', () => {
    test('the server runs as another account, and the data directory shows it nothing but its own files', async () => {
      chmodSync(folder, 0o700);
      const server = await start(folder);
      expect(statSync(`/proc/${postmaster(folder)}`).uid).not.toBe(0);
      expect(statSync(folder).mode & 0o777).toBe(0o711);
      expect(statSync(join(folder, 'postgres')).mode & 0o777).toBe(0o700);
      await server.stop();
    });

    test('below a folder of root alone the files go where the account can reach them, durably', async () => {
      chmodSync(folder, 0o700);
      const dataDir = join(folder, 'private', '.data');
      const first = await start(dataDir);
      const record = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')) as { folder: string };
      folders.push(record.folder);
      expect(record.folder).toMatch(/^\/var\/lib\/liftgraph\//);
      await query(first.ownerUrl, 'create table kept as select 42 as value');
      await first.stop();
      const second = await start(dataDir);
      expect(await query(second.ownerUrl, 'select value from kept')).toEqual([{ value: 42 }]);
      await second.stop();
    });

    test('an ordinary user runs everything itself', async () => {
      const [uid, gid] = ['-u', '-g'].map((flag) =>
        Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout),
      ) as [number, number];
      const dataDir = join(folder, 'home', '.data');
      spawnSync('/bin/sh', [
        '-c',
        'chmod 711 "$1" && mkdir "$1/home" && chown "$2:$3" "$1/home"',
        'sh',
        folder,
        String(uid),
        String(gid),
      ]);
      const { child, urls } = await holdElsewhere(dataDir, { uid, gid });
      expect(await query(urls.applicationUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
      const pid = postmaster(dataDir)!;
      expect(statSync(`/proc/${pid}`).uid).toBe(uid);
      expect(statSync(dataDir).mode & 0o777).toBe(0o700);
      child.kill('SIGKILL');
      await until(() => !isRunning(pid));
    });
  });

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => processState(each)?.[1] === pid);
}
