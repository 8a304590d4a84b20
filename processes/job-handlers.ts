import type { ComputePool } from '../compute/pool.ts';
import type { Config } from './config/config.ts';
import { throughOutages } from '../platform/jobs/through-outages.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import type { SigningKeyStore } from '../services/trust/signing-key-store.ts';
import { loadRunData } from '../subgraphs/attribution/analysis/attributions/load-run-data.ts';
import { attributionKind } from '../subgraphs/attribution/analysis/attributions/attribution-kind.ts';
import { refreshAttributions } from '../subgraphs/attribution/analysis/attributions/refresh-attributions.ts';
import { insightKind } from '../subgraphs/attribution/analysis/insights/insight-kind.ts';
import { workOnRuns } from '../subgraphs/attribution/runs/work-on-runs.ts';
import { resultSigner } from '../subgraphs/attribution/analysis/attributions/sign-result.ts';
import type { Connectors } from '../subgraphs/attribution/intake/connectors/registry.ts';
import type { SourceCredentials } from '../subgraphs/attribution/intake/connectors/source-credentials.ts';
import { PURGE_QUEUE } from '../subgraphs/attribution/intake/data-sources/delete-data-source.ts';
import { LATE_ROWS_QUEUE } from '../subgraphs/attribution/intake/data-sources/late-rows.ts';
import {
  failSync,
  runSync,
  SYNC_QUEUE,
  type SyncJob,
} from '../subgraphs/attribution/intake/data-sources/sync-data-source.ts';
import { orderCosts, type OrderCostsQuery } from '../subgraphs/attribution/intake/touchpoints/order-costs.ts';
import { readRevenue, type RevenueQuery } from '../subgraphs/attribution/intake/touchpoints/range-revenue.ts';
import type { SourceKey } from '../subgraphs/attribution/intake/touchpoints/source-key.ts';
import { measureSource, purgeSource } from '../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import { feeAhead } from '../subgraphs/billing/fees/charge.ts';
import type { BackingServices } from './backing-services.ts';
import { recordsPort } from './subgraph-set.ts';

export interface JobHandlersOptions {
  readonly backing: BackingServices;
  readonly config: Pick<Config, 'jobConcurrency' | 'publicBaseUrl'>;
  readonly pool: ComputePool;
  /** Sign completed results, in the name of `issuer`. */
  readonly keys: SigningKeyStore;
  /** The service's address without `/v1`. */
  readonly issuer: string;
  /** Fetch the rows of sources, with credentials that were sealed when they were connected. */
  readonly connectors: Connectors;
  readonly sourceCredentials: SourceCredentials;
  readonly logger: Logger;
  readonly clock: () => Date;
}

/**
 * Of each kind beside analyses. A tenant has one place of them, so that a job of his that is stuck leaves one to the
 * others.
 */
const BESIDE_EACH_OTHER = 2;

/**
 * Takes jobs from every queue: analyses, runs that reads need, refreshes after late rows, syncs, and purges of deleted
 * sources.
 */
export async function handleJobs({
  backing,
  config,
  pool,
  keys,
  issuer,
  connectors,
  sourceCredentials,
  logger,
  clock,
}: JobHandlersOptions): Promise<void> {
  const { database, pubSub, jobs, clickhouse } = backing;

  const analyses = {
    database,
    pubSub,
    jobs,
    pool,
    logger,
    clock,
    publicBaseUrl: config.publicBaseUrl,
    loadRunData: loadRunData(clickhouse),
    signResult: resultSigner(keys, issuer),
    feeAhead,
  };
  await workOnRuns(analyses, attributionKind(analyses), {
    asked: config.jobConcurrency,
    refreshed: BESIDE_EACH_OTHER,
  });

  await workOnRuns(analyses, insightKind(analyses), { asked: BESIDE_EACH_OTHER, refreshed: 1 });

  const refreshes = {
    database,
    jobs,
    logger,
    readRevenue: (key: SourceKey, queries: readonly RevenueQuery[]) => readRevenue(clickhouse, key, queries),
    orderCosts: (query: OrderCostsQuery) => orderCosts(clickhouse, query),
  };
  await jobs.work(LATE_ROWS_QUEUE, { concurrency: BESIDE_EACH_OTHER }, (job) => refreshAttributions(refreshes, job));

  const syncs = {
    database,
    jobs,
    connectors,
    sourceCredentials,
    ...recordsPort({ backing, clock }),
    measureSource: measureSource(clickhouse, clock),
    clock,
  };
  const onSyncExhausted = async (sync: SyncJob, error: Error) => {
    logger.error({ err: error, syncId: sync.syncId }, 'a sync failed in every attempt');
    await failSync(database, sync, error, clock);
  };
  await jobs.work(SYNC_QUEUE, { concurrency: BESIDE_EACH_OTHER, onExhausted: onSyncExhausted }, (job) =>
    throughOutages(job.signal, () => runSync(syncs, job.data, job.signal)),
  );
  await jobs.work(PURGE_QUEUE, { concurrency: BESIDE_EACH_OTHER }, ({ data }) => purgeSource(clickhouse, data));
}
