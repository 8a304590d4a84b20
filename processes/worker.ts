import { createComputePool, type ComputePool } from '../compute/pool.ts';
import type { ComputeThreads } from '../compute/threads.ts';
import type { Config } from './config/config.ts';
import { showBacklog } from '../services/events/backlog-metrics.ts';
import { startRelay } from '../services/events/relay.ts';
import { startDeliveryWorker } from '../services/webhooks/delivery-worker.ts';
import { EndpointSecrets } from '../services/webhooks/endpoint-secret.ts';
import { fanOut } from '../services/webhooks/fan-out.ts';
import type { Caller } from '../platform/outgoing/caller.ts';
import { startRounds } from '../platform/jobs/rounds.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { KeyVault } from '../services/trust/key-vault.ts';
import { SigningKeyStore } from '../services/trust/signing-key-store.ts';
import { rootUrl } from '../rest-adapter/links.ts';
import { accrueReferrals } from '../subgraphs/agents/referrals/accrue-referrals.ts';
import type { TierServices } from '../subgraphs/agents/referrals/settle-tier.ts';
import { Connectors, SERVED } from '../subgraphs/attribution/intake/connectors/registry.ts';
import { SourceCredentials } from '../subgraphs/attribution/intake/connectors/source-credentials.ts';
import { retireSandboxSources } from '../subgraphs/attribution/sandbox/retire-sandbox-sources.ts';
import { earnCommissions } from '../subgraphs/billing/commissions/earn-commissions.ts';
import { isRepetition } from '../subgraphs/billing/fees/charge.ts';
import { chargeAnalyses } from '../subgraphs/billing/fees/charge-analyses.ts';
import { payOut, payoutMonth } from '../subgraphs/billing/payouts/pay-out.ts';
import { alertSpend } from '../subgraphs/billing/spend-limits/alert-spend.ts';
import { closeMonths, type InvoiceServices } from '../subgraphs/billing/invoices/close-months.ts';
import { endPeriods } from '../subgraphs/billing/subscriptions/end-periods.ts';
import { proveValue } from '../subgraphs/billing/value-proofs/prove-value.ts';
import { auditPlaces, startHeadSigning } from './audit-services.ts';
import type { BackingServices } from './backing-services.ts';
import { ComputeMetrics } from './compute-metrics.ts';
import { endReferrals } from './end-referrals.ts';
import { startHousekeeping } from './housekeeping.ts';
import { handleJobs } from './job-handlers.ts';

export interface WorkerOptions {
  readonly backing: BackingServices;
  readonly config: Pick<
    Config,
    | 'computeThreads'
    | 'jobConcurrency'
    | 'jobLeaseS'
    | 'publicBaseUrl'
    | 'signingKeyDays'
    | 'auditHeadsFile'
    | 'auditArchiveDir'
    | 'dataDir'
    | 'tierTable'
    | 'commissionDecay'
  >;
  /** Of others, for the models; its own, as many as `computeThreads` says, when absent. */
  readonly threads?: ComputeThreads;
  /** Opens the signing keys, the secrets of webhooks and the credentials of data sources. */
  readonly keyEncryptionKey: string;
  /** Calls webhooks. */
  readonly outgoing: Caller;
  /** The types of data sources that are synced; those of every deployment when absent. */
  readonly connectors?: Connectors;
  readonly logger: Logger;
  readonly clock: () => Date;
  /** Pauses between the attempts of a delivery; those of the contract when absent. */
  readonly deliveryWaitsMs?: readonly number[];
}

/** What runs beside the requests: jobs, the relay of events, webhook deliveries and housekeeping. */
export interface Worker {
  readonly pool: ComputePool;
  /** Takes no more jobs, and waits for the running ones before their threads end. */
  close(): Promise<void>;
}

/** Longest time that a webhook delivery waits for a worker that fell silent: a little more than one may take. */
const MAX_DELIVERY_LEASE_S = 20;

/** Nobody need wake whoever ends the periods of subscriptions. */
const PERIODS_TOPIC = 'billing-periods';
const PERIODS_EVERY_MS = 60_000;

/** Starts taking jobs, relaying events, delivering them to webhooks, and housekeeping. */
export async function startWorker({
  backing,
  config,
  threads,
  keyEncryptionKey,
  outgoing,
  connectors = new Connectors(SERVED),
  logger,
  clock,
  deliveryWaitsMs,
}: WorkerOptions): Promise<Worker> {
  const { database, pubSub, jobs, registry } = backing;
  const issuer = rootUrl(config.publicBaseUrl);
  const vault = new KeyVault(keyEncryptionKey);
  const keys = new SigningKeyStore(database, vault);
  await keys.ensure(issuer);
  const computeMetrics = new ComputeMetrics(registry);
  const pool = createComputePool({ threads: threads ?? config.computeThreads, onAnswered: computeMetrics.onAnswered });
  computeMetrics.show(pool);
  showBacklog(registry, database, logger);
  const sourceCredentials = new SourceCredentials(vault);
  await handleJobs({ backing, config, pool, keys, issuer, connectors, sourceCredentials, logger, clock });

  const tiers = { pubSub, tierTable: config.tierTable };
  const commissions = { pubSub, tierTable: config.tierTable, decay: config.commissionDecay };
  // A commission rests on the charge, and on the referral that the same analysis may have made active.
  const consumers = [
    chargeAnalyses,
    proveValue(keys, issuer),
    accrueReferrals({ ...tiers, isRepetition }),
    earnCommissions(commissions),
    fanOut(pubSub),
    alertSpend(pubSub),
  ];
  const relay = startRelay({ database, pubSub, consumers, logger, registry });
  const leaseMs = Math.min(config.jobLeaseS, MAX_DELIVERY_LEASE_S) * 1_000;
  const deliveries = startDeliveryWorker({
    database,
    pubSub,
    caller: outgoing,
    secrets: new EndpointSecrets(vault),
    leaseMs,
    logger,
    registry,
    clock,
    ...(deliveryWaitsMs === undefined ? {} : { waitsMs: deliveryWaitsMs }),
  });
  const periods = startRounds({
    pubSub,
    topic: PERIODS_TOPIC,
    work: async () => ((await endPeriods({ database, pubSub })) > 0 ? 0 : PERIODS_EVERY_MS),
    failed: (error) => logger.warn({ err: error }, 'periods of subscriptions could not be ended and will be again'),
  });
  const housekeeping = startHousekeeping(database, logger, [
    () => replaceOldKeys(keys, config.signingKeyDays, logger),
    () => retireSandboxSources(database, jobs),
    () => endReferralsAndPay(database, tiers, logger),
    () => makeInvoices({ database, pubSub }, logger),
  ]);
  const signing = startHeadSigning({ database, keys, places: auditPlaces(config), issuer, logger, clock });
  return {
    pool,
    async close() {
      housekeeping.stop();
      await signing.stop();
      await Promise.all([jobs.stop(), relay.close(), deliveries.close(), periods.close()]);
      await pool.close();
    },
  };
}

/** The longer a key signs, the more a thief gains by it; its successor is published already. */
async function replaceOldKeys(keys: SigningKeyStore, ageDays: number, logger: Logger): Promise<void> {
  const rotated = ageDays === 0 ? [] : await keys.rotateOlderThan(ageDays);
  for (const environment of rotated) logger.info({ environment, ageDays }, 'the signing key was replaced by the next');
}

/** In this order: what ends with a referral is not paid any more. */
async function endReferralsAndPay(database: Database, tiers: TierServices, logger: Logger): Promise<void> {
  const { pubSub } = tiers;
  const churned = await endReferrals(database, tiers);
  if (churned > 0) logger.info({ churned }, 'referrals ended whose agents have gone');
  const month = await payoutMonth(database);
  const paid = await payOut({ database, pubSub }, month);
  if (paid.length > 0) logger.info({ payouts: paid.length, month }, 'commissions were paid');
}

async function makeInvoices(services: InvoiceServices, logger: Logger): Promise<void> {
  const { made, late } = await closeMonths(services);
  if (made + late > 0) logger.info({ made, late }, 'months were closed');
}
