import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { z } from 'zod';
import { connectClickHouse, type ClickHouse } from '../../../platform/clickhouse/client.ts';
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from '../../../platform/clickhouse/embedded-server.ts';
import { ResultTooLargeError } from '../../../platform/clickhouse/outage.ts';

const MIB = 1024 ** 2;
/** What is left on the disk beyond the reserve: a quarter of it is a tenant's, half of it all of them may have. */
const SPARE_BYTES = 2_048 * MIB;
const FILE_MIB = 320;
const TOO_MUCH = { type: 'service_unavailable', problem: { code: 'disk_full' } };

const logger = pino({ level: 'silent' });
let folder: string;
let engine: EmbeddedClickHouse;
let clickhouse: ClickHouse;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'liftgraph-results-'));
  const { bavail, bsize } = await statfs(folder);
  engine = await startEmbeddedClickHouse({ dataDir: folder, logger, reserveBytes: bavail * bsize - SPARE_BYTES });
  clickhouse = connectClickHouse({ url: engine.url, database: 'default', logger });
});

afterAll(async () => {
  await clickhouse.close();
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

const spooled = () => readdir(join(folder, 'clickhouse/spool'));

/** A file of so many mebibytes that nobody reads yet. */
function ask(tenant: string, mebibytes: number, { maxBytes = 1024 * MIB, signal }: Partial<Asked> = {}) {
  const rows = `numbers(${1_000 * mebibytes})`;
  return clickhouse.file(`SELECT repeat('x', 1020) AS text FROM ${rows}`, 'CSVWithNames', {
    params: { account_id: tenant },
    settings: { max_block_size: 1_000 },
    maxBytes,
    ...(signal === undefined ? {} : { signal }),
  });
}

interface Asked {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

test('a result beyond its bound is ended while it is written, and nothing of it stays', async () => {
  const startedMs = performance.now();
  await expect(ask('large', 4_000, { maxBytes: 8 * MIB })).rejects.toBeInstanceOf(ResultTooLargeError);
  expect(performance.now() - startedMs).toBeLessThan(15_000);
  expect(await spooled()).toEqual([]);
  let bytes = 0;
  for await (const piece of await ask('large', 4, { maxBytes: 8 * MIB })) bytes += piece.length;
  expect(bytes).toBeGreaterThan(4_000_000);
});

test('results that nobody reads take no more than a share of the disk, of a tenant and in all', async () => {
  const over = new AbortController();
  const { signal } = over;
  await ask('greedy', FILE_MIB, { signal });
  await expect(ask('greedy', FILE_MIB)).rejects.toMatchObject(TOO_MUCH);
  await ask('another', FILE_MIB, { signal });
  await ask('third', FILE_MIB, { signal });
  await expect(ask('fourth', FILE_MIB)).rejects.toMatchObject(TOO_MUCH);
  expect(await spooled()).toHaveLength(3);

  over.abort();
  while ((await spooled()).length > 0) await sleep(20);
  for await (const piece of await ask('greedy', FILE_MIB)) void piece;
});

test('nothing is written that the reserve has no room for', async () => {
  const small = await mkdtemp(join(tmpdir(), 'liftgraph-results-'));
  const full = await startEmbeddedClickHouse({ dataDir: small, logger, reserveBytes: Number.MAX_SAFE_INTEGER });
  const store = connectClickHouse({ url: full.url, database: 'default', logger });
  try {
    await expect(store.file('SELECT 1 AS n', 'CSVWithNames')).rejects.toMatchObject(TOO_MUCH);
    expect(await store.rows('SELECT 1 AS n', z.object({ n: z.number() }))).toEqual([{ n: 1 }]);
  } finally {
    await store.close();
    await full.stop();
    await rm(small, { recursive: true, force: true });
  }
});
