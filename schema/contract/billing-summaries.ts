import { z } from 'zod';
import { BILLING_STATUSES } from '../value-lists.ts';
import { billingPeriod, ofPeriod } from './billing-period.ts';
import { noun } from './noun.ts';
import { cents, graphTypes, id } from './terms.ts';

const status = z.enum(BILLING_STATUSES).register(graphTypes, {
  name: 'BillingStatus',
  description: 'Where the bill of a period stands: ACCRUING until its month is closed, NONE in the sandbox.',
});
const modelBill = z
  .object({
    model: z.string().nullable().meta({
      description: 'Null for analyses charged before it was kept',
    }),
    analysesCount: z.int().meta({ graph: 'Completed live analyses.' }),
    totalDeltaRCents: cents.meta({ graph: 'Their recovered revenue, repetitions apart.' }),
    totalBilledCents: cents.meta({ graph: 'Their fees, floors included.' }),
  })
  .meta({ id: 'ModelBill', graph: 'What analyses by one model come to.' });

/** The bill of a period; the order of the members is the order in every answer. */
export const billingSummary = z
  .object({
    ...ofPeriod,
    currencySymbol: z.string().meta({ graph: 'Such as $.' }),
    totalDeltaRCents: cents.meta({
      description: 'Recovered revenue of the completed live analyses, repetitions apart',
    }),
    platformFeeCents: cents.meta({ description: 'Fees of analyses with 2.00 of recovered revenue or more' }),
    floorFeeCents: cents.meta({ description: 'Fees of analyses with less, each the floor of 0.10' }),
    planFeeCents: cents.meta({ description: 'Prices of plans that fell due, USD' }),
    totalBilledCents: cents.meta({ description: 'The three together' }),
    analysesCount: z.int().meta({ description: 'Completed live analyses, also those that cost nothing' }),
    effectiveRate: z.number().meta({
      description: 'total_billed_cents / total_delta_r_cents; 0 without recovered revenue',
      graph: 'totalBilledCents / totalDeltaRCents; 0 without recovered revenue.',
    }),
    status: status.meta({ graph: 'Where the bill stands.' }),
    invoiceId: id('inv').nullable().meta({ description: 'Of the month, once it is closed' }),
    dueDate: z.iso.date().nullable().meta({ description: 'Of that invoice' }),
    spendLimitCents: cents.nullable().meta({ description: 'What the account wants to spend in a month at most' }),
    byModel: z.array(modelBill).meta({ description: 'The dearest first' }),
  })
  .meta({ id: 'BillingSummary', graph: 'The bill of a period, in one currency.' });

const example = {
  period: '2026-02',
  currency: 'USD',
  other_currencies: ['EUR'],
  currency_symbol: '$',
  total_delta_r_cents: 1_873_070,
  platform_fee_cents: 93_649,
  floor_fee_cents: 10,
  plan_fee_cents: 0,
  total_billed_cents: 93_659,
  analyses_count: 2,
  effective_rate: 0.05,
  status: 'accruing',
  invoice_id: null,
  due_date: null,
  spend_limit_cents: 200_000,
  by_model: [{ model: 'causal', analyses_count: 2, total_delta_r_cents: 1_873_070, total_billed_cents: 93_659 }],
};

export const billingSummaries = noun({
  one: 'billingSummary',
  many: 'billing-summaries',
  tag: 'Billing',
  record: billingSummary,
  example,
  operations: {
    getBillingSummary: {
      method: 'GET',
      path: '/billing/summary',
      kind: 'read',
      action: 'billing:read',
      field: 'billingSummary',
      summary: 'Read the bill of a period',
      description:
        'In one currency, since fees are in the currency of their source and are never added across two; ' +
        'other_currencies names those that have figures as well. Each analysis counts once, with what it was ' +
        'charged. In a workspace only what happened there; plan fees and the limit are of the account as a whole. ' +
        'A test key sees zeros: the sandbox costs nothing.',
      graph:
        'The bill of a period, in one currency; a test key sees zeros. Errors: VALIDATION_ERROR, ' +
        'INSUFFICIENT_PERMISSIONS.',
      filter: billingPeriod,
      answer: { one: billingSummary },
      answered: 'The summary',
      example: { query: { period: '2026-02' } },
    },
  },
});
