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
import { throughOutages } from '../../../platform/jobs/through-outages.ts';

/**
 * About a second for each of the rows, all of them in one block: the engine looks at limits and kills only after it.
 */
const STUCK =
  `SELECT sum(editDistance(concat(repeat('ab', 30000), toString(number)), repeat('ba', 30000))) AS n ` +
  `FROM numbers(2000)`;
/** The subquery is computed when the stream is opened, which the engine does on its main thread. */
const HANGING = `WITH (${STUCK}) AS once SELECT once FROM numbers(2)`;
const logger = pino({ level: 'silent' });
const OneNumber = z.object({ n: z.coerce.number() });
const silent = { signal: new AbortController().signal };
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
/** A process that ended but was not yet waited for has no command line. */
const isRunning = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
};
const outcomeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => error,
  );
const sumOf = (n: number) => clickhouse.rows(`SELECT ${n} AS n`, OneNumber);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20);
}

test('a statement that cannot be killed ends with its engine, is told from an outage, and not sent again', async () => {
  const pid = enginePid();
  let sent = 0;
  const stuck = outcomeOf(
    throughOutages(silent.signal, () => {
      sent += 1;
      return clickhouse.rows(STUCK, OneNumber, { timeoutMs: 1_000 });
    }),
  );
  const tenant = { params: { account_id: 'other' }, timeoutMs: 60_000 };
  const neighbour = throughOutages(silent.signal, () =>
    clickhouse.rows(
      "SELECT sleepEachRow(0.5), number AS n FROM numbers(40) WHERE {account_id:String} != ''",
      OneNumber,
      { ...tenant, settings: { max_block_size: 1 } },
    ),
  );
  expect(await stuck).toMatchObject({ type: 'service_unavailable', problem: { code: 'statement_ended' } });
  expect(sent).toBe(1);
  // What ran beside it met an outage, and was tried again.
  expect(await neighbour).toHaveLength(40);
  await until(() => !isRunning(pid));
  expect(enginePid()).not.toBe(pid);
}, 120_000);

test('a statement that cannot be killed does not outlive its client', async () => {
  const pid = enginePid();
  await expect(
    clickhouse.rows(STUCK, OneNumber, { timeoutMs: 600_000, signal: AbortSignal.timeout(500) }),
  ).rejects.toThrow();
  await until(() => !isRunning(pid));
  expect(await throughOutages(silent.signal, () => sumOf(1))).toEqual([{ n: 1 }]);
});

test('a statement that hangs the main thread of the engine is ended with it', async () => {
  const pid = enginePid();
  const stream = clickhouse.batches(HANGING, { timeoutMs: 1_000 })[Symbol.asyncIterator]();
  await expect(stream.next()).rejects.toMatchObject({ type: 'service_unavailable' });
  await until(() => !isRunning(pid));
  expect(await throughOutages(silent.signal, () => sumOf(1))).toEqual([{ n: 1 }]);
});

test(
  'however slowly a result is read, a statement over its time ends alone, and what came of it does not pass for ' +
    'the whole',
  async () => {
    const pid = enginePid();
    const read = async () => {
      for await (const batch of clickhouse.batches(`SELECT repeat('x', 1000) AS n FROM numbers(3000000)`, {
        timeoutMs: 1_000,
      })) {
        void batch;
        await sleep(500);
      }
    };
    await expect(read()).rejects.toMatchObject({ type: 'service_unavailable', problem: { code: 'statement_ended' } });
    await sleep(12_000);
    expect([await sumOf(1), enginePid()]).toEqual([[{ n: 1 }], pid]);
  },
);

test.each(['SELECT', 'WITH once'])(
  'the engine stops within seconds, though a statement (%s) cannot be killed',
  async (kind) => {
    const pid = enginePid();
    const waiting =
      kind === 'SELECT'
        ? clickhouse.rows(STUCK, OneNumber, { timeoutMs: 600_000 })
        : clickhouse.batches(HANGING, { timeoutMs: 600_000 })[Symbol.asyncIterator]().next();
    const stuck = outcomeOf(waiting);
    await sleep(500);
    const startedMs = performance.now();
    await engine.stop();
    expect(performance.now() - startedMs).toBeLessThan(12_000);
    expect(isRunning(pid)).toBe(false);
    expect(await stuck).toMatchObject({ type: 'service_unavailable' });
  },
);

test.each(['SELECT', 'WITH once'])(
  'the engine ends soon after its parent is killed, though a statement (%s) cannot be',
  async (kind) => {
    await engine.stop();
    const root = fileURLToPath(new URL('../../..', import.meta.url));
    const statement = kind === 'SELECT' ? STUCK : `${HANGING} FORMAT ArrowStream`;
    const program = `
    const { startEmbeddedClickHouse } = await import('./platform/clickhouse/embedded-server.ts');
    const { pino } = await import('pino');
    const logger = pino({ level: 'silent' });
    const { url } = await startEmbeddedClickHouse({ dataDir: ${JSON.stringify(folder)}, logger });
    const { origin, username, password } = new URL(url);
    const headers = { 'x-clickhouse-user': username, 'x-clickhouse-key': password };
    void fetch(origin, { method: 'POST', headers, body: ${JSON.stringify(statement)} });
    setTimeout(() => process.stdout.write('up'), 500);`;
    const parent = spawn(
      process.execPath,
      ['--import', './processes/typescript-hook.mjs', '--input-type=module', '-e', program],
      { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await new Promise((resolve) => parent.stdout.once('data', resolve));
    const orphan = enginePid();
    expect(isRunning(orphan)).toBe(true);
    parent.kill('SIGKILL');
    const killedMs = performance.now();
    await until(() => !isRunning(orphan));
    expect(performance.now() - killedMs).toBeLessThan(30_000);
    engine = await startEmbeddedClickHouse({ dataDir: folder, logger });
  },
);
