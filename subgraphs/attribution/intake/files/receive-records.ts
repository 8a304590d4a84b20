import type { UploadOptions } from '../../../../schema/contract/upload-options.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { newUuid, publicId, type Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount, type Database, type TenantScope } from '../../../../platform/postgres/database.ts';
import type { RecordsBody } from '../connectors/records-body.ts';
import { DataSourceStore } from '../data-sources/data-source-store.ts';
import type { DataSource } from '../data-sources/data-source.ts';
import { lateRowsOf, noticeLateRows } from '../data-sources/late-rows.ts';
import { failureOf, type OnStored, type RecordsReport } from '../data-sources/records.ts';
import { rememberedOptions, rememberOptions } from '../data-sources/remembered-options.ts';
import { recordSourceDays } from '../data-sources/source-days.ts';
import { duplicateRate, rowsIn, type MeasureSource, type SourceMeasurement } from '../data-sources/sync-data-source.ts';
import { Upload } from '../data-sources/upload.ts';
import { channelNamingOf } from '../channel-rules/channel-rule-store.ts';
import { nearChannelWarning } from '../channel-rules/near-channels.ts';
import { unmatchedSpend } from '../channel-rules/unmatched-spend.ts';
import { IGNORED_PATHS } from '../touchpoints/current-paths.ts';
import { MAX_PAIRS } from '../touchpoints/people.ts';
import { assertReadable, ingestRecords, retried } from './ingest-records.ts';
import type { IngestReport } from './ingest-report.ts';
import { MAX_CONTENT_BYTES } from './reading-limits.ts';
import type { FileSize, ReadingRoom, ReceivedFile } from './reading-room.ts';

export interface ReceiveServices {
  readonly database: Database;
  readonly jobs: Jobs;
  readonly clickhouse: ClickHouse;
  readonly readingRoom: ReadingRoom;
  readonly measureSource: MeasureSource;
  readonly clock: () => Date;
}

/** While rows arrive, the source counts as syncing for this long after the last sign of life. */
const SYNCING_LEASE_MS = 60_000;
const SIGN_OF_LIFE_MS = 15_000;
/** Progress is written when a second has passed and so much has come: thousands of slow senders write nothing. */
const PROGRESS_MS = 1_000;
const PROGRESS_BYTES = 1024 * 1024;

/**
 * Takes a file into a source and keeps the record of it: the body arrives on disk, waits for its account's turn, is
 * read by a process of its own, and its rows are stored. When it resolves, every accepted row is stored; when it
 * throws, whatever was stored is replaced by sending the same file again, since rows are upserted by natural key.
 * @throws ProblemError `resource_not_found`, `conflict` (sandbox_source), `validation_error` (unknown columns, limits
 * of reading), `unsupported_media_type`, `rate_limit_exceeded` (too many uploads of the account under way)
 */
export async function receiveRecords(
  services: ReceiveServices,
  tenant: TenantScope,
  dataSourceId: Uuid,
  records: RecordsBody,
  onStored?: OnStored,
): Promise<RecordsReport> {
  assertReadable(records);
  const leave = services.readingRoom.enter(tenant.accountId);
  try {
    const { source, upload, remembered } = await services.readingRoom.recorded(tenant.accountId, () =>
      beginUpload(services, tenant, dataSourceId, records.options),
    );
    const signs = new SignsOfLife(services, source, upload);
    try {
      await using file = await services.readingRoom.receive(
        source.accountId,
        records.body,
        MAX_CONTENT_BYTES,
        (bytes) => signs.progress(bytes),
      );
      return await services.readingRoom.inTurn(file, (size) =>
        readAndStore(services, { source, upload, remembered, file, size, signs }, records, onStored),
      );
    } catch (error) {
      await services.readingRoom.recorded(source.accountId, () => failUpload(services, source, upload, error));
      throw error;
    } finally {
      signs.end();
    }
  } finally {
    leave();
  }
}

interface UploadUnderWay {
  readonly source: DataSource;
  readonly upload: Upload;
  readonly remembered: Readonly<Record<string, UploadOptions>>;
  readonly file: ReceivedFile;
  readonly size: FileSize;
  readonly signs: SignsOfLife;
}

async function readAndStore(
  services: ReceiveServices,
  { source, upload, remembered, file, size, signs }: UploadUnderWay,
  records: RecordsBody,
  onStored: OnStored | undefined,
): Promise<RecordsReport> {
  const report = await ingestRecords(file, {
    clickhouse: services.clickhouse,
    room: services.readingRoom,
    source: { accountId: source.accountId, dataSourceId: source.id },
    uploadId: upload.id,
    size,
    mediaType: records.mediaType,
    contentEncoding: records.contentEncoding,
    delimiter: source.delimiter ?? 'auto',
    ...(records.options === undefined ? {} : { options: records.options }),
    usualMapping: source.mapping ?? {},
    remembered,
    sourceCurrency: source.currency ?? null,
    onProgress: ({ bytes }) => signs.progress(bytes),
    now: upload.startedAt,
  });
  return completeUpload(services, { source, upload, said: records.options }, report, onStored);
}

async function beginUpload(
  services: ReceiveServices,
  tenant: TenantScope,
  dataSourceId: Uuid,
  said: UploadOptions | undefined,
): Promise<Pick<UploadUnderWay, 'source' | 'upload' | 'remembered'>> {
  const now = services.clock();
  return services.database.asTenant(tenant, async (em) => {
    const sources = new DataSourceStore(em);
    const source = await sources.lock(dataSourceId);
    source.assertChangeable();
    source.syncingUntil = new Date(now.getTime() + SYNCING_LEASE_MS);
    // Of two rows with one natural key the later upload's counts, also within a millisecond or after the clock was set
    // back.
    const [previous] = await sources.recentUploads(dataSourceId, 1);
    const startedAt =
      previous === undefined || previous.startedAt < now ? now : new Date(previous.startedAt.getTime() + 1);
    const upload = em.create(Upload, {
      id: newUuid(startedAt.getTime()),
      accountId: source.accountId,
      dataSourceId,
      cause: 'upload',
      status: 'running',
      startedAt,
    });
    await em.flush();
    return { source, upload, remembered: await rememberedOptions(em, dataSourceId, said) };
  });
}

/**
 * Prolongs the lease of a running upload now and then, so that a killed one stops counting by itself, and tells how far
 * it has come.
 */
class SignsOfLife {
  readonly #services: ReceiveServices;
  readonly #source: DataSource;
  readonly #upload: Upload;
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;
  #told = { bytes: 0, ms: 0 };

  constructor(services: ReceiveServices, source: DataSource, upload: Upload) {
    this.#services = services;
    this.#source = source;
    this.#upload = upload;
    this.#told = { bytes: 0, ms: services.clock().getTime() };
    this.#timer = setInterval(() => this.#tell(), SIGN_OF_LIFE_MS).unref();
  }

  /** @param bytes received, later read */
  progress(bytes: number): void {
    this.#bytes = Math.max(this.#bytes, bytes);
    const isTime = this.#services.clock().getTime() - this.#told.ms >= PROGRESS_MS;
    if (isTime && this.#bytes - this.#told.bytes >= PROGRESS_BYTES) this.#tell();
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #tell(): void {
    const nowMs = this.#services.clock().getTime();
    this.#told = { bytes: this.#bytes, ms: nowMs };
    const until = new Date(nowMs + SYNCING_LEASE_MS);
    // Only a status display hangs on it: when this write fails, the source shows as connected a little early. An upload
    // that is over stays so.
    void this.#services.database
      .asTenant(wholeAccount(this.#source), async (em) => {
        const running = await em.execute<unknown[]>(
          `update attribution.uploads set bytes = ? where id = ? and status = 'running' returning 1`,
          [this.#bytes, this.#upload.id],
        );
        if (running.length > 0)
          await em.execute(`update attribution.data_sources set syncing_until = ? where id = ?`, [
            until,
            this.#source.id,
          ]);
      })
      .catch(() => undefined);
  }
}

async function completeUpload(
  services: ReceiveServices,
  { source, upload, said }: Pick<UploadUnderWay, 'source' | 'upload'> & { readonly said: UploadOptions | undefined },
  report: IngestReport,
  onStored: OnStored | undefined,
): Promise<RecordsReport> {
  const measured = await retried(() => services.measureSource(source.accountId, source.id as Uuid));
  const { days, parts, identitiesDigest, ...statistics } = measured;
  const warnings = await retried(() => warningsOf(services, source, report.kind, measured));
  const now = services.clock();
  return services.database.asTenant(wholeAccount(source), async (em) => {
    const current = await new DataSourceStore(em).lock(source.id as Uuid);
    const record = await em.findOneOrFail(Upload, { id: upload.id });
    record.complete(
      {
        kind: report.kind,
        rowsAccepted: report.rowsAccepted,
        rowsRejected: report.rowsRejected,
        bytes: report.bytes,
        contentDigest: report.contentDigest,
        quality: report.quality,
      },
      now,
    );
    const failure = failureOf(report);
    if (failure !== null) record.fail({ ...failure, at: now.toISOString(), retryable: false }, now);
    const accepted = current.recordsSynced() + report.rowsAccepted;
    current.rowsAccepted = accepted;
    current.rowsRejected = Number(current.rowsRejected) + report.rowsRejected;
    current.currency ??= report.currency;
    current.identitiesDigest = identitiesDigest;
    current.statistics = { ...statistics, duplicateRate: duplicateRate(accepted, rowsIn(statistics)) };
    // Where nothing came, the source is as old as it was.
    if (failure === null) {
      current.error = null;
      current.lastSync = now;
    }
    current.verifiedParts = parts;
    current.syncingUntil = null;
    if (report.rowsAccepted > 0) await rememberOptions(em, current, report.headerDigest, said, now);
    await recordSourceDays(em, { id: source.id as Uuid, accountId: source.accountId }, days, now);
    await em.flush();
    if (current.feedsRefreshes) await noticeLateRows(em, services.jobs, lateRowsOf(current));
    const { kind, rowsAccepted, rowsRejected, firstErrors } = report;
    const stated: RecordsReport = {
      uploadId: publicId('upload', upload.id as Uuid),
      kind,
      rowsAccepted,
      rowsRejected,
      firstErrors,
      warnings: [...report.warnings, ...(current.ignoresPaths() ? [IGNORED_PATHS] : []), ...warnings],
    };
    await onStored?.(em, stated);
    return stated;
  });
}

/** What the rows of this kind, beside those that are there, should be told of. */
async function warningsOf(
  { database, clickhouse }: ReceiveServices,
  source: DataSource,
  kind: IngestReport['kind'],
  { touchpoints, paths, spendRows, identities = 0 }: SourceMeasurement,
): Promise<readonly string[]> {
  if (identities > MAX_PAIRS)
    return [
      `The source holds ${identities.toLocaleString('en-US')} pairs of ids. Analyses read at most ` +
        `${MAX_PAIRS.toLocaleString('en-US')} and fail beyond that.`,
    ];
  if (kind === 'identities' || kind === 'conversions' || kind === 'fx' || spendRows === 0 || touchpoints + paths === 0)
    return [];
  const dataSourceId = source.id as Uuid;
  const naming = await database.asTenant(wholeAccount(source), (em) => channelNamingOf(em, dataSourceId));
  return (await unmatchedSpend(clickhouse, { accountId: source.accountId, dataSourceId, naming })).map(
    nearChannelWarning,
  );
}

async function failUpload(
  services: ReceiveServices,
  source: DataSource,
  upload: Upload,
  cause: unknown,
): Promise<void> {
  const now = services.clock();
  const known = cause instanceof ProblemError;
  const retryable = !known || cause.type === 'service_unavailable';
  await services.database.asTenant(wholeAccount(source), async (em) => {
    const record = await em.findOne(Upload, { id: upload.id });
    const current = await new DataSourceStore(em).find(source.id as Uuid);
    record?.fail(
      {
        code: known ? (cause.problem.code ?? cause.type) : 'interrupted',
        message: known ? cause.message : 'The upload ended before its last row. Send the file again.',
        at: now.toISOString(),
        retryable,
      },
      now,
    );
    if (current !== null) current.syncingUntil = null;
    await em.flush();
  });
}
