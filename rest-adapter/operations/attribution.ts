import { z } from 'zod';
import { queryInteger } from '../../schema/contract/query-integer.ts';
import { newAttribution } from '../../schema/contract/attribution-request.ts';
import { RESULT_SECTIONS } from '../../schema/contract/attribution-result.ts';
import { attributions } from '../../schema/contract/attributions.ts';
import { fromRest, restForm } from '../../schema/contract/rest-form.ts';
import { EXPORT_FORMATS, EXPORT_LEVELS, REPORT_FORMATS } from '../../schema/value-lists.ts';
import { operationsOf } from '../contract-operations.ts';
import { nodesAt, objectAt } from '../members.ts';
import { operation, type Job, type Json } from '../operation.ts';
import { attributionResult, exampleAttribution, presentAttribution } from '../representations/attribution-result.ts';
import { meta, presentMeta, type PageRequest } from '../representations/list.ts';
import { waitHeader } from '../preferences.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';
import { offeredSections, sectionVariables, type Include } from '../sections.ts';

/** Of an analysis, far more than there can be. */
const MOST_EVENTS = 999_999_999;

const EXAMPLE_ID = exampleAttribution['id'] as string;

const idPath = z.object({ id: z.string().meta({ description: 'Analysis, attr_…' }) });

const flag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .default(false)
  .meta({ openapi: { type: 'boolean', default: false } });
const eventId = (description: string) => queryInteger(0, MOST_EVENTS, description).optional();

const include = z
  .array(z.enum(RESULT_SECTIONS))
  .optional()
  .meta({
    description: 'Sections that the answer has beyond its base, as GET',
    default: offeredSections(attributions.sections, true),
  });
const request = restForm(newAttribution).extend({ include }).meta({ id: 'AttributionRequest' });

/** Which sections the documents fetch; without `include` a single analysis comes whole. */
const sections = (include: Include): Json => sectionVariables(attributions.sections, include, true);

const attributionJob: Job = {
  progressDocument: 'AttributionProgress',
  resourceDocument: 'Attribution',
  resourcePath: (id) => `/attribution/${id}`,
  present: presentAttribution,
};

export const attributionOperations = [
  operation({
    id: 'runAttribution',
    tag: 'Attribution',
    method: 'POST',
    path: '/attribution',
    variantPaths: ['/attribution/analyze'],
    kind: 'job',
    action: 'attribution:run',
    document: 'RunAttribution',
    summary: 'Run an analysis',
    description:
      'Waits for the result as long as Prefer: wait allows (25 s when absent). An unfinished analysis is answered ' +
      'as `processing`, with Location and Retry-After; what Location names tells whether it still waits. With ' +
      'stream=true the answer is an event stream: progress, channel_result, then result or error.',
    querySchema: z.object({ stream: flag }),
    headerSchema: waitHeader,
    bodySchema: request,
    success: {
      status: 200,
      description: 'The analysis, finished or not',
      schema: attributionResult,
      headers: {
        Location: 'Where an unfinished analysis can be read',
        'Retry-After': 'Seconds to wait before reading it',
        'Preference-Applied': 'Which preferences were honoured',
      },
    },
    problems: ['resource_not_found', 'data_source_unavailable', 'spend_limit_exceeded', 'payment_required'],
    job: attributionJob,
    variables: ({ body }) => ({
      input: fromRest(newAttribution, body),
      ...sections(body['include'] as Include),
    }),
    present: (data) => presentAttribution(objectAt(data, 'run_attribution', 'attribution')),
    example: {
      body: {
        data_source_id: exampleAttribution['data_source_id'],
        date_range: ['2026-01-01', '2026-01-31'],
        model: 'causal',
      },
      response: exampleAttribution,
    },
  }),
  ...operationsOf(attributions, {
    listAttributions: {
      success: {
        status: 200,
        description: 'A page of analyses',
        schema: z.object({ data: z.array(attributionResult), meta, trust: trustEnvelope }),
        headers: { Link: 'first, prev, next and last page' },
      },
      present: (data, { query }) => {
        const connection = objectAt(data, 'attributions');
        return {
          data: nodesAt(connection).map(presentAttribution),
          meta: presentMeta(query as unknown as PageRequest, Number(connection['total_count'])),
          trust: connection['trust'],
        };
      },
      example: {
        query: { status: 'completed', per_page: '1' },
        response: {
          data: [withoutSections(exampleAttribution)],
          meta: { page: 1, per_page: 1, total: 1, total_pages: 1 },
          trust: exampleTrust(1),
        },
      },
    },
    getAttribution: { present: (data) => presentAttribution(objectAt(data, 'attribution')) },
    cancelAttribution: { present: (data) => presentAttribution(objectAt(data, 'cancel_attribution', 'attribution')) },
  }),
  operation({
    id: 'exportAttribution',
    tag: 'Attribution',
    method: 'GET',
    path: '/attribution/{id}/export',
    kind: 'download',
    action: 'attribution:export',
    document: 'Attribution',
    summary: 'Download an analysis',
    description:
      'A file: a row per channel, per period and channel, per campaign, or per distinct path with its journeys as ' +
      'stored now (same range, lookback, conversion event, and channels if restricted). CSV follows RFC 4180; a ' +
      'text that a spreadsheet would take for a formula gets an apostrophe ahead. JSON is an array of rows. Level ' +
      'paths shows journeys, which auditors of a workspace may not read. A file has 2 GiB at most, an account four ' +
      'open at a time; who takes less than 32 KiB a second is cut after a minute.',
    pathSchema: idPath,
    querySchema: z.object({
      format: z.enum(EXPORT_FORMATS).default('csv'),
      level: z.enum(EXPORT_LEVELS).default('channels'),
    }),
    success: {
      status: 200,
      description: 'The file',
      schema: null,
      headers: { 'Content-Disposition': 'attachment, with a name for the file' },
    },
    problems: ['resource_not_found', 'conflict', 'data_source_unavailable'],
    download: { formats: EXPORT_FORMATS, asked: ({ format, level }) => ({ format, level }) },
    variables: ({ path }) => ({ id: path.id, ...sections([]) }),
    present: (data) => presentAttribution(objectAt(data, 'attribution')),
    example: { path: { id: EXAMPLE_ID }, query: { format: 'csv', level: 'channels' } },
  }),
  operation({
    id: 'reportAttribution',
    tag: 'Attribution',
    method: 'GET',
    path: '/attribution/{id}/report',
    kind: 'download',
    action: 'attribution:export',
    document: 'Attribution',
    summary: 'Download the report of an analysis',
    description:
      'For people, one HTML page: what may be said of each channel and of all together, as far as the intervals ' +
      'allow, with the charts and tables beneath. It loads nothing and runs no script, and prints on A4. As xlsx, a ' +
      'workbook: the same sentences, and the figures as numbers. An analysis without figures is answered with ' +
      'conflict, code not_ready. It is one of the four files that an account may have open.',
    pathSchema: idPath,
    querySchema: z.object({ format: z.enum(REPORT_FORMATS).default('html') }),
    success: {
      status: 200,
      description: 'The report',
      schema: null,
      headers: { 'Content-Disposition': 'attachment, with a name for the file' },
    },
    problems: ['resource_not_found', 'conflict'],
    download: { formats: REPORT_FORMATS, asked: ({ format }) => ({ format, level: 'report' }) },
    variables: ({ path }) => ({ id: path.id, ...sections([]) }),
    present: (data) => presentAttribution(objectAt(data, 'attribution')),
    example: { path: { id: EXAMPLE_ID }, query: { format: 'html' } },
  }),
  operation({
    id: 'streamAttribution',
    tag: 'Attribution',
    method: 'GET',
    path: '/attribution/{id}/stream',
    kind: 'stream',
    action: 'attribution:read',
    document: 'AttributionProgress',
    summary: 'Watch an analysis',
    description:
      'Server-sent events from behind the last event that was seen. After the result was seen the answer is 204, ' +
      'which stops a browser from reconnecting. Closing the stream never cancels the analysis.',
    pathSchema: idPath,
    querySchema: z.object({
      last_event_id: eventId('As Last-Event-ID, for clients that cannot set headers'),
    }),
    headerSchema: z.object({
      'last-event-id': eventId('Id of the last event that was seen'),
    }),
    success: { status: 200, description: 'The event stream', schema: null },
    problems: ['resource_not_found'],
    job: attributionJob,
    variables: ({ path, query, headers }) => ({
      id: path.id,
      after: headers['last-event-id'] ?? query.last_event_id ?? 0,
      ...sections(undefined),
    }),
    present: (data) => data,
    example: { path: { id: EXAMPLE_ID } },
  }),
];

function withoutSections(attribution: Json): Json {
  return Object.fromEntries(Object.entries(attribution).filter(([name]) => !RESULT_SECTIONS.includes(name)));
}
