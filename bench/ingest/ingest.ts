import { createReadStream, readFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectClickHouse, type ClickHouse } from '../../platform/clickhouse/client.ts';
import { startEmbeddedClickHouse } from '../../platform/clickhouse/embedded-server.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import { JourneyStore } from '../../subgraphs/attribution/analysis/journeys/journey-store.ts';
import { migrateColumnarTables } from '../../subgraphs/attribution/intake/touchpoints/columnar-schema.ts';
import { ingestRecords } from '../../subgraphs/attribution/intake/files/ingest-records.ts';
import { ReadingRoom } from '../../subgraphs/attribution/intake/files/reading-room.ts';
import { writeConversions, writeTouchpoints } from './touchpoint-file.ts';

/**
 * How fast touchpoints come in and journeys come out. Prints the engine's own bare load of the file through the same
 * interface beside ours, then the journey queries, and the peak memory of both processes.
 *   node --import ./processes/typescript-hook.mjs bench/ingest/ingest.ts [touchpoints, default 10000000]
 */
const touchpoints = Number(process.argv[2] ?? 10_000_000);
const folder = await mkdtemp(join(tmpdir(), 'liftgraph-bench-'));
const logger = createLogger({ level: 'warn', format: 'pretty' });
const TICKS_PER_SECOND = 100;
const key = { accountId: 'bench', dataSourceId: 'bench' };
const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
const print = (label: string, value: string): void => void process.stdout.write(`${label.padEnd(34)}${value}\n`);

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const startedMs = performance.now();
  return [await work(), performance.now() - startedMs];
}

/**
 * Processor seconds of this process and of the engine, so that a busy machine doesn't blur the comparison. Linux only.
 */
function processorSeconds(): { node: number; engine: number } {
  const { user, system } = process.cpuUsage();
  const [utime, stime] = readFileSync(`/proc/${enginePid}/stat`, 'latin1')
    .split(') ')[1]!
    .split(' ')
    .slice(11, 13)
    .map(Number) as [number, number];
  return { node: (user + system) / 1e6, engine: (utime + stime) / TICKS_PER_SECOND };
}

async function measured<T>(
  work: () => Promise<T>,
): Promise<{ result: T; tookMs: number; processor: string; processorS: number }> {
  const before = processorSeconds();
  const [result, tookMs] = await timed(work);
  const after = processorSeconds();
  const [node, engine] = [after.node - before.node, after.engine - before.engine];
  return {
    result,
    tookMs,
    processor: `processor: Node ${node.toFixed(1)} s, engine ${engine.toFixed(1)} s`,
    processorS: node + engine,
  };
}

/** Peak resident memory in MB; the engine's process id stands in its folder. Linux only. */
function peakMb(pid: string): number {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
}

async function bareLoad(clickhouse: ClickHouse, file: string): ReturnType<typeof measured<void>> {
  await clickhouse.command(`CREATE TABLE bare (account_id LowCardinality(String) DEFAULT 'a',
    data_source_id LowCardinality(String) DEFAULT 'd', user_id String,
    timestamp DateTime64(3, 'UTC'), event_id String, channel LowCardinality(String), campaign LowCardinality(String),
      source LowCardinality(String),
    medium LowCardinality(String), cost Decimal(18, 6), event_type LowCardinality(String), version UInt64)
    ENGINE = ReplacingMergeTree(version) PARTITION BY (account_id, data_source_id)
      ORDER BY (user_id, timestamp, channel, campaign)`);
  const insert = 'INSERT INTO bare (user_id, timestamp, channel, campaign, cost) FORMAT CSVWithNames';
  const settings = { date_time_input_format: 'best_effort', optimize_on_insert: 0 };
  const load = await measured(() =>
    clickhouse.insert(insert, createReadStream(file, { highWaterMark: 1 << 20 }), { settings, timeoutMs: 600_000 }),
  );
  await clickhouse.command('DROP TABLE bare SYNC');
  return load;
}

const engine = await startEmbeddedClickHouse({ dataDir: folder, logger });
const clickhouse = connectClickHouse({ url: engine.url, database: 'bench', logger });
const enginePid = readFileSync(join(folder, 'clickhouse', 'engine.pid'), 'utf8').trim();
try {
  await migrateColumnarTables(clickhouse);
  const [touchFile, conversionFile] = [join(folder, 'touchpoints.csv'), join(folder, 'conversions.csv')];
  await writeTouchpoints(touchFile, touchpoints);
  await writeConversions(conversionFile, touchpoints);
  print('touchpoints', `${touchpoints} in ${Math.round((await stat(touchFile)).size / 1e6)} MB`);

  const room = new ReadingRoom({ folder: join(folder, 'uploads') });
  // As the service does it: the body arrives on disk first.
  const ingest = async (file: string) => {
    await using received = await room.receive(
      key.accountId,
      createReadStream(file, { highWaterMark: 1 << 20 }),
      Infinity,
    );
    return await ingestRecords(received, {
      clickhouse,
      room,
      source: key,
      uploadId: file,
      mediaType: 'text/csv',
      now: new Date(),
    });
  };
  const ours = await measured(() => ingest(touchFile));
  const report = ours.result;
  if (report.touchpoints !== touchpoints) throw new Error(`${report.touchpoints} of ${touchpoints} were stored`);
  print('peak after ingest', `Node ${peakMb('self')} MB, engine ${peakMb(enginePid)} MB`);
  await ingest(conversionFile);

  const query = {
    ...key,
    dateRange: ['2025-02-01', '2025-06-30'] as const,
    lookbackDays: 30,
    conversionEvent: 'purchase',
  };
  for (const round of ['first', 'second', 'third']) {
    const store = new JourneyStore(clickhouse, query);
    const facts = await measured(() => store.facts());
    const paths = await measured(() => store.loadPaths());
    const events = await measured(() => store.loadEvents());
    const all = [facts, paths, events];
    const sum = (of: (one: (typeof all)[number]) => number) => seconds(all.reduce((total, one) => total + of(one), 0));
    print(
      `journeys, ${round} read`,
      `facts ${seconds(facts.tookMs)}, paths ${seconds(paths.tookMs)}, events ${seconds(events.tookMs)}; all ` +
        `${sum(({ tookMs }) => tookMs)}, processor ${sum(({ processorS }) => processorS * 1000)}`,
    );
    if (round === 'first')
      print(
        '',
        `${paths.result.paths.nulls.length} paths of ${paths.result.totals.journeys} journeys, ` +
          `${events.result?.events.timeS.length} events of ${events.result?.events.userHash.length} users`,
      );
  }
  print('peak after journeys', `Node ${peakMb('self')} MB, engine ${peakMb(enginePid)} MB`);

  const bare = await bareLoad(clickhouse, touchFile);
  print('bare load (INSERT FORMAT CSV)', `${seconds(bare.tookMs)}, ${bare.processor}`);
  print(
    'ours (validated, counted)',
    `${seconds(ours.tookMs)}, ${ours.processor}, ${Math.round(touchpoints / ours.tookMs)} k rows/s`,
  );
  print(
    'ours / bare',
    `${(ours.tookMs / bare.tookMs).toFixed(2)} by the clock, ${(ours.processorS / bare.processorS).toFixed(2)} by ` +
      `processor time`,
  );
} finally {
  await clickhouse.close();
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
}
