import { z } from 'zod';
import { attributionModel } from './attribution-model.ts';
import { attributionStatus, granularity } from './attribution-result.ts';
import type { IdPrefix } from '../id-prefixes.ts';
import { acceptedQuality } from './data-quality.ts';
import { margin } from './profitability.ts';
import { namedSources, noSource, sourcesAreNamed, sourcesAreNamedOnce, sourcesNamedTwice } from './named-sources.ts';
import { channelName, graphTypes, id, inRest, namedDays, namedId, namedMoment } from './terms.ts';

/* What an analysis is asked for by: limits and defaults of both doors. */

/** What an analysis goes by where the request does not say. */
export const ATTRIBUTION_DEFAULTS = {
  model: 'causal',
  granularity: 'daily',
  lookbackWindowDays: 30,
  conversionEvent: 'purchase',
  confidenceLevel: 0.95,
  markovOrder: 1,
  autoRefresh: false,
} as const;

const channelList = (most: number) =>
  z.array(channelName).min(1, 'name at least one channel, or leave it out').max(most).optional();

/** An id of whatever form; the verb says what is wrong with it. */
const anyId = (prefix: IdPrefix) => inRest(z.string().max(128), id(prefix)).optional();

const modelOptions = z
  .object({
    markovOrder: z.int().min(1).max(4).optional().meta({ graph: 'Order of the Markov chain, 1 to 4; defaults to 1.' }),
  })
  .register(graphTypes, { name: 'ModelOptions', description: 'Options of single models.' });

export const newAttribution = z
  .object({
    ...namedSources,
    dateRange: namedDays.meta({ graph: 'Exactly two dates, start and end, both included.' }),
    model: attributionModel.optional().meta({ default: ATTRIBUTION_DEFAULTS.model, graph: 'Defaults to CAUSAL.' }),
    granularity: granularity.optional().meta({
      default: ATTRIBUTION_DEFAULTS.granularity,
      graph: 'Defaults to DAILY.',
    }),
    channels: channelList(500).meta({
      description: 'Restricts to these channels',
      graph: 'Restricts the answer to these channels; the journeys still know all of them.',
    }),
    lookbackWindowDays: z.int().min(1).max(90).optional().meta({
      default: ATTRIBUTION_DEFAULTS.lookbackWindowDays,
      graph: '1 to 90; defaults to 30.',
    }),
    conversionEvent: z.string().min(1).max(100).optional().meta({
      default: ATTRIBUTION_DEFAULTS.conversionEvent,
      graph: 'Defaults to purchase.',
    }),
    confidenceLevel: z.number().min(0.8).max(0.99).optional().meta({
      default: ATTRIBUTION_DEFAULTS.confidenceLevel,
      graph: '0.80 to 0.99; defaults to 0.95.',
    }),
    baselineChannels: channelList(50).meta({
      description: 'Overrides those of the source',
      graph: 'Overrides the baseline channels of the source.',
      restAfter: 'channels',
    }),
    margin: margin.optional().meta({
      description:
        'Share of revenue that is left after the cost of goods, for profit beside revenue; overrides the cogs of ' +
        'orders and the margin of the source',
      graph:
        'Share of revenue that is left after the cost of goods, for profit beside revenue; overrides the cogs of ' +
        'orders and the margin of the source.',
      restAfter: 'baselineChannels',
    }),
    modelOptions: modelOptions.optional().meta({ graph: 'Options of single models.' }),
    acceptQuality: acceptedQuality,
    workspaceId: anyId('ws').meta({
      description:
        'Workspace to put the analysis into, ws_…; the one in SVC-Workspace, or that of the source, when absent',
      graph:
        'Workspace to put the analysis into; the one that the request acts in, or that of the source, when absent.',
    }),
    agentId: anyId('agent').meta({
      description: 'The serving agent; that of the source when absent. An account without an agent may name any',
    }),
    autoRefresh: z
      .boolean()
      .optional()
      .meta({
        description:
          'Runs the analysis again, at no cost, whenever late rows change the revenue of its range by 0.1 % or more',
        default: ATTRIBUTION_DEFAULTS.autoRefresh,
        graph:
          'Runs the analysis again, at no cost, whenever late rows change the revenue of its range by 0.1 % or more; ' +
          'defaults to false.',
      }),
  })
  .refine(sourcesAreNamed, noSource())
  .refine(sourcesAreNamedOnce, sourcesNamedTwice())
  .meta({ id: 'AttributionRequest', graph: 'An analysis to run.' });

export const attributionFilter = z
  .object({
    status: attributionStatus.optional().meta({ graph: 'Only those in this state.' }),
    model: attributionModel.optional().meta({ graph: 'Only those of this model.' }),
    dataSourceId: namedId('ds').optional().meta({ graph: 'Only those of this source, alone or among others.' }),
    agentId: namedId('agent').optional().meta({ graph: 'Only those that this agent served.' }),
    createdAfter: namedMoment.optional().meta({ graph: 'Only those asked for at this moment or later.' }),
    createdBefore: namedMoment.optional().meta({ graph: 'Only those asked for at this moment or earlier.' }),
  })
  .meta({ graph: 'Narrows a list of analyses.' });
