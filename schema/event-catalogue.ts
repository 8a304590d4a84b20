import { z } from 'zod';
import { ATTRIBUTION_STATUSES, COMMISSION_TYPES, MODELS, SPEND_LIMIT_ACTIONS } from './value-lists.ts';
import type { Scope } from './principal.ts';

/** One kind of event that leaves the house. */
export interface CatalogueEntry<Data extends z.ZodObject = z.ZodObject> {
  /** What has happened. */
  readonly description: string;
  /** Shape of `data` in the message. */
  readonly data: Data;
  readonly example: z.input<Data>;
  /** The file that records it; null where nothing does yet. */
  readonly emittedBy: string | null;
}

/** Keeps the entry's own data type. */
function entry<Data extends z.ZodObject>(of: CatalogueEntry<Data>): CatalogueEntry<Data> {
  return of;
}

const cents = z.int().meta({ description: 'Minor units' });
const day = z.iso.date();
const instant = z.iso.datetime();
const url = z.url();
const rateLimits = z.object({ requests_per_minute: z.int(), daily_limit: z.int().nullable() });

const topChannel = z.object({
  channel: z.string(),
  causal_lift: z.number().nullable(),
  roi: z.number().nullable(),
  spend: z.number(),
  attributed_revenue: z.number(),
  confidence: z.number().nullable(),
});

const finishedAnalysis = z.object({
  id: z.string(),
  status: z.enum(ATTRIBUTION_STATUSES),
  model: z.enum(MODELS),
  data_source_id: z.string(),
  data_source_ids: z.array(z.string()).optional().meta({ description: 'Of several sources, the first included' }),
  date_range: z.tuple([day, day]),
  delta_r_cents: cents.nullable(),
  revenue_causal_cents: cents.nullable().meta({ description: 'What Delta_R is counted from' }),
  revenue_lastclick_cents: cents.nullable().meta({ description: 'The same revenue by last click' }),
  platform_fee_cents: cents
    .nullable()
    .meta({ description: 'What it is going to be charged by the plan; 0 for a repetition' }),
  currency: z
    .string()
    .length(3)
    .nullable()
    .meta({ description: 'Of the source, and so of its cents; null without figures' }),
  confidence: z.number().nullable(),
  top_channels: z.array(topChannel).max(5).meta({ description: 'The five with the most attributed revenue' }),
  hrei_score: z.number().nullable(),
  agent_id: z.string().nullable().meta({ description: 'The agent that served the source' }),
  input_digest: z
    .string()
    .nullable()
    .meta({ description: 'Of the rows within reach and of what was asked: equal ones are repetitions' }),
  failure: z.object({ code: z.string(), message: z.string() }).optional().meta({ description: 'Of a failed analysis' }),
  url: url.meta({ description: 'Where the whole result can be read' }),
});

const exampleAnalysis = {
  id: 'attr_0351EFUQxpVTZ7WdNYMSuY',
  status: 'completed' as const,
  model: 'causal' as const,
  data_source_id: 'ds_0351EFTBArmmpvm2tVZ2Qh',
  date_range: ['2026-01-01', '2026-01-31'] as [string, string],
  delta_r_cents: 1_872_970,
  revenue_causal_cents: 11_714_970,
  revenue_lastclick_cents: 9_842_000,
  platform_fee_cents: 93_649,
  currency: 'USD',
  confidence: 0.88,
  top_channels: [
    {
      channel: 'meta_ads',
      causal_lift: 0.3717,
      roi: 2.41,
      spend: 12_000,
      attributed_revenue: 40_920.11,
      confidence: 0.91,
    },
  ],
  hrei_score: 0.07,
  agent_id: 'agent_0351EFSwMCuWsp5CADuBq8',
  input_digest: `sha256:${'0'.repeat(64)}`,
  url: 'https://api.example/v1/attribution/attr_0351EFUQxpVTZ7WdNYMSuY',
};

const healthChange = z.object({
  data_source_id: z.string(),
  score: z.int().min(0).max(100),
  grade: z.enum(['A', 'B', 'C', 'D', 'F']),
  previous_score: z.int().nullable(),
  threshold: z.int(),
  reason: z.string(),
});

const invoice = z.object({
  invoice_id: z.string(),
  period: z.string(),
  total_billed_cents: cents,
  currency: z.string().length(3),
  due_date: day,
});
const exampleInvoice = {
  invoice_id: 'inv_0351EFUQxpVTZ7WdNYMSuY',
  period: '2026-01',
  total_billed_cents: 93_649,
  currency: 'USD',
  due_date: '2026-02-15',
};

const hash = z.string().regex(/^sha256:[0-9a-f]{64}$/);
/** An entry of the commission ledger as it was appended; its payment stands in `GET /commissions`. */
const commission = z.object({
  id: z.string(),
  agent_id: z.string(),
  type: z.enum(COMMISSION_TYPES),
  source_agent_id: z.string(),
  amount_cents: cents,
  currency: z.string().length(3),
  delta_r_cents: cents,
  rate: z.number().meta({ description: 'Share of the fee' }),
  analysis_id: z.string().nullable(),
  reverses: z.string().nullable().meta({ description: 'The entry that this one takes back' }),
  sequence: z.int().min(1),
  created_at: instant,
  payable_at: instant,
  previous_hash: hash,
  ledger_hash: hash,
});
const exampleCommission = {
  id: 'com_0351EFUQxpVTZ7WdNYMSuY',
  agent_id: 'agent_0351EFSwMCuWsp5CADuBq8',
  type: 'l1_referral' as const,
  source_agent_id: 'agent_0351EFTBArmmpvm2tVZ2Qh',
  amount_cents: 9_365,
  currency: 'USD',
  delta_r_cents: 1_872_970,
  rate: 0.1,
  analysis_id: 'attr_0351EFUQxpVTZ7WdNYMSuY',
  reverses: null,
  sequence: 1,
  created_at: '2026-01-31T17:58:00.000Z',
  payable_at: '2026-05-01T17:58:00.000Z',
  previous_hash: `sha256:${'0'.repeat(64)}`,
  ledger_hash: `sha256:${'1'.repeat(64)}`,
};

/**
 * Every type of event that a subscription may name (contract §6; decisions, webhooks), in the contract's order. The
 * JSON Schemas in `schema/events` are printed from it.
 */
export const EVENT_CATALOGUE = {
  'attribution.completed': entry({
    description: 'An analysis has finished; one that failed says so in status and failure.',
    data: finishedAnalysis,
    example: exampleAnalysis,
    emittedBy: 'subgraphs/attribution/analysis/attributions/announce-attribution.ts',
  }),
  'attribution.updated': entry({
    description: 'Late rows have changed the revenue of an analysis with auto_refresh, and it was run again.',
    data: finishedAnalysis.extend({
      revision: z.int().min(2),
      previous_delta_r_cents: cents,
      reason: z.literal('late_data'),
    }),
    example: { ...exampleAnalysis, revision: 2, previous_delta_r_cents: 1_801_220, reason: 'late_data' as const },
    emittedBy: 'subgraphs/attribution/analysis/attributions/announce-attribution.ts',
  }),
  'health.alert': entry({
    description: 'The health score of a source fell below 60, or by 15 points within 7 days.',
    data: healthChange,
    example: {
      data_source_id: 'ds_0351EFTBArmmpvm2tVZ2Qh',
      score: 54,
      grade: 'F' as const,
      previous_score: 71,
      threshold: 60,
      reason: 'The score fell below 60.',
    },
    emittedBy: null,
  }),
  'health.recovered': entry({
    description: 'The health score is at 65 or more after an alert.',
    data: healthChange,
    example: {
      data_source_id: 'ds_0351EFTBArmmpvm2tVZ2Qh',
      score: 68,
      grade: 'D' as const,
      previous_score: 54,
      threshold: 65,
      reason: 'The score is back at 65 or more.',
    },
    emittedBy: null,
  }),
  'forecast.ready': entry({
    description: 'A forecast has finished.',
    data: z.object({
      id: z.string(),
      metric: z.enum(['revenue', 'conversions', 'spend', 'delta_r']),
      horizon_days: z.int(),
      summary: z.record(z.string(), z.unknown()),
      url,
    }),
    example: {
      id: 'fcst_0351EFUQxpVTZ7WdNYMSuY',
      metric: 'revenue' as const,
      horizon_days: 30,
      summary: { total: 148_200.5 },
      url: 'https://api.example/v1/forecast/fcst_0351EFUQxpVTZ7WdNYMSuY',
    },
    emittedBy: null,
  }),
  'journey.milestone': entry({
    description: 'The converting journeys of a source have passed 1,000, 10,000, 100,000 or 1,000,000.',
    data: z.object({
      data_source_id: z.string(),
      milestone: z.int(),
      converting_journeys: z.int(),
      reached_at: instant,
    }),
    example: {
      data_source_id: 'ds_0351EFTBArmmpvm2tVZ2Qh',
      milestone: 1_000,
      converting_journeys: 1_004,
      reached_at: '2026-01-31T17:58:00.000Z',
    },
    emittedBy: null,
  }),
  'campaign.anomaly': entry({
    description: 'A figure of a campaign is three robust standard deviations or more from its last 28 days.',
    data: z.object({
      data_source_id: z.string(),
      campaign_id: z.string(),
      campaign_name: z.string().nullable(),
      metric: z.string(),
      observed: z.number(),
      expected: z.number(),
      z_score: z.number(),
      direction: z.enum(['up', 'down']),
      date: day,
    }),
    example: {
      data_source_id: 'ds_0351EFTBArmmpvm2tVZ2Qh',
      campaign_id: 'spring',
      campaign_name: 'spring',
      metric: 'spend',
      observed: 940,
      expected: 410,
      z_score: 4.2,
      direction: 'up' as const,
      date: '2026-01-30',
    },
    emittedBy: null,
  }),
  'billing.invoice_created': entry({
    description: 'A month has closed with something to pay.',
    data: invoice,
    example: exampleInvoice,
    emittedBy: 'subgraphs/billing/invoices/close-months.ts',
  }),
  'billing.payment_received': entry({
    description: 'A payment was booked.',
    data: invoice.extend({ paid_at: instant, method: z.string() }),
    example: { ...exampleInvoice, paid_at: '2026-02-03T10:12:00.000Z', method: 'invoice' },
    emittedBy: 'subgraphs/billing/invoices/settle-invoice.ts',
  }),
  'billing.spend_alert': entry({
    description:
      'The spend of the month has reached a threshold of the limit that the account set itself; once a month for each.',
    data: z.object({
      period: z.string(),
      currency: z.string().length(3),
      threshold: z.number().meta({ description: 'Part of the limit' }),
      spend_cents: cents,
      monthly_limit_cents: cents,
      remaining_cents: cents,
      action: z.enum(SPEND_LIMIT_ACTIONS),
      resets_at: instant,
    }),
    example: {
      period: '2026-01',
      currency: 'USD',
      threshold: 0.8,
      spend_cents: 162_400,
      monthly_limit_cents: 200_000,
      remaining_cents: 37_600,
      action: 'block' as const,
      resets_at: '2026-02-01T00:00:00.000Z',
    },
    emittedBy: 'subgraphs/billing/spend-limits/alert-spend.ts',
  }),
  'agent.tier_changed': entry({
    description: 'The number of active referrals has moved an agent to another tier.',
    data: z.object({
      agent_id: z.string(),
      previous_tier: z.string(),
      tier: z.string(),
      active_referrals: z.int(),
      rate_limits: rateLimits,
    }),
    example: {
      agent_id: 'agent_0351EFSwMCuWsp5CADuBq8',
      previous_tier: 'discovery',
      tier: 'partner',
      active_referrals: 5,
      rate_limits: { requests_per_minute: 120, daily_limit: 50_000 },
    },
    emittedBy: 'subgraphs/agents/referrals/settle-tier.ts',
  }),
  'commission.earned': entry({
    description: 'An entry was added to the commission ledger.',
    data: z.object({ commission }),
    example: { commission: exampleCommission },
    emittedBy: 'subgraphs/billing/commissions/append-commission.ts',
  }),
  'commission.paid': entry({
    description: 'Commissions were paid out.',
    data: z.object({
      payout_id: z.string(),
      amount_cents: cents,
      currency: z.string().length(3),
      commission_ids: z.array(z.string()).meta({ description: 'The first 400 of them' }),
      commissions_count: z.int(),
      paid_at: instant,
    }),
    example: {
      payout_id: '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10',
      amount_cents: 9_365,
      currency: 'USD',
      commission_ids: ['com_0351EFUQxpVTZ7WdNYMSuY'],
      commissions_count: 1,
      paid_at: '2026-06-01T02:00:00.000Z',
    },
    emittedBy: 'subgraphs/billing/payouts/pay-out.ts',
  }),
  'commission.reversed': entry({
    description: 'A commission was taken back: the referred agent was gone before its 90 days were over.',
    data: z.object({ commission }),
    example: {
      commission: {
        ...exampleCommission,
        id: 'com_0351EFVmc9rKJ2qXW8TbZa',
        type: 'clawback' as const,
        amount_cents: -9_365,
        delta_r_cents: -1_872_970,
        reverses: exampleCommission.id,
        sequence: 2,
        previous_hash: exampleCommission.ledger_hash,
        ledger_hash: `sha256:${'2'.repeat(64)}`,
      },
    },
    emittedBy: 'subgraphs/billing/commissions/append-commission.ts',
  }),
} as const satisfies Record<string, CatalogueEntry>;

export type EventType = keyof typeof EVENT_CATALOGUE;
export const EVENT_TYPES = Object.keys(EVENT_CATALOGUE) as readonly EventType[] as readonly [EventType, ...EventType[]];
/** Stands for every type that whoever chose it may hear of, later ones included. */
export const EVERY_EVENT = '*';
export type EventData<Type extends EventType> = z.input<(typeof EVENT_CATALOGUE)[Type]['data']>;

type EventFamily = EventType extends `${infer Family}.${string}` ? Family : never;

/**
 * What a caller must hold to hear of a family of events, wherever it hears of them (decision tables of the contract,
 * scopes): the scope that reads the family's resources. Null: an agent's own record needs none.
 */
export const EVENT_SCOPES: Readonly<Record<EventFamily, Scope | null>> = {
  attribution: 'attribution:read',
  health: 'health:read',
  forecast: 'attribution:read',
  journey: 'journeys:read',
  campaign: 'campaigns:read',
  billing: 'billing:read',
  agent: null,
  commission: 'referrals:read',
};

/** The scope that it takes to hear of events of this type; null for none. */
export function scopeOfEvent(type: EventType): Scope | null {
  return EVENT_SCOPES[type.slice(0, type.indexOf('.')) as EventFamily];
}

/** The types that these scopes may hear of, in the catalogue's order. */
export function readableEventTypes(scopes: readonly Scope[]): EventType[] {
  return EVENT_TYPES.filter((type) => {
    const scope = scopeOfEvent(type);
    return scope === null || scopes.includes(scope);
  });
}
