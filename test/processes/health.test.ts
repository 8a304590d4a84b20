import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { pino } from 'pino';
import { createComputePool } from '../../compute/pool.ts';
import { connectClickHouse, type ClickHouse } from '../../platform/clickhouse/client.ts';
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from '../../platform/clickhouse/embedded-server.ts';
import { createJobs, type Jobs } from '../../platform/jobs/jobs.ts';
import { newUuid } from '../../platform/identifiers.ts';
import { queueStanding } from '../../platform/jobs/queue-standing.ts';
import { MIGRATION_OWNERS } from '../../processes/backing-services.ts';
import { healthOf, KeptCheck } from '../../processes/health.ts';
import { openDatabase, type Database } from '../../platform/postgres/database.ts';
import type { HealthCheck, HealthReport } from '../../rest-adapter/representations/health-report.ts';
import { ATTRIBUTION_RUNS } from '../../subgraphs/attribution/analysis/attributions/attribution.ts';
import { askedRuns, type RunJob } from '../../subgraphs/attribution/runs/run-queues.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../platform.ts';

const logger = pino({ level: 'silent' });
const PATIENT_MS = 40_000;

/** The first report that is as it is waited for, or the last one in time. */
async function until(
  health: () => Promise<HealthReport>,
  isWanted: (report: HealthReport) => boolean,
): Promise<HealthReport> {
  let report = await health();
  for (
    const deadlineMs = performance.now() + PATIENT_MS;
    !isWanted(report) && performance.now() < deadlineMs;
    report = await health()
  )
    await sleep(100);
  return report;
}

const QUEUE = askedRuns(ATTRIBUTION_RUNS);

describe('a check', () => {
  test('is made once for a thousand probes a second, and again for those of the next', async () => {
    let asked = 0;
    const check = new KeptCheck(async () => ({ status: 'ok', queueDepth: (asked += 1) }));
    const first = await Promise.all(Array.from({ length: 1_000 }, () => check.read()));
    expect(new Set(first.map(({ queueDepth }) => queueDepth))).toEqual(new Set([1]));
    for (let probe = 0; probe < 100; probe += 1) await check.read();
    expect(asked).toBe(1);
    await sleep(1_100);
    await Promise.all(Array.from({ length: 1_000 }, () => check.read()));
    expect(asked).toBe(2);
  });

  test('that takes long holds nobody up: degraded meanwhile, down from its failure to its next success', async () => {
    const answers: PromiseWithResolvers<HealthCheck>[] = [];
    const check = new KeptCheck(() => (answers.push(Promise.withResolvers<HealthCheck>()), answers.at(-1)!.promise));
    expect((await check.read()).status).toBe('degraded');
    answers[0]!.reject(new Error('gone'));
    await sleep(10);
    expect((await check.read()).status).toBe('down');
    await sleep(1_100);
    expect((await check.read()).status).toBe('down');
    expect(answers).toHaveLength(2);
    answers[1]!.resolve({ status: 'ok' });
    await sleep(10);
    expect((await check.read()).status).toBe('ok');
  });
});

describe('the health of a process', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let owner: Client;
  let engine: EmbeddedClickHouse;
  let clickhouse: ClickHouse;
  // An engine of its own: what is done to it here would hold up other tests.
  const folder = mkdtempSync(join(tmpdir(), 'health-'));
  const enginePid = () => Number(readFileSync(join(folder, 'clickhouse', 'engine.pid'), 'utf8'));
  const started: Jobs[] = [];
  const startJobs = async (takesJobs: boolean): Promise<Jobs> => {
    const jobs = await createJobs({
      url: testDatabase.applicationUrl,
      logger,
      leaseS: 4,
      takesJobs,
      connectTimeoutMs: PATIENCE_MS,
    });
    started.push(jobs);
    return jobs;
  };
  let isApart = false;
  const pingSubgraphs = async (): Promise<void> => {
    if (isApart) throw new Error('a subgraph cannot be reached');
  };
  const backing = () => ({ database, clickhouse });
  const healthNow = () => healthOf({ pingSubgraphs, backing: backing(), pool: null, uptimeSeconds: () => 1 });

  beforeAll(async () => {
    [testDatabase, engine] = await Promise.all([
      createTestDatabase(MIGRATION_OWNERS),
      startEmbeddedClickHouse({ dataDir: folder, logger }),
    ]);
    database = await openDatabase({
      url: testDatabase.applicationUrl,
      entities: [],
      applicationName: 'health',
      poolMax: 2,
      logger,
      timeoutMs: PATIENCE_MS,
    });
    clickhouse = connectClickHouse({ url: engine.url, database: 'default', logger });
    owner = new Client({ connectionString: testDatabase.ownerUrl });
    await owner.connect();
  });
  afterEach(async () => {
    for (const jobs of started.splice(0)) await jobs.stop();
  });
  afterAll(async () => {
    await owner.end();
    await clickhouse.close();
    await engine.stop();
    await database.close();
    await testDatabase.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('asks each store, and the queue, and the threads where there are any', async () => {
    await startJobs(true);
    const pool = createComputePool({ threads: 1 });
    const health = healthOf({ pingSubgraphs, backing: backing(), pool, uptimeSeconds: () => 7 });
    expect(await health()).toMatchObject({
      status: 'ok',
      uptimeSeconds: 7,
      checks: {
        database: { status: 'ok' },
        columnar_store: { status: 'ok' },
        queue: { status: 'ok', queueDepth: 0 },
        gateway: { status: 'ok' },
        compute_pool: { status: 'ok', threads: 1 },
      },
    });
    // A pool that has lost its threads takes tasks and never runs them.
    await pool.close();
    expect(await health()).toMatchObject({ status: 'down', checks: { compute_pool: { status: 'down', threads: 0 } } });
  });

  test('is down while a subgraph does not answer', async () => {
    await startJobs(true);
    isApart = true;
    try {
      expect(await healthNow()()).toMatchObject({ status: 'down', checks: { gateway: { status: 'down' } } });
    } finally {
      isApart = false;
    }
  });

  test('is down while the engine accepts connections and answers nothing, and the probe answers in time', async () => {
    const health = healthNow();
    await until(health, ({ checks }) => checks['columnar_store']!.status === 'ok');
    process.kill(enginePid(), 'SIGSTOP');
    try {
      const frozen = await until(health, ({ status }) => status === 'down');
      expect(frozen.checks['columnar_store']!.status).toBe('down');
      expect(frozen.checks['database']!.status).toBe('ok');
    } finally {
      process.kill(enginePid(), 'SIGCONT');
    }
    expect(
      (await until(health, ({ checks }) => checks['columnar_store']!.status === 'ok')).checks['columnar_store']!.status,
    ).toBe('ok');
  });

  test('is down while every session of the engine is taken, which still answers pings', async () => {
    const health = healthNow();
    const over = new AbortController();
    // Each holds a session for as long as it is let; more of them than there are sessions.
    const busy = Array.from({ length: 12 }, () =>
      clickhouse
        .command('SELECT count() FROM system.numbers WHERE NOT ignore(sleepEachRow(0.01))', {
          settings: { max_block_size: 100 },
          timeoutMs: 60_000,
          signal: over.signal,
        })
        .catch(() => undefined),
    );
    const stuck = await until(health, ({ checks }) => checks['columnar_store']!.status === 'down');
    expect(stuck.checks['columnar_store']!.status).toBe('down');
    await clickhouse.ping();
    over.abort();
    await Promise.all(busy);
    expect(
      (await until(health, ({ checks }) => checks['columnar_store']!.status === 'ok')).checks['columnar_store']!.status,
    ).toBe('ok');
  });

  test('is down when nobody takes jobs: no worker is there, or those that are take none', async () => {
    await startJobs(false);
    expect((await queueStanding(database, QUEUE.name)).isServed).toBe(false);
    const forsaken = await until(healthNow(), ({ checks }) => checks['queue']!.status === 'down');
    expect(forsaken).toMatchObject({ checks: { queue: { status: 'down', reason: 'No worker takes jobs.' } } });

    const worker = await startJobs(true);
    const health = healthNow();
    expect((await health()).checks['queue']).toEqual({ status: 'ok', queueDepth: 0 });
    await database.asNobody((em) =>
      worker.enqueue<RunJob>(
        em,
        QUEUE,
        { accountId: newUuid(), runId: newUuid(), revision: 1, environment: 'live', delayMs: 0, rows: 0 },
        { tenant: 'account' },
      ),
    );
    expect(await queueStanding(database, QUEUE.name)).toMatchObject({ waiting: 1, running: 0, isServed: true });
    // It has waited for a quarter of an hour.
    await owner.query(
      `update jobs.job set created_on = now() - interval '15 minutes', start_after = now() - interval '15 minutes'`,
    );
    const idle = await until(health, ({ checks }) => checks['queue']!.status === 'down');
    expect(idle.checks['queue']).toEqual({ status: 'down', queueDepth: 1, reason: 'No worker takes jobs.' });
    // One that is being worked on proves that they are taken, however many wait.
    await owner.query(`insert into jobs.job (name, data, state) values ($1, '{}', 'active')`, [QUEUE.name]);
    expect((await until(health, ({ checks }) => checks['queue']!.status === 'ok')).checks['queue']).toEqual({
      status: 'ok',
      queueDepth: 1,
    });
  });
});
