import { Directive, Field, Float, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../../../../platform/graph/connection.ts';
import { SOURCE_STATUSES, SOURCE_TYPES, SYNC_SCHEDULES } from '../../../../schema/value-lists.ts';
import { enumOf } from '../../../../platform/graph/enum-of.ts';
import { DateScalar, DateTimeScalar, JsonScalar } from '../../../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../../../platform/graph/trust-type.ts';
import type { TrustEnvelope } from '../../../../schema/trust-envelope.ts';
import type { SourceStatus, SourceType, SyncSchedule } from './data-source.ts';
import { IngestReportType } from './records-type.ts';

const SourceTypeEnum = enumOf(SOURCE_TYPES);
registerEnumType(SourceTypeEnum, { name: 'DataSourceType', description: 'Where the rows of a source come from.' });
const SourceStatusEnum = enumOf(SOURCE_STATUSES);
registerEnumType(SourceStatusEnum, { name: 'DataSourceStatus', description: 'CONNECTED, SYNCING while rows arrive, ERROR after a failed sync.' });
const SyncScheduleEnum = enumOf(SYNC_SCHEDULES);
registerEnumType(SyncScheduleEnum, { name: 'SyncSchedule', description: 'How often a source is synced by itself.' });
const SyncStatusEnum = enumOf(['queued', 'running', 'completed', 'failed'] as const);
registerEnumType(SyncStatusEnum, { name: 'SyncStatus', description: 'State of one upload or sync.' });

@ObjectType('DataSourceError', { description: 'Why the last sync failed.' })
export class DataSourceErrorType {
  @Field(() => String, { description: 'What went wrong, for programs.' })
  code!: string;
  @Field(() => String, { description: 'What went wrong, for people.' })
  message!: string;
  @Field(() => DateTimeScalar, { description: 'When it went wrong.' })
  at!: Date;
  @Field(() => Boolean, { description: 'Whether trying again may help.' })
  retryable!: boolean;
}

@ObjectType('DataSourceCoverage', { description: 'Days that the stored rows reach over.' })
export class CoverageType {
  @Field(() => DateScalar, { nullable: true, description: 'Day of the first row; null without rows.' })
  earliest!: string | null;
  @Field(() => DateScalar, { nullable: true, description: 'Day of the last row; null without rows.' })
  latest!: string | null;
  @Field(() => [DateScalar], { description: 'Days in between without any row.' })
  missingDays!: readonly string[];
}

@ObjectType('DataSourceRecords', { description: 'Stored rows by kind, and rows that were rejected.' })
export class RecordCountsType {
  @Field(() => Float, { description: 'What shoppers saw and clicked.' })
  touchpoints!: number;
  @Field(() => Float, { description: 'What they bought.' })
  conversions!: number;
  @Field(() => Float, { description: 'What channels cost, by day.' })
  spendRows!: number;
  @Field(() => Float, { description: 'Journeys added up by path.' })
  paths!: number;
  @Field(() => Float, { description: 'Rows that were not taken; dataSourceRejects lists them.' })
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
  @Field(() => ID, { description: 'Public id of the upload or sync.' })
  syncId!: string;
  @Field(() => Float, { nullable: true, description: 'In [0, 1]; null where the size is not known beforehand.' })
  progress!: number | null;
  @Field(() => DateTimeScalar, { description: 'When it began.' })
  startedAt!: Date;
  @Field(() => Float, { description: 'Rows accepted so far.' })
  rows!: number;
  @Field(() => Float, { description: 'Bytes of the upload that were read so far.' })
  bytes!: number;
}

@ObjectType('DataSourceSync', { description: 'One upload or sync of a source.' })
export class SyncType {
  @Field(() => ID, { description: 'Public id of the upload or sync.' })
  syncId!: string;
  @Field(() => ID, { description: 'The source that it belongs to.' })
  dataSourceId!: string;
  @Field(() => SyncStatusEnum, { description: 'How far it is.' })
  status!: 'queued' | 'running' | 'completed' | 'failed';
  @Field(() => Float, { description: 'Rows that were accepted or, for a sync, counted.' })
  rows!: number;
  @Field(() => DateTimeScalar, { description: 'When it was asked for.' })
  requestedAt!: Date;
  @Field(() => DateTimeScalar, { description: 'When it began.' })
  startedAt!: Date;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ended, well or not; null until then.' })
  completedAt!: Date | null;
}

@ObjectType('DataSourceDetail', { description: 'What is stored of a source and how good it is.' })
export class DataSourceDetailType {
  @Field(() => CoverageType, { description: 'Days that the rows reach over.' })
  coverage!: CoverageType;
  @Field(() => Float, { nullable: true, description: 'Seconds since the last row came.' })
  freshnessSeconds!: number | null;
  @Field(() => RecordCountsType, { description: 'How many rows of each kind.' })
  records!: RecordCountsType;
  @Field(() => QualityType, { nullable: true, description: 'Null before any conversion was stored.' })
  quality!: QualityType | null;
  @Field(() => CurrentSyncType, { nullable: true, description: 'Null when nothing is under way.' })
  currentSync!: CurrentSyncType | null;
  @Field(() => [SyncType], { description: 'The last ten uploads and syncs, newest first.' })
  recentSyncs!: readonly SyncType[];
}

@Directive('@key(fields: "id")')
@ObjectType('DataSource', { description: 'A connected origin of touchpoints, conversions, spend or aggregated paths.' })
export class DataSourceType {
  @Field(() => ID, { description: 'Public id, ds_ and 22 characters.' })
  id!: string;
  @Field(() => SourceTypeEnum, { description: 'Where the rows come from.' })
  type!: SourceType;
  @Field(() => SourceStatusEnum, { description: 'Whether rows arrive.' })
  status!: SourceStatus;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When the first rows are expected; null once they came.' })
  firstSyncEta!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When rows last came; null before the first.' })
  lastSync!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Next scheduled sync; null for uploads, which are pushed.' })
  nextSync!: Date | null;
  @Field(() => Float, { description: 'Rows accepted over the life of the source.' })
  recordsSynced!: number;
  @Field(() => Float, { nullable: true, description: 'Mean of freshness, match rate and completeness in [0, 1]; null before the first rows.' })
  healthScore!: number | null;
  @Field(() => String, { description: 'Name for people.' })
  name!: string;
  @Field(() => SyncScheduleEnum, { description: 'How often it is synced by itself.' })
  syncSchedule!: SyncSchedule;
  @Field(() => ID, { nullable: true, description: 'The agent that serves the source.' })
  agentId!: string | null;
  @Field(() => ID, { nullable: true, description: 'Public id of the workspace that the source lies in; null for none.' })
  workspaceId!: string | null;
  @Field(() => ID, { nullable: true, description: 'Brand that the rows are of; null where none was named.' })
  brandId!: string | null;
  @Field(() => String, { nullable: true, description: 'ISO 4217 currency of all money in the source; null until a row names one.' })
  currency!: string | null;
  @Field(() => [String], { description: 'Channels that are there without marketing; a trailing * matches any ending.' })
  baselineChannels!: readonly string[];
  @Field(() => DateTimeScalar, { description: 'When it was connected.' })
  createdAt!: Date;
  @Field(() => DataSourceErrorType, { nullable: true, description: 'Why the last sync failed; null when it did not.' })
  error!: DataSourceErrorType | null;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of this record.' })
  trust!: TrustEnvelope;
}

export const DataSourceConnection = connectionType('DataSource', () => DataSourceType);

@InputType('ConnectDataSourceInput', { description: 'A source to connect.' })
export class ConnectDataSourceInput {
  @Field(() => SourceTypeEnum, { description: 'Where the rows come from.' })
  type!: SourceType;
  @Field(() => JsonScalar, { description: 'csv_upload: filename, content (text, or base64 with encoding), delimiter, mapping {canonical: column}.' })
  credentials!: Record<string, unknown>;
  @Field(() => SyncScheduleEnum, { nullable: true, description: 'Defaults to DAILY.' })
  syncSchedule?: SyncSchedule;
  @Field(() => String, { nullable: true, description: 'Name for people; defaults to the name of the file.' })
  name?: string | null;
  @Field(() => ID, { nullable: true, description: 'The serving agent; defaults to the calling one. An account without an agent may name any.' })
  agentId?: string | null;
  @Field(() => ID, { nullable: true, description: 'Workspace to put the source into; the one that the request acts in when absent.' })
  workspaceId?: string | null;
  @Field(() => ID, { nullable: true, description: 'Brand that the rows are of; 1 to 128 characters of your own.' })
  brandId?: string | null;
  @Field(() => String, { nullable: true, description: 'IANA time zone; defaults to UTC.' })
  timezone?: string;
  @Field(() => [String], { nullable: true, description: 'Defaults to direct, organic*, (none), unassigned.' })
  baselineChannels?: string[];
}

@ObjectType('ConnectDataSourcePayload', { description: 'A new source, and what came of its first rows.' })
export class ConnectDataSourcePayload {
  @Field(() => DataSourceType, { description: 'The new source.' })
  dataSource!: DataSourceType;
  @Field(() => IngestReportType, { nullable: true, description: 'Null where no rows came with the request.' })
  ingest!: IngestReportType | null;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the source.' })
  trust!: TrustEnvelope;
}

@InputType('SyncDataSourceInput', { description: 'A source to sync.' })
export class SyncDataSourceInput {
  @Field(() => ID, { description: 'Public id of the source.' })
  id!: string;
}

@ObjectType('SyncDataSourcePayload', { description: 'The sync that was asked for.' })
export class SyncDataSourcePayload {
  @Field(() => SyncType, { description: 'The sync that is queued or running.' })
  sync!: SyncType;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the sync.' })
  trust!: TrustEnvelope;
}

@InputType('DeleteDataSourceInput', { description: 'A source to delete.' })
export class DeleteDataSourceInput {
  @Field(() => ID, { description: 'Public id of the source.' })
  id!: string;
}

@ObjectType('DeleteDataSourcePayload', { description: 'The source that was deleted.' })
export class DeleteDataSourcePayload {
  @Field(() => ID, { description: 'Public id of the source that is gone.' })
  id!: string;
  @Field(() => Boolean, { description: 'True.' })
  deleted!: boolean;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the answer.' })
  trust!: TrustEnvelope;
}
