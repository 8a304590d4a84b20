import type { z } from 'zod';
import { presentRecord } from '../../../../platform/graph/present-record.ts';
import { publicId, type Uuid } from '../../../../platform/identifiers.ts';
import type { ingestReport } from '../../../../schema/contract/ingest.ts';
import { dataSource, sync, type sourceDetail } from '../../../../schema/contract/source-records.ts';
import type { TrustEnvelope } from '../../../../schema/trust-envelope.ts';
import type { DataSource } from './data-source.ts';
import type { DataSourceType } from './data-source-type.ts';
import { failureOf, type RecordsReport } from './records.ts';
import type { Upload } from './upload.ts';

/** A source as the graph shows it. */
export function presentDataSource(source: DataSource, now: Date, trust: TrustEnvelope): DataSourceType {
  const shown = presentRecord(dataSource, source, {
    status: source.statusAt(now),
    firstSyncEta: source.lastSync == null ? source.createdAt : null,
    lastSync: source.lastArrival(now),
    nextSync: null,
    recordsSynced: source.recordsSynced(),
    healthScore: source.healthScore(now),
    error: source.error == null ? null : { ...source.error, at: new Date(source.error.at) },
  });
  return { ...shown, trust };
}

/** What is told of the uploads and syncs of a source. */
export interface Arrivals {
  /** Newest first. */
  readonly latest: readonly Upload[];
  /** The sync that is queued or running. */
  readonly sync: Upload | null;
  /** The upload that has not ended; of a sync, or sent. */
  readonly upload: Upload | null;
}

/**
 * What is stored of a source, from its last measurement, and what is on its way. `status` is what the answer shows: an
 * upload that began after that was read is of the next answer.
 */
export function presentDetail(
  source: DataSource,
  status: DataSourceType['status'],
  { latest, sync, upload }: Arrivals,
  now: Date,
): z.output<typeof sourceDetail> {
  const statistics = source.statistics ?? null;
  const lastArrival = source.lastArrival(now);
  const arriving = status === 'syncing' ? upload : null;
  // Whoever asked for a sync looks for its id, whatever uploads it takes.
  const open = sync ?? arriving;
  return {
    coverage: { ...source.coverage(now), missingDays: [...(statistics?.missingDays ?? [])] },
    freshnessSeconds:
      lastArrival === null ? null : Math.max(0, Math.round((now.getTime() - lastArrival.getTime()) / 1000)),
    records: {
      touchpoints: statistics?.touchpoints ?? 0,
      conversions: statistics?.conversions ?? 0,
      spendRows: statistics?.spendRows ?? 0,
      paths: statistics?.paths ?? 0,
      identities: statistics?.identities ?? 0,
      fxRates: statistics?.fxRates ?? 0,
      rejected: Number(source.rowsRejected),
    },
    quality:
      statistics === null || statistics.conversions === 0
        ? null
        : { userMatchRate: null, stitchedUserMatchRate: null, ...statistics },
    currentSync:
      open === null
        ? null
        : {
            syncId: publicId('sync', open.id as Uuid),
            progress: null,
            startedAt: open.startedAt,
            rows: arriving?.rowsAccepted ?? 0,
            bytes: Number(arriving?.bytes ?? 0),
          },
    recentSyncs: latest.map((each) => ({
      ...presentSync(each),
      status: isLost(each, source, now) ? 'failed' : each.status,
    })),
  };
}

/** Its process was killed, so nobody closed the record, and the source's lease has run out. */
function isLost(upload: Upload, source: DataSource, now: Date): boolean {
  return upload.status === 'running' && source.statusAt(now) !== 'syncing';
}

/** One upload or sync as the graph shows it. */
export function presentSync(upload: Upload): z.output<typeof sync> {
  return presentRecord(sync, upload, {
    syncId: publicId('sync', upload.id as Uuid),
    rows: upload.rowsAccepted,
    requestedAt: upload.startedAt,
    error: upload.error == null ? null : { ...upload.error, at: new Date(upload.error.at) },
  });
}

/** What came of the rows of one request, as the graph shows it. */
export function presentIngest(report: RecordsReport): z.output<typeof ingestReport> {
  const failure = failureOf(report);
  return {
    uploadId: report.uploadId,
    status: failure === null ? 'completed' : 'failed',
    failure,
    kind: report.kind,
    accepted: report.rowsAccepted,
    rejected: report.rowsRejected,
    errors: report.firstErrors.map((row) => ({ ...row, uploadId: report.uploadId })),
    warnings: [...report.warnings],
  };
}
