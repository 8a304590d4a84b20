import { createComputePool, type ComputePool } from '../compute/pool.ts';
import type { Config } from '../platform/config.ts';
import type { Database } from '../platform/postgres/database.ts';
import { showBacklog } from '../platform/events/backlog-metrics.ts';
import { startRelay } from '../platform/events/relay.ts';
import { startDeliveryWorker } from '../platform/events/webhooks/delivery-worker.ts';
import { EndpointSecrets } from '../platform/events/webhooks/endpoint-secret.ts';
import { fanOut } from '../platform/events/webhooks/fan-out.ts';
import type { Caller } from '../platform/outgoing/caller.ts';
import { throughOutages } from '../platform/events/through-outages.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { KeyVault } from '../platform/trust/key-vault.ts';
import { SigningKeyStore } from '../platform/trust/signing-key-store.ts';
import { rootUrl } from '../rest-adapter/links.ts';
import { accrueReferrals } from '../subgraphs/agents/referrals/accrue-referrals.ts';
import { churnReferrals } from '../subgraphs/agents/referrals/churn-referrals.ts';
import type { TierServices } from '../subgraphs/agents/referrals/settle-tier.ts';
import { recordFailure, runAttributionJob } from '../subgraphs/attribution/attributions/run-attribution-job.ts';
import { refreshAttributions, REFRESH_QUEUE } from '../subgraphs/attribution/attributions/refresh-attributions.ts';
import { RUN_QUEUE, type RunJob } from '../subgraphs/attribution/attributions/run-attribution.ts';
import { LATE_ROWS_QUEUE } from '../subgraphs/attribution/data-sources/late-rows.ts';
import { PURGE_QUEUE } from '../subgraphs/attribution/data-sources/delete-data-source.ts';
import { retireSandboxSources } from '../subgraphs/attribution/sandbox/retire-sandbox-sources.ts';
import { failSync, runSync, SYNC_QUEUE, type SyncJob } from '../subgraphs/attribution/data-sources/sync-data-source.ts';
import { loadRunData } from '../subgraphs/attribution/attributions/load-run-data.ts';
import { readRevenue } from '../subgraphs/attribution/touchpoints/range-revenue.ts';
import type { SourceKey } from '../subgraphs/attribution/touchpoints/source-key.ts';
import { measureSource, purgeSource } from '../subgraphs/attribution/touchpoints/touchpoint-store.ts';
import { resultSigner } from '../subgraphs/attribution/attributions/sign-result.ts';
import { ComputeMetrics } from './compute-metrics.ts';
import { auditHeadSigner, auditPlaces, repeatedly } from './audit-services.ts';
import type { Ground } from './ground.ts';
import { startHousekeeping } from './housekeeping.ts';

export interface Worker {
  readonly pool: ComputePool;
  /** Takes no more jobs, and waits for the running ones before their threads end. */
  close(): Promise<void>;
}

/** Longest time that a webhook delivery waits for a worker that fell silent: a little more than one may take. */
const MAX_DELIVERY_LEASE_S = 20;

/** Starts taking jobs: analyses on the compute pool, syncs, purges; relays what happens, and delivers it to webhooks. */
export async function startWorker(options: { readonly ground: Ground; readonly config: Pick<Config, 'computeThreads' | 'jobConcurrency' | 'jobLeaseS' | 'publicBaseUrl' | 'signingKeyDays' | 'auditHeadsFile' | 'auditArchiveDir' | 'dataDir' | 'tierTable'>; readonly keyEncryptionKey: string; readonly outgoing: Caller; readonly logger: Logger; readonly clock: () => Date; readonly deliveryWaitsMs?: readonly number[] }): Promise<Worker> {
  const { ground, config, logger, clock } = options;
  const issuer = rootUrl(config.publicBaseUrl);
  const vault = new KeyVault(options.keyEncryptionKey);
  const keys = new SigningKeyStore(ground.database, vault);
  await keys.ensure(issuer);
  const { registry } = ground;
  const computeMetrics = new ComputeMetrics(registry);
  const pool = createComputePool({ threads: config.computeThreads, onAnswered: computeMetrics.onAnswered });
  computeMetrics.show(pool);
  showBacklog(registry, ground.database, logger);
  const services = { database: ground.database, pubSub: ground.pubSub, jobs: ground.jobs, pool, logger, clock, publicBaseUrl: config.publicBaseUrl, loadRunData: loadRunData(ground.clickhouse), signResult: resultSigner(keys, issuer) };
  const { jobs } = ground;

  const onRunExhausted = async (run: RunJob, error: Error) => {
    logger.error({ err: error, attributionId: run.attributionId, revision: run.revision }, 'an analysis failed in every attempt');
    await recordFailure(services, run, { code: 'internal', message: 'The analysis failed three times for a reason of ours. It is not billed; the log names the cause.' });
  };
  await jobs.work(RUN_QUEUE, { concurrency: config.jobConcurrency, onExhausted: onRunExhausted }, (job) => runAttributionJob(services, job));
  await jobs.work(REFRESH_QUEUE, { onExhausted: onRunExhausted }, (job) => runAttributionJob(services, job));
  const refreshing = { database: ground.database, jobs, logger, readRevenue: (key: SourceKey) => readRevenue(ground.clickhouse, key) };
  await jobs.work(LATE_ROWS_QUEUE, {}, (job) => refreshAttributions(refreshing, job));
  const onSyncExhausted = async (sync: SyncJob, error: Error) => {
    logger.error({ err: error, syncId: sync.syncId }, 'a sync failed in every attempt');
    await failSync(ground.database, sync, clock);
  };
  await jobs.work(SYNC_QUEUE, { onExhausted: onSyncExhausted }, (job) => throughOutages(job.signal, () => runSync(ground, measureSource(ground.clickhouse), job.data, clock)));
  await jobs.work(PURGE_QUEUE, {}, ({ data }) => purgeSource(ground.clickhouse, data));
  const { database, pubSub } = ground;
  const tiers = { pubSub, tierTable: config.tierTable };
  const relay = startRelay({ database, pubSub, consumers: [fanOut(pubSub), accrueReferrals(tiers)], logger, registry });
  const leaseMs = Math.min(config.jobLeaseS, MAX_DELIVERY_LEASE_S) * 1_000;
  const deliveries = startDeliveryWorker({ database, pubSub, caller: options.outgoing, secrets: new EndpointSecrets(vault), leaseMs, logger, registry, clock, ...(options.deliveryWaitsMs === undefined ? {} : { waitsMs: options.deliveryWaitsMs }) });
  const housekeeping = startHousekeeping(ground.database, logger, [() => replaceOldKeys(keys, config.signingKeyDays, logger), () => retireSandboxSources(ground.database, jobs), () => endIdleReferrals(database, tiers, logger)]);
  const signer = auditHeadSigner({ database: ground.database, keys, places: auditPlaces(config), issuer, logger, clock });
  const signing = repeatedly(() => signer.signDue(), 'the heads of the audit log could not be signed and will be tried again', logger);
  return {
    pool,
    async close() {
      housekeeping.stop();
      await signing.stop();
      await Promise.all([jobs.stop(), relay.close(), deliveries.close()]);
      await pool.close();
    },
  };
}

/** A key that signs for months is a prize that grows; the next one is known to everybody already. */
async function replaceOldKeys(keys: SigningKeyStore, ageDays: number, logger: Logger): Promise<void> {
  const rotated = ageDays === 0 ? [] : await keys.rotateOlderThan(ageDays);
  for (const environment of rotated) logger.info({ environment, ageDays }, 'the signing key was replaced by the next');
}

async function endIdleReferrals(database: Database, tiers: TierServices, logger: Logger): Promise<void> {
  const churned = await churnReferrals(database, tiers);
  if (churned > 0) logger.info({ churned }, 'referrals ended whose agents have gone quiet');
}
