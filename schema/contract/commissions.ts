import { z } from 'zod';
import { COMMISSION_STATUSES, COMMISSION_TYPES } from '../value-lists.ts';
import { wantedCurrency } from './billing-period.ts';
import { EXAMPLE_AGENT } from './issued-keys.ts';
import { namedPeriodOrMonth } from './named-period.ts';
import { noun } from './noun.ts';
import { cents, graphTypes, id, idInPath, moment } from './terms.ts';

const type = z.enum(COMMISSION_TYPES).register(graphTypes, {
  name: 'CommissionType',
  description:
    'L1_REFERRAL and L2_REFERRAL: on fees of agents that were referred. BRAND_SERVING: on fees of brands that the ' +
    'agent serves. CLAWBACK takes an entry back. ADJUSTMENT corrects by hand.',
});
const status = z.enum(COMMISSION_STATUSES).register(graphTypes, {
  name: 'CommissionStatus',
  description:
    'PROVISIONAL while it may still be taken back; PAYABLE on the next payday; PAID; REVERSED: taken back, as is the ' +
    'entry that did so.',
});
const hash = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/** An entry of the commission ledger; the order of the members is the order in every answer. */
export const commission = z
  .object({
    id: id('com').meta({ graph: 'Public id, com_ and 22 characters.' }),
    agentId: id('agent').meta({ graph: 'The agent that earns.' }),
    type: type.meta({ graph: 'What it is for.' }),
    sourceAgentId: id('agent').meta({ description: 'The agent that served the analysis' }),
    amountCents: cents.meta({ description: 'Negative where something is taken back' }),
    currency: z.string().meta({ description: 'ISO 4217, of the fee' }),
    deltaRCents: cents.meta({ description: 'Recovered revenue of the analysis' }),
    rate: z.number().meta({ description: 'Share of the fee, as it was then: 0.1 is 10 %' }),
    analysisId: id('attr').nullable().meta({ description: 'The analysis whose fee it is on' }),
    reverses: id('com').nullable().meta({ description: 'The entry that this one takes back' }),
    sequence: z.int().meta({ description: 'Its place in the ledger of the agent, from 1 without gaps' }),
    createdAt: moment.meta({ graph: 'When it was earned.' }),
    payableAt: moment.meta({ description: 'From when on it can be paid' }),
    status: status.meta({ graph: 'Where its payment stands.' }),
    paidAt: moment.nullable().meta({ graph: 'When it was paid; null before.' }),
    previousHash: hash.meta({ scalar: 'String' }).meta({
      description: 'Hash of the entry before; sha256: and 64 zeros for the first',
    }),
    ledgerHash: hash.meta({ scalar: 'String' }).meta({
      description:
        'SHA-256 of previous_hash, a line feed, and the canonical JSON (RFC 8785) of the entry without ledger_hash, ' +
        'status and paid_at',
      graph:
        'SHA-256 of previousHash, a line feed, and the canonical JSON of the entry as REST shows it, without ' +
        'ledger_hash, status and paid_at.',
    }),
  })
  .meta({ id: 'Commission', graph: 'What an agent has earned by one fee. Entries are never changed.' });

export const commissionFilter = z
  .object({
    period: namedPeriodOrMonth,
    status: status.optional().meta({ graph: 'Only these.' }),
    type: type.optional().meta({ graph: 'Only these.' }),
    currency: wantedCurrency.meta({
      description:
        'Of the totals, ISO 4217; that of most entries of the period when left out, USD where there are none',
      graph: 'Of the totals; that of most entries of the period when nothing is said.',
    }),
  })
  .meta({ graph: 'Narrows the commission ledger.' });

const beside = z
  .object({
    totalEarnedCents: cents.meta({
      description: 'Of the period, whatever the filter: earned less taken back, in the currency named',
      graph: 'Of the period: earned less taken back, in the currency named.',
    }),
    totalProvisionalCents: cents.meta({ description: 'What of it may still be taken back' }),
    currency: z.string().meta({ description: 'ISO 4217, of the totals' }),
    otherCurrencies: z.array(z.string()).meta({ description: 'Others that entries of the period are in' }),
    nextPayout: z.iso.date().meta({ description: 'The next payday, UTC' }),
    period: z.string().meta({ graph: 'The period, as it may be asked for again.' }),
  })
  .meta({ graph: 'One page of the commission ledger, the newest first.' });

export const commissionVerifyRequest = z
  .object({
    commissionId: z.string().min(1).max(64).meta({ scalar: 'ID' }).optional().meta({
      description: 'The entry, com_…',
      graph: 'The entry.',
    }),
    ledgerHash: z.string().max(128).optional().meta({
      description: 'What its ledger_hash should be',
      graph: 'What its hash should be.',
    }),
    receiptId: z.string().min(1).max(64).meta({ scalar: 'ID' }).optional().meta({
      description: 'The same as commission_id; also the receipt of a value proof, rcpt_…',
      graph: 'The same as commissionId; also the receipt of a value proof.',
    }),
    expectedHash: z.string().max(128).optional().meta({
      description: 'The same as ledger_hash; of a receipt sha256: and the hex SHA-256 of signed_receipt',
      graph: 'The same as ledgerHash; of a receipt the SHA-256 of signedReceipt.',
    }),
  })
  .refine(({ commissionId, receiptId }) => (commissionId === undefined) !== (receiptId === undefined), {
    path: ['commission_id'],
    message: 'give commission_id or receipt_id, one of the two',
    params: { code: 'required' },
  })
  .meta({ id: 'CommissionVerifyRequest', graph: 'An entry, and the hash that it should have.' });

const verification = z
  .object({
    valid: z.boolean().meta({
      description: 'Whether the entry has the hash that follows from it, and the one that was given',
    }),
    chainIntact: z.boolean().meta({
      description:
        'Whether every entry of the ledger has its hash, is linked to the one before, and is the one that the audit ' +
        'log has seen',
    }),
    commissionId: z.string().meta({ scalar: 'ID', graph: 'What was checked.' }),
    verifiedAt: moment.meta({ graph: 'When it was checked.' }),
    computedHash: hash
      .meta({ scalar: 'String' })
      .meta({ description: 'The hash that follows from the entry as it is' }),
    chainLength: z.int().meta({ description: 'Entries of the ledger' }),
    firstBrokenSequence: z.int().nullable().meta({
      description: 'The first entry that is not right; null for an intact ledger',
    }),
  })
  .meta({ id: 'CommissionVerification', graph: 'What came of checking an entry and the ledger that it stands in.' });

const HASH = 'sha256:5b0ad1a3c6e8f7920d4b1c5a6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091';
const example = {
  id: 'com_01JQ2m7Bv4XgL9uTcPdYsG',
  agent_id: EXAMPLE_AGENT,
  type: 'l1_referral',
  source_agent_id: 'agent_01JQ4bT2xKvWsNcHhYfMqE',
  amount_cents: 9_365,
  currency: 'USD',
  delta_r_cents: 1_872_970,
  rate: 0.1,
  analysis_id: 'attr_01JQ2m6Yw3TfK8sVbNcXrE',
  reverses: null,
  sequence: 1,
  created_at: '2026-02-01T09:30:00.000Z',
  payable_at: '2026-05-02T09:30:00.000Z',
  status: 'provisional',
  paid_at: null,
  previous_hash: `sha256:${'0'.repeat(64)}`,
  ledger_hash: HASH,
};
const totals = {
  total_earned_cents: 9_365,
  total_provisional_cents: 9_365,
  currency: 'USD',
  other_currencies: [],
  next_payout: '2026-03-01',
  period: '2026-02',
};

/** What both paths have in common. */
const list = {
  method: 'GET',
  kind: 'read',
  action: 'referral:read',
  field: 'commissions',
  description:
    'Newest first: what the calling agent has earned in a period, each entry linked to the one before by its hash. ' +
    'Commissions of referrals can be taken back for 90 days; what can be paid is paid on the first of the month. A ' +
    'test key sees none.',
  graph:
    'The commission ledger of the agent of the account, newest first, at most 200 at a time; a test key sees none. ' +
    'Errors: VALIDATION_ERROR; RESOURCE_NOT_FOUND for the id of any other agent.',
  filter: commissionFilter,
  limit: { usual: 50, most: 200 },
  answer: { page: commission, beside },
  answered: 'A page of the ledger',
} as const;

export const commissions = noun({
  one: 'commission',
  many: 'commissions',
  tag: 'Referrals',
  record: commission,
  withoutTrust: true,
  example,
  operations: {
    listCommissions: {
      ...list,
      path: '/commissions',
      summary: 'Read the commission ledger of the calling agent',
      example: { query: { period: '2026-02' }, response: totals },
    },
    listAgentCommissions: {
      ...list,
      path: '/agents/{agent_id}/commissions',
      document: 'AgentCommissions',
      summary: 'Read the commission ledger of an agent, which has to be the calling one',
      named: z.object({
        agentId: idInPath({
          description: 'The calling agent: agent_…, its UUID, or me',
          graph: 'Public id, UUID or me; the only agent that it can be is the account’s own.',
        }),
      }),
      example: { path: { agent_id: EXAMPLE_AGENT }, query: { limit: '50' }, response: totals },
    },
    verifyCommission: {
      method: 'POST',
      path: '/commissions/verify',
      kind: 'write',
      action: 'referral:read',
      summary: 'Verify an entry of the commission ledger',
      description:
        'Hashes the whole ledger of the calling agent again, checks every link, and compares it with what the audit ' +
        'log has seen, whose heads are signed outside of the database. A hash that does not fit is an answer, not an ' +
        'error. The audit log tells of it (commission.verified).',
      graph:
        'Checks an entry and the ledger that it stands in; a hash that does not fit is an answer. Errors: ' +
        'VALIDATION_ERROR, RESOURCE_NOT_FOUND, INSUFFICIENT_PERMISSIONS.',
      input: commissionVerifyRequest,
      answer: { outcome: verification, trust: 'Trust envelope of the answer.' },
      answered: 'What came of it',
      problems: ['resource_not_found'],
      example: {
        body: { commission_id: example.id, ledger_hash: HASH },
        response: {
          valid: true,
          chain_intact: true,
          commission_id: example.id,
          verified_at: '2026-02-01T10:00:00.000Z',
          computed_hash: HASH,
          chain_length: 1,
          first_broken_sequence: null,
        },
      },
    },
  },
});
