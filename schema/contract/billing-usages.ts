import { z } from 'zod';
import { ofPeriod, wantedCurrency } from './billing-period.ts';
import { noun } from './noun.ts';
import { cents } from './terms.ts';

/** What the running month has cost so far; the order of the members is the order in every answer. */
export const billingUsage = z
  .object({
    ...ofPeriod,
    spendCents: cents.meta({ description: 'Fees of analyses, and of plans that fell due, so far' }),
    spendLimitCents: cents.nullable().meta({ description: 'What the account wants to spend in a month at most' }),
    remainingCents: cents.nullable().meta({ description: 'Of the limit, never below 0; null without one' }),
    deltaRCents: cents.meta({ description: 'Recovered revenue so far, repetitions apart' }),
    commissionEarnedCents: cents.nullable().meta({
      description: 'Commissions of the month so far, less what was taken back; null in a workspace',
    }),
    analysesCount: z.int().meta({ description: 'Completed live analyses, also those that cost nothing' }),
    projectedSpendCents: cents.meta({
      description:
        'Spend of the whole month, if analyses go on costing what they did: their fees so far × length of the month ' +
        '/ what has passed of it, a day at least; plan fees as they are',
    }),
  })
  .meta({ id: 'BillingUsage', graph: 'What the running month has cost so far, in one currency.' });

const example = {
  period: '2026-02',
  currency: 'USD',
  other_currencies: [],
  spend_cents: 93_659,
  spend_limit_cents: 200_000,
  remaining_cents: 106_341,
  delta_r_cents: 1_873_070,
  commission_earned_cents: 18_730,
  analyses_count: 2,
  projected_spend_cents: 187_318,
};

export const billingUsages = noun({
  one: 'billingUsage',
  many: 'billing-usages',
  tag: 'Billing',
  record: billingUsage,
  example,
  operations: {
    getBillingUsage: {
      method: 'GET',
      path: '/billing/usage',
      kind: 'read',
      action: 'billing:read',
      field: 'billingUsage',
      summary: 'Read what the running month has cost so far',
      description:
        'In one currency, as GET /billing/summary. In a workspace only what happened there, without a limit, which ' +
        'is of the account as a whole. A test key sees zeros.',
      graph:
        'What the running month has cost so far, in one currency; a test key sees zeros. Errors: VALIDATION_ERROR, ' +
        'INSUFFICIENT_PERMISSIONS.',
      filter: z.object({ currency: wantedCurrency }).meta({ graph: 'What figures are asked of.' }),
      answer: { one: billingUsage },
      answered: 'The usage',
      example: { query: { currency: 'USD' } },
    },
  },
});
