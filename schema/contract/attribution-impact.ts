import { z } from 'zod';
import { IDENTIFICATION_REASONS, IDENTIFICATION_STATUSES } from '../value-lists.ts';
import { byChannel, graphTypes, money } from './terms.ts';

/* What an analysis credits to channels, to their campaigns, and to periods. */

/** A quotient, where there is one. */
const ratio = z.number().nullable();
const roi = ratio.meta({
  description: '(attributed_revenue - spend) / spend; null without spend, or where not measurable',
  graph: '(attributed revenue − spend) / spend; null without spend, or where not measurable.',
});
const roas = ratio.meta({
  description: 'attributed_revenue / spend; null without spend, or where not measurable',
  graph: 'Attributed revenue / spend; null without spend, or where not measurable.',
});
const channel = z.string().meta({ graph: 'Name of the channel, as in the touchpoints.' });
const deltaR = money.meta({
  description: 'attributed_revenue - lastclick_revenue, signed',
  graph: 'Attributed revenue − last-click revenue, signed.',
});

export const confidenceInterval = z
  .object({
    lower: money.meta({ graph: 'Lower end.' }),
    upper: money.meta({ graph: 'Upper end.' }),
    level: z.number().meta({ graph: 'Confidence level, 0.95 = 95 %.' }),
  })
  .register(graphTypes, {
    name: 'ConfidenceInterval',
    description: 'Interval around a figure, in its unit.',
    isShareable: true,
  });

const identificationStatus = z.enum(IDENTIFICATION_STATUSES).register(graphTypes, {
  name: 'IdentificationStatus',
  description: 'Whether the rows pin an effect down to a point, to a set, or not at all.',
  isShareable: true,
});
const identificationCode = z.enum(IDENTIFICATION_REASONS).register(graphTypes, {
  name: 'IdentificationCode',
  description: 'What the rows show that keeps an effect from being pinned down.',
  isShareable: true,
});

/** How far the rows pin a channel's effect down. */
export const identification = z
  .object({
    status: identificationStatus.meta({
      description:
        'point: the interval is that of sampling and mechanism; partial: it spans every effect that the rows leave ' +
        'possible; none: not measurable',
      graph:
        'POINT: the interval is that of sampling and mechanism. PARTIAL: it spans every effect that the rows leave ' +
        'possible. NONE: not measurable.',
    }),
    reasons: z
      .array(
        z
          .object({
            code: identificationCode.meta({ graph: 'What was found.' }),
            message: z.string().meta({ graph: 'The same in words, and what would help.' }),
          })
          .register(graphTypes, {
            name: 'IdentificationReason',
            description: 'Why an effect is known in part only, or not at all.',
            isShareable: true,
          }),
      )
      .meta({ graph: 'Why it is no better known; empty for POINT.' }),
  })
  .meta({ id: 'Identification' })
  .register(graphTypes, {
    name: 'ChannelIdentification',
    description: "How far the rows pin a channel's effect down.",
    isShareable: true,
  });

const spendResponseMethod = z.enum(['time_series']).register(graphTypes, {
  name: 'SpendResponseMethod',
  description: 'TIME_SERIES: a regression of daily revenue on spend.',
  isShareable: true,
});

/** What revenue did over time when the spend of a channel without touches moved. */
export const spendResponse = z
  .object({
    incrementalRevenue: money.meta({ graph: 'Revenue of the range that rose and fell with the spend.' }),
    confidenceInterval: confidenceInterval.meta({ graph: 'Of the incremental revenue.' }),
    pValue: z.number().meta({
      description: 'That spend changes nothing; two-sided',
      graph: 'Two-sided probability of such an estimate, or a larger one, where spend changes nothing.',
    }),
    method: spendResponseMethod.meta({ graph: 'How it was found.' }),
  })
  .meta({ id: 'SpendResponse' })
  .register(graphTypes, {
    name: 'SpendResponse',
    description: 'What revenue did over time when the spend of a channel without touches moved. Part of no total.',
    isShareable: true,
  });

export const channelImpact = z
  .object({
    channel,
    causalLift: ratio.meta({
      description: 'Incremental uplift against the counterfactual without the channel',
      graph: 'Uplift against the counterfactual without the channel, A / (R − A), capped at 10.',
    }),
    roi,
    roas: roas.meta({ restAfter: 'share' }),
    spend: money.meta({ graph: 'What the channel cost in the range.' }),
    attributedRevenue: money.meta({ graph: 'Revenue that the model credits to the channel.' }),
    incrementalRevenue: money.meta({
      graph: 'Attributed revenue of a paid channel; 0 for a baseline channel, which adds nothing by definition.',
      restAfter: 'deltaR',
    }),
    confidence: ratio.meta({
      graph:
        '1 / (1 + width of the interval / credited total + 2 · standard deviation of the share over Markov, Shapley ' +
        'and PRAV), in [0, 1]. A baseline channel under causal and prav: 1. Null while the analysis runs.',
    }),
    confidenceInterval: confidenceInterval.nullable().meta({
      graph:
        'Of the attributed revenue, over the chance of the journeys (prav, causal: also of the placebos). A ' +
        'baseline channel under causal and prav: [0, 0]. Null where the effect is not measurable.',
    }),
    lastclickRevenue: money.meta({ graph: 'Revenue that plain last click gives the channel.' }),
    deltaR,
    conversions: z.number().meta({ graph: 'Conversions that the model credits to the channel, in fractions.' }),
    share: z.number().meta({ graph: 'Share of the credited total.' }),
    rank: z.int().meta({ graph: '1 is the channel with the highest attributed revenue.' }),
    isBaseline: z.boolean().meta({ graph: 'True for channels that are there without marketing.' }),
    profit: money
      .nullable()
      .optional()
      .meta({
        description:
          'margin * attributed_revenue - spend, of paid channels where there is profitability, absent otherwise; ' +
          'null where not measurable',
        graph: 'Margin × attributed revenue − spend, of paid channels where there is a margin; null otherwise.',
      }),
    profitInterval: confidenceInterval.nullable().optional().meta({
      description: 'Of the profit: the ends of confidence_interval, times margin, less spend; absent like profit',
      graph: 'Of the profit: the ends of the interval, times margin, less spend. Null like profit.',
    }),
    profitRoas: ratio.optional().meta({
      description:
        'margin * attributed_revenue / spend: above 1 a channel earns more than it costs. Absent like profit; null ' +
        'without spend, or where not measurable',
      graph:
        'Margin × attributed revenue / spend: above 1 a channel earns more than it costs. Null without spend, a ' +
        'margin or a measurable effect.',
    }),
    identification: identification.optional().meta({
      description: 'Of paid channels under causal; absent otherwise',
      graph:
        'How far the effect is pinned down, of paid channels under causal; null otherwise. With NONE the channel ' +
        'carries no credit, and interval, roi and roas are null: read it as "not measurable", never as 0.',
    }),
    spendResponse: spendResponse.optional().meta({
      description: 'Beside untracked spend that revenue rose with significantly, part of no total; absent otherwise',
      graph: 'Beside spend without touches, where revenue rose with it significantly; null otherwise.',
    }),
  })
  .meta({
    id: 'ChannelImpact',
    graph: 'What one channel is credited with. Money in major units of the currency of the source.',
  })
  .register(graphTypes, { name: 'ChannelImpact', isShareable: true });

export const timeSeriesPoint = z
  .object({
    periodStart: z.iso.date().meta({
      description: 'First day of the day, week (Monday) or month, UTC',
      graph: 'First day of the whole period; ahead of the range where the first period is partial.',
    }),
    partial: z.boolean().meta({
      description: 'The range covers a part of the period only',
      graph: 'True where the range covers a part of the period only: at either end of weeks and months.',
    }),
    revenue: money.meta({
      description: 'Of the conversions of the period',
      graph: 'Revenue of the conversions of the period.',
    }),
    baselineRevenue: money.meta({ graph: 'The part of the baseline revenue that falls to the period.' }),
    channels: byChannel.meta({
      description: 'Attributed revenue; each channel sums over the periods to its attributed_revenue',
      graph: 'Attributed revenue by channel.',
      digits: 2,
    }),
  })
  .meta({
    id: 'TimeSeriesPoint',
    graph:
      'The credit of one period, UTC. Every column sums over the periods to the figure of the whole ' +
      'range, to the cent.',
  });

export const campaignImpact = z
  .object({
    channel,
    campaign: z.string().nullable().meta({
      description: 'Null for what names none',
      graph: 'Name of the campaign, as in the touchpoints; null for what names none.',
    }),
    spend: money.meta({ graph: 'What the campaign cost in the range.' }),
    touches: z.int().meta({ scalar: 'Float', graph: 'Touchpoints of the campaign in the range.' }),
    attributedRevenue: money.meta({
      description: 'The campaigns of a channel sum to the channel',
      graph: 'Revenue that the model credits to the campaign.',
    }),
    lastclickRevenue: money.meta({ graph: 'Revenue that plain last click gives the campaign.' }),
    deltaR,
    roi,
    roas,
  })
  .meta({
    id: 'CampaignImpact',
    graph:
      'What one campaign of a channel is credited with. The campaigns of a channel sum to the channel, to the cent. ' +
      'Money in major units of the currency of the source.',
  });
