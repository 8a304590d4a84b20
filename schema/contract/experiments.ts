import { z } from 'zod';
import { EXPERIMENT_METHODS } from '../value-lists.ts';
import { noun } from './noun.ts';
import {
  channelName,
  days,
  environment,
  graphTypes,
  id,
  moment,
  money,
  namedCurrency,
  namedDays,
  namedId,
} from './terms.ts';

export const experimentMethod = z.enum(EXPERIMENT_METHODS).register(graphTypes, {
  name: 'ExperimentMethod',
  description: 'HOLDOUT kept people away from the channel, GEO places.',
});

/** A measured effect; the order of the members is the order in every answer. */
export const experiment = z
  .object({
    id: id('exp').meta({ graph: 'Public id, exp_ and 22 characters.' }),
    dataSourceId: id('ds').meta({ graph: 'Public id of the source whose channel was measured.' }),
    channel: z.string().meta({
      description: 'As in the touchpoints; several by what they are called together',
      graph: 'Name of the channel, as in the touchpoints; several by what they are called together.',
    }),
    channels: z.array(z.string()).meta({
      description: 'The channels that were measured: one, or several that were kept away together',
    }),
    method: experimentMethod.meta({ graph: 'Who or what was kept away from the channel.' }),
    period: days.meta({ graph: 'First and last day of the measurement, both included, UTC.' }),
    incrementalRevenue: money.meta({
      description: 'Revenue that the channel added in the period, for the whole shop',
      graph: 'Revenue that the channel added in the period, for the whole shop; major units, may be negative.',
    }),
    standardError: money.meta({ graph: 'Standard error of it, major units.' }),
    currency: z.string().meta({ graph: 'ISO 4217; the currency of the source.' }),
    notes: z.string().nullable().meta({ graph: 'What people should know of it.' }),
    environment: environment.meta({ graph: 'Calibrates analyses of this environment.' }),
    createdAt: moment.meta({ graph: 'When it was recorded.' }),
  })
  .meta({
    id: 'Experiment',
    graph: 'What one channel added to the revenue of the shop over a period, as an experiment measured it.',
  });
export type ExperimentRecord = z.output<typeof experiment>;

/** Of one experiment; far more than a shop has. */
const MOST_CHANNELS = 200;

/** Far above any shop, and far below where cents are lost in a double. */
const amount = money.min(-1e12).max(1e12);

export const newExperiment = z
  .object({
    dataSourceId: namedId('ds').meta({ graph: 'Public id of a source of the account.' }),
    channel: channelName.optional().meta({
      description: 'A channel that the source has rows of; or channels, where several were kept away together',
      graph: 'A channel that the source has rows of; or channels, where several were kept away together.',
    }),
    channels: z.array(channelName).min(2, 'name at least two channels').max(MOST_CHANNELS).optional().meta({
      description: 'In place of channel: channels that were kept away together, and measured as one sum',
    }),
    method: experimentMethod.meta({
      description: 'holdout kept people away from the channel, geo places',
      graph: 'Who or what was kept away from the channel.',
    }),
    period: namedDays.meta({ graph: 'Exactly two dates, first and last day, both included.' }),
    incrementalRevenue: amount.meta({
      description: 'Revenue that the channel added in the period, for the whole shop; major units, may be negative',
      graph: 'Revenue that the channel added in the period, for the whole shop; major units.',
    }),
    // The smallest standard error that two decimals can show.
    standardError: amount.min(0.01, 'must be at least 0.01').meta({
      description: 'Standard error of it, major units',
      graph: 'Standard error of it, major units; at least 0.01.',
    }),
    currency: namedCurrency.optional().meta({
      description: 'That of the source; another one is refused',
      graph: 'Defaults to the currency of the source; another one is refused.',
    }),
    notes: z.string().max(2_000).optional().meta({ graph: 'Up to 2,000 characters.' }),
  })
  .refine((given) => (given.channel === undefined) !== (given.channels === undefined), {
    path: ['channel'],
    message: 'give either channel or channels',
    params: { code: 'required' },
    // Also where another member is wrong, so that one answer tells of everything.
    when: ({ value, issues }) =>
      typeof value === 'object' && value !== null && !issues.some(({ path }) => isOfChannels(path?.[0])),
  })
  .refine(({ channels = [] }) => new Set(channels).size === channels.length, {
    path: ['channels'],
    message: 'must name each channel once',
    params: { code: 'not_unique' },
    when: ({ value }) => Array.isArray((value as { channels?: unknown } | null)?.channels),
  })
  .meta({ id: 'ExperimentRequest', graph: 'The result of an experiment, of one of channel and channels.' });

function isOfChannels(member: unknown): boolean {
  return member === 'channel' || member === 'channels';
}

export const experimentFilter = z
  .object({
    dataSourceId: namedId('ds').optional().meta({ graph: 'Only those of this source.' }),
    channel: channelName.optional().meta({ graph: 'Only those of this channel.' }),
  })
  .meta({ graph: 'Narrows a list of experiments.' });

const example = {
  id: 'exp_01JQ2n4Kc7WyQhTzBdMpRs',
  data_source_id: 'ds_01JQ2kZr5uHn4GdPaLxWqB',
  channel: 'meta_ads',
  channels: ['meta_ads'],
  method: 'geo',
  period: ['2026-01-01', '2026-01-28'],
  incremental_revenue: 31_250.5,
  standard_error: 4_800,
  currency: 'USD',
  notes: 'Four regions dark, sixteen as before',
  environment: 'live',
  created_at: '2026-02-01T09:20:11.000Z',
};

export const experiments = noun({
  one: 'experiment',
  many: 'experiments',
  tag: 'Experiments',
  record: experiment,
  example,
  operations: {
    createExperiment: {
      method: 'POST',
      path: '/experiments',
      kind: 'write',
      action: 'experiment:write',
      summary: 'Record the result of an experiment',
      description:
        'A holdout or geo test of one channel, or of several together. Later causal analyses of ranges that share ' +
        'days with its period are calibrated by it and show it beside their estimate. A second result of the same ' +
        'channels, method and period is refused: it would count twice.',
      graph:
        'Records the result of an experiment; later causal analyses are calibrated by it. Errors: VALIDATION_ERROR, ' +
        'RESOURCE_NOT_FOUND, CONFLICT.',
      input: newExperiment,
      answer: {
        one: experiment,
        payload: {
          description: 'The experiment that was recorded.',
          member: 'The new experiment.',
          trust: 'Trust envelope of the experiment.',
        },
      },
      answered: 'The experiment',
      problems: ['resource_not_found', 'conflict'],
      example: { leavesOut: ['currency', 'channels'] },
    },
    listExperiments: {
      method: 'GET',
      path: '/experiments',
      kind: 'read',
      action: 'experiment:read',
      field: 'experiments',
      summary: 'List the experiments',
      description: 'Newest first, those of deleted sources too.',
      graph: 'Experiments of the account, newest first, those of deleted sources too.',
      filter: experimentFilter,
      answer: { page: experiment },
      answered: 'A page of experiments',
      example: { query: { channel: 'meta_ads' } },
    },
    getExperiment: {
      method: 'GET',
      path: '/experiments/{id}',
      kind: 'read',
      action: 'experiment:read',
      field: 'experiment',
      summary: 'Read an experiment',
      description: 'As it was recorded; what it did to an analysis stands in the diagnostics of that analysis.',
      graph: 'One experiment. Errors: RESOURCE_NOT_FOUND.',
      answer: { one: experiment },
      answered: 'The experiment',
    },
    deleteExperiment: {
      method: 'DELETE',
      path: '/experiments/{id}',
      kind: 'write',
      action: 'experiment:write',
      summary: 'Delete an experiment',
      description: 'Later analyses do without it; those that used it keep what they computed.',
      graph: 'Deletes an experiment; analyses that used it keep what they computed. Errors: RESOURCE_NOT_FOUND.',
      answer: { gone: experiment, description: 'The experiment that was deleted.' },
      answered: 'It is gone',
    },
  },
});
