import { z } from 'zod';
import { COMPARISON_RULES } from '../value-lists.ts';
import { attributionModel } from './attribution-model.ts';
import { mapInRest } from './rest-form.ts';
import { graphTypes, money } from './terms.ts';

/* What the models and the rules say beside the credit of an analysis. REST shows both as maps of maps. */

const channel = z.string().meta({ graph: 'Name of the channel, as in the touchpoints.' });

const channelShare = z
  .object({
    channel,
    share: z.number().nullable().meta({ graph: 'Share of the revenue that the model credits to channels.' }),
  })
  .register(graphTypes, { name: 'ChannelShare', description: 'What a model gives a channel, as a share.' });

export const modelShares = z
  .object({
    model: attributionModel.meta({ graph: 'One of the five; CAUSAL combines them.' }),
    shares: mapInRest(channelShare).meta({ graph: 'Every channel that the model knows.' }),
  })
  .register(graphTypes, { name: 'ModelShares', description: 'How one model shares the credit out.' });

const channelRevenue = z
  .object({
    channel,
    revenue: money.nullable().meta({ graph: 'Major units of the currency of the source.' }),
  })
  .register(graphTypes, { name: 'ChannelRevenue', description: 'What a rule gives a channel.' });

const comparisonRule = z.enum(COMPARISON_RULES).register(graphTypes, {
  name: 'ComparisonRule',
  description:
    'Rules of thumb that share the revenue of a conversion out over its touches, without asking what it took.',
});

export const ruleRevenue = z
  .object({
    rule: comparisonRule.meta({ graph: 'The rule.' }),
    channels: mapInRest(channelRevenue).meta({
      graph: 'Every channel; with the unattributed revenue they sum to the revenue, to the cent.',
    }),
  })
  .register(graphTypes, { name: 'RuleRevenue', description: 'Revenue per channel by one rule.' });
