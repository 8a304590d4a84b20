import { z } from 'zod';
import { namedPeriod } from './named-period.ts';
import { noun } from './noun.ts';
import { restForm } from './rest-form.ts';
import { cents, id, moment, namedId } from './terms.ts';

/** What an analysis has brought and cost; the order of the members is the order in every answer. */
export const valueProof = z
  .object({
    receiptId: id('rcpt').meta({ graph: 'Public id of the receipt, rcpt_ and 22 characters.' }),
    analysisId: id('attr').meta({ graph: 'The analysis; it may have been deleted since.' }),
    revenueLastclickCents: cents.meta({ graph: 'Revenue of the paid channels by last click.' }),
    revenueCausalCents: cents.meta({ graph: 'The same revenue by cause.' }),
    deltaRCents: cents.meta({
      description: 'Recovered revenue, which the fee rests on',
    }),
    platformFeeCents: cents.meta({
      description: 'What it was charged; in the sandbox what a live one would cost',
    }),
    billed: z.boolean().meta({
      description: 'False where nothing is charged: in the sandbox, on plans without a fee, for repetitions',
    }),
    repeats: id('attr').nullable().meta({
      description: 'The equal analysis that came first, whose recovered revenue this is',
    }),
    currency: z.string().meta({ description: 'ISO 4217, of all cents here' }),
    signedReceipt: z.string().meta({
      description: 'All of the above and when it was made, signed: a compact JWS of the type svc-receipt+jwt',
    }),
    createdAt: moment.meta({ graph: 'When the analysis was charged.' }),
  })
  .meta({
    id: 'ValueProof',
    graph: 'What an analysis has brought and cost, with a receipt that anyone can verify. It is made once and stays.',
  });

/** What a receipt holds of the proof, in REST's form. */
export const receiptMembers = restForm(valueProof).omit({ signed_receipt: true });

export const valueProofFilter = z
  .object({
    analysisId: namedId('attr').optional().meta({ description: 'Only that of this analysis' }),
    period: namedPeriod.optional(),
  })
  .meta({ graph: 'Narrows the list of value proofs.' });

const example = {
  receipt_id: 'rcpt_01JQ2m7Bv4XgL9uTcPdYsF',
  analysis_id: 'attr_01JQ2m6Yw3TfK8sVbNcXrE',
  revenue_lastclick_cents: 9_842_000,
  revenue_causal_cents: 11_714_970,
  delta_r_cents: 1_872_970,
  platform_fee_cents: 93_649,
  billed: true,
  repeats: null,
  currency: 'USD',
  signed_receipt: 'eyJhbGciOiJFZERTQSIsInR5cCI6InN2Yy1yZWNlaXB0K2p3dCJ9.eyJpc3MiOiJodHRwczovL2FwaS5leGFtcGxlIn0.c2ln',
  created_at: '2026-02-01T09:30:00.000Z',
};

export const valueProofs = noun({
  one: 'valueProof',
  many: 'value-proofs',
  listed: 'proofs',
  tag: 'Billing',
  record: valueProof,
  withoutTrust: true,
  example,
  operations: {
    listValueProofs: {
      method: 'GET',
      path: '/billing/value-proofs',
      kind: 'read',
      action: 'billing:read',
      field: 'valueProofs',
      summary: 'List what analyses have brought and cost, with signed receipts',
      description:
        'Newest first; one per completed analysis, made when it is charged and never changed. Receipts verify ' +
        'offline with the keys at /.well-known/jwks.json, and with POST /verify. A test key sees those of the ' +
        'sandbox, which cost nothing. The audit log tells of each page (data.exported).',
      graph:
        'Value proofs of the account, newest first, at most 200 at a time; a test key sees those of the sandbox. ' +
        'Errors: VALIDATION_ERROR, INSUFFICIENT_PERMISSIONS.',
      filter: valueProofFilter,
      limit: { usual: 50, most: 200 },
      answer: { page: valueProof },
      answered: 'A page of value proofs',
      example: { query: { period: '2026-02', limit: '50' } },
    },
  },
});
