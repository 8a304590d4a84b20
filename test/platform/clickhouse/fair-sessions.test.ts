import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { z } from 'zod';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectClickHouse, type ClickHouse } from '../../../platform/clickhouse/client.ts';
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from '../../../platform/clickhouse/embedded-server.ts';

const logger = pino({ level: 'silent' });
const OneNumber = z.object({ n: z.coerce.number() });
const SLEEP_S = 30;
let folder: string;
let engine: EmbeddedClickHouse;
let clickhouse: ClickHouse;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'liftgraph-engine-'));
  engine = await startEmbeddedClickHouse({ dataDir: folder, logger });
  clickhouse = connectClickHouse({ url: engine.url, database: 'default', logger });
});

afterAll(async () => {
  await clickhouse.close();
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Statements of tenants that do nothing for long; `end` ends them. */
function occupy(tenants: readonly string[]) {
  const over = new AbortController();
  const done = tenants.map((account) =>
    clickhouse
      .rows(
        `SELECT sum(sleepEachRow(0.1)) AS n FROM numbers(${10 * SLEEP_S}) WHERE {account_id:String} != ''`,
        OneNumber,
        {
          params: { account_id: account },
          settings: { max_block_size: 1 },
          timeoutMs: 4 * SLEEP_S * 1_000,
          signal: over.signal,
        },
      )
      .catch(() => undefined),
  );
  return {
    async end() {
      over.abort();
      await Promise.all(done);
      // The engine hears of it a moment later.
      while ((await running()) > 0) await sleep(20);
    },
  };
}

const running = async () =>
  (
    await clickhouse.rows(
      `SELECT count() AS n FROM system.processes WHERE query LIKE '%sleepEachRow%' AND query NOT LIKE '%processes%'`,
      OneNumber,
    )
  )[0]!.n;
const ask = (account: string, options: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {}) =>
  clickhouse.rows('SELECT length({account_id:String}) AS n', OneNumber, {
    params: { account_id: account },
    ...options,
  });

async function tookMs(work: Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work;
  return performance.now() - startedMs;
}

test('sixty statements of one tenant leave sessions to its neighbours', async () => {
  const busy = occupy(Array<string>(60).fill('busy'));
  try {
    while ((await running()) < 4) await sleep(20);
    for (let read = 0; read < 5; read += 1) expect(await tookMs(ask('neighbour'))).toBeLessThan(5_000);
    expect(await running()).toBe(4);
    await clickhouse.ping();
  } finally {
    await busy.end();
  }
});

test('statements of no tenant come through when tenants have all sessions', async () => {
  const busy = occupy(['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b', 'c']);
  try {
    while ((await running()) < 8) await sleep(20);
    expect(await tookMs(clickhouse.command('SELECT 1'))).toBeLessThan(5_000);
    await clickhouse.ping();
  } finally {
    await busy.end();
  }
});

test('whoever waits for longer than its statement may take meets an outage, not an ended statement', async () => {
  const busy = occupy(['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b']);
  try {
    while ((await running()) < 8) await sleep(20);
    const error: unknown = await ask('c', { timeoutMs: 1_000 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ type: 'service_unavailable' });
    expect(error).not.toMatchObject({ problem: { code: 'statement_ended' } });
  } finally {
    await busy.end();
  }
});

test('the probe fails when tenants wait and no session comes free', async () => {
  const busy = occupy(['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b']);
  const waiting = ask('c', { timeoutMs: 60_000 });
  try {
    while ((await running()) < 8) await sleep(20);
    let isUp = true;
    for (const deadlineMs = performance.now() + 25_000; isUp && performance.now() < deadlineMs; await sleep(200))
      isUp = await clickhouse.ping().then(
        () => true,
        () => false,
      );
    expect(isUp).toBe(false);
  } finally {
    await busy.end();
  }
  expect(await waiting).toEqual([{ n: 1 }]);
  await clickhouse.ping();
});

test('a client that leaves while it waits gives its turn up', async () => {
  const busy = occupy(['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b']);
  try {
    while ((await running()) < 8) await sleep(20);
    const left = await Promise.all(
      Array.from({ length: 300 }, () =>
        ask('c', { timeoutMs: 60_000, signal: AbortSignal.timeout(300) }).then(
          () => false,
          () => true,
        ),
      ),
    );
    expect(left).not.toContain(false);
    // Nobody waits any more in the name of c: else the next one would be refused at once, as one too many.
    expect(await tookMs(ask('c', { timeoutMs: 1_500 }).catch(() => undefined))).toBeGreaterThan(1_000);
  } finally {
    await busy.end();
  }
});

test('a tenant with too many statements waiting is refused, its neighbours are not', async () => {
  const busy = occupy(Array<string>(4 + 256).fill('busy'));
  try {
    while ((await running()) < 4) await sleep(20);
    await sleep(500);
    expect(await tookMs(ask('busy', { timeoutMs: 20_000 }).catch(() => undefined))).toBeLessThan(10_000);
    expect(await ask('neighbour')).toEqual([{ n: 9 }]);
  } finally {
    await busy.end();
  }
});
