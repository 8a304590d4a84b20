import { z } from 'zod';
import { snakeCase } from '../snake-case.ts';
import { ATTRIBUTION_STATUSES, FAILURE_CODES, GRANULARITIES } from '../value-lists.ts';
import { diagnostics } from './attribution-diagnostics.ts';
import { campaignImpact, channelImpact, timeSeriesPoint } from './attribution-impact.ts';
import { modelShares, ruleRevenue } from './attribution-comparison.ts';
import { attributionModel } from './attribution-model.ts';
import { dataQuality } from './data-quality.ts';
import { joinedSources } from './named-sources.ts';
import { profitability } from './profitability.ts';
import { mapInRest } from './rest-form.ts';
import { cents, days, environment, graphTypes, id, moment, money } from './terms.ts';
import { trustEnvelope } from './trust-envelope.ts';

export const attributionStatus = z.enum(ATTRIBUTION_STATUSES).register(graphTypes, {
  name: 'AttributionStatus',
  description: 'Where an analysis is in its life.',
});
export const granularity = z.enum(GRANULARITIES).register(graphTypes, {
  name: 'Granularity',
  description: 'Length of a period; weeks start on Monday.',
});
export const failureCode = z.enum(FAILURE_CODES).register(graphTypes, {
  name: 'AttributionFailureCode',
  description: 'Why an analysis ended without figures.',
});

/** Why an analysis failed, in words that a shop owner can act on. */
export const attributionFailure = z
  .object({
    code: failureCode.meta({ graph: 'What went wrong, for programs.' }),
    message: z.string().meta({ graph: 'What went wrong and what to do, for people.' }),
  })
  .register(graphTypes, { name: 'AttributionFailure', description: 'Why an analysis ended without figures.' });

/*
 * The members of an analysis, in groups: the graph shows some that REST has not and the other way round, and each has
 * an order of its own.
 */

const head = {
  id: id('attr').meta({ graph: 'Public id, attr_ and 22 characters.' }),
  status: attributionStatus.meta({ graph: 'Where the analysis is in its life.' }),
  model: attributionModel.meta({ graph: 'Whose credit channelImpact shows.' }),
  dataSourceId: id('ds').meta({ graph: 'Public id of the source that was analysed; of several, the first.' }),
  dateRange: days.meta({ graph: 'Start and end, both included, UTC days.' }),
  channelImpact: z.array(channelImpact).meta({
    description: 'Empty until completed; while a refresh is under way, that of the last revision',
    graph: 'Every channel, highest attributed revenue first; empty until completed.',
  }),
  methodology: z.string().meta({ graph: 'The models that ran and how they were combined.' }),
  confidence: z.number().nullable().meta({ graph: 'Revenue-weighted mean of the channels’ confidence.' }),
  createdAt: moment.meta({ graph: 'When the analysis was asked for.' }),
};

const trust = {
  trust: trustEnvelope.nullable().meta({
    description:
      'Judged at the moment of reading. The record envelope until completed; null only where the evidence was not ' +
      'kept: analyses of older versions',
    graph:
      'How far the figures can be trusted, judged at the moment of reading. The record envelope until completed; ' +
      'null only where the evidence was not kept: analyses of older versions.',
  }),
};

const quality = {
  dataQuality: dataQuality.optional().meta({
    description:
      'How good the rows of the range are; what is blocking was accepted by accept_quality. Absent until completed, ' +
      'and in results of older versions',
    graph:
      'How good the rows of the range are; what is BLOCKING was accepted by acceptQuality. Null until completed, and ' +
      'in results of older versions.',
  }),
};

const profit = {
  profitability: profitability.optional().meta({
    description:
      'The margin that profits stand on: of the request, of orders that say their cogs, or of the source. Absent ' +
      'where none of them says one: then there is revenue alone',
    graph:
      'The margin that profits stand on: of the request, of orders that say their cogs, or of the source. Null where ' +
      'none of them says one: then there is revenue alone.',
  }),
};

const course = {
  completedAt: moment.nullable().meta({ graph: 'When it completed or failed; null until then.' }),
  granularity: granularity.meta({ graph: 'Period that was asked for.' }),
  channels: z.array(z.string()).nullable().meta({
    graph: 'The channels that the answer was restricted to; null for all.',
  }),
  currency: z.string().nullable().meta({ graph: 'ISO 4217; null until completed.' }),
  environment: environment.meta({ graph: 'Whose data the figures rest on.' }),
};
const revision = { revision: z.int().meta({ graph: '1, and one more whenever late rows changed the figures.' }) };

const figures = {
  conversions: z.number().nullable().meta({ graph: 'All conversions of the range.' }),
  revenue: money.nullable().meta({ graph: 'All revenue of the range.' }),
  baselineRevenue: money.nullable().meta({ graph: 'Revenue that no channel is credited with.' }),
  unattributedRevenue: money.nullable().meta({ graph: 'Revenue of conversions without any touchpoint.' }),
  lookbackWindowDays: z.int().meta({ graph: 'How far a journey reaches back before its conversion.' }),
  conversionEvent: z.string().meta({ graph: 'The event that counts as a conversion.' }),
  confidenceLevel: z.number().meta({ graph: 'Level of the intervals.' }),
  revenueLastclickCents: cents.nullable().meta({
    graph: 'Last-click revenue of the paid channels that last click under-credits.',
  }),
  revenueCausalCents: cents.nullable().meta({ graph: 'Attributed revenue of the same channels.' }),
  deltaRCents: cents.nullable().meta({ graph: 'Recovered revenue: the difference of the two, never negative.' }),
  deltaRNetCents: cents.nullable().meta({ graph: 'Signed sum over all paid channels that can be measured.' }),
};

const modelBreakdown = mapInRest(modelShares).nullable().meta({
  graph: 'Share per channel, by every model that could run.',
});
const comparison = mapInRest(ruleRevenue).nullable().meta({
  graph: 'Revenue per channel, by every rule.',
});
const timeSeries = z
  .array(timeSeriesPoint)
  .nullable()
  .meta({
    graph:
      'The credit by period of the granularity, in order; null until completed, and where the source holds ' +
      'aggregated paths, which have no times.',
  });
const campaigns = z
  .array(campaignImpact)
  .nullable()
  .meta({
    graph:
      'The credit by campaign, highest attributed revenue first; null until completed, and where the source holds ' +
      'aggregated paths or names too many campaigns to tell apart.',
  });
const howItWent = diagnostics.nullable().meta({ graph: 'How the analysis went; null until completed.' });

const end = {
  progress: z.number().min(0).max(1).meta({ graph: 'In [0, 1].' }),
  failure: attributionFailure.nullable().meta({ graph: 'Null unless the status is FAILED.' }),
  agentId: id('agent').nullable().meta({ graph: 'The agent that served the source when the analysis was asked for.' }),
};
const place = {
  workspaceId: id('ws').nullable().meta({
    graph: 'Public id of the workspace that the analysis lies in; null for none.',
  }),
};
const signature = {
  signature: z
    .string()
    .nullable()
    .meta({
      description:
        'JWS (EdDSA) that vouches for this result: POST /verify, or any JOSE library with /.well-known/jwks.json. ' +
        'Null until completed, while a refresh is under way, and on results that are older than signatures',
      graph:
        'JWS (EdDSA) over the digest of the result in REST’s form; null until completed, while a refresh is under ' +
        'way, and on results that are older than signatures.',
    }),
};

/** An analysis as its subgraph shows it. */
export const attribution = z
  .object({
    ...head,
    dataSourceIds: joinedSources,
    ...quality,
    ...profit,
    ...course,
    autoRefresh: z.boolean().meta({
      graph: 'Whether it is run again when late rows change the revenue of its range by 0.1 % or more.',
    }),
    ...revision,
    ...figures,
    modelBreakdown,
    comparison,
    timeSeries,
    campaigns,
    diagnostics: howItWent,
    ...end,
    ...place,
    ...signature,
    ...trust,
  })
  .meta({ id: 'Attribution', graph: 'One analysis: what each channel added, by one model.' });

/** An analysis as REST shows it; the order of the members is the order in every answer. Its fee is billing's. */
export const attributionResult = z
  .object({
    ...head,
    dataSourceIds: joinedSources,
    ...trust,
    ...quality,
    ...profit,
    ...course,
    ...revision,
    autoRefresh: z.literal(true).optional().meta({
      description: 'Where it was asked for: late rows that change the revenue make a new revision',
    }),
    ...figures,
    platformFeeCents: cents.nullable().meta({
      description: 'By the plan of the account, 0 for a repetition; of a charged analysis what it was charged',
    }),
    billed: z.literal(false).optional().meta({
      description: 'Where nothing is charged: in the sandbox, on plans without a fee, for repetitions',
    }),
    timeSeries: timeSeries.optional().meta({ description: 'Null for aggregated paths, which have no times' }),
    campaigns: campaigns.optional().meta({
      description: 'Where include names it; null for aggregated paths and for too many campaigns to tell apart',
    }),
    modelBreakdown: modelBreakdown.optional(),
    comparison: comparison.optional(),
    diagnostics: howItWent.optional(),
    ...end,
    workspaceId: place.workspaceId.unwrap().optional().meta({
      description: 'The workspace that the analysis lies in, where it lies in one',
    }),
    ...signature,
  })
  .meta({ id: 'AttributionResult' })
  .register(graphTypes, { name: 'Attribution' });

/** Members that an analysis has where `include` names them; of campaigns, which may be thousands, only there. */
export const attributionSections = {
  timeSeries: true,
  modelBreakdown: true,
  comparison: true,
  diagnostics: true,
  campaigns: false,
} as const;
/** The same, as REST calls them. */
export const RESULT_SECTIONS: readonly string[] = Object.keys(attributionSections).map(snakeCase);

/** What every answer has, whatever sections were asked for. */
export const attributionSummary = attributionResult
  .omit({ ...attributionSections, campaigns: true })
  .register(graphTypes, { name: 'Attribution' });
