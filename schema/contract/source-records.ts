import { z } from 'zod';
import { SOURCE_STATUSES, SOURCE_TYPES, SYNC_SCHEDULES, SYNC_STATUSES } from '../value-lists.ts';
import { margin } from './profitability.ts';
import { memberOf } from './rest-form.ts';
import { graphTypes, id, inRest, moment } from './terms.ts';

/* What is told of a source. */

export const sourceType = z.enum(SOURCE_TYPES).register(graphTypes, {
  name: 'DataSourceType',
  description: 'Where the rows of a source come from.',
});
const sourceStatus = z.enum(SOURCE_STATUSES).register(graphTypes, {
  name: 'DataSourceStatus',
  description: 'CONNECTED, SYNCING while rows arrive, ERROR after a failed sync.',
});
export const syncSchedule = z.enum(SYNC_SCHEDULES).register(graphTypes, {
  name: 'SyncSchedule',
  description: 'How often a source is synced by itself.',
});
const syncStatus = z.enum(SYNC_STATUSES).register(graphTypes, {
  name: 'SyncStatus',
  description: 'State of one upload or sync.',
});

/** How many, which may be more than an `Int` of the graph can say. */
const count = z.int().meta({ scalar: 'Float' });
const share = z.number().min(0).max(1);
/** That the graph always knows, and REST may leave open. */
const certainShare = inRest(share.nullable(), z.number().min(0).max(1));

const sourceError = z
  .object({
    code: z.string().meta({ graph: 'What went wrong, for programs.' }),
    message: z.string().meta({ graph: 'What went wrong, for people.' }),
    at: moment.meta({ graph: 'When it went wrong.' }),
    retryable: z.boolean().meta({ graph: 'Whether trying again may help.' }),
  })
  .register(graphTypes, { name: 'DataSourceError', description: 'Why the last sync failed.' });

/** A source; the order of the members is the order in the graph. */
export const dataSource = z
  .object({
    id: id('ds').meta({ rest: 'data_source_id', graph: 'Public id, ds_ and 22 characters.' }),
    type: sourceType.meta({ graph: 'Where the rows come from.' }),
    status: sourceStatus.meta({ graph: 'Whether rows arrive.' }),
    firstSyncEta: moment.nullable().meta({ graph: 'When the first rows are expected; null once they came.' }),
    lastSync: moment.nullable().meta({ graph: 'When rows last came; null before the first.' }),
    nextSync: moment.nullable().meta({ graph: 'Next scheduled sync; null for uploads, which are pushed.' }),
    recordsSynced: count.meta({ graph: 'Rows accepted over the life of the source.' }),
    healthScore: share.nullable().meta({
      graph: 'Mean of freshness, match rate and completeness in [0, 1]; null before the first rows.',
    }),
    name: z.string().meta({ graph: 'Name for people.' }),
    syncSchedule: syncSchedule.meta({ graph: 'How often it is synced by itself.' }),
    agentId: id('agent').nullable().meta({ graph: 'The agent that serves the source.' }),
    workspaceId: id('ws').nullable().meta({
      graph: 'Public id of the workspace that the source lies in; null for none.',
    }),
    brandId: z.string().meta({ scalar: 'ID' }).nullable().meta({
      graph: 'Brand that the rows are of; null where none was named.',
    }),
    currency: z.string().nullable().meta({
      graph: 'ISO 4217 currency of all money in the source; null until a row names one.',
    }),
    baselineChannels: z.array(z.string()).meta({
      graph: 'Channels that are there without marketing; a trailing * matches any ending.',
    }),
    margin: margin.nullable().meta({
      graph: 'Share of revenue that is left after the cost of goods; null where none was named.',
    }),
    startDate: z.iso.date().nullable().meta({
      graph: 'First day that its first sync asked for; null where none was named.',
      restAfter: 'brandId',
    }),
    createdAt: moment.meta({ graph: 'When it was connected.' }),
    error: sourceError.nullable().meta({ graph: 'Why the last sync failed; null when it did not.' }),
  })
  .register(graphTypes, {
    name: 'DataSource',
    description: 'A connected origin of touchpoints, conversions, spend or aggregated paths.',
  });

const { nextSync, error, ...others } = dataSource.shape;
/** A source in a list of REST. */
export const listedSource = z.object({ ...others, nextSync, error }).meta({ id: 'DataSource' });

const coverage = z
  .object({
    earliest: z.iso.date().nullable().meta({ graph: 'Day of the first row; null without rows.' }),
    latest: z.iso.date().nullable().meta({ graph: 'Day of the last row; null without rows.' }),
    missingDays: z.array(z.iso.date()).meta({ graph: 'Days in between without any row.' }),
  })
  .register(graphTypes, { name: 'DataSourceCoverage', description: 'Days that the stored rows reach over.' });
const recordCounts = z
  .object({
    touchpoints: count.meta({ graph: 'What shoppers saw and clicked.' }),
    conversions: count.meta({ graph: 'What they bought.' }),
    spendRows: count.meta({ graph: 'What channels cost, by day.' }),
    paths: count.meta({ graph: 'Journeys added up by path.' }),
    identities: count.meta({ graph: 'Pairs of ids that are one person.' }),
    fxRates: count.meta({ graph: 'Rates of exchange, one per currency and day.' }),
    rejected: count.meta({ graph: 'Rows that were not taken; dataSourceRejects lists them.' }),
  })
  .register(graphTypes, {
    name: 'DataSourceRecords',
    description: 'Stored rows by kind, and rows that were rejected.',
  });
const quality = z
  .object({
    touchpointMatchRate: certainShare.meta({ graph: 'Share of conversions whose user has a touchpoint.' }),
    unattributedShare: certainShare.meta({ graph: 'Share of conversions without a touchpoint in the 30 days before.' }),
    duplicateRate: certainShare.meta({ graph: 'Share of accepted rows that repeated a natural key.' }),
    userMatchRate: share.nullable().meta({
      graph: 'Share of the users of conversions who have a touchpoint, by the ids of the files; null until measured.',
    }),
    stitchedUserMatchRate: share.nullable().meta({
      graph: 'The same with one id for each person, as identities say; null without identities.',
    }),
  })
  .register(graphTypes, {
    name: 'DataSourceQuality',
    description: 'How well the rows fit together; shares in [0, 1].',
  });

const syncId = id('sync').meta({ graph: 'Public id of the upload or sync.' });
const startedAt = moment.meta({ graph: 'When it began.' });
const currentSync = z
  .object({
    syncId,
    progress: share.nullable().meta({ graph: 'In [0, 1]; null where the size is not known beforehand.' }),
    startedAt,
    rows: count.meta({ graph: 'Rows accepted so far.' }),
    bytes: count.meta({ graph: 'Bytes of the upload that were read so far.' }),
  })
  .register(graphTypes, {
    name: 'CurrentSync',
    description: 'The sync that is queued or running, else the latest upload under way.',
  });

/** One upload or sync. */
export const sync = z
  .object({
    syncId,
    dataSourceId: id('ds').meta({ graph: 'The source that it belongs to.' }),
    status: inRest(z.string(), syncStatus).meta({ graph: 'How far it is.' }),
    rows: count.meta({ graph: 'Rows that were accepted or, for a sync, counted.' }),
    requestedAt: moment.meta({ graph: 'When it was asked for.' }),
    startedAt,
    completedAt: moment.nullable().meta({ graph: 'When it ended, well or not; null until then.' }),
    error: sourceError.nullable().meta({ graph: 'Why it failed; null where it did not.' }),
  })
  .register(graphTypes, { name: 'DataSourceSync', description: 'One upload or sync of a source.' });

export const sourceDetail = z
  .object({
    coverage: memberOf(coverage, 'Days that the rows reach over.'),
    freshnessSeconds: z.number().nullable().meta({ graph: 'Seconds since the last row came.' }),
    records: memberOf(recordCounts, 'How many rows of each kind.'),
    quality: quality.nullable().meta({ graph: 'Null before any conversion was stored.' }),
    currentSync: currentSync.nullable().meta({ graph: 'Null when nothing is under way.' }),
    recentSyncs: z.array(sync).meta({ graph: 'The last ten uploads and syncs, newest first.' }),
  })
  .register(graphTypes, {
    name: 'DataSourceDetail',
    description: 'What is stored of a source and how good it is.',
  });

/** A source with its detail, as REST shows it. */
export const sourceWithDetail = z
  .object({
    ...dataSource.pick({ id: true, type: true, status: true, name: true, syncSchedule: true }).shape,
    ...dataSource.pick({ lastSync: true, nextSync: true, firstSyncEta: true }).shape,
    ...dataSource.pick({ recordsSynced: true, healthScore: true }).shape,
    coverage: coverage.nullable(),
    freshnessSeconds: sourceDetail.shape.freshnessSeconds,
    records: recordCounts.nullable(),
    quality: quality.nullable(),
    currentSync: currentSync.nullable(),
    error: error.meta({ rest: 'last_error' }),
    recentSyncs: z.array(sync),
    ...dataSource.pick({ agentId: true, workspaceId: true, brandId: true, startDate: true }).shape,
    ...dataSource.pick({ currency: true, baselineChannels: true, margin: true, createdAt: true }).shape,
  })
  .meta({ id: 'DataSourceStatus' });
