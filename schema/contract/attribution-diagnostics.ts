import { z } from 'zod';
import { CREDIT_TEST_STATUSES, CREDIT_TESTS } from '../value-lists.ts';
import { experimentMethod } from './experiments.ts';
import { days, graphTypes, id, inRest, money } from './terms.ts';

const experimentBasis = z.enum(['touches', 'days']).register(graphTypes, {
  name: 'ExperimentBasis',
  description: 'What the period of an experiment and the range of an analysis were compared by.',
});

/** What an experiment said of the range, and what that did to the credit of its channel. */
export const experimentCalibration = z
  .object({
    id: id('exp').meta({ graph: 'Public id of the experiment; it may be gone by now.' }),
    channel: z.string().meta({ graph: 'The channel that was measured; several by what they are called together.' }),
    channels: z.array(z.string()).meta({ description: 'One, or several that were kept away together' }),
    method: experimentMethod.meta({ graph: 'Who or what was kept away from the channel.' }),
    period: days.meta({ graph: 'First and last day of the measurement.' }),
    measuredIncrementalRevenue: money.meta({ description: 'Over the period', graph: 'Measured over the period.' }),
    measuredStandardError: money.meta({ graph: 'Standard error over the period.' }),
    incrementalRevenue: money.meta({ description: 'Carried over to the range' }),
    standardError: money.meta({ graph: 'Standard error for the range, wider the less period and range share.' }),
    overlap: z.number().meta({
      description: 'Share of the period in the range times share of the range in the period',
      graph: 'Share of the period in the range times share of the range in the period, in (0, 1].',
    }),
    basis: experimentBasis.meta({ graph: 'What the shares are of: the touches of the channel, or days.' }),
    modelIncrementalRevenueBefore: money.meta({
      description: 'Credit of the channel without any experiment',
      graph: 'What the model credited to the channel without any experiment.',
    }),
    modelIncrementalRevenueAfter: money.meta({ graph: 'What it credits with all of them.' }),
  })
  .meta({
    id: 'ExperimentCalibration',
    graph:
      'What an experiment said of the range of an analysis, and what that did to the credit. Money in major units.',
  });

const creditTestCode = z.enum(CREDIT_TESTS).register(graphTypes, {
  name: 'CreditTestCode',
  description:
    'HELD_OUT_PLACEBO: an unpaid channel measured as if it were paid. LEAD: unpaid visits before a touch against ' +
    'those after it. HORIZON_HALVED, HORIZON_DOUBLED: the effect followed for half and twice as long. WINDOW_HALVES: ' +
    'the effect in either half of the data. OVERLAP: whether exposed people have unexposed counterparts.',
});
const creditTestStatus = z.enum(CREDIT_TEST_STATUSES).register(graphTypes, {
  name: 'CreditTestStatus',
  description: 'Whether what was found is more than chance and the published intervals allow for.',
});

/** One thing that a sound credit has to pass. */
export const creditTest = z
  .object({
    code: creditTestCode.meta({ graph: 'What was tried.' }),
    channel: z.string().nullable().meta({
      description: 'Null where it concerns all',
      graph: 'The channel that was tested; null where the test concerns all of them.',
    }),
    status: creditTestStatus.meta({
      graph:
        'FAIL: estimate exceeds threshold, either way, and interval leaves 0 out. NOT_APPLICABLE: message says why.',
    }),
    estimate: z
      .number()
      .nullable()
      .meta({
        description:
          'Part of the revenue, of window_halves half the difference; lead: unpaid visits per touch; overlap: part ' +
          'of the people',
        graph:
          'What was found: a part of the revenue, of WINDOW_HALVES half the difference, later less earlier; of LEAD ' +
          'unpaid visits per touch, before less after; of OVERLAP the ' +
          'part of the people without a counterpart. Null where not applicable.',
      }),
    interval: z
      .object({
        lower: z.number().meta({ graph: 'Lower end.' }),
        upper: z.number().meta({ graph: 'Upper end.' }),
        level: z.number().meta({ graph: 'Confidence level, corrected for the number of channels that are tested.' }),
      })
      .register(graphTypes, { name: 'CreditTestInterval', description: 'Of an estimate, in its unit.' })
      .nullable()
      .meta({ graph: 'Of the estimate; null where it is a plain count.' }),
    threshold: z.number().nullable().meta({ graph: 'What the estimate may be, either way.' }),
    message: z.string().meta({ graph: 'The same in words, and what would help.' }),
  })
  .meta({ id: 'CreditTest' })
  .register(graphTypes, {
    name: 'CreditTest',
    description: 'One thing that was tried on the data and that a sound credit has to pass.',
  });

/** A count that GraphQL's Int, of 32 bits, may be too small for. */
const count = z.int().meta({ scalar: 'Float' });

const matchRate = z.number().min(0).max(1).nullable();
const stitching = z
  .object({
    pairs: count.meta({ graph: 'Pairs of ids that the sources say are one person.' }),
    people: count.meta({ graph: 'People that they come to.' }),
    userMatchRate: matchRate.meta({
      graph: 'Share of the users of conversions who have a touchpoint, by the ids of the files; null without any.',
    }),
    stitchedUserMatchRate: matchRate.meta({ graph: 'The same with one id for each person.' }),
  })
  .register(graphTypes, {
    name: 'IdentityStitching',
    description: 'What identities did to the journeys of an analysis. Of all the rows of its sources.',
  });

const orderGroup = z
  .object({
    orders: count.meta({ graph: 'Orders of the range.' }),
    revenue: money.meta({ graph: 'Major units.' }),
  })
  .register(graphTypes, { name: 'OrderGroup', description: 'Orders, and what they brought.' });
const customers = z
  .object({
    new: orderGroup.meta({ graph: 'Of people who bought for the first time.' }),
    returning: orderGroup.meta({ graph: 'Of people who had bought before.' }),
    unknown: orderGroup.meta({ graph: 'Of which the files do not say it.' }),
    channels: z
      .array(
        z
          .object({
            channel: z.string().meta({ graph: 'Name of the channel.' }),
            orders: count.meta({ graph: 'Orders with a touch of the channel within the lookback; unknown left out.' }),
            newOrders: count.meta({ graph: 'Those of new customers.' }),
          })
          .register(graphTypes, {
            name: 'ChannelCustomers',
            description: 'On whose way a channel stands: a count of orders, and no credit.',
          }),
      )
      .meta({ graph: 'By name. An order counts for every channel that it has a touch of.' }),
  })
  .register(graphTypes, {
    name: 'CustomerTypes',
    description: 'New against returning customers, as the files of orders tell them apart (new_customer).',
  });

/** How an analysis went: sizes, convergence, what the reader should know. */
export const diagnostics = z
  .object({
    journeys: count.meta({ graph: 'Journeys that the models saw.' }),
    convertingJourneys: count.meta({ graph: 'Those that ended in a conversion.' }),
    touches: count.meta({ graph: 'Touchpoints in all journeys.' }),
    converged: z.boolean().meta({ graph: 'False when the solver of the Markov chain stopped short of its tolerance.' }),
    iterations: z.int().meta({ graph: 'Iterations of the sparse solver; 0 where one factorisation solved the chain.' }),
    elapsedMs: inRest(z.number(), z.int()).meta({ graph: 'From the first row read to the last figure, milliseconds.' }),
    seed: z.string().meta({ graph: 'Seed of the sampled models.' }),
    runDigest: z.string().meta({ graph: 'Digest of the figures alone: a re-run on the same rows gives the same.' }),
    warnings: z.array(z.string()).meta({ graph: 'What the reader of the figures should know.' }),
    experiments: z.array(experimentCalibration).meta({
      description: 'Experiments that calibrated the causal credit',
      graph: 'Experiments that calibrated the causal credit, beside what the model said without them.',
      restAfter: 'models',
    }),
    tests: z.array(creditTest).optional().meta({
      description: 'Of the causal credit; absent otherwise, and in results from before there were any',
      graph: 'What the causal credit had to pass; null under other models, and in results from before there were any.',
    }),
    stitching: stitching.optional().meta({
      description: 'Where the sources hold identities; absent otherwise',
      graph: 'What identities did to the journeys; null where the sources hold none.',
    }),
    customers: customers.optional().meta({
      description: 'Where orders say whether their customer is new; absent otherwise',
      graph: 'New against returning customers; null where no order says which it is.',
    }),
    models: z.record(z.string(), z.unknown()).meta({ graph: 'What each model reports of itself.' }),
  })
  .register(graphTypes, { name: 'AttributionDiagnostics', description: 'How the analysis went.' });
