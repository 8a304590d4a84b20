import { z } from 'zod';
import { noun } from './noun.ts';
import { cents, graphTypes } from './terms.ts';

const interval = z.enum(['month', 'one_time']).register(graphTypes, {
  name: 'PlanInterval',
  description: 'How often a price is due.',
});
const perAnalysisFee = z
  .object({
    rate: z.number().meta({ graph: 'Share of the recovered revenue, 0.05 = 5 %.' }),
    floorCents: cents.meta({ graph: 'Least fee of one analysis.' }),
  })
  .register(graphTypes, {
    name: 'PerAnalysisFee',
    description: 'Fee of one analysis: a share of the recovered revenue, with a floor.',
  });
const limits = z
  .object({
    requestsPerMinute: z.int().nullable().meta({ graph: 'Requests per minute.' }),
    dailyLimit: z.int().nullable().meta({ graph: 'Requests per UTC day.' }),
  })
  .register(graphTypes, {
    name: 'PlanLimits',
    description: 'How often a plan may call; null means unlimited or agreed by contract.',
  });

/** A plan; the order of the members is the order in every answer. */
export const plan = z
  .object({
    planId: z.string().meta({ scalar: 'ID', graph: 'Name for programs: sandbox, pro, ….' }),
    name: z.string().meta({ graph: 'Name for people.' }),
    priceCents: cents.nullable().meta({
      description: 'Null where the price is agreed by contract or per analysis',
      graph: 'Null where nothing fixed is charged, or by contract.',
    }),
    currency: z.string().meta({ graph: 'ISO 4217.' }),
    interval: interval.nullable().meta({ graph: 'How often the price is due; null without a fixed price.' }),
    trialDays: z.int().nullable().meta({ graph: 'Length of the trial; null for plans that are none.' }),
    perAnalysisFee: perAnalysisFee.nullable().meta({ graph: 'Null where analyses cost nothing, or by contract.' }),
    limits: limits.meta({ graph: 'How often the plan may call.' }),
    features: z.array(z.string()).meta({ graph: 'What the plan includes, for people.' }),
    selfServe: z.boolean().meta({ graph: 'Whether an account can subscribe without a contract.' }),
    current: z.boolean().meta({ graph: 'Whether this is the plan of the calling account.' }),
  })
  .meta({ id: 'Plan', graph: 'A plan of the price list.' });

/** The graph answers the whole list; REST shows pages of it. */
const priceList = z
  .object({ plans: z.array(plan).meta({ graph: 'Cheapest first.' }) })
  .register(graphTypes, { name: 'PlanList', description: 'The price list.' });

const example = {
  plan_id: 'pay_per_analysis',
  name: 'Pay per analysis',
  price_cents: null,
  currency: 'USD',
  interval: null,
  trial_days: null,
  per_analysis_fee: { rate: 0.05, floor_cents: 10 },
  limits: { requests_per_minute: 60, daily_limit: 10_000 },
  features: ['No monthly fee'],
  self_serve: true,
  current: true,
};

export const plans = noun({
  one: 'plan',
  many: 'plans',
  tag: 'Billing',
  record: plan,
  withoutTrust: true,
  example,
  operations: {
    listPlans: {
      method: 'GET',
      path: '/billing/plans',
      kind: 'read',
      action: 'billing:read',
      field: 'plans',
      summary: 'List the plans with their prices',
      description:
        'Cheapest first; current marks the plan of the caller. self_hosted, which nobody can subscribe to, is shown ' +
        'to those who have it.',
      graph: 'The price list. Errors: INVALID_API_KEY, INSUFFICIENT_PERMISSIONS.',
      answer: { outcome: priceList, trust: 'Trust envelope of the list.' },
      answered: 'The plans',
      example: { response: { plans: [example] } },
    },
  },
});
