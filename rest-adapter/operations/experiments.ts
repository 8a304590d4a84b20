import { z } from 'zod';
import { EXPERIMENT_METHODS } from '../../schema/value-lists.ts';
import { given, nodesAt, objectAt } from '../members.ts';
import { operation, type Json } from '../operation.ts';
import { dateRange } from '../representations/date-range.ts';
import { exampleExperiment, experimentRecord, presentExperiment } from '../representations/experiment-record.ts';
import { graphPage, meta, pageParameters, presentMeta, withinReach } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const EXAMPLE_ID = exampleExperiment['id'] as string;

const idPath = z.object({ id: z.string().meta({ description: 'Experiment, exp_…' }) });
const amount = z.number().min(-1e12).max(1e12);
const oneExperiment = experimentRecord.extend({ trust: trustEnvelope }).meta({ id: 'ExperimentAnswer' });

const result = z
  .object({
    data_source_id: z.string().min(1).max(128),
    channel: z.string().min(1).max(512).meta({ description: 'A channel that the source has rows of' }),
    method: z.enum(EXPERIMENT_METHODS).meta({ description: 'holdout kept people away from the channel, geo places' }),
    period: dateRange,
    incremental_revenue: amount.meta({ description: 'Revenue that the channel added in the period, for the whole shop; major units, may be negative' }),
    standard_error: amount.min(0.01, 'must be at least 0.01').meta({ description: 'Standard error of it, major units' }),
    currency: z.string().length(3).optional().meta({ description: 'That of the source; another one is refused' }),
    notes: z.string().max(2_000).optional(),
  })
  .meta({ id: 'ExperimentRequest' });

/** Shows the experiment at a path of members, with the envelope beside it. */
function presentAnswer(experiment: Json, trust: unknown): Json {
  return { ...presentExperiment(experiment), trust };
}

export const experimentOperations = [
  operation({
    id: 'createExperiment',
    tag: 'Experiments',
    method: 'POST',
    path: '/experiments',
    kind: 'write',
    action: 'experiment:write',
    document: 'CreateExperiment',
    summary: 'Record the result of an experiment',
    description: 'A holdout or geo test of one channel. Later causal analyses of ranges that share days with its period are calibrated by it and show it beside their estimate. A second result of one channel, method and period is refused: it would count twice.',
    bodySchema: result,
    success: { status: 201, description: 'The experiment', schema: oneExperiment, headers: { Location: 'Where the experiment can be read' } },
    problems: ['resource_not_found', 'conflict'],
    variables: ({ body }) => ({
      input: given({
        dataSourceId: body.data_source_id,
        channel: body.channel,
        method: body.method,
        period: body.period,
        incrementalRevenue: body.incremental_revenue,
        standardError: body.standard_error,
        currency: body.currency,
        notes: body.notes,
      }),
    }),
    present: (data) => {
      const { experiment, trust } = objectAt(data, 'create_experiment');
      return presentAnswer(experiment as Json, trust);
    },
    location: (body) => `/experiments/${String(body['id'])}`,
    example: {
      body: { data_source_id: exampleExperiment['data_source_id'], channel: 'meta_ads', method: 'geo', period: ['2026-01-01', '2026-01-28'], incremental_revenue: 31_250.5, standard_error: 4_800, notes: exampleExperiment['notes'] },
      response: { ...exampleExperiment, trust: exampleTrust(1) },
    },
  }),
  operation({
    id: 'listExperiments',
    tag: 'Experiments',
    method: 'GET',
    path: '/experiments',
    kind: 'read',
    action: 'experiment:read',
    document: 'Experiments',
    summary: 'List the experiments',
    description: 'Newest first.',
    querySchema: withinReach(z.object({ ...pageParameters, data_source_id: z.string().min(1).max(128).optional(), channel: z.string().min(1).max(512).optional() })),
    success: { status: 200, description: 'A page of experiments', schema: z.object({ experiments: z.array(experimentRecord), meta, trust: trustEnvelope }), headers: { Link: 'first, prev, next and last page' } },
    problems: [],
    variables: ({ query }) => ({ ...graphPage(query), filter: given({ dataSourceId: query.data_source_id, channel: query.channel }) }),
    present: (data, { query }) => {
      const connection = objectAt(data, 'experiments');
      return { experiments: nodesAt(connection).map(presentExperiment), meta: presentMeta(query, Number(connection['total_count'])), trust: connection['trust'] };
    },
    example: { query: { channel: 'meta_ads' }, response: { experiments: [exampleExperiment], meta: { page: 1, per_page: 20, total: 1, total_pages: 1 }, trust: exampleTrust(1) } },
  }),
  operation({
    id: 'getExperiment',
    tag: 'Experiments',
    method: 'GET',
    path: '/experiments/{id}',
    kind: 'read',
    action: 'experiment:read',
    document: 'Experiment',
    summary: 'Read an experiment',
    description: 'As it was recorded; what it did to an analysis stands in the diagnostics of that analysis.',
    pathSchema: idPath,
    success: { status: 200, description: 'The experiment', schema: oneExperiment },
    problems: ['resource_not_found'],
    isResource: true,
    variables: ({ path }) => ({ id: path.id }),
    present: (data) => {
      const { trust, ...experiment } = objectAt(data, 'experiment');
      return presentAnswer(experiment, trust);
    },
    example: { path: { id: EXAMPLE_ID }, response: { ...exampleExperiment, trust: exampleTrust(1) } },
  }),
  operation({
    id: 'deleteExperiment',
    tag: 'Experiments',
    method: 'DELETE',
    path: '/experiments/{id}',
    kind: 'write',
    action: 'experiment:write',
    document: 'DeleteExperiment',
    summary: 'Delete an experiment',
    description: 'Later analyses do without it; those that used it keep what they computed.',
    pathSchema: idPath,
    success: { status: 204, description: 'It is gone', schema: null },
    problems: ['resource_not_found'],
    variables: ({ path }) => ({ input: { id: path.id } }),
    present: () => null,
    example: { path: { id: EXAMPLE_ID } },
  }),
];
