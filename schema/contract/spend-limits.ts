import { z } from 'zod';
import { SPEND_LIMIT_ACTIONS } from '../value-lists.ts';
import { wantedCurrency } from './billing-period.ts';
import { noun } from './noun.ts';
import { cents, graphTypes, moment } from './terms.ts';

const action = z.enum(SPEND_LIMIT_ACTIONS).register(graphTypes, {
  name: 'SpendLimitAction',
  description:
    'BLOCK refuses analyses whose least fee would pass the limit; NOTIFY refuses nothing. Both tell of thresholds by ' +
    'the event billing.spend_alert.',
});

/** Largest number of cents that readers can tell from the next. */
const limitCents = z.int().min(0).meta({ scalar: 'Cents' });
/** Parts of the limit; four decimals. */
const thresholds = z
  .array(z.number().min(0.0001).max(10))
  .max(10)
  .refine((parts) => new Set(parts).size === parts.length, { error: 'must not name a threshold twice' });

export const SPEND_LIMIT_DEFAULTS = { action: 'block', alertThresholds: [0.5, 0.8, 1] } as const;

export const newSpendLimit = z
  .object({
    monthlyLimitCents: limitCents.nullable().meta({
      description: 'Of each currency by itself, minor units; null takes the limit away',
    }),
    action: action.optional().meta({ default: SPEND_LIMIT_DEFAULTS.action, graph: 'Defaults to BLOCK.' }),
    alertThresholds: thresholds.optional().meta({
      default: SPEND_LIMIT_DEFAULTS.alertThresholds,
      description: 'Parts of the limit at which billing.spend_alert is told, each once a month',
    }),
    currency: wantedCurrency.meta({
      description: 'Of the spend in the answer; the one with the most charges of the month when absent',
      graph: 'Of the spend in the answer; the one with the most charges of the month when nothing is said.',
    }),
  })
  .meta({ id: 'SpendLimitRequest', graph: 'What an account wants to spend in a month at most.' });

/** A limit as it stands; the order of the members is the order in every answer. */
export const spendLimit = z
  .object({
    monthlyLimitCents: cents.nullable().meta({
      description: 'Of each currency by itself; null for no limit',
    }),
    action: action.meta({ graph: 'What happens at the limit.' }),
    currency: z.string().meta({ description: 'ISO 4217, of the spend here' }),
    otherCurrencies: z.array(z.string()).meta({ description: 'Currencies that the month has figures in, too' }),
    currentSpendCents: cents.meta({ description: 'Of the running month, in the whole account' }),
    remainingCents: cents.nullable().meta({ description: 'Never below 0; null for no limit' }),
    resetsAt: moment.meta({ description: 'When the next month begins, UTC' }),
    alertThresholds: z.array(z.number()).meta({ description: 'The lowest first' }),
  })
  .meta({ id: 'SpendLimit', graph: 'What an account wants to spend in a month at most.' });

const example = {
  monthly_limit_cents: 200_000,
  action: 'block',
  currency: 'USD',
  other_currencies: [],
  current_spend_cents: 93_659,
  remaining_cents: 106_341,
  resets_at: '2026-03-01T00:00:00.000Z',
  alert_thresholds: [0.5, 0.8, 1],
};

export const spendLimits = noun({
  one: 'spendLimit',
  many: 'spend-limits',
  tag: 'Billing',
  record: spendLimit,
  example,
  operations: {
    setSpendLimit: {
      method: 'POST',
      path: '/billing/spend-limit',
      kind: 'write',
      action: 'billing:write',
      summary: 'Say what the account wants to spend in a month at most',
      description:
        'It counts in each currency by itself, and replaces the limit that there was. With action block, an analysis ' +
        'that would be billed is refused with 402 spend_limit_exceeded once its least fee would pass the limit, ' +
        'whoever of the account asks for it. A fee is known only afterwards, so the last analysis may pass the limit ' +
        'once. A test key sets a limit of the sandbox, where nothing is spent: one below 10 refuses its analyses.',
      graph:
        'Says what the account wants to spend in a month at most; a test key sets that of the sandbox. Errors: ' +
        'VALIDATION_ERROR, CONFLICT (foreign_account), INSUFFICIENT_PERMISSIONS.',
      input: newSpendLimit,
      answer: {
        one: spendLimit,
        payload: {
          description: 'The limit as it stands now.',
          member: 'The limit.',
          trust: 'Trust envelope of the record.',
        },
      },
      status: 200,
      problems: ['conflict'],
      answered: 'The limit as it stands now',
      example: { body: { monthly_limit_cents: 200_000, action: 'block' } },
    },
  },
});
