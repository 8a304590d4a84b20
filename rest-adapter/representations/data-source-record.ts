import { z } from 'zod';
import { SOURCE_STATUSES, SOURCE_TYPES, SYNC_SCHEDULES } from '../../schema/value-lists.ts';
import { inOrder } from '../members.ts';
import type { Json } from '../operation.ts';

const moment = z.iso.datetime().nullable();
const fraction = z.number().min(0).max(1).nullable();
const sourceError = z.object({ code: z.string(), message: z.string(), at: z.iso.datetime(), retryable: z.boolean() }).nullable();

const base = {
  data_source_id: z.string(),
  type: z.enum(SOURCE_TYPES),
  status: z.enum(SOURCE_STATUSES),
};

export const dataSourceRecord = z
  .object({
    ...base,
    first_sync_eta: moment,
    last_sync: moment,
    records_synced: z.int(),
    health_score: fraction,
    name: z.string(),
    sync_schedule: z.enum(SYNC_SCHEDULES),
    agent_id: z.string().nullable(),
    workspace_id: z.string().nullable(),
    brand_id: z.string().nullable(),
    currency: z.string().nullable(),
    baseline_channels: z.array(z.string()),
    created_at: z.iso.datetime(),
    next_sync: moment,
    error: sourceError,
  })
  .meta({ id: 'DataSource' });

const syncRun = { sync_id: z.string(), rows: z.int(), started_at: z.iso.datetime() };

export const dataSourceStatus = z.object({
  ...base,
  name: z.string(),
  sync_schedule: z.enum(SYNC_SCHEDULES),
  last_sync: moment,
  next_sync: moment,
  first_sync_eta: moment,
  records_synced: z.int(),
  health_score: fraction,
  coverage: z.object({ earliest: z.iso.date().nullable(), latest: z.iso.date().nullable(), missing_days: z.array(z.iso.date()) }).nullable(),
  freshness_seconds: z.number().nullable(),
  records: z.object({ touchpoints: z.int(), conversions: z.int(), spend_rows: z.int(), paths: z.int(), rejected: z.int() }).nullable(),
  quality: z.object({ touchpoint_match_rate: fraction, unattributed_share: fraction, duplicate_rate: fraction }).nullable(),
  current_sync: z.object({ ...syncRun, progress: fraction }).nullable(),
  last_error: sourceError,
  recent_syncs: z.array(z.object({ ...syncRun, status: z.string(), completed_at: moment })),
  agent_id: z.string().nullable(),
  workspace_id: z.string().nullable(),
  brand_id: z.string().nullable(),
  currency: z.string().nullable(),
  baseline_channels: z.array(z.string()),
  created_at: z.iso.datetime(),
});

/** A source as the list shows it. */
export function presentDataSource({ id, ...rest }: Json): Json {
  return inOrder(dataSourceRecord, { data_source_id: id, ...rest });
}

/** A source with its coverage, quality and syncs: the `detail` is flattened into the record. */
export function presentDataSourceStatus({ id, error, detail, trust, ...rest }: Json): Json {
  const flat: Json = { coverage: null, freshness_seconds: null, records: null, quality: null, current_sync: null, recent_syncs: [] };
  return { ...inOrder(dataSourceStatus, { ...rest, ...flat, ...(detail as Json | null), data_source_id: id, last_error: error }), trust };
}

export const exampleDataSource: Json = {
  data_source_id: 'ds_01JQ2kZr5uHn4GdPaLxWqB',
  type: 'csv_upload',
  status: 'connected',
  first_sync_eta: null,
  last_sync: '2026-02-01T09:12:40.000Z',
  records_synced: 120_044,
  health_score: 0.97,
  name: 'Spring shop',
  sync_schedule: 'daily',
  agent_id: 'agent_01JQ2jX9bLq7RtYpMwVsZe',
  workspace_id: null,
  brand_id: null,
  currency: 'USD',
  baseline_channels: ['direct', 'organic*'],
  created_at: '2026-01-31T18:00:00.000Z',
  next_sync: null,
  error: null,
};
