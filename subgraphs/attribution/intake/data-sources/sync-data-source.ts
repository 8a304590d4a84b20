import { z } from 'zod';
import { ENVIRONMENTS } from '../../../../schema/value-lists.ts';
import type { Environment, Principal } from '../../../../schema/principal.ts';
import { ONE_BY_ONE, type JobQueue, type Jobs } from '../../../../platform/jobs/jobs.ts';
import type { Settle } from '../../../../services/idempotency/exactly-once.ts';
import { newUuid, uuid, type Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount, type Database } from '../../../../platform/postgres/database.ts';
import { SourceRefusedError } from '../connectors/connector.ts';
import type { Connectors } from '../connectors/registry.ts';
import { SourceUnreachableError } from '../connectors/source-unreachable.ts';
import type { DataSource, SourceError, SourceStatistics } from './data-source.ts';
import { DataSourceStore } from './data-source-store.ts';
import { fetchRows, type FetchServices } from './fetch-rows.ts';
import { lateRowsOf, noticeLateRows } from './late-rows.ts';
import { requireSource, type SourceServices } from './require-source.ts';
import { recordSourceDays, type StoredDay } from './source-days.ts';
import { Upload } from './upload.ts';

/** What the sync job is told. */
export interface SyncJob {
  readonly accountId: Uuid;
  readonly environment: Environment;
  readonly dataSourceId: Uuid;
  readonly syncId: Uuid;
}

export const SYNC_QUEUE: JobQueue<SyncJob> = {
  name: 'data-source.sync',
  data: z.object({ accountId: uuid, environment: z.enum(ENVIRONMENTS), dataSourceId: uuid, syncId: uuid }),
  ...ONE_BY_ONE,
};

/**
 * What is stored of a source, by day too, and the state of the store in which that was found (null: it changed
 * meanwhile).
 */
export interface SourceMeasurement extends Omit<SourceStatistics, 'duplicateRate'> {
  readonly days: readonly StoredDay[];
  readonly parts: string | null;
  readonly identitiesDigest: string | null;
}

/** Measures what is stored of a source; filled by the touchpoint store. */
export type MeasureSource = (accountId: string, dataSourceId: string) => Promise<SourceMeasurement>;

/** The sync that a request led to, be it one that was open already. */
export const syncEffect = z.object({ syncId: uuid });

/**
 * Queues a sync of a source; a sync that is queued or running already is returned instead of a second one, and so is
 * an upload under way where rows are sent alone: it ends in what a sync of them does.
 * @throws ProblemError `resource_not_found`.
 */
export async function requestSync(
  services: SourceServices & { readonly jobs: Jobs; readonly connectors: Connectors },
  principal: Principal,
  dataSourceId: Uuid,
  now: Date,
  settle: Settle<z.output<typeof syncEffect>>,
): Promise<Upload> {
  await requireSource(services, principal, dataSourceId);
  return services.database.asTenant(principal, async (em) => {
    const sources = new DataSourceStore(em);
    const source = await sources.lock(dataSourceId);
    const open =
      (await sources.openSync(dataSourceId)) ?? (await runningUpload(services.connectors, sources, source, now));
    if (open !== null) {
      await settle(em, { syncId: open.id as Uuid });
      return open;
    }
    const sync = em.create(Upload, {
      id: newUuid(now.getTime()),
      accountId: principal.accountId as Uuid,
      dataSourceId,
      cause: 'sync',
      status: 'queued',
      startedAt: now,
    });
    // There is nothing to fetch, and the rows of today are there.
    if (source.isSynthetic())
      sync.complete(
        { kind: null, rowsAccepted: source.recordsSynced(), rowsRejected: 0, bytes: 0, contentDigest: null },
        now,
      );
    await em.flush();
    await settle(em, { syncId: sync.id as Uuid });
    if (source.isSynthetic()) return sync;
    const job: SyncJob = {
      accountId: source.accountId,
      environment: source.environment,
      dataSourceId,
      syncId: sync.id,
    };
    await services.jobs.enqueue(em, SYNC_QUEUE, job, { tenant: source.accountId });
    return sync;
  });
}

/** The upload whose rows arrive at a source that fetches none; null for any other. */
async function runningUpload(
  connectors: Connectors,
  sources: DataSourceStore,
  source: DataSource,
  now: Date,
): Promise<Upload | null> {
  const isReceiving = source.statusAt(now) === 'syncing' && !('fetch' in connectors.require(source.type));
  return isReceiving ? sources.runningUpload(source.id as Uuid) : null;
}

export interface SyncServices extends FetchServices {
  readonly jobs: Jobs;
  readonly connectors: Connectors;
  readonly measureSource: MeasureSource;
}

/**
 * Runs a queued sync: the rows of a source whose type fetches are fetched, and what is stored is counted and checked
 * anew. A refusal of the origin ends the sync and leaves the source in error.
 * @param signal aborts when the sync counts no more
 * @throws whatever else went wrong: the sync is to be tried again
 */
export async function runSync(services: SyncServices, job: SyncJob, signal: AbortSignal): Promise<void> {
  const { database, connectors } = services;
  const source = await database.asTenant(wholeAccount(job), (em) => new DataSourceStore(em).find(job.dataSourceId));
  if (source === null) return;
  try {
    // The synthetic ones aside, whose syncs end when they are asked for, a source has a type that was served.
    const connector = connectors.require(source.type);
    if ('fetch' in connector) await fetchRows(services, connector, source, signal);
  } catch (error) {
    if (!(error instanceof SourceRefusedError) || signal.aborted) throw error;
    await endInError(database, job, { code: error.code, message: error.message, retryable: false }, services.clock());
    return;
  }
  await measureAnew(services, job);
}

async function measureAnew({ database, jobs, measureSource, clock }: SyncServices, job: SyncJob): Promise<void> {
  const { days, parts, identitiesDigest, ...statistics } = await measureSource(job.accountId, job.dataSourceId);
  await database.asTenant(wholeAccount(job), async (em) => {
    const source = await new DataSourceStore(em).find(job.dataSourceId);
    const sync = await em.findOne(Upload, { id: job.syncId });
    if (source === null || sync === null) return;
    const now = clock();
    const stored = rowsIn(statistics);
    source.identitiesDigest = identitiesDigest;
    source.statistics = { ...statistics, duplicateRate: duplicateRate(source.recordsSynced(), stored) };
    source.error = null;
    source.lastSync = now;
    source.verifiedParts = parts;
    await recordSourceDays(em, { id: job.dataSourceId, accountId: job.accountId }, days, now);
    sync.complete({ kind: null, rowsAccepted: stored, rowsRejected: 0, bytes: 0, contentDigest: null }, now);
    await em.flush();
    if (source.feedsRefreshes) await noticeLateRows(em, jobs, lateRowsOf(source));
  });
}

/** Closes a sync whose every attempt has failed, so that another one can be asked for. */
export async function failSync(database: Database, job: SyncJob, error: Error, clock: () => Date): Promise<void> {
  const failure =
    error.name === SourceUnreachableError.name
      ? { code: 'source_unreachable', message: 'Where the rows come from did not answer as it should, three times.' }
      : { code: 'internal', message: 'The sync failed three times because of an error on our side. Try again later.' };
  await endInError(database, job, { ...failure, retryable: true }, clock());
}

async function endInError(
  database: Database,
  job: SyncJob,
  failure: Omit<SourceError, 'at'>,
  now: Date,
): Promise<void> {
  await database.asTenant(wholeAccount(job), async (em) => {
    const source = await new DataSourceStore(em).find(job.dataSourceId);
    const sync = await em.findOne(Upload, { id: job.syncId });
    if (sync === null) return;
    const error: SourceError = { ...failure, at: now.toISOString() };
    sync.fail(error, now);
    if (source !== null) source.error = error;
    await em.flush();
  });
}

/** All rows that were found in a source. */
export function rowsIn(found: Omit<SourceStatistics, 'duplicateRate'>): number {
  const { touchpoints, conversions, spendRows, paths, identities = 0, fxRates = 0 } = found;
  return touchpoints + conversions + spendRows + paths + identities + fxRates;
}

/** Share of accepted rows that repeated a natural key and so replaced a row that was there. */
export function duplicateRate(rowsAccepted: number, rowsStored: number): number {
  return rowsAccepted === 0 ? 0 : Math.max(0, 1 - rowsStored / rowsAccepted);
}
