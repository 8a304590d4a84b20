import { z } from 'zod';
import { RESULT_SECTIONS, type ResultSection } from '../../schema/attribution-result.ts';
import { ATTRIBUTION_STATUSES, EXPORT_FORMATS, EXPORT_LEVELS, GRANULARITIES, MODELS } from '../../schema/value-lists.ts';
import { given, nodesAt, objectAt } from '../members.ts';
import { operation, type Job, type Json } from '../operation.ts';
import { attributionResult, exampleAttribution, presentAttribution } from '../representations/attribution-result.ts';
import { dateRange } from '../../schema/contract/date-range.ts';
import { momentInRest } from '../../schema/contract/moment-in-rest.ts';
import { graphPage, meta, pageParameters, presentMeta, withinReach } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const EXAMPLE_ID = exampleAttribution['id'] as string;

/** What a single analysis comes with; `campaigns`, which may be thousands, only where it is named. */
const WHOLE = ['time_series', 'model_breakdown', 'comparison', 'diagnostics'] as const satisfies readonly ResultSection[];

/** `include=a,b`, also repeated. */
const includeOf = <Sections extends readonly [ResultSection, ...ResultSection[]]>(offered: Sections) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((value) => [value].flat().flatMap((list) => list.split(',')))
    .pipe(z.array(z.enum(offered)))
    .optional()
    .meta({ description: 'Sections that the answer has beyond its base; null where the data cannot give one', openapi: { type: 'array', items: { type: 'string', enum: offered } } });

const idPath = z.object({ id: z.string().meta({ description: 'Analysis, attr_…' }) });

const flag = z.enum(['true', 'false']).transform((value) => value === 'true').default(false).meta({ openapi: { type: 'boolean', default: false } });
const eventId = z.string().regex(/^\d{1,9}$/, 'must be the id of an event: a whole number').transform(Number).optional();

const request = z
  .object({
    data_source_id: z.string().min(1).max(128),
    date_range: dateRange,
    model: z.enum(MODELS).optional().meta({ default: 'causal' }),
    granularity: z.enum(GRANULARITIES).optional().meta({ default: 'daily' }),
    channels: z.array(z.string().min(1).max(200)).min(1).max(500).optional().meta({ description: 'Restricts to these channels' }),
    baseline_channels: z.array(z.string().min(1).max(200)).min(1).max(50).optional().meta({ description: 'Overrides those of the source' }),
    lookback_window_days: z.int().min(1).max(90).optional().meta({ default: 30 }),
    conversion_event: z.string().min(1).max(100).optional().meta({ default: 'purchase' }),
    confidence_level: z.number().min(0.8).max(0.99).optional().meta({ default: 0.95 }),
    model_options: z.object({ markov_order: z.int().min(1).max(4).optional() }).optional(),
    workspace_id: z.string().max(128).optional().meta({ description: 'Workspace to put the analysis into, ws_…; the one in SVC-Workspace, or that of the source, when absent' }),
    agent_id: z.string().max(128).optional().meta({ description: 'The serving agent; that of the source when absent. An account without an agent may name any' }),
    auto_refresh: z.boolean().optional().meta({ description: 'Runs the analysis again, at no cost, whenever late rows change the revenue of its range by 0.1 % or more', default: false }),
    include: z.array(z.enum(RESULT_SECTIONS)).optional().meta({ default: ['time_series', 'model_breakdown', 'comparison'] }),
  })
  .meta({ id: 'AttributionRequest' });

/** Which sections the documents fetch; without `include` a single analysis comes whole. */
function sections(wanted: readonly ResultSection[] | undefined, otherwise: boolean): Json {
  const has = (section: ResultSection) => (wanted === undefined ? otherwise : wanted.includes(section));
  return { timeSeries: has('time_series'), campaigns: wanted?.includes('campaigns') ?? false, modelBreakdown: has('model_breakdown'), comparison: has('comparison'), diagnostics: has('diagnostics') };
}

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
    description: 'Waits for the result as long as Prefer: wait allows (25 s when absent). An unfinished analysis is answered as it stands, with Location and Retry-After. With stream=true the answer is an event stream: progress, channel_result, then result or error.',
    querySchema: z.object({ stream: flag }),
    headerSchema: z.object({ prefer: z.string().optional().meta({ description: 'wait=N (0 to 60 seconds), respond-async (RFC 7240)' }) }),
    bodySchema: request,
    success: {
      status: 200,
      description: 'The analysis, finished or not',
      schema: attributionResult,
      headers: { Location: 'Where an unfinished analysis can be read', 'Retry-After': 'Seconds to wait before reading it', 'Preference-Applied': 'Which preferences were honoured' },
    },
    problems: ['resource_not_found', 'data_source_unavailable'],
    job: attributionJob,
    variables: ({ body }) => ({
      input: given({
        dataSourceId: body.data_source_id,
        dateRange: body.date_range,
        model: body.model,
        granularity: body.granularity,
        channels: body.channels,
        baselineChannels: body.baseline_channels,
        lookbackWindowDays: body.lookback_window_days,
        conversionEvent: body.conversion_event,
        confidenceLevel: body.confidence_level,
        workspaceId: body.workspace_id,
        agentId: body.agent_id,
        autoRefresh: body.auto_refresh,
        modelOptions: body.model_options === undefined ? undefined : given({ markovOrder: body.model_options.markov_order }),
      }),
      ...sections(body.include === undefined ? undefined : [...body.include, 'diagnostics'], true),
    }),
    present: (data) => presentAttribution(objectAt(data, 'run_attribution', 'attribution')),
    example: { body: { data_source_id: exampleAttribution['data_source_id'], date_range: ['2026-01-01', '2026-01-31'], model: 'causal' }, response: exampleAttribution },
  }),
  operation({
    id: 'listAttributions',
    tag: 'Attribution',
    method: 'GET',
    path: '/attribution',
    kind: 'read',
    action: 'attribution:read',
    document: 'Attributions',
    summary: 'List the analyses',
    description: 'Newest first; items leave out time_series, model_breakdown, comparison and diagnostics unless include names them.',
    querySchema: withinReach(
      z.object({
        ...pageParameters,
        status: z.enum(ATTRIBUTION_STATUSES).optional(),
        model: z.enum(MODELS).optional(),
        data_source_id: z.string().min(1).max(128).optional(),
        agent_id: z.string().min(1).max(128).optional(),
        created_after: momentInRest.optional(),
        created_before: momentInRest.optional(),
        include: includeOf(WHOLE),
      }),
    ),
    success: { status: 200, description: 'A page of analyses', schema: z.object({ data: z.array(attributionResult), meta, trust: trustEnvelope }), headers: { Link: 'first, prev, next and last page' } },
    problems: [],
    variables: ({ query }) => ({
      ...graphPage(query),
      filter: given({ status: query.status, model: query.model, dataSourceId: query.data_source_id, agentId: query.agent_id, createdAfter: query.created_after, createdBefore: query.created_before }),
      ...sections(query.include, false),
    }),
    present: (data, { query }) => {
      const connection = objectAt(data, 'attributions');
      return { data: nodesAt(connection).map(presentAttribution), meta: presentMeta(query, Number(connection['total_count'])), trust: connection['trust'] };
    },
    example: {
      query: { status: 'completed', per_page: '1' },
      response: { data: [withoutSections(exampleAttribution)], meta: { page: 1, per_page: 1, total: 1, total_pages: 1 }, trust: exampleTrust(1) },
    },
  }),
  operation({
    id: 'getAttribution',
    tag: 'Attribution',
    method: 'GET',
    path: '/attribution/{id}',
    kind: 'read',
    action: 'attribution:read',
    document: 'Attribution',
    summary: 'Read an analysis',
    description: 'Whole but for campaigns, unless include names the sections that are wanted.',
    pathSchema: idPath,
    querySchema: z.object({ include: includeOf(RESULT_SECTIONS) }),
    success: { status: 200, description: 'The analysis', schema: attributionResult },
    problems: ['resource_not_found'],
    isResource: true,
    variables: ({ path, query }) => ({ id: path.id, ...sections(query.include, true) }),
    present: (data) => presentAttribution(objectAt(data, 'attribution')),
    example: { path: { id: EXAMPLE_ID }, response: exampleAttribution },
  }),
  operation({
    id: 'cancelAttribution',
    tag: 'Attribution',
    method: 'POST',
    path: '/attribution/{id}/cancel',
    kind: 'write',
    action: 'attribution:run',
    document: 'CancelAttribution',
    summary: 'Cancel an analysis',
    description: 'One that waits never begins, one that is computed stops soon; its streams end with error. It fails with the code cancelled, and nothing is billed. Cancelling again changes nothing; an analysis that has ended by itself is answered with conflict, code already_finished.',
    pathSchema: idPath,
    success: { status: 200, description: 'The analysis, failed', schema: attributionResult },
    problems: ['resource_not_found', 'conflict'],
    variables: ({ path }) => ({ input: { id: path.id }, ...sections(undefined, true) }),
    present: (data) => presentAttribution(objectAt(data, 'cancel_attribution', 'attribution')),
    example: { path: { id: EXAMPLE_ID }, response: cancelledAttribution(exampleAttribution) },
  }),
  operation({
    id: 'deleteAttribution',
    tag: 'Attribution',
    method: 'DELETE',
    path: '/attribution/{id}',
    kind: 'write',
    action: 'attribution:delete',
    document: 'DeleteAttribution',
    summary: 'Delete an analysis',
    description: 'Its figures, progress and signature go at once; later calls answer 404. What was billed for it stays on record. One that is under way is answered with conflict, code not_finished: cancel it first.',
    pathSchema: idPath,
    success: { status: 204, description: 'It is gone', schema: null },
    problems: ['resource_not_found', 'conflict'],
    variables: ({ path }) => ({ input: { id: path.id } }),
    present: () => null,
    example: { path: { id: EXAMPLE_ID } },
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
      'A file: a row per channel, per period and channel, per campaign, or per distinct path with its journeys as stored now (same range, lookback, conversion event, and channels if restricted). CSV follows RFC 4180; a text that a spreadsheet would take for a formula gets an apostrophe ahead. JSON is an array of rows. Level paths shows journeys, which auditors of a workspace may not read.',
    pathSchema: idPath,
    querySchema: z.object({ format: z.enum(EXPORT_FORMATS).default('csv'), level: z.enum(EXPORT_LEVELS).default('channels') }),
    success: { status: 200, description: 'The file', schema: null, headers: { 'Content-Disposition': 'attachment, with a name for the file' } },
    problems: ['resource_not_found', 'conflict', 'data_source_unavailable'],
    variables: ({ path }) => ({ id: path.id, ...sections([], false) }),
    present: (data) => presentAttribution(objectAt(data, 'attribution')),
    example: { path: { id: EXAMPLE_ID }, query: { format: 'csv', level: 'channels' } },
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
    description: 'Server-sent events from behind the last event that was seen. After the result was seen the answer is 204, which stops a browser from reconnecting. Closing the stream never cancels the analysis.',
    pathSchema: idPath,
    querySchema: z.object({ last_event_id: eventId.meta({ description: 'As Last-Event-ID, for clients that cannot set headers', openapi: { type: 'integer', minimum: 0 } }) }),
    headerSchema: z.object({ 'last-event-id': eventId.meta({ description: 'Id of the last event that was seen', openapi: { type: 'integer', minimum: 0 } }) }),
    success: { status: 200, description: 'The event stream', schema: null },
    problems: ['resource_not_found'],
    job: attributionJob,
    variables: ({ path, query, headers }) => ({ id: path.id, after: headers['last-event-id'] ?? query.last_event_id ?? 0, ...sections(undefined, true) }),
    present: (data) => data,
    example: { path: { id: EXAMPLE_ID } },
  }),
];

function cancelledAttribution(attribution: Json): Json {
  const figures = ['confidence', 'currency', 'conversions', 'revenue', 'baseline_revenue', 'unattributed_revenue', 'revenue_lastclick_cents', 'revenue_causal_cents', 'delta_r_cents', 'delta_r_net_cents', 'platform_fee_cents', 'time_series', 'model_breakdown', 'comparison', 'diagnostics', 'signature'];
  return {
    ...attribution,
    ...Object.fromEntries(figures.map((name) => [name, null])),
    status: 'failed', channel_impact: [], methodology: 'causal', trust: exampleTrust(1), failure: { code: 'cancelled', message: 'The analysis was cancelled. Nothing is billed.' },
  };
}

function withoutSections(attribution: Json): Json {
  return Object.fromEntries(Object.entries(attribution).filter(([name]) => !(RESULT_SECTIONS as readonly string[]).includes(name)));
}
