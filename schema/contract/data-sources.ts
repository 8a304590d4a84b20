import { z } from 'zod';
import { ingestReport, shownReport } from './ingest.ts';
import { noun } from './noun.ts';
import { memberOf } from './rest-form.ts';
import { dataSource, listedSource, sourceDetail, sourceWithDetail, sync } from './source-records.ts';
import { newSource } from './source-requests.ts';
import { graphTypes, idInPath } from './terms.ts';

export const EXAMPLE_SOURCE = 'ds_01JQ2kZr5uHn4GdPaLxWqB';
const EXAMPLE_SYNC = 'sync_01JQ2kf0R3bVnTqWsXyZaC';

/** The source in a path. */
export const namedSource = z.object({
  id: idInPath({ description: 'Data source, ds_…', graph: 'Public id of the source.' }),
});
/** Where a source that was connected or synced can be read. */
const statusLocation = {
  path: '/data-sources/{data_source_id}/status',
  description: 'Where the status of the source is',
} as const;

const connection = z
  .object({
    dataSource: memberOf(dataSource, 'The new source.'),
    ingest: ingestReport.nullable().meta({ graph: 'Null where no rows came with the request.' }),
  })
  .register(graphTypes, {
    name: 'ConnectDataSourcePayload',
    description: 'A new source, and what came of its first rows.',
  });
const shownConnection = z.object({
  ...dataSource.pick({ id: true, status: true, firstSyncEta: true, type: true }).shape,
  ...dataSource.pick({ name: true, syncSchedule: true, agentId: true, createdAt: true }).shape,
  ingest: shownReport.nullable().meta({ description: 'What came of credentials.content; null without it' }),
});

const requestedSync = z
  .object({ sync: memberOf(sync, 'The sync that is queued or running.') })
  .register(graphTypes, { name: 'SyncDataSourcePayload', description: 'The sync that was asked for.' });
const shownSync = z.object({
  ...sync.pick({ syncId: true, dataSourceId: true, status: true, requestedAt: true }).shape,
  statusUrl: z.url().meta({ onlyInRest: true }),
});

const exampleIngest = {
  upload_id: 'upload_01JQ2kf0R3bVnTqWsXyZaC',
  status: 'completed',
  failure: null,
  kind: 'events',
  accepted: 1,
  rejected: 0,
  errors: [],
  warnings: [],
};
const example = {
  data_source_id: EXAMPLE_SOURCE,
  type: 'csv_upload',
  status: 'connected',
  first_sync_eta: null,
  last_sync: '2026-02-01T09:12:40.000Z',
  next_sync: null,
  records_synced: 120_044,
  health_score: 0.97,
  name: 'Spring shop',
  sync_schedule: 'daily',
  agent_id: 'agent_01JQ2jX9bLq7RtYpMwVsZe',
  workspace_id: null,
  brand_id: null,
  start_date: null,
  currency: 'USD',
  baseline_channels: ['direct', 'organic*'],
  margin: 0.42,
  created_at: '2026-01-31T18:00:00.000Z',
  error: null,
};

export const sources = noun({
  one: 'source',
  many: 'data-sources',
  listed: 'sources',
  tag: 'Data sources',
  record: dataSource,
  shows: listedSource,
  isEntity: true,
  example,
  operations: {
    connectDataSource: {
      method: 'POST',
      path: '/data-sources/connect',
      kind: 'write',
      action: 'dataSource:connect',
      summary: 'Connect a data source',
      description:
        'csv_upload: put the file into credentials.content (25 MiB), or send rows to POST ' +
        '/data-sources/{id}/records afterwards. Types that this deployment has no connector for are refused with the ' +
        'code unsupported_type, and the message names those that it serves.',
      graph: 'Connects a source, with its first rows where the credentials carry them. Errors: VALIDATION_ERROR.',
      input: newSource,
      answer: {
        outcome: connection,
        trust: 'Trust envelope of the source.',
        inRest: { shows: shownConnection, flat: 'dataSource' },
      },
      status: 201,
      answered: 'The source',
      location: statusLocation,
      example: {
        body: {
          type: example.type,
          name: example.name,
          credentials: {
            filename: 'touches.csv',
            content:
              'user_id,timestamp,channel,campaign,cost,conversion,revenue\n' +
              'u1,2026-01-05T10:00:00Z,meta_ads,spring,0.40,0,\n',
          },
        },
        response: { ...example, ingest: exampleIngest },
      },
    },
    listDataSources: {
      method: 'GET',
      path: '/data-sources',
      kind: 'read',
      action: 'dataSource:read',
      field: 'dataSources',
      summary: 'List the data sources',
      description: 'Newest first.',
      graph: 'Sources of the account, newest first.',
      answer: { page: dataSource },
      answered: 'A page of sources',
    },
    getDataSourceStatus: {
      method: 'GET',
      path: '/data-sources/{id}/status',
      kind: 'read',
      action: 'dataSource:read',
      field: 'dataSource',
      summary: 'Read how a data source is doing',
      description: 'Coverage, freshness, counts, match quality and the latest syncs.',
      graph: 'One source. Errors: RESOURCE_NOT_FOUND.',
      named: namedSource,
      answer: {
        one: dataSource,
        beside: z.object({ detail: sourceDetail }),
        inRest: { shows: sourceWithDetail, flat: 'detail' },
      },
      answered: 'The status',
      example: {
        response: {
          ...example,
          coverage: { earliest: '2025-02-01', latest: '2026-01-31', missing_days: [] },
          freshness_seconds: 4021,
          records: {
            touchpoints: 90_112,
            conversions: 4020,
            spend_rows: 25_912,
            paths: 0,
            identities: 3801,
            fx_rates: 0,
            rejected: 14,
          },
          quality: {
            touchpoint_match_rate: 0.93,
            unattributed_share: 0.11,
            duplicate_rate: 0.002,
            user_match_rate: 0.41,
            stitched_user_match_rate: 0.92,
          },
          current_sync: null,
          last_error: null,
          recent_syncs: [
            {
              sync_id: EXAMPLE_SYNC,
              data_source_id: EXAMPLE_SOURCE,
              status: 'completed',
              rows: 1002,
              requested_at: '2026-02-01T09:12:00.000Z',
              started_at: '2026-02-01T09:12:00.000Z',
              completed_at: example.last_sync,
              error: null,
            },
          ],
        },
      },
    },
    syncDataSource: {
      method: 'POST',
      path: '/data-sources/{id}/sync',
      kind: 'write',
      action: 'dataSource:write',
      summary: 'Sync a data source now',
      description:
        'A sync that is queued or running already is answered instead of a second one. So is the upload under way of ' +
        'a source whose rows are sent, since it ends in what a sync of them does. The id is that of current_sync.',
      graph:
        'Queues a sync; one that is queued or running already is returned instead, as is the upload under way of a ' +
        'source whose rows are sent. Errors: RESOURCE_NOT_FOUND.',
      named: namedSource,
      answer: {
        outcome: requestedSync,
        trust: 'Trust envelope of the sync.',
        inRest: { shows: shownSync, flat: 'sync' },
      },
      status: 202,
      answered: 'The sync',
      location: statusLocation,
      problems: ['conflict'],
      example: {
        response: {
          sync_id: EXAMPLE_SYNC,
          data_source_id: EXAMPLE_SOURCE,
          status: 'queued',
          requested_at: '2026-02-01T09:12:00.000Z',
          status_url: `https://api.example/v1/data-sources/${EXAMPLE_SOURCE}/status`,
        },
      },
    },
    deleteDataSource: {
      method: 'DELETE',
      path: '/data-sources/{id}',
      kind: 'write',
      action: 'dataSource:delete',
      summary: 'Delete a data source',
      description: 'Credentials go at once, rows after 30 days; later calls answer 404.',
      graph: 'Deletes a source at once; its rows go after 30 days. Errors: RESOURCE_NOT_FOUND, CONFLICT.',
      named: namedSource,
      answer: { gone: dataSource, description: 'The source that was deleted.' },
      answered: 'It is gone',
      problems: ['conflict'],
    },
  },
});
