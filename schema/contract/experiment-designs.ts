import { z } from 'zod';
import { confidenceInterval } from './attribution-impact.ts';
import { acceptedQualityInQuery } from './data-quality.ts';
import { experimentMethod } from './experiments.ts';
import {
  joinedSources,
  namedSourcesInQuery,
  noSource,
  sourcesAreNamed,
  sourcesAreNamedOnce,
  sourcesNamedTwice,
} from './named-sources.ts';
import { noun } from './noun.ts';
import { queryNumber } from './query-number.ts';
import { channelName, days, graphTypes, id, inRest, money, namedDays } from './terms.ts';

/** Power that designs are made for where nothing is said. */
export const DEFAULT_POWER = 0.8;
const POWERS = { least: 0.5, most: 0.99 } as const;

const decision = z
  .object({
    currentInterval: confidenceInterval.nullable().meta({
      description: 'Of the credit in the range, as the analysis has it; null where the channel is not measurable',
      graph: 'Of the credit in the range, as the analysis has it; null where the channel is not measurable.',
    }),
    breakevenRevenue: money.meta({
      description:
        'What pays for the spend of the range: the spend, divided by the margin where the analysis has one. Whoever ' +
        'brings less does not earn it back',
      graph:
        'What pays for the spend of the range: the spend, divided by the margin where the analysis has one. What ' +
        'brings less does not earn it back.',
    }),
    valueOfInformation: money.meta({
      description:
        'What keeping or stopping by the test is expected to gain over deciding now, in the year that follows it, ' +
        'less lost_revenue; with a margin profit, and less what of it would be left. Below 0 the test costs more ' +
        'than it tells',
      graph:
        'What keeping or stopping by the test is expected to gain over deciding now, in the year that follows it, ' +
        'less lostRevenue; with a margin profit, and less what of it would be left. Below 0 the test costs more ' +
        'than it tells. Major units.',
    }),
  })
  .register(graphTypes, { name: 'ExperimentDecision', description: 'What an experiment could change.' });

/** An experiment that would settle what channels bring; the order of the members is the order in every answer. */
export const experimentDesign = z
  .object({
    channel: z.string().meta({
      description: 'The channel; several by what they are called together',
      graph: 'The channel; several by what they are called together.',
    }),
    channels: z.array(z.string()).meta({
      description: 'What is to be kept away: one channel, or all that can be, together',
    }),
    method: experimentMethod.meta({ graph: 'Who or what is to be kept away.' }),
    shareHeldOut: z.number().meta({ graph: 'Part of the people that is held out, drawn at random.' }),
    durationDays: z.int().meta({ graph: 'Days that the test lasts.' }),
    smallestDetectableEffect: money.meta({
      description: 'Revenue of the whole shop in the days of the test that it finds with the power asked for, at 5 %',
      graph:
        'Revenue of the whole shop in the days of the test that it finds with the power asked for, at a two-sided ' +
        'level of 5 %; major units.',
    }),
    expectedStandardError: money.meta({
      description: 'Of the effect on the whole shop in the days of the test',
      graph: 'Of the effect on the whole shop in the days of the test; major units.',
    }),
    lostRevenue: money.meta({
      description:
        'What the held-out people are expected to order less; the spend that is saved on them is not counted',
      graph:
        'What the held-out people are expected to order less; the spend that is saved on them is not counted. ' +
        'Major units.',
    }),
    decision: decision.meta({ graph: 'What the experiment could change.' }),
    rank: z.int().meta({ graph: '1 = the most valuable.' }),
  })
  .meta({ id: 'ExperimentDesign', graph: 'An experiment that would settle what channels bring.' });

const status = z.enum(['processing', 'completed']).register(graphTypes, {
  name: 'InsightStatus',
  description: 'PROCESSING: a run is on its way; ask again.',
});

const designs = z
  .object({
    status: status.meta({
      description: 'processing while the figures that designs are made of are computed',
      graph: 'PROCESSING while the figures that designs are made of are computed: ask again.',
    }),
    dataSourceId: id('ds').meta({ graph: 'Public id of the source; of several, the first.' }),
    dataSourceIds: joinedSources,
    dateRange: days.meta({ graph: 'First and last day of the rows that the designs stand on.' }),
    currency: z.string().nullable().meta({ description: 'Of all amounts; null while processing' }),
    power: z.number().meta({ graph: 'That the designs are made for.' }),
    attributionId: id('attr').nullable().meta({
      description: 'The analysis that the designs stand on; null where a run was made for them alone',
      graph: 'The analysis that the designs stand on; null where a run was made for them alone.',
    }),
    designs: z.array(experimentDesign).meta({ description: 'The most valuable first' }),
    warnings: z.array(z.string()).meta({ description: 'What no design can be made for, and why' }),
  })
  .register(graphTypes, {
    name: 'ExperimentDesigns',
    description: 'Which experiments would settle what the channels of a source bring.',
  });

export const designFilter = z
  .object({
    ...namedSourcesInQuery,
    channel: channelName.optional().meta({ description: 'Only the design of this channel' }),
    dateRange: namedDays.optional().meta({
      description: 'Days of the analysis to stand on; those of the newest one, or all of the source, when absent',
      graph: 'Days of the analysis to stand on; those of the newest one, or all of the source, when absent.',
    }),
    power: inRest(queryNumber(POWERS.least, POWERS.most, DEFAULT_POWER), z.number().min(POWERS.least).max(POWERS.most))
      .optional()
      .meta({
        description: 'Chance that the test finds the smallest detectable effect',
        graph: `Chance that the test finds the smallest detectable effect; defaults to ${DEFAULT_POWER}.`,
      }),
    acceptQuality: acceptedQualityInQuery,
  })
  .refine(sourcesAreNamed, noSource())
  .refine(sourcesAreNamedOnce, sourcesNamedTwice())
  .meta({ graph: 'What designs are asked for.' });

const example = {
  channel: 'retargeting',
  channels: ['retargeting'],
  method: 'holdout',
  share_held_out: 0.2,
  duration_days: 28,
  smallest_detectable_effect: 4_480.32,
  expected_standard_error: 1_599.22,
  lost_revenue: 380.5,
  decision: {
    current_interval: { lower: -4_210.5, upper: 15_890.25, level: 0.95 },
    breakeven_revenue: 5_200,
    value_of_information: 3_120.75,
  },
  rank: 1,
};

export const experimentDesigns = noun({
  one: 'experimentDesign',
  many: 'experiment-designs',
  tag: 'Experiments',
  record: experimentDesign,
  withoutTrust: true,
  example,
  operations: {
    listExperimentDesigns: {
      method: 'GET',
      path: '/experiments/designs',
      kind: 'insight',
      action: 'experiment:read',
      field: 'experimentDesigns',
      summary: 'Ask which experiment would settle it',
      description:
        'A user holdout per paid channel that can be kept away from people, and one of all of them together; the ' +
        'most valuable first. They stand on the newest completed causal analysis of the source and range. Where ' +
        'there is none, a run is made: it is not billed, and can be read as nothing else. The answer waits for it as ' +
        'long as Prefer: wait allows (25 s when absent), else it is 202 with Location and Retry-After.',
      graph:
        'Which experiments would settle what the channels of a source bring, by its newest completed causal ' +
        'analysis. Without one a run is made, which is not billed: PROCESSING until it has ended. Errors: ' +
        'VALIDATION_ERROR, RESOURCE_NOT_FOUND, DATA_SOURCE_UNAVAILABLE.',
      filter: designFilter,
      answer: { outcome: designs, trust: 'Trust envelope of the analysis that the designs stand on.' },
      answered: 'The designs',
      problems: ['resource_not_found', 'data_source_unavailable'],
      example: {
        query: { data_source_id: 'ds_01JQ2kZr5uHn4GdPaLxWqB' },
        response: {
          status: 'completed',
          data_source_id: 'ds_01JQ2kZr5uHn4GdPaLxWqB',
          date_range: ['2026-01-01', '2026-03-31'],
          currency: 'USD',
          power: 0.8,
          attribution_id: 'attr_01JQ2m6Yw3TfK8sVbNcXrE',
          designs: [example],
          warnings: [],
        },
      },
    },
  },
});
