import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { requireUuid } from '../../platform/identifiers.ts';
import { MIGRATION_OWNERS } from '../../processes/backing-services.ts';
import type { Json } from '../house.ts';
import { createTestDatabase, testServices } from '../platform.ts';
import { Service } from './service.ts';

/** The service as it runs on several machines: a process per role, on stores that others run. */
export interface SplitHouse {
  /** `http://127.0.0.1:port` of the gateway. */
  readonly root: string;
  startWorker(): Promise<Service>;
  /** Where each process shows its metrics, by its role. */
  metricsAddresses(): readonly (readonly [role: string, url: string])[];
  /** The number of the attempt that is under way at an analysis; undefined while nobody is at work on it. */
  attemptAt(attributionId: string): Promise<number | undefined>;
  /** What the outbox holds of a subject, in order. */
  eventsOf(subject: string): Promise<readonly { readonly type: string; readonly data: Json }[]>;
  /** How many jobs of these queues wait or run. */
  openJobs(...queues: readonly string[]): Promise<number>;
  /** Keeps every change to the analyses waiting until the returned function is called. */
  holdUpWrites(): Promise<() => Promise<void>>;
  /** Ends every process that is left; how each ended, workers last. */
  stop(): Promise<void>;
}

const SUBGRAPHS = ['attribution', 'agents', 'billing'] as const;
/** Below, a busy machine is taken for a dead worker: three heartbeats must fit into half of it. */
export const LEASE_S = 4;

export async function openSplitHouse(): Promise<SplitHouse> {
  const database = await createTestDatabase(MIGRATION_OWNERS);
  const folder = mkdtempSync(join(tmpdir(), 'liftgraph-split-'));
  const shared = {
    LIFTGRAPH_DATA_DIR: folder,
    DATABASE_URL: database.applicationUrl,
    DATABASE_OWNER_URL: database.ownerUrl,
    CLICKHOUSE_URL: testServices().clickhouseUrl,
    INTERNAL_SECRET: randomBytes(32).toString('hex'),
    KEY_PEPPER: randomBytes(32).toString('hex'),
    KEY_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    AUDIT_HEADS_FILE: join(folder, 'audit-heads.ndjson'),
    JOB_LEASE_S: String(LEASE_S),
    COMPUTE_THREADS: '2',
    METRICS_PORT: '0',
    BILLING: 'on',
  };
  const services: Service[] = [];
  const metrics: (readonly [role: string, url: string])[] = [];
  const start = async (role: string, more: Record<string, string> = {}): Promise<Service> => {
    const service = Service.spawn({ env: { ...shared, LIFTGRAPH_ROLE: role, ...more } });
    services.push(service);
    const [welcome] = await service.printed(/ is up(?: at|:) .*\n(?:  Metrics .*\n)?/);
    metrics.push([role, /http\S+\/metrics/.exec(welcome!)?.[0] ?? `${service.root}/metrics`]);
    return service;
  };
  const subgraphs = await Promise.all(SUBGRAPHS.map((name) => start(`subgraph:${name}`)));
  const urls = SUBGRAPHS.map((name, place) => [
    `SUBGRAPH_${name.toUpperCase()}_URL`,
    `${subgraphs[place]!.root}/graphql`,
  ]);
  const gateway = await start('gateway', Object.fromEntries(urls));
  const owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
  return {
    root: gateway.root,
    async attemptAt(attributionId) {
      const { rows } = await owner.query<{ attempt: number }>(
        `select retry_count + 1 as attempt from jobs.job where name = 'attribution.run' and state = 'active' and ` +
          `data ->> 'runId' = $1`,
        [requireUuid('attr', attributionId, 'analysis')],
      );
      return rows[0]?.attempt;
    },
    async eventsOf(subject) {
      return (await owner.query('select type, data from events.outbox where subject = $1 order by sequence', [subject]))
        .rows;
    },
    async openJobs(...queues) {
      const { rows } = await owner.query<{ count: string }>(
        `select count(*) from jobs.job where name = any($1) and state in ('created', 'retry', 'active')`,
        [queues],
      );
      return Number(rows[0]!.count);
    },
    async holdUpWrites() {
      await owner.query('begin; lock table attribution.attributions in exclusive mode');
      return async () => void (await owner.query('commit'));
    },
    startWorker: () => start('worker'),
    metricsAddresses: () => metrics,
    async stop() {
      // Those in front first, as in a release.
      for (const service of services.toReversed())
        if (!service.isOver) await service.stop(service.isFrozen ? 'SIGKILL' : 'SIGINT');
      await owner.end();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
