import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { z } from 'zod';
import { connectClickHouse, type ClickHouse } from '../../../platform/clickhouse/client.ts';
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from '../../../platform/clickhouse/embedded-server.ts';

const logger = pino({ level: 'silent' });
const OneNumber = z.object({ n: z.coerce.number() });
let folder: string;
let engine: EmbeddedClickHouse;
let clickhouse: ClickHouse;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'liftgraph-engine-'));
  engine = await startEmbeddedClickHouse({ dataDir: folder, logger });
  clickhouse = connectClickHouse({ url: engine.url, database: 'liftgraph', logger });
  await clickhouse.migrate(['CREATE TABLE IF NOT EXISTS t (n UInt64) ENGINE = MergeTree ORDER BY n']);
});

afterEach(async () => {
  await clickhouse.close();
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

const enginePid = (): number => Number(readFileSync(join(folder, 'clickhouse', 'engine.pid'), 'utf8'));
const isRunning = (pid: number): boolean => {
  try {
    // A process that ended but was not yet waited for has no command line.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ESRCH')
      return false;
    throw error;
  }
};

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await sleep(10);
}

const answers = () =>
  clickhouse.rows('SELECT 1 AS n', OneNumber).then(
    () => true,
    () => false,
  );
const count = async (): Promise<number> => (await clickhouse.rows('SELECT count() AS n FROM t', OneNumber))[0]!.n;

test('a killed engine comes back on the same address with every acknowledged row', async () => {
  let acknowledged = 0;
  const killed = new AbortController();
  const writer = (async () => {
    while (!killed.signal.aborted || !(await answers())) {
      try {
        await clickhouse.insert('INSERT INTO t FORMAT CSV', Buffer.from(`${acknowledged}\n`));
        acknowledged += 1;
      } catch (error) {
        expect(error).toMatchObject({ type: 'service_unavailable' });
        await sleep(20);
      }
    }
  })();
  await until(() => acknowledged >= 5);
  process.kill(enginePid(), 'SIGKILL');
  killed.abort();
  await writer;
  // The insert that was cut off may have been stored as well.
  const stored = await clickhouse.rows('SELECT DISTINCT n FROM t ORDER BY n', OneNumber);
  for (let n = 0; n < acknowledged; n += 1) expect(stored[n]).toEqual({ n });
});

test('a running insert is finished before the engine stops', async () => {
  const rows = 3_000_000;
  const slow = clickhouse.command(`INSERT INTO t SELECT sipHash64(number) FROM numbers(${rows})`);
  const outcome = slow.then(
    () => 'stored',
    () => 'refused',
  );
  await until(
    async () =>
      (
        await clickhouse.rows(
          `SELECT count() AS n FROM system.processes WHERE query LIKE 'INSERT INTO t SELECT%'`,
          OneNumber,
        )
      )[0]!.n > 0 || (await count()) > 0,
  );
  await engine.stop();
  expect(await outcome).toBe('stored');
  engine = await startEmbeddedClickHouse({ dataDir: folder, logger });
  await clickhouse.close();
  clickhouse = connectClickHouse({ url: engine.url, database: 'liftgraph', logger });
  expect(await count()).toBe(rows);
});

test('the engine ends with its parent, even when that is killed, and the directory can be opened at once', async () => {
  const pidOfOurs = enginePid();
  await engine.stop();
  expect(isRunning(pidOfOurs)).toBe(false);
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const program = `
    const { startEmbeddedClickHouse } = await import('./platform/clickhouse/embedded-server.ts');
    const { pino } = await import('pino');
    await startEmbeddedClickHouse({ dataDir: ${JSON.stringify(folder)}, logger: pino({ level: 'silent' }) });
    process.stdout.write('up');`;
  const parent = spawn(
    process.execPath,
    ['--import', './processes/typescript-hook.mjs', '--input-type=module', '-e', program],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await new Promise((resolve) => parent.stdout.once('data', resolve));
  const orphan = enginePid();
  parent.kill('SIGKILL');
  engine = await startEmbeddedClickHouse({ dataDir: folder, logger });
  expect(isRunning(orphan)).toBe(false);
});

test('a statement whose client has gone is stopped', async () => {
  const url = new URL(engine.url);
  const authorization = `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`;
  const abandoned = fetch(url.origin, {
    method: 'POST',
    headers: { authorization },
    body: 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)',
    signal: AbortSignal.timeout(300),
  });
  await expect(abandoned).rejects.toThrow();
  await until(
    async () =>
      (
        await clickhouse.rows(
          `SELECT count() AS n FROM system.processes WHERE query LIKE '%numbers(1000000000000)%' AND query NOT LIKE ` +
            `'%processes%'`,
          OneNumber,
        )
      )[0]!.n === 0,
  );
});

test('nothing is answered without the password', async () => {
  const url = new URL(engine.url);
  for (const authorization of [
    '',
    `Basic ${Buffer.from('liftgraph:wrong').toString('base64')}`,
    `Basic ${Buffer.from('default:').toString('base64')}`,
  ]) {
    const response = await fetch(url.origin, { method: 'POST', headers: { authorization }, body: 'SELECT 1' });
    expect([response.status, response.headers.get('x-clickhouse-exception-code')]).toEqual([401, '516']);
  }
});

test('a request sees neither the parameters nor the settings of the one before it', async () => {
  const Settings = z.object({ threads: z.coerce.number(), secret: z.string().optional() });
  const setting = `SELECT getSetting('max_threads') AS threads`;
  const [usual] = await clickhouse.rows(setting, Settings);
  const unusual = usual!.threads + 1;
  expect(
    await clickhouse.rows(`${setting}, {secret:String} AS secret`, Settings, {
      params: { secret: 'x' },
      settings: { max_threads: unusual },
    }),
  ).toEqual([{ threads: unusual, secret: 'x' }]);
  expect(await clickhouse.rows(setting, Settings)).toEqual([usual]);
  await expect(clickhouse.rows('SELECT {secret:String} AS secret', z.object({ secret: z.string() }))).rejects.toThrow(
    'secret',
  );
});

test('data is never executed: blank lines in it end nothing', async () => {
  await clickhouse.command('CREATE TABLE texts (a String) ENGINE = MergeTree ORDER BY a');
  await clickhouse.insert(
    'INSERT INTO texts FORMAT CSV',
    Buffer.from('one\n\nDROP TABLE texts;\n"two\n\nDROP TABLE texts"\n'),
  );
  await clickhouse.insert(
    `INSERT INTO texts SELECT upper(c) FROM input('c String') FORMAT CSV`,
    Buffer.from('three\n\n;DROP TABLE texts\n'),
  );
  const rows = await clickhouse.rows('SELECT a FROM texts ORDER BY a', z.object({ a: z.string() }));
  expect(rows.map(({ a }) => a)).toEqual([
    '',
    '',
    ';DROP TABLE TEXTS',
    'DROP TABLE texts;',
    'THREE',
    'one',
    'two\n\nDROP TABLE texts',
  ]);
});
