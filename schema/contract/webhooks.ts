import { z } from 'zod';
import { DISABLED_REASONS } from '../value-lists.ts';
import { delivery, eventType, exampleDelivery } from './deliveries.ts';
import { noun } from './noun.ts';
import { memberOf } from './rest-form.ts';
import { address, environment, graphTypes, idInPath, moment } from './terms.ts';
import { eventChoice, newWebhook, webhookTestRequest, webhookUpdate } from './webhook-requests.ts';

/** Of one account in one environment. */
export const MAX_WEBHOOKS = 16;

const disabledReason = z.enum(DISABLED_REASONS).register(graphTypes, {
  name: 'WebhookDisabledReason',
  description:
    'Why a webhook is off: its receiver answered 410, 20 events in a row could not be delivered, or the grant or ' +
    'key that made it has ended.',
});

const webhookStats = z
  .object({
    delivered: z.int().min(0).meta({ description: 'Events that arrived' }),
    failed: z.int().min(0).meta({
      description: 'Events that were given up after their last attempt',
    }),
    lastSuccessAt: moment.nullable().meta({ graph: 'When something arrived last.' }),
    lastFailureAt: moment.nullable().meta({ description: 'Of an attempt', graph: 'When an attempt failed last.' }),
  })
  .register(graphTypes, { name: 'WebhookStats', description: 'How a webhook fares; tests do not count.' });

/** A subscription; the order of the members is the order in every answer. */
export const webhook = z
  .object({
    id: z.uuid().meta({ scalar: 'ID', graph: 'A UUID.' }),
    url: address.meta({ graph: 'Where messages are sent.' }),
    events: z.array(eventChoice).meta({ graph: 'Event types, or * alone for all that its maker may read.' }),
    active: z.boolean().meta({ graph: 'Whether events are sent.' }),
    metadata: z.record(z.string(), z.string()).meta({ graph: 'Texts of your own, part of every message.' }),
    secretPrefix: z.string().meta({
      description: 'The beginning of the secret',
    }),
    apiVersion: z.string().meta({
      description: 'Version that the messages follow: that of the request which made the webhook',
      graph: 'Dated version that the messages follow.',
    }),
    environment: environment.meta({ graph: 'Environment whose events it receives.' }),
    createdAt: moment.meta({ graph: 'When it was made.' }),
    updatedAt: moment.meta({ graph: 'When it was changed last.' }),
    disabledReason: disabledReason.nullable().meta({
      description: 'Why it was switched off by itself',
      graph: 'Why it was switched off by itself; null otherwise.',
    }),
    stats: webhookStats.meta({ graph: 'How it fares.' }),
  })
  .meta({
    id: 'Webhook',
    graph: 'A subscription: events of the account, or of one workspace, are sent to its address.',
  });

/** A subscription with its secret, where that was set just now. */
const webhookPayload = z
  .object({
    webhook: memberOf(webhook, 'The subscription.'),
    secret: z
      .string()
      .nullable()
      .meta({ graph: 'The secret, where it was set just now. Shown this once; it is kept sealed.' }),
  })
  .register(graphTypes, { name: 'WebhookPayload', description: 'A subscription as it is now.' });
const shownWithSecret = webhook
  .extend({ secret: z.string().optional().meta({ description: 'Shown only here and where it was set: keep it' }) })
  .meta({ id: 'WebhookSecretAnswer' });
const withSecret = {
  outcome: webhookPayload,
  trust: 'Trust envelope of the subscription.',
  inRest: { shows: shownWithSecret, flat: 'webhook' },
} as const;

const webhookTest = z
  .object({
    delivered: z.boolean().meta({ graph: 'Whether the receiver answered with 2xx.' }),
    eventType: eventType.meta({ graph: 'Type of the event that was sent.' }),
    delivery: memberOf(delivery, 'The attempt.'),
  })
  .meta({ id: 'WebhookTest' })
  .register(graphTypes, { name: 'TestWebhookPayload', description: 'What came of a test.' });

const example = {
  id: '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10',
  url: 'https://hooks.spring.example/liftgraph',
  events: ['*'],
  active: true,
  metadata: { shop: 'spring' },
  secret_prefix: 'whsec_mZ…',
  api_version: '2026-02-01',
  environment: 'live',
  created_at: '2026-02-01T09:20:11.000Z',
  updated_at: '2026-02-01T09:20:11.000Z',
  disabled_reason: null,
  stats: { delivered: 0, failed: 0, last_success_at: null, last_failure_at: null },
};

const named = z.object({ id: idInPath({ rest: 'webhook_id', description: 'Webhook, a UUID', graph: 'Its UUID.' }) });

export const webhooks = noun({
  one: 'webhook',
  many: 'webhooks',
  tag: 'Webhooks',
  record: webhook,
  example,
  operations: {
    createWebhook: {
      method: 'POST',
      path: '/webhooks',
      kind: 'write',
      action: 'webhook:write',
      summary: 'Subscribe an address to events',
      description:
        `Events of your account, or of the workspace that you act in, are sent to the address as signed ` +
        `JSON; the JSON Schema of each type is part of this release (schema/events). At most ` +
        `${MAX_WEBHOOKS} webhooks. ` +
        `Without a secret one is made. Addresses that are not public are refused, now and at every sending.`,
      graph:
        'Subscribes an address to events. Errors: VALIDATION_ERROR (refused_address, unknown_host, ' +
        'too_many_webhooks), INSUFFICIENT_PERMISSIONS (missing_scope of an event).',
      input: newWebhook,
      badInputStatus: 400,
      answer: withSecret,
      status: 201,
      answered: 'The webhook and its secret',
      example: { response: { ...example, secret: 'whsec_mZ9EXAMPLEexampleEXAMPLEexampleEXAMPLEexampl=' } },
    },
    listWebhooks: {
      method: 'GET',
      path: '/webhooks',
      kind: 'read',
      action: 'webhook:read',
      field: 'webhooks',
      summary: 'List webhooks',
      description: 'Newest first; those that are on, or all of them with active=all.',
      graph:
        'Subscriptions of the caller’s environment, newest first; those that are off only when asked for. Errors: ' +
        'INSUFFICIENT_PERMISSIONS.',
      switches: ['includeInactive'],
      answer: { page: webhook },
      answered: 'A page of webhooks',
    },
    getWebhook: {
      method: 'GET',
      path: '/webhooks/{webhook_id}',
      kind: 'read',
      action: 'webhook:read',
      field: 'webhook',
      summary: 'Read a webhook',
      description: 'With how it fares; the secret is not shown again.',
      graph: 'A subscription of the caller’s environment. Errors: RESOURCE_NOT_FOUND, INSUFFICIENT_PERMISSIONS.',
      named,
      answer: { one: webhook },
      answered: 'The webhook',
    },
    updateWebhook: {
      method: 'PATCH',
      path: '/webhooks/{webhook_id}',
      kind: 'write',
      action: 'webhook:write',
      summary: 'Change a webhook',
      description:
        'Members that are left out stay. A secret that is replaced signs beside the new one for 24 hours, so that ' +
        'receivers need not change in the same moment. Switching a webhook on again counts its failures anew. ' +
        'Another url or secret takes the scopes of all that it hears.',
      graph:
        'Changes a subscription. Errors: RESOURCE_NOT_FOUND, VALIDATION_ERROR (refused_address, unknown_host), ' +
        'INSUFFICIENT_PERMISSIONS (missing_scope of an event).',
      named,
      input: webhookUpdate,
      answer: withSecret,
      answered: 'The webhook as it is now, with the secret where one was set',
      example: { body: { active: false }, response: { ...example, active: false } },
    },
    deleteWebhook: {
      method: 'DELETE',
      path: '/webhooks/{webhook_id}',
      kind: 'write',
      action: 'webhook:write',
      summary: 'Delete a webhook',
      description: 'Nothing more is sent to it, and the record of its deliveries is gone as well.',
      graph: 'Ends a subscription, with all that was still to be delivered. Errors: RESOURCE_NOT_FOUND.',
      named: named.meta({ graph: 'A subscription to end.' }),
      answer: {
        gone: webhook,
        description: 'The subscription that is gone.',
        id: 'Its UUID.',
        trust: 'Trust envelope of the record.',
      },
      answered: 'It is gone',
    },
    testWebhook: {
      method: 'POST',
      path: '/webhooks/{webhook_id}/test',
      kind: 'write',
      action: 'webhook:write',
      summary: 'Send a test event',
      description:
        'A made-up event of the type, marked "test": true, is sent at once and not tried again. The answer comes ' +
        'when the receiver has answered, or after 15 seconds.',
      graph: 'Sends a made-up event at once, without retries. Errors: RESOURCE_NOT_FOUND, VALIDATION_ERROR.',
      named,
      input: webhookTestRequest,
      bodyOptional: true,
      answer: { outcome: webhookTest, trust: 'Trust envelope of the record.' },
      answered: 'What came of it',
      example: {
        body: { event_type: exampleDelivery.event_type },
        response: {
          delivered: true,
          event_type: exampleDelivery.event_type,
          delivery: { ...exampleDelivery, test: true },
        },
      },
    },
  },
});
