import { z } from 'zod';
import { columnMapping } from '../../schema/column-mapping.ts';
import { SOURCE_STATUSES, SOURCE_TYPES, SYNC_SCHEDULES } from '../../schema/value-lists.ts';
import { MEBIBYTE } from '../body-stream.ts';
import { given, inOrder, nodesAt, objectAt } from '../members.ts';
import { operation, type Json } from '../operation.ts';
import { dataSourceRecord, dataSourceStatus, exampleDataSource, presentDataSource, presentDataSourceStatus } from '../representations/data-source-record.ts';
import { ingestReport, rejectedRow } from '../representations/ingest-report.ts';
import { graphPage, meta, pageQuery, presentMeta } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const EXAMPLE_ID = exampleDataSource['data_source_id'] as string;

const idPath = z.object({ id: z.string().meta({ description: 'Data source, ds_…' }) });

const csvConnection = z.object({
  type: z.literal('csv_upload'),
  credentials: z
    .strictObject({
      filename: z.string().max(255).optional(),
      content: z.string().optional().meta({ description: 'The file itself; left out, rows come by POST /data-sources/{id}/records' }),
      encoding: z.enum(['utf-8', 'base64']).optional().meta({ default: 'utf-8' }),
      delimiter: z.union([z.literal('auto'), z.string().length(1)]).optional().meta({ default: 'auto' }),
      mapping: columnMapping.optional().meta({ description: 'Canonical column to the column of the file' }),
    })
    .meta({ id: 'CsvCredentials' }),
  sync_schedule: z.enum(SYNC_SCHEDULES).optional().meta({ default: 'daily' }),
  name: z.string().trim().min(1).max(120).optional(),
  agent_id: z.string().max(128).optional().meta({ description: 'The serving agent; the calling one when absent. An account without an agent may name any' }),
  workspace_id: z.string().max(128).optional().meta({ description: 'Workspace to put the source into, ws_…; the one in SVC-Workspace when absent' }),
  brand_id: z.string().min(1).max(128).optional().meta({ description: 'Brand that the rows are of, in your own words' }),
  timezone: z.string().max(64).optional().meta({ default: 'UTC', description: 'IANA time zone of the schedule' }),
  baseline_channels: z.array(z.string().min(1).max(200)).min(1).max(50).optional().meta({ description: 'Channels that are there without marketing; a trailing * matches any ending' }),
});

const unservedConnection = z
  .object({ type: z.enum(['ga4', 'shopify', 'meta_ads', 'google_ads']), credentials: z.record(z.string(), z.unknown()).optional() })
  .refine(() => false, { path: ['type'], message: 'this deployment has no connector for this type; it serves csv_upload', params: { code: 'unsupported_type' } });

const connection = z.discriminatedUnion('type', [csvConnection, unservedConnection], { error: `must be one of ${SOURCE_TYPES.join(', ')}` });

const connected = z.object({
  data_source_id: z.string(),
  status: z.enum(SOURCE_STATUSES),
  first_sync_eta: z.iso.datetime().nullable(),
  type: z.enum(SOURCE_TYPES),
  name: z.string(),
  sync_schedule: z.enum(SYNC_SCHEDULES),
  agent_id: z.string().nullable(),
  created_at: z.iso.datetime(),
  ingest: ingestReport.omit({ upload_id: true }).nullable().meta({ description: 'What came of credentials.content; null without it' }),
  trust: trustEnvelope,
});

const reject = rejectedRow.extend({ upload_id: z.string().nullable() }).meta({ id: 'StoredReject' });

export const dataSourceOperations = [
  operation({
    id: 'connectDataSource',
    tag: 'Data sources',
    method: 'POST',
    path: '/data-sources/connect',
    kind: 'write',
    action: 'dataSource:connect',
    document: 'ConnectDataSource',
    summary: 'Connect a data source',
    description: 'This deployment serves csv_upload: put the file into credentials.content (25 MiB), or send rows to POST /data-sources/{id}/records afterwards.',
    bodySchema: connection,
    bodyLimitBytes: 25 * MEBIBYTE,
    success: { status: 201, description: 'The source', schema: connected, headers: { Location: 'Where the status of the source is' } },
    problems: [],
    variables: ({ body }) => {
      const { sync_schedule: syncSchedule, agent_id: agentId, workspace_id: workspaceId, brand_id: brandId, baseline_channels: baselineChannels, ...rest } = body as z.output<typeof csvConnection>;
      return { input: given({ ...rest, syncSchedule, agentId, workspaceId, brandId, baselineChannels }) };
    },
    present: (data) => {
      const { data_source: source, ingest, trust } = objectAt(data, 'connect_data_source');
      const { id, ...rest } = source as Json;
      const values: Json = { data_source_id: id, ...rest, ingest: ingest ?? null, trust };
      return inOrder(connected, values);
    },
    location: (body) => `/data-sources/${String(body['data_source_id'])}/status`,
    example: {
      body: { type: 'csv_upload', name: 'Spring shop', credentials: { filename: 'touches.csv', content: 'user_id,timestamp,channel,campaign,cost,conversion,revenue\nu1,2026-01-05T10:00:00Z,meta_ads,spring,0.40,0,\n' } },
      response: {
        data_source_id: EXAMPLE_ID, status: 'connected', first_sync_eta: null, type: 'csv_upload', name: 'Spring shop', sync_schedule: 'daily',
        agent_id: exampleDataSource['agent_id'], created_at: exampleDataSource['created_at'], ingest: { kind: 'events', accepted: 1, rejected: 0, errors: [], warnings: [] }, trust: exampleTrust(1),
      },
    },
  }),
  operation({
    id: 'listDataSources',
    tag: 'Data sources',
    method: 'GET',
    path: '/data-sources',
    kind: 'read',
    action: 'dataSource:read',
    document: 'DataSources',
    summary: 'List the data sources',
    description: 'Newest first.',
    querySchema: pageQuery,
    success: { status: 200, description: 'A page of sources', schema: z.object({ sources: z.array(dataSourceRecord), meta, trust: trustEnvelope }), headers: { Link: 'first, prev, next and last page' } },
    problems: [],
    variables: ({ query }) => graphPage(query),
    present: (data, { query }) => {
      const connection = objectAt(data, 'data_sources');
      return { sources: nodesAt(connection).map(presentDataSource), meta: presentMeta(query, Number(connection['total_count'])), trust: connection['trust'] };
    },
    example: { response: { sources: [exampleDataSource], meta: { page: 1, per_page: 20, total: 1, total_pages: 1 }, trust: exampleTrust(1) } },
  }),
  operation({
    id: 'getDataSourceStatus',
    tag: 'Data sources',
    method: 'GET',
    path: '/data-sources/{id}/status',
    kind: 'read',
    action: 'dataSource:read',
    document: 'DataSourceStatus',
    summary: 'Read how a data source is doing',
    description: 'Coverage, freshness, counts, match quality and the latest syncs.',
    pathSchema: idPath,
    success: { status: 200, description: 'The status', schema: dataSourceStatus.extend({ trust: trustEnvelope }).meta({ id: 'DataSourceStatus' }) },
    problems: ['resource_not_found'],
    isResource: true,
    variables: ({ path }) => ({ id: path.id }),
    present: (data) => presentDataSourceStatus(objectAt(data, 'data_source')),
    example: {
      path: { id: EXAMPLE_ID },
      response: {
        data_source_id: EXAMPLE_ID, type: 'csv_upload', status: 'connected', name: 'Spring shop', sync_schedule: 'daily', last_sync: '2026-02-01T09:12:40.000Z', next_sync: null, first_sync_eta: null,
        records_synced: 120_044, health_score: 0.97, coverage: { earliest: '2025-02-01', latest: '2026-01-31', missing_days: [] }, freshness_seconds: 4021,
        records: { touchpoints: 90_112, conversions: 4020, spend_rows: 25_912, paths: 0, rejected: 14 }, quality: { touchpoint_match_rate: 0.93, unattributed_share: 0.11, duplicate_rate: 0.002 },
        current_sync: null, last_error: null, recent_syncs: [{ sync_id: 'sync_01JQ2kf0R3bVnTqWsXyZaC', status: 'completed', rows: 1002, started_at: '2026-02-01T09:12:00.000Z', completed_at: '2026-02-01T09:12:40.000Z' }],
        agent_id: exampleDataSource['agent_id'], workspace_id: null, brand_id: null, currency: 'USD', baseline_channels: ['direct', 'organic*'], created_at: exampleDataSource['created_at'], trust: exampleTrust(1),
      },
    },
  }),
  operation({
    id: 'uploadRecords',
    tag: 'Data sources',
    method: 'POST',
    path: '/data-sources/{id}/records',
    kind: 'upload',
    action: 'dataSource:write',
    document: null,
    summary: 'Send rows to a data source',
    description: 'A file of any size as text/csv, application/x-ndjson or application/vnd.apache.parquet, plain or gzip, or as the first file of multipart/form-data; or up to 1000 rows as JSON. Rows are upserted by their natural key, so sending a file again changes nothing. An order is known by its order_id; a conversion of an event table without one by user, time, channel, campaign, event and revenue, so that two purchases of one instant both count: give orders an id if their revenue may be corrected later.',
    pathSchema: idPath,
    bodySchema: z.union([z.array(z.record(z.string(), z.unknown())).max(1000), z.object({ records: z.array(z.record(z.string(), z.unknown())).max(1000) })], { error: 'send an array of at most 1000 rows, or {"records": […]}; every row is an object' }),
    success: { status: 202, description: 'What was stored and what was not', schema: ingestReport.extend({ trust: trustEnvelope }), headers: { Location: 'Where the rejected rows are' } },
    problems: ['resource_not_found', 'conflict'],
    variables: () => ({}),
    present: (data) => data,
    location: (_body, { path }) => `/data-sources/${encodeURIComponent(path.id)}/rejects`,
    example: {
      path: { id: EXAMPLE_ID },
      body: [{ user_id: 'u1', timestamp: '2026-01-05T10:00:00Z', channel: 'meta_ads', campaign: 'spring', cost: 0.4 }],
      response: { kind: 'touchpoints', accepted: 1, rejected: 0, errors: [], warnings: [], trust: exampleTrust(1) },
    },
  }),
  operation({
    id: 'listRejects',
    tag: 'Data sources',
    method: 'GET',
    path: '/data-sources/{id}/rejects',
    kind: 'read',
    action: 'dataSource:read',
    document: 'DataSourceRejects',
    summary: 'List the rows that were not stored',
    description: 'With line, column and reason, for every upload whose rejects are kept.',
    pathSchema: idPath,
    querySchema: pageQuery,
    success: { status: 200, description: 'A page of rejected rows', schema: z.object({ rejects: z.array(reject), meta, trust: trustEnvelope }), headers: { Link: 'first, prev, next and last page' } },
    problems: ['resource_not_found'],
    variables: ({ path, query }) => ({ id: path.id, ...graphPage(query) }),
    present: (data, { query }) => {
      const connection = objectAt(data, 'data_source_rejects');
      return { rejects: nodesAt(connection), meta: presentMeta(query, Number(connection['total_count'])), trust: connection['trust'] };
    },
    example: {
      path: { id: EXAMPLE_ID },
      response: {
        rejects: [{ upload_id: 'upload_01JQ2kf0R3bVnTqWsXyZaC', line: 17, column: 'timestamp', code: 'not_a_date', message: '"yesterday" is not a date or time' }],
        meta: { page: 1, per_page: 20, total: 1, total_pages: 1 },
        trust: exampleTrust(1),
      },
    },
  }),
  operation({
    id: 'syncDataSource',
    tag: 'Data sources',
    method: 'POST',
    path: '/data-sources/{id}/sync',
    kind: 'write',
    action: 'dataSource:write',
    document: 'SyncDataSource',
    summary: 'Sync a data source now',
    description: 'A sync that is queued or running already is answered instead of a second one.',
    pathSchema: idPath,
    success: {
      status: 202,
      description: 'The sync',
      schema: z.object({ sync_id: z.string(), data_source_id: z.string(), status: z.string(), requested_at: z.iso.datetime(), status_url: z.url(), trust: trustEnvelope }),
      headers: { Location: 'Where the status of the source is' },
    },
    problems: ['resource_not_found', 'conflict'],
    variables: ({ path }) => ({ input: { id: path.id } }),
    present: (data, _request, baseUrl) => {
      const { sync, trust } = objectAt(data, 'sync_data_source');
      return { ...(sync as Json), status_url: `${baseUrl}/data-sources/${String((sync as Json)['data_source_id'])}/status`, trust };
    },
    location: (body) => `/data-sources/${String(body['data_source_id'])}/status`,
    example: {
      path: { id: EXAMPLE_ID },
      response: {
        sync_id: 'sync_01JQ2kf0R3bVnTqWsXyZaC', data_source_id: EXAMPLE_ID, status: 'queued', requested_at: '2026-02-01T09:12:00.000Z',
        status_url: `https://api.example/v1/data-sources/${EXAMPLE_ID}/status`, trust: exampleTrust(1),
      },
    },
  }),
  operation({
    id: 'deleteDataSource',
    tag: 'Data sources',
    method: 'DELETE',
    path: '/data-sources/{id}',
    kind: 'write',
    action: 'dataSource:delete',
    document: 'DeleteDataSource',
    summary: 'Delete a data source',
    description: 'Credentials go at once, rows after 30 days; later calls answer 404.',
    pathSchema: idPath,
    success: { status: 204, description: 'It is gone', schema: null },
    problems: ['resource_not_found', 'conflict'],
    variables: ({ path }) => ({ input: { id: path.id } }),
    present: () => null,
    example: { path: { id: EXAMPLE_ID } },
  }),
];
