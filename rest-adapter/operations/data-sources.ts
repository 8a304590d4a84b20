import { z } from 'zod';
import { MOST_JSON_ROWS, sentRecords, sentRows, storedReject, uploadReport } from '../../schema/contract/ingest.ts';
import { rejects } from '../../schema/contract/rejects.ts';
import { restForm } from '../../schema/contract/rest-form.ts';
import { csvCredentials, newSource } from '../../schema/contract/source-requests.ts';
import { EXAMPLE_SOURCE, namedSource, sources } from '../../schema/contract/data-sources.ts';
import { EXAMPLE_INSPECTION, inspection } from '../../schema/contract/inspection.ts';
import { uploadOptions } from '../../schema/contract/upload-options.ts';
import { SOURCE_TYPES } from '../../schema/value-lists.ts';
import { MEBIBYTE } from '../body-stream.ts';
import { operationsOf } from '../contract-operations.ts';
import { objectAt } from '../members.ts';
import { operation, type Json } from '../operation.ts';
import { meta } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const csvConnection = restForm(newSource).extend({
  type: z.literal('csv_upload'),
  credentials: restForm(csvCredentials),
});

/** Which of the other types are served, and what their credentials are, the graph knows. */
const otherConnection = restForm(newSource).extend({ type: z.enum(SOURCE_TYPES).exclude(['csv_upload']) });

/** A parameter whose value is JSON, as text. */
function jsonParameter(schema: z.ZodType) {
  const text = z
    .string()
    .max(LONGEST_JSON)
    .transform((value, context) => {
      try {
        return JSON.parse(value) as unknown;
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        context.addIssue({ code: 'custom', message: 'must be JSON', params: { code: 'invalid_json' } });
        return z.NEVER;
      }
    });
  return text
    .pipe(schema)
    .meta({ description: `${schema.meta()?.description ?? ''}; JSON`, openapi: { type: 'string' } });
}

const LONGEST_JSON = 12 * 1024;
const { mapping, constants, answers, ...plainOptions } = uploadOptions.shape;
const uploadQuery = z.object({
  dry_run: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({
      description: '`true` says how the rows would be read, and stores nothing',
      openapi: { type: 'string', enum: ['true', 'false'] },
    }),
  ...plainOptions,
  mapping: jsonParameter(mapping).optional(),
  constants: jsonParameter(constants).optional(),
  answers: jsonParameter(answers).optional(),
});
const shownInspection = restForm(inspection).extend({ trust: trustEnvelope });

const uploadRecords = operation({
  id: 'uploadRecords',
  tag: sources.tag,
  method: 'POST',
  path: '/data-sources/{id}/records',
  kind: 'upload',
  action: 'dataSource:write',
  document: null,
  summary: 'Send rows to a data source',
  description:
    'A file of any size as text/csv, application/x-ndjson, application/vnd.apache.parquet or a workbook (.xlsx), ' +
    'plain or gzip, or as the file of multipart/form-data, with a part `options` ahead of it that holds what the ' +
    'parameters say, as JSON; or up to 1000 rows as JSON. Rows are upserted by their natural key, so ' +
    'sending a file again changes nothing. An order is known by its order_id; a conversion of an event table ' +
    'without one by user, time, channel, campaign, event and revenue, so that two purchases of one instant both ' +
    'count: give orders an id if their revenue may be corrected later.',
  pathSchema: restForm(namedSource),
  querySchema: uploadQuery,
  bodySchema: z.union([sentRows, sentRecords], {
    error: `send an array of at most ${MOST_JSON_ROWS} rows, or {"records": […]}; every row is an object`,
  }),
  success: {
    status: 202,
    description: 'What was stored and what was not',
    schema: restForm(uploadReport).extend({ trust: trustEnvelope }),
    headers: { Location: 'Where the rejected rows are' },
  },
  representation: {
    askedBy: 'dry_run',
    description: 'With `dry_run=true`: how the rows would be read; nothing was stored',
    schema: shownInspection,
    present: (data) => data,
    example: { ...EXAMPLE_INSPECTION, trust: exampleTrust(1) },
  },
  problems: ['resource_not_found', 'conflict'],
  variables: () => ({}),
  present: (data) => data,
  location: (_body, { path }) => `/data-sources/${encodeURIComponent(String(path['id']))}/rejects`,
  example: {
    path: { id: EXAMPLE_SOURCE },
    body: [{ user_id: 'u1', timestamp: '2026-01-05T10:00:00Z', channel: 'meta_ads', campaign: 'spring', cost: 0.4 }],
    response: {
      status: 'completed',
      failure: null,
      kind: 'touchpoints',
      accepted: 1,
      rejected: 0,
      errors: [],
      warnings: [],
      trust: exampleTrust(1),
    },
  },
});

const [connect, list, status, ...changes] = operationsOf(sources, {
  connectDataSource: {
    bodySchema: z.discriminatedUnion('type', [csvConnection, otherConnection], {
      error: `must be one of ${SOURCE_TYPES.join(', ')}`,
    }),
    bodyLimitBytes: 25 * MEBIBYTE,
  },
  syncDataSource: {
    present: (data, _request, baseUrl) => {
      const { sync, trust } = objectAt(data, 'sync_data_source') as { sync: Json; trust: Json };
      return { ...sync, status_url: `${baseUrl}/data-sources/${String(sync['data_source_id'])}/status`, trust };
    },
  },
});

const [listRejects] = operationsOf(rejects);
const rejectsPage = z.object({ rejects: z.array(restForm(storedReject)), meta, trust: trustEnvelope });

/** In the order of the documentation. */
export const dataSourceOperations = [
  connect!,
  list!,
  status!,
  uploadRecords,
  // The documented order of the members is another than that of the answer.
  { ...listRejects!, success: { ...listRejects!.success, schema: rejectsPage } },
  ...changes,
];
