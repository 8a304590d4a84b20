import { z } from 'zod';
import { ATTRIBUTION_STATUSES, ENVIRONMENTS, EXPERIMENT_METHODS, FAILURE_CODES, GRANULARITIES, MODELS } from '../../schema/value-lists.ts';
import { membersThatApply } from '../../schema/attribution-result.ts';
import { inOrder } from '../members.ts';
import type { Json } from '../operation.ts';
import { exampleTrust, trustEnvelope } from './trust-envelope.ts';

const ratio = z.number().nullable();
const money = z.number().nullable();
const byChannel = z.record(z.string(), z.number().nullable());

const channelImpact = z
  .object({
    channel: z.string(),
    causal_lift: ratio.meta({ description: 'Incremental uplift against the counterfactual without the channel' }),
    roi: ratio.meta({ description: '(attributed_revenue - spend) / spend; null without spend' }),
    spend: z.number(),
    attributed_revenue: z.number(),
    confidence: ratio,
    confidence_interval: z.object({ lower: z.number(), upper: z.number(), level: z.number() }).nullable(),
    lastclick_revenue: z.number(),
    delta_r: z.number().meta({ description: 'attributed_revenue - lastclick_revenue, signed' }),
    incremental_revenue: z.number(),
    conversions: z.number(),
    share: z.number(),
    roas: ratio.meta({ description: 'attributed_revenue / spend; null without spend' }),
    rank: z.int(),
    is_baseline: z.boolean(),
  })
  .meta({ id: 'ChannelImpact' });

const experimentCalibration = z
  .object({
    id: z.string(),
    channel: z.string(),
    method: z.enum(EXPERIMENT_METHODS),
    period: z.tuple([z.iso.date(), z.iso.date()]),
    measured_incremental_revenue: z.number().meta({ description: 'Over the period' }),
    measured_standard_error: z.number(),
    incremental_revenue: z.number().meta({ description: 'Carried over to the range' }),
    standard_error: z.number(),
    overlap: z.number().meta({ description: 'Share of the period in the range times share of the range in the period' }),
    basis: z.enum(['touches', 'days']),
    model_incremental_revenue_before: z.number().meta({ description: 'Credit of the channel without any experiment' }),
    model_incremental_revenue_after: z.number(),
  })
  .meta({ id: 'ExperimentCalibration' });
const timeSeriesPoint = z
  .object({
    period_start: z.iso.date().meta({ description: 'First day of the day, week (Monday) or month, UTC' }),
    partial: z.boolean().meta({ description: 'The range covers a part of the period only' }),
    revenue: z.number().meta({ description: 'Of the conversions of the period' }),
    baseline_revenue: z.number(),
    channels: byChannel.meta({ description: 'Attributed revenue; each channel sums over the periods to its attributed_revenue' }),
  })
  .meta({ id: 'TimeSeriesPoint' });

const campaignImpact = z
  .object({
    channel: z.string(),
    campaign: z.string().nullable().meta({ description: 'Null for what names none' }),
    spend: z.number(),
    touches: z.int(),
    attributed_revenue: z.number().meta({ description: 'The campaigns of a channel sum to the channel' }),
    lastclick_revenue: z.number(),
    delta_r: z.number().meta({ description: 'attributed_revenue - lastclick_revenue, signed' }),
    roi: ratio.meta({ description: '(attributed_revenue - spend) / spend; null without spend' }),
    roas: ratio.meta({ description: 'attributed_revenue / spend; null without spend' }),
  })
  .meta({ id: 'CampaignImpact' });

const diagnostics = z.object({
  journeys: z.int(),
  converting_journeys: z.int(),
  touches: z.int(),
  converged: z.boolean(),
  iterations: z.int(),
  elapsed_ms: z.number(),
  seed: z.string(),
  run_digest: z.string(),
  warnings: z.array(z.string()),
  models: z.record(z.string(), z.unknown()),
  experiments: z.array(experimentCalibration).meta({ description: 'Experiments that calibrated the causal credit' }),
});

/** An analysis; the order of the members is the order in the body. */
export const attributionResult = z
  .object({
    id: z.string(),
    status: z.enum(ATTRIBUTION_STATUSES),
    model: z.enum(MODELS),
    data_source_id: z.string(),
    date_range: z.tuple([z.iso.date(), z.iso.date()]),
    channel_impact: z.array(channelImpact).meta({ description: 'Empty until completed; while a refresh is under way, that of the last revision' }),
    methodology: z.string(),
    confidence: ratio,
    created_at: z.iso.datetime(),
    trust: trustEnvelope.nullable().meta({ description: 'Judged at the moment of reading. The record envelope until completed; null only where the evidence was not kept: analyses of older versions' }),
    completed_at: z.iso.datetime().nullable(),
    granularity: z.enum(GRANULARITIES),
    channels: z.array(z.string()).nullable(),
    currency: z.string().nullable(),
    environment: z.enum(ENVIRONMENTS),
    revision: z.int(),
    auto_refresh: z.literal(true).optional().meta({ description: 'Where it was asked for: late rows that change the revenue make a new revision' }),
    conversions: z.number().nullable(),
    revenue: money,
    baseline_revenue: money,
    unattributed_revenue: money,
    lookback_window_days: z.int(),
    conversion_event: z.string(),
    confidence_level: z.number(),
    revenue_lastclick_cents: z.int().nullable(),
    revenue_causal_cents: z.int().nullable(),
    delta_r_cents: z.int().nullable(),
    delta_r_net_cents: z.int().nullable(),
    platform_fee_cents: z.int().nullable(),
    billed: z.literal(false).optional().meta({ description: 'On sandbox results: the fee is shown and never charged' }),
    time_series: z.array(timeSeriesPoint).nullable().optional().meta({ description: 'Null for aggregated paths, which have no times' }),
    campaigns: z.array(campaignImpact).nullable().optional().meta({ description: 'Where include names it; null for aggregated paths and for too many campaigns to tell apart' }),
    model_breakdown: z.record(z.string(), byChannel).nullable().optional(),
    comparison: z.record(z.string(), byChannel).nullable().optional(),
    diagnostics: diagnostics.nullable().optional(),
    progress: z.number().min(0).max(1),
    failure: z.object({ code: z.enum(FAILURE_CODES), message: z.string() }).nullable(),
    agent_id: z.string().nullable(),
    signature: z.string().nullable().meta({ description: 'JWS (EdDSA) that vouches for this result: POST /verify, or any JOSE library with /.well-known/jwks.json. Null until completed, while a refresh is under way, and on results that are older than signatures' }),
  })
  .meta({ id: 'AttributionResult' });

/** An analysis with its members in the contract's order. */
export function presentAttribution(shaped: Json): Json {
  return inOrder(attributionResult, membersThatApply(shaped));
}

/** A completed analysis for the documentation. */
export const exampleAttribution: Json = {
  id: 'attr_01JQ2m6Yw3TfK8sVbNcXrE',
  status: 'completed',
  model: 'causal',
  data_source_id: 'ds_01JQ2kZr5uHn4GdPaLxWqB',
  date_range: ['2026-01-01', '2026-01-31'],
  channel_impact: [
    {
      channel: 'meta_ads', causal_lift: 0.3717, roi: 2.41, spend: 12_000, attributed_revenue: 40_920.11, confidence: 0.91,
      confidence_interval: { lower: 36_100.5, upper: 45_890.2, level: 0.95 }, lastclick_revenue: 28_800, delta_r: 12_120.11,
      incremental_revenue: 40_920.11, conversions: 512.4, share: 0.271, roas: 3.41, rank: 1, is_baseline: false,
    },
  ],
  methodology: 'markov+shapley+dominance+rwa+prav/stacked-on-placebo-adjusted-lift',
  confidence: 0.88,
  created_at: '2026-02-01T09:29:58.120Z',
  trust: exampleTrust(1),
  completed_at: '2026-02-01T09:30:00.000Z',
  granularity: 'daily',
  channels: null,
  currency: 'USD',
  environment: 'live',
  revision: 1,
  conversions: 1890,
  revenue: 151_004.25,
  baseline_revenue: 33_854.55,
  unattributed_revenue: 5210.4,
  lookback_window_days: 30,
  conversion_event: 'purchase',
  confidence_level: 0.95,
  revenue_lastclick_cents: 9_842_000,
  revenue_causal_cents: 11_714_970,
  delta_r_cents: 1_872_970,
  delta_r_net_cents: 1_872_970,
  platform_fee_cents: 93_649,
  time_series: [{ period_start: '2026-01-01', partial: false, revenue: 4871.1, baseline_revenue: 1092.08, channels: { meta_ads: 1320.4 } }],
  model_breakdown: { markov: { meta_ads: 0.27 }, shapley: { meta_ads: 0.26 } },
  comparison: { last_click: { meta_ads: 28_800 }, first_click: { meta_ads: 35_100 }, linear: { meta_ads: 31_420.5 }, time_decay: { meta_ads: 30_910.25 }, position_based: { meta_ads: 32_050 } },
  diagnostics: {
    journeys: 48_211, converting_journeys: 1890, touches: 120_044, converged: true, iterations: 41, elapsed_ms: 812,
    seed: '6f1c2a', run_digest: 'sha256:9b74c9897bac770ffc029102a200c5de4f1c7b1a9c2e6d1f0b7f3a5c8d9e0f12', warnings: [], models: { markov: { order: 2 } },
    experiments: [{
      id: 'exp_01JQ2n4Kc7WyQhTzBdMpRs', channel: 'meta_ads', method: 'geo', period: ['2026-01-01', '2026-01-28'], measured_incremental_revenue: 31_250.5, measured_standard_error: 4_800,
      incremental_revenue: 34_600.2, standard_error: 5_590.88, overlap: 0.9036, basis: 'touches', model_incremental_revenue_before: 44_210.75, model_incremental_revenue_after: 40_920.11,
    }],
  },
  progress: 1,
  failure: null,
  agent_id: 'agent_01JQ2jX9bLq7RtYpMwVsZe',
  // Made with the published key of RFC 8037, Appendix A.
  signature:
    'eyJhbGciOiJFZERTQSIsInR5cCI6InN2Yy1yZXN1bHQrand0Iiwia2lkIjoia1ByS19xbXhWV2FZVkE5d3dCRjZJdW8zdlZ6ejdUeEhDVHdYQnlnclM0ayJ9.eyJpc3MiOiJodHRwczovL2FwaS5leGFtcGxlIiwic3ViIjoiYXR0cl8wMUpRMm02WXczVGZLOHNWYk5jWHJFIiwiaWF0IjoxNzY5OTM4MjAwLCJqdGkiOiIzZjBjOWE1Mi03ZDFlLTRiOGEtOWM0Ni01OGYyZDFhN2U2MDMiLCJyZXZpc2lvbiI6MSwiZGVsdGFfcl9jZW50cyI6MTg3Mjk3MCwiZGlnZXN0Ijoic2hhMjU2OjVmNzBiZjE4YTA4NjAwNzAxNmU5NDhiMDRhZWQzYjgyMTAzYTM2YmVhNDE3NTViNmNkZGZhZjEwYWNlM2M2ZWYifQ.BZRxmng4Dy6WU24Du3lO_-2m6GF5hjc4JAVstaNNB2raGJI2bOZlK8Aym4JrCmCeTqz297nfDRZ98S6ietjABw',
};
