// What the trust envelope and the tests of the credit cost: the run with and without each, alternating in one process,
// and the envelope of a record.
//   npm run bench trust-cost            10 million touchpoints
//   npm run bench trust-cost 1000000
// Prints the medians of wall clock and processor time, their ratio, and the parts that the envelope adds. Linux only.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { insufficientData } from '../compute/outcome.ts';
import { createComputePool, type TaskRunner } from '../compute/pool.ts';
import { connectClickHouse } from '../platform/clickhouse/client.ts';
import { startEmbeddedClickHouse } from '../platform/clickhouse/embedded-server.ts';
import { newUuid } from '../platform/identifiers.ts';
import { createLogger } from '../platform/telemetry/logs.ts';
import { recordEnvelope } from '../services/trust/envelope.ts';
import {
  analyze,
  runOptionsOf,
  seedOf,
  type RunParameters,
} from '../subgraphs/attribution/analysis/attributions/analyze.ts';
import { measureEvidence, type AssessableRun } from '../subgraphs/attribution/analysis/attributions/assess-trust.ts';
import type { ModelOutcomes } from '../subgraphs/attribution/analysis/attributions/compose-figures.ts';
import { loadRunData } from '../subgraphs/attribution/analysis/attributions/load-run-data.ts';
import type { TrustEvidence } from '../subgraphs/attribution/analysis/attributions/trust-evidence.ts';
import { presentTrust } from '../subgraphs/attribution/analysis/attributions/present-trust.ts';
import { JourneyStore, loadJourneys } from '../subgraphs/attribution/analysis/journeys/journey-store.ts';
import { migrateColumnarTables } from '../subgraphs/attribution/intake/touchpoints/columnar-schema.ts';
import { ingestRecords } from '../subgraphs/attribution/intake/files/ingest-records.ts';
import { ReadingRoom } from '../subgraphs/attribution/intake/files/reading-room.ts';
import { storedDays } from '../subgraphs/attribution/intake/touchpoints/stored-days.ts';
import { countStoredRows } from '../subgraphs/attribution/intake/touchpoints/stored-rows.ts';
import { measureSource, sourceSpend } from '../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import { writeConversions, writeTouchpoints } from './ingest/touchpoint-file.ts';

const touchpoints = Number(process.argv[2] ?? 10_000_000);
const ROUNDS = 5;
/** USER_HZ is 100 on every Linux of today. */
const MS_PER_TICK = 10;
const DATE_RANGE = ['2025-01-01', '2025-06-29'] as const;

const folder = await mkdtemp(join(tmpdir(), 'liftgraph-bench-'));
const logger = createLogger({ level: 'fatal', format: 'json', destination: process.stderr });
const engine = await startEmbeddedClickHouse({ dataDir: folder, logger });
const clickhouse = connectClickHouse({ url: engine.url, database: 'liftgraph', logger });
const pool = createComputePool();
try {
  await migrateColumnarTables(clickhouse);
  await pool.warm();
  const source = { accountId: newUuid(0), dataSourceId: newUuid(0) };
  const files = [join(folder, 'touchpoints.csv'), join(folder, 'orders.csv')] as const;
  await writeTouchpoints(files[0], touchpoints);
  await writeConversions(files[1], touchpoints);
  const room = new ReadingRoom({ folder: join(folder, 'uploads') });
  for (const file of files) {
    const options = { clickhouse, room, source, uploadId: newUuid(Date.now()), mediaType: 'text/csv', now: new Date() };
    await ingestRecords(await room.inPlace(source.accountId, file, (await stat(file)).size), options);
  }
  const { days: recordedDays, parts: recordedParts } = await measureSource(clickhouse, () => new Date())(
    source.accountId,
    source.dataSourceId,
  );

  const query = {
    ...source,
    startDate: DATE_RANGE[0],
    endDate: DATE_RANGE[1],
    lookbackDays: 30,
    conversionEvent: 'purchase',
    now: new Date(),
    verifiedParts: recordedParts,
  };
  const parameters: RunParameters = {
    model: 'causal',
    rangeStartS: Date.parse(DATE_RANGE[0]) / 1000,
    rangeEndS: Date.parse(DATE_RANGE[1]) / 1000 + 86_400,
    lookbackS: 30 * 86_400,
    granularity: 'daily',
    confidenceLevel: 0.95,
    markovOrder: 1,
    baselineChannels: ['direct', 'organic*'],
    currency: 'EUR',
    seed: 'bench',
  };
  const services = {
    pool,
    onProgress: () => undefined,
    signal: new AbortController().signal,
    clockMs: () => performance.now(),
    startedMs: 0,
  };
  const provenance = {
    measuredAt: new Date(),
    recordedDays,
    lastArrival: new Date(),
    syncIntervalS: 86_400,
    citationReliability: 0,
  };

  /** Answers at once that nothing could be measured. */
  const untested: TaskRunner = {
    run: (name, input, controls) =>
      name === 'credit_measurement' ? Promise.resolve(insufficientData('not asked')) : pool.run(name, input, controls),
  };
  const withEnvelope = async (runner: TaskRunner = pool): Promise<AssessableRun> => {
    const data = await loadRunData(clickhouse)(query, () => undefined, services.signal);
    let outcomes: ModelOutcomes | undefined;
    const analysis = analyze(data, parameters, { ...services, pool: runner, onOutcomes: (all) => (outcomes = all) });
    const assess = measureEvidence(data, parameters, services);
    const figures = await analysis;
    const { evidence: measured, verifiedParts } = await assess(figures, outcomes!, provenance);
    evidence = measured;
    query.verifiedParts = verifiedParts ?? query.verifiedParts;
    shown = { evidence, figures };
    return data;
  };
  let evidence: TrustEvidence | undefined;
  let shown: { evidence: TrustEvidence; figures: Awaited<ReturnType<typeof analyze>> } | undefined;
  const known = await withEnvelope();
  const without = async (): Promise<void> => {
    const [{ paths, totals, followed }] = await Promise.all([
      loadJourneys(clickhouse, {
        ...source,
        dateRange: DATE_RANGE,
        lookbackDays: query.lookbackDays,
        conversionEvent: query.conversionEvent,
      }),
      sourceSpend(clickhouse, source, DATE_RANGE),
    ]);
    await analyze(
      { ...known, paths, totals, events: followed?.events ?? null, observedUntilS: followed?.observedUntilS ?? 0 },
      parameters,
      services,
    );
  };

  const bare: Cost[] = [];
  const whole: Cost[] = [];
  const withoutTests: Cost[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await costOf(without));
    whole.push(await costOf(() => withEnvelope()));
    withoutTests.push(await costOf(() => withEnvelope(untested)));
  }
  const options = runOptionsOf(known, parameters);
  const seed = seedOf(parameters);
  const weights = { markov: 0.3, shapley: 0.3, dominance: 0, rwa: 0, prav: 0.4 };
  const factsOf = (countsTouches: boolean) =>
    new JourneyStore(clickhouse, {
      ...source,
      dateRange: DATE_RANGE,
      lookbackDays: query.lookbackDays,
      conversionEvent: query.conversionEvent,
      countsTouches,
    }).facts();
  const parts = {
    'facts of the source': () => factsOf(false),
    'the same with touches counted': () => factsOf(true),
    'other rows counted': () =>
      countStoredRows(
        clickhouse,
        { ...source, dateRange: DATE_RANGE, conversionEvent: query.conversionEvent },
        Promise.resolve({ touches: new Map(), cost: new Map() }),
      ),
    'journeys walked': () =>
      pool.run('evidence', {
        paths: known.paths,
        events: known.events,
        rangeStartS: options.rangeStartS,
        rangeEndS: options.rangeEndS,
        lookbackS: options.lookbackS,
        preceding: known.stored.preceding,
        seed,
      }),
    'rows hashed in the store': () => storedDays(clickhouse, source, { deduplicated: false, now: query.now }),
    'sensitivity on a sample': () =>
      pool.run('sensitivity', { paths: known.paths, events: known.events, options, model: 'causal', weights, seed }),
    'tests of the credit on a sample': () => pool.run('credit_measurement', { events: known.events, options }),
  };
  console.log(
    `${touchpoints} touchpoints, ${known.totals.journeys} journeys; ` +
      `${evidence!.claims.filter(({ verified }) => verified).length} of ${evidence!.claims.length} claims verified`,
  );
  console.log(`                                    wall clock   processor (median of ${ROUNDS} pairs)`);
  const show = (name: string, { wallMs, cpuMs: busyMs }: Cost) =>
    console.log(`${name.padEnd(36)}${seconds(wallMs).padEnd(13)}${seconds(busyMs)}`);
  show('the run without the envelope', medianCost(bare));
  show('the run with it', medianCost(whole));
  show('the run with it, without the tests', medianCost(withoutTests));
  const showMore = (name: string, less: readonly Cost[]): void => {
    const more = whole.map((cost, round) => ({
      wallMs: cost.wallMs / less[round]!.wallMs - 1,
      cpuMs: cost.cpuMs / less[round]!.cpuMs - 1,
    }));
    console.log(`${name.padEnd(36)}${percent(medianCost(more).wallMs).padEnd(13)}${percent(medianCost(more).cpuMs)}`);
  };
  showMore('the envelope', bare);
  showMore('the tests of the credit', withoutTests);
  for (const [name, part] of Object.entries(parts))
    show(`  ${name} `, medianCost([await costOf(part), await costOf(part), await costOf(part)]));
  const gone = { source: null, changedDays: new Set<string>() };
  console.log(
    `envelope of an estimate, each       ` +
      `${microseconds(() => presentTrust(shown!.evidence, shown!.figures, gone, new Date(0), '2026-02-01'))} µs`,
  );
  console.log(
    `envelope of a record, each          ${microseconds(() => recordEnvelope(1, new Date(0), '2026-02-01'))} µs`,
  );
} finally {
  await pool.close();
  await clickhouse.close();
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
}

interface Cost {
  readonly wallMs: number;
  readonly cpuMs: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const [startedMs, startedCpuMs] = [performance.now(), cpuMs()];
  await work();
  return { wallMs: performance.now() - startedMs, cpuMs: cpuMs() - startedCpuMs };
}

function medianCost(costs: readonly Cost[]): Cost {
  return { wallMs: median(costs.map(({ wallMs }) => wallMs)), cpuMs: median(costs.map((cost) => cost.cpuMs)) };
}

function microseconds(work: () => unknown): string {
  const times = 200;
  for (let i = 0; i < times; i += 1) work();
  const startedMs = performance.now();
  for (let i = 0; i < times; i += 1) work();
  return (((performance.now() - startedMs) * 1000) / times).toFixed(1);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/**
 * Processor time of this process, all threads, and of its children: the engine. What other programs do at the same time
 * hardly shows in it.
 */
function cpuMs(): number {
  const own = process.cpuUsage();
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const ticks = children.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return sum + Number(fields[11]) + Number(fields[12]);
  }, 0);
  return (own.user + own.system) / 1000 + ticks * MS_PER_TICK;
}
