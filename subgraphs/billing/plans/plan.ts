import type { z } from 'zod';
import type { plan } from '../../../schema/contract/plans.ts';
import { FEE_FLOOR_CENTS, FEE_RATE } from '../../../schema/platform-fee.ts';
import type { Plan } from '../../../schema/principal.ts';

export type PlanId = Plan | 'sandbox';

/** A plan as it is for everybody. Money in USD cents; null where a price or limit is agreed by contract. */
type PricedPlan = Omit<z.output<typeof plan>, 'current'> & { readonly planId: PlanId };

const PER_ANALYSIS_FEE = {
  rate: Number(FEE_RATE.numerator) / Number(FEE_RATE.denominator),
  floorCents: Number(FEE_FLOOR_CENTS),
};

/**
 * The price list (interface specification §1 "Pricing rules", §8 "Rate limits"), cheapest first. The last plan is no
 * offer: whoever runs the service gives it.
 */
export const PLANS: readonly PricedPlan[] = [
  {
    planId: 'sandbox',
    name: 'Sandbox',
    priceCents: 0,
    currency: 'USD',
    interval: null,
    trialDays: null,
    perAnalysisFee: null,
    limits: { requestsPerMinute: 100, dailyLimit: null },
    features: ['Deterministic synthetic data', 'All operations', 'No billing'],
    selfServe: true,
  },
  {
    planId: 'pay_per_analysis',
    name: 'Pay per analysis',
    priceCents: null,
    currency: 'USD',
    interval: null,
    trialDays: null,
    perAnalysisFee: PER_ANALYSIS_FEE,
    limits: { requestsPerMinute: 60, dailyLimit: 10_000 },
    features: ['No monthly fee', '5 % of the recovered revenue per analysis, at least 0.10 USD'],
    selfServe: true,
  },
  {
    planId: 'pro_trial',
    name: 'Pro trial',
    priceCents: 9900,
    currency: 'USD',
    interval: 'one_time',
    trialDays: 14,
    perAnalysisFee: null,
    limits: { requestsPerMinute: 500, dailyLimit: null },
    features: ['Everything in Pro for 14 days', 'Once per account'],
    selfServe: true,
  },
  {
    planId: 'pro',
    name: 'Pro',
    priceCents: 29_900,
    currency: 'USD',
    interval: 'month',
    trialDays: null,
    perAnalysisFee: null,
    limits: { requestsPerMinute: 500, dailyLimit: null },
    features: ['Unlimited uploads', 'No per-analysis fee'],
    selfServe: true,
  },
  {
    planId: 'enterprise',
    name: 'Enterprise',
    priceCents: null,
    currency: 'USD',
    interval: 'month',
    trialDays: null,
    perAnalysisFee: null,
    limits: { requestsPerMinute: null, dailyLimit: null },
    features: ['Committed spend with volume discounts', 'IP allowlist', 'Custom rate limits'],
    selfServe: false,
  },
  {
    planId: 'self_hosted',
    name: 'Self-hosted',
    priceCents: 0,
    currency: 'USD',
    interval: null,
    trialDays: null,
    perAnalysisFee: null,
    limits: { requestsPerMinute: 6_000, dailyLimit: null },
    features: ['No fees', 'Outside of the agent program: no recovered revenue for profile, tier or referrals'],
    selfServe: false,
  },
];

const BY_ID = new Map(PLANS.map((plan) => [plan.planId, plan]));

export function planNamed(planId: PlanId): PricedPlan {
  const plan = BY_ID.get(planId);
  if (plan === undefined) throw new Error(`there is no plan ${planId}`);
  return plan;
}
