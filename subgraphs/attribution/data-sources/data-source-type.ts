import { Directive, Field, Float, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../../../platform/graph/connection.ts';
import { DateScalar, DateTimeScalar, JsonScalar } from '../../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../../platform/graph/trust-type.ts';
import type { TrustEnvelope } from '../../../platform/trust/envelope.ts';
import { SOURCE_TYPES, SYNC_SCHEDULES, type SourceStatus, type SourceType, type SyncSchedule } from './data-source.ts';

const enumOf = <Value extends string>(values: readonly Value[]) => Object.fromEntries(values.map((value) => [value.toUpperCase(), value])) as Record<string, Value>;

const SourceTypeEnum = enumOf(SOURCE_TYPES);
registerEnumType(SourceTypeEnum, { name: 'DataSourceType', description: 'Where the rows of a source come from.' });
const SourceStatusEnum = enumOf(['connected', 'syncing', 'error'] as const);
registerEnumType(SourceStatusEnum, { name: 'DataSourceStatus', description: 'CONNECTED, SYNCING while rows arrive, ERROR after a failed sync.' });
const SyncScheduleEnum = enumOf(SYNC_SCHEDULES);
registerEnumType(SyncScheduleEnum, { name: 'SyncSchedule', description: 'How often a source is synced by itself.' });
const SyncStatusEnum = enumOf(['queued', 'running', 'completed', 'failed'] as const);
registerEnumType(SyncStatusEnum, { name: 'SyncStatus', description: 'State of one upload or sync.' });

@ObjectType('DataSourceError', { description: 'Why the last sync failed.' })
export class DataSourceErrorType {
  @Field(() => String)
  code!: string;
  @Field(() => String)
  message!: string;
  @Field(() => DateTimeScalar)
  at!: Date;
  @Field(() => Boolean, { description: 'Whether trying again may help.' })
  retryable!: boolean;
}

@ObjectType('DataSourceCoverage', { description: 'Days that the stored rows reach over.' })
export class CoverageType {
  @Field(() => DateScalar, { nullable: true })
  earliest!: string | null;
  @Field(() => DateScalar, { nullable: true })
  latest!: string | null;
  @Field(() => [DateScalar], { description: 'Days in between without any row.' })
  missingDays!: readonly string[];
}

@ObjectType('DataSourceRecords', { description: 'Stored rows by kind, and rows that were rejected.' })
export class RecordCountsType {
  @Field(() => Float)
  touchpoints!: number;
  @Field(() => Float)
  conversions!: number;
  @Field(() => Float)
  spendRows!: number;
  @Field(() => Float)
  paths!: number;
  @Field(() => Float)
  rejected!: number;
}

@ObjectType('DataSourceQuality', { description: 'How well the rows fit together; shares in [0, 1].' })
export class QualityType {
  @Field(() => Float, { description: 'Share of conversions whose user has a touchpoint.' })
  touchpointMatchRate!: number;
  @Field(() => Float, { description: 'Share of conversions without a touchpoint in the 30 days before.' })
  unattributedShare!: number;
  @Field(() => Float, { description: 'Share of accepted rows that repeated a natural key.' })
  duplicateRate!: number;
}

@ObjectType('CurrentSync', { description: 'An upload or sync that is under way.' })
export class CurrentSyncType {
  @Field(() => ID)
  syncId!: string;
  @Field(() => Float, { nullable: true, description: 'In [0, 1]; null where the size is not known beforehand.' })
  progress!: number | null;
  @Field(() => DateTimeScalar)
  startedAt!: Date;
  @Field(() => Float)
  rows!: number;
}

@ObjectType('DataSourceSync', { description: 'One upload or sync of a source.' })
export class SyncType {
  @Field(() => ID)
  syncId!: string;
  @Field(() => ID)
  dataSourceId!: string;
  @Field(() => SyncStatusEnum)
  status!: 'queued' | 'running' | 'completed' | 'failed';
  @Field(() => Float, { description: 'Rows that were accepted or, for a sync, counted.' })
  rows!: number;
  @Field(() => DateTimeScalar)
  requestedAt!: Date;
  @Field(() => DateTimeScalar)
  startedAt!: Date;
  @Field(() => DateTimeScalar, { nullable: true })
  completedAt!: Date | null;
}

@ObjectType('DataSourceDetail', { description: 'What is stored of a source and how good it is.' })
export class DataSourceDetailType {
  @Field(() => CoverageType)
  coverage!: CoverageType;
  @Field(() => Float, { nullable: true, description: 'Seconds since the last row came.' })
  freshnessSeconds!: number | null;
  @Field(() => RecordCountsType)
  records!: RecordCountsType;
  @Field(() => QualityType, { nullable: true, description: 'Null before any conversion was stored.' })
  quality!: QualityType | null;
  @Field(() => CurrentSyncType, { nullable: true })
  currentSync!: CurrentSyncType | null;
  @Field(() => [SyncType], { description: 'The last ten uploads and syncs, newest first.' })
  recentSyncs!: readonly SyncType[];
}

@Directive('@key(fields: "id")')
@ObjectType('DataSource', { description: 'A connected origin of touchpoints, conversions, spend or aggregated paths.' })
export class DataSourceType {
  @Field(() => ID, { description: 'Public id, ds_ and 22 characters.' })
  id!: string;
  @Field(() => SourceTypeEnum)
  type!: SourceType;
  @Field(() => SourceStatusEnum)
  status!: SourceStatus;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When the first rows are expected; null once they came.' })
  firstSyncEta!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true })
  lastSync!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Next scheduled sync; null for uploads, which are pushed.' })
  nextSync!: Date | null;
  @Field(() => Float, { description: 'Rows accepted over the life of the source.' })
  recordsSynced!: number;
  @Field(() => Float, { nullable: true, description: 'Mean of freshness, match rate and completeness in [0, 1]; null before the first rows.' })
  healthScore!: number | null;
  @Field(() => String)
  name!: string;
  @Field(() => SyncScheduleEnum)
  syncSchedule!: SyncSchedule;
  @Field(() => ID, { nullable: true, description: 'The agent that serves the source.' })
  agentId!: string | null;
  @Field(() => String, { nullable: true, description: 'ISO 4217 currency of all money in the source; null until a row names one.' })
  currency!: string | null;
  @Field(() => [String], { description: 'Channels that are there without marketing; a trailing * matches any ending.' })
  baselineChannels!: readonly string[];
  @Field(() => DateTimeScalar)
  createdAt!: Date;
  @Field(() => DataSourceErrorType, { nullable: true })
  error!: DataSourceErrorType | null;
  @Field(() => TrustEnvelopeType)
  trust!: TrustEnvelope;
}

export const DataSourceConnection = connectionType('DataSource', () => DataSourceType);

@ObjectType('RejectedRow', { description: 'A row that was not taken, and why.' })
export class RejectedRowType {
  @Field(() => ID, { nullable: true })
  uploadId!: string | null;
  @Field(() => Float, { description: 'Line of the file, counted from 1; the header is line 1.' })
  line!: number;
  @Field(() => String, { nullable: true })
  column!: string | null;
  @Field(() => String)
  code!: string;
  @Field(() => String)
  message!: string;
}

export const RejectedRowConnection = connectionType('RejectedRow', () => RejectedRowType);

@ObjectType('IngestReport', { description: 'What came of the rows of one request.' })
export class IngestReportType {
  @Field(() => String, { description: 'Kind that was detected from the header: touchpoints, conversions, spend, paths or events.' })
  kind!: string;
  @Field(() => Float)
  accepted!: number;
  @Field(() => Float)
  rejected!: number;
  @Field(() => [RejectedRowType], { description: 'The first hundred rejected rows.' })
  errors!: readonly RejectedRowType[];
}

@InputType('ConnectDataSourceInput', { description: 'A source to connect.' })
export class ConnectDataSourceInput {
  @Field(() => SourceTypeEnum)
  type!: SourceType;
  @Field(() => JsonScalar, { description: 'csv_upload: filename, content (text, or base64 with encoding), delimiter, mapping {canonical: column}.' })
  credentials!: Record<string, unknown>;
  @Field(() => SyncScheduleEnum, { nullable: true })
  syncSchedule?: SyncSchedule;
  @Field(() => String, { nullable: true })
  name?: string | null;
  @Field(() => ID, { nullable: true, description: 'The serving agent; defaults to the calling one.' })
  agentId?: string | null;
  @Field(() => String, { nullable: true, description: 'IANA time zone; defaults to UTC.' })
  timezone?: string;
  @Field(() => [String], { nullable: true, description: 'Defaults to direct, organic*, (none), unassigned.' })
  baselineChannels?: string[];
}

@ObjectType('ConnectDataSourcePayload')
export class ConnectDataSourcePayload {
  @Field(() => DataSourceType)
  dataSource!: DataSourceType;
  @Field(() => IngestReportType, { nullable: true, description: 'Null where no rows came with the request.' })
  ingest!: IngestReportType | null;
  @Field(() => TrustEnvelopeType)
  trust!: TrustEnvelope;
}

@InputType('SyncDataSourceInput')
export class SyncDataSourceInput {
  @Field(() => ID)
  id!: string;
}

@ObjectType('SyncDataSourcePayload')
export class SyncDataSourcePayload {
  @Field(() => SyncType)
  sync!: SyncType;
  @Field(() => TrustEnvelopeType)
  trust!: TrustEnvelope;
}

@InputType('DeleteDataSourceInput')
export class DeleteDataSourceInput {
  @Field(() => ID)
  id!: string;
}

@ObjectType('DeleteDataSourcePayload')
export class DeleteDataSourcePayload {
  @Field(() => ID)
  id!: string;
  @Field(() => Boolean)
  deleted!: boolean;
  @Field(() => TrustEnvelopeType)
  trust!: TrustEnvelope;
}

@InputType('AddRecordsInput', { description: 'Up to 1,000 rows of one kind, as objects with the canonical column names.' })
export class AddRecordsInput {
  @Field(() => ID)
  dataSourceId!: string;
  @Field(() => [JsonScalar])
  records!: Record<string, unknown>[];
}

@ObjectType('AddRecordsPayload')
export class AddRecordsPayload {
  @Field(() => IngestReportType)
  ingest!: IngestReportType;
  @Field(() => TrustEnvelopeType)
  trust!: TrustEnvelope;
}

export const MAX_JSON_RECORDS = 1000;
