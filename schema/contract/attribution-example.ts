/** Of the analysis below, by the published key of RFC 8037, Appendix A: header, payload and signature. */
const JWS = [
  'eyJhbGciOiJFZERTQSIsInR5cCI6InN2Yy1yZXN1bHQrand0Iiwia2lkIjoia1ByS19xbXhWV2FZVkE5d3dCRjZJdW8zdlZ6ejdU' +
    'eEhDVHdYQnlnclM0ayJ9',
  'eyJpc3MiOiJodHRwczovL2FwaS5leGFtcGxlIiwic3ViIjoiYXR0cl8wMUpRMm02WXczVGZLOHNWYk5jWHJFIiwiaWF0IjoxNzY5' +
    'OTM4MjAwLCJqdGkiOiIzZjBjOWE1Mi03ZDFlLTRiOGEtOWM0Ni01OGYyZDFhN2U2MDMiLCJyZXZpc2lvbiI6MSwiZGVsdGFfcl9j' +
    'ZW50cyI6MTg3Mjk3MCwiZGlnZXN0Ijoic2hhMjU2OjFlNjdjZmE0NjQ0ODNjMjk1NTU2MDYzYWVjM2U1OTJiNjI4NjBjOGE2ZWRl' +
    'ZmQzZmNkZTFmNTk1YThkMjZkYWQifQ',
  'EdA_rcIpCauuu0mMHWg-mDWJrecX6L1uZeDFNrcd8JUd26LEYwEqcLZ1tNQP88ILIJEDgmHgtDOfwnVksALTAA',
].join('.');

/** A completed analysis for the documentation, as REST shows it; whoever shows it puts its envelope into `trust`. */
export const exampleAttribution = {
  id: 'attr_01JQ2m6Yw3TfK8sVbNcXrE',
  status: 'completed',
  model: 'causal',
  data_source_id: 'ds_01JQ2kZr5uHn4GdPaLxWqB',
  date_range: ['2026-01-01', '2026-01-31'],
  channel_impact: [
    {
      channel: 'meta_ads',
      causal_lift: 0.3717,
      roi: 2.41,
      spend: 12_000,
      attributed_revenue: 40_920.11,
      confidence: 0.91,
      confidence_interval: { lower: 36_100.5, upper: 45_890.2, level: 0.95 },
      lastclick_revenue: 28_800,
      delta_r: 12_120.11,
      incremental_revenue: 40_920.11,
      conversions: 512.4,
      share: 0.271,
      roas: 3.41,
      rank: 1,
      is_baseline: false,
      profit: 5_186.45,
      profit_interval: { lower: 3_162.21, upper: 7_273.88, level: 0.95 },
      profit_roas: 1.4322,
      identification: { status: 'point', reasons: [] },
    },
  ],
  methodology: 'markov+shapley+dominance+rwa+prav/stacked-on-placebo-adjusted-lift',
  confidence: 0.88,
  created_at: '2026-02-01T09:29:58.120Z',
  trust: null,
  profitability: { margin: 0.42, origin: 'setting' },
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
  time_series: [
    {
      period_start: '2026-01-01',
      partial: false,
      revenue: 4871.1,
      baseline_revenue: 1092.08,
      channels: { meta_ads: 1320.4 },
    },
  ],
  model_breakdown: { markov: { meta_ads: 0.27 }, shapley: { meta_ads: 0.26 } },
  comparison: {
    last_click: { meta_ads: 28_800 },
    first_click: { meta_ads: 35_100 },
    linear: { meta_ads: 31_420.5 },
    time_decay: { meta_ads: 30_910.25 },
    position_based: { meta_ads: 32_050 },
  },
  diagnostics: {
    journeys: 48_211,
    converting_journeys: 1890,
    touches: 120_044,
    converged: true,
    iterations: 41,
    elapsed_ms: 812,
    seed: '6f1c2a',
    run_digest: 'sha256:9b74c9897bac770ffc029102a200c5de4f1c7b1a9c2e6d1f0b7f3a5c8d9e0f12',
    warnings: [],
    tests: [
      {
        code: 'horizon_halved',
        channel: 'meta_ads',
        status: 'pass',
        estimate: -0.0124,
        interval: { lower: -0.0311, upper: 0.0063, level: 0.95 },
        threshold: 0.1042,
        message:
          'Followed for 7 days instead of 14, what it is measured to bring moves by -1.2 % of the revenue: no more ' +
          'than chance and its interval allow for.',
      },
    ],
    models: { markov: { order: 2 } },
    experiments: [
      {
        id: 'exp_01JQ2n4Kc7WyQhTzBdMpRs',
        channel: 'meta_ads',
        channels: ['meta_ads'],
        method: 'geo',
        period: ['2026-01-01', '2026-01-28'],
        measured_incremental_revenue: 31_250.5,
        measured_standard_error: 4_800,
        incremental_revenue: 34_600.2,
        standard_error: 5_590.88,
        overlap: 0.9036,
        basis: 'touches',
        model_incremental_revenue_before: 44_210.75,
        model_incremental_revenue_after: 40_920.11,
      },
    ],
  },
  progress: 1,
  failure: null,
  agent_id: 'agent_01JQ2jX9bLq7RtYpMwVsZe',
  signature: JWS,
};

const FIGURES = [
  'confidence',
  'currency',
  'conversions',
  'revenue',
  'baseline_revenue',
  'unattributed_revenue',
  'revenue_lastclick_cents',
  'revenue_causal_cents',
  'delta_r_cents',
  'delta_r_net_cents',
  'platform_fee_cents',
  'time_series',
  'model_breakdown',
  'comparison',
  'diagnostics',
  'signature',
] as const;

const { profitability: _unknown, ...withoutMargin } = exampleAttribution;

/** The same analysis, cancelled. */
export const cancelledAttribution = {
  ...withoutMargin,
  ...Object.fromEntries(FIGURES.map((name) => [name, null])),
  status: 'failed',
  channel_impact: [],
  methodology: 'causal',
  failure: { code: 'cancelled', message: 'The analysis was cancelled. Nothing is billed.' },
};
