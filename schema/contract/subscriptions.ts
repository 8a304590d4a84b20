import { z } from 'zod';
import { PAYMENT_METHODS, SUBSCRIPTION_STATUSES } from '../value-lists.ts';
import { noun } from './noun.ts';
import { cents, graphTypes, id, inRest, moment } from './terms.ts';

const status = z.enum(SUBSCRIPTION_STATUSES).register(graphTypes, {
  name: 'SubscriptionStatus',
  description:
    'PENDING until a contract is agreed, TRIALING for the days of a trial, ACTIVE, PAST_DUE while an invoice waits ' +
    'too long, CANCELED for ever.',
});
const methodType = z.enum(PAYMENT_METHODS).register(graphTypes, {
  name: 'PaymentMethodType',
  description: 'How somebody pays.',
});
const paymentMethod = z
  .strictObject({
    type: methodType.meta({ description: 'invoice, and what the installation takes besides' }),
    token: z.string().min(1).max(255).optional().meta({
      description: 'Of the provider; with a test key, tok_fail is refused',
    }),
  })
  .meta({ id: 'PaymentMethod', graph: 'How somebody pays.' });

/** Plans that somebody can ask for by himself. */
export const OFFERED_PLANS = ['pay_per_analysis', 'pro_trial', 'pro', 'enterprise'] as const;

export const newSubscription = z
  .object({
    planId: z.enum(OFFERED_PLANS).meta({ scalar: 'String', description: 'Of the price list' }),
    paymentMethod: paymentMethod.optional().meta({
      description: 'An invoice when absent',
      graph: 'How it is paid; by invoice when nothing is said.',
    }),
    workspaceId: inRest(z.string().max(128), id('ws')).optional().meta({
      description: 'Workspace that it is for, ws_…, for your own records; plans are of the account as a whole',
    }),
    acceptTerms: z
      .boolean()
      .refine((accepted) => accepted, 'must be true: nobody is charged who has not accepted them')
      .meta({
        description: 'That the terms and the price are accepted',
      }),
    spendLimitCents: z.int().min(0).meta({ scalar: 'Cents' }).optional().meta({
      description: 'Also sets this limit of a month, with action block, as POST /billing/spend-limit does',
    }),
  })
  .meta({ id: 'SubscriptionRequest', graph: 'A plan to subscribe to.' });

/** A subscription as it stands; the order of the members is the order in every answer. */
export const subscription = z
  .object({
    id: id('sub').meta({ rest: 'subscription_id', graph: 'Public id, sub_ and 22 characters.' }),
    planId: z.string().meta({ description: 'Of the price list' }),
    status: status.meta({ graph: 'Where it stands.' }),
    startedAt: moment.meta({ graph: 'When it was asked for.' }),
    currentPeriodStart: moment.nullable().meta({ description: 'Null without a fixed price' }),
    currentPeriodEnd: moment.nullable().meta({ description: 'When it is renewed, or ends' }),
    trialEndsAt: moment.nullable().meta({ description: 'Null for plans that are no trial' }),
    cancelAtPeriodEnd: z.boolean().meta({ description: 'Whether it ends with its period' }),
    nextPlanId: z.string().nullable().meta({ description: 'Plan of the account afterwards; null where it goes on' }),
    paymentMethod: methodType.meta({ description: 'How it is paid' }),
    currency: z.string().meta({ description: 'ISO 4217, of its price' }),
    amountDueCents: cents.meta({ description: 'What this period costs; 0 where nothing is due' }),
    invoiceId: id('inv').nullable().meta({ description: 'Of that amount, once its month is closed' }),
    workspaceId: id('ws').nullable().meta({ description: 'As it was given' }),
  })
  .meta({ id: 'Subscription' })
  .register(graphTypes, { name: 'BillingSubscription', description: 'A plan that an account has asked for.' });

const example = {
  subscription_id: 'sub_01JQ2m7Bv4XgL9uTcPdYsF',
  plan_id: 'pro_trial',
  status: 'trialing',
  started_at: '2026-02-01T09:30:00.000Z',
  current_period_start: '2026-02-01T09:30:00.000Z',
  current_period_end: '2026-02-15T09:30:00.000Z',
  trial_ends_at: '2026-02-15T09:30:00.000Z',
  cancel_at_period_end: true,
  next_plan_id: 'pay_per_analysis',
  payment_method: 'invoice',
  currency: 'USD',
  amount_due_cents: 9_900,
  invoice_id: null,
  workspace_id: null,
};

export const subscriptions = noun({
  one: 'subscription',
  many: 'subscriptions',
  tag: 'Billing',
  record: subscription,
  example,
  operations: {
    subscribe: {
      method: 'POST',
      path: '/billing/subscribe',
      kind: 'write',
      action: 'billing:write',
      summary: 'Subscribe to a plan',
      description:
        'pro_trial and pro count from now on. A trial is had once and ends with its days, unless pro is asked for ' +
        'meanwhile, which then follows it. pay_per_analysis ends a paid plan with its period, and asking for the ' +
        'plan again takes that back. enterprise waits for a contract. With a test key the sandbox does the same and ' +
        'costs nothing; the token tok_fail is refused with 402.',
      graph:
        'Subscribes to a plan; a test key to one of the sandbox, which costs nothing. Errors: VALIDATION_ERROR, ' +
        'PAYMENT_REQUIRED, CONFLICT (trial_used, already_subscribed, plan_given), INSUFFICIENT_PERMISSIONS.',
      input: newSubscription,
      answer: {
        one: subscription,
        payload: {
          description: 'The subscription as it stands now.',
          member: 'The subscription.',
          trust: 'Trust envelope of the record.',
        },
      },
      answered: 'The subscription as it stands now',
      problems: ['payment_required', 'conflict'],
      example: {
        body: { plan_id: 'pro_trial', payment_method: { type: 'invoice' }, accept_terms: true },
      },
    },
    getSubscription: {
      method: 'GET',
      path: '/billing/subscription',
      kind: 'read',
      action: 'billing:read',
      field: 'billingSubscription',
      summary: 'Read the subscription of the account',
      description:
        'The one that counts now, else the one that waits for a contract, else the last that ended. 404 for an ' +
        'account that never subscribed: it is on the plan that GET /billing/plans marks.',
      graph:
        'The subscription that counts now, else the one that waits, else the last that ended. Errors: ' +
        'RESOURCE_NOT_FOUND for an account that never subscribed, INSUFFICIENT_PERMISSIONS.',
      answer: { one: subscription },
      answered: 'The subscription',
      problems: ['resource_not_found'],
    },
  },
});
