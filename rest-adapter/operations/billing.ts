import { z } from 'zod';
import { objectAt } from '../members.ts';
import { operation, type Json } from '../operation.ts';
import { meta, pageQuery, presentMeta } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const plan = z
  .object({
    plan_id: z.string(),
    name: z.string(),
    price_cents: z.int().nullable().meta({ description: 'Null where the price is agreed by contract or per analysis' }),
    currency: z.string(),
    interval: z.enum(['month', 'one_time']).nullable(),
    trial_days: z.int().nullable(),
    per_analysis_fee: z.object({ rate: z.number(), floor_cents: z.int() }).nullable(),
    limits: z.object({ requests_per_minute: z.int().nullable(), daily_limit: z.int().nullable() }),
    features: z.array(z.string()),
    self_serve: z.boolean(),
    current: z.boolean(),
  })
  .meta({ id: 'Plan' });

export const billingOperations = [
  operation({
    id: 'listPlans',
    tag: 'Billing',
    method: 'GET',
    path: '/billing/plans',
    kind: 'read',
    action: 'billing:read',
    document: 'BillingPlans',
    summary: 'List the plans with their prices',
    description: 'Cheapest first; current marks the plan of the caller.',
    querySchema: pageQuery,
    success: { status: 200, description: 'The plans', schema: z.object({ plans: z.array(plan), meta, trust: trustEnvelope }), headers: { Link: 'first, prev, next and last page' } },
    problems: [],
    variables: () => ({}),
    present: (data, { query }) => {
      const { plans, trust } = objectAt(data, 'plans');
      const all = plans as readonly Json[];
      const from = (query.page - 1) * query.per_page;
      return { plans: all.slice(from, from + query.per_page), meta: presentMeta(query, all.length), trust };
    },
    example: {
      response: {
        plans: [
          {
            plan_id: 'pay_per_analysis', name: 'Pay per analysis', price_cents: null, currency: 'USD', interval: null, trial_days: null, per_analysis_fee: { rate: 0.05, floor_cents: 10 },
            limits: { requests_per_minute: 60, daily_limit: 10_000 }, features: ['No monthly fee'], self_serve: true, current: true,
          },
        ],
        meta: { page: 1, per_page: 20, total: 1, total_pages: 1 },
        trust: exampleTrust(1),
      },
    },
  }),
];
