import { z } from 'zod';
import { EVENT_TYPES } from '../event-catalogue.ts';
import { DELIVERY_ERRORS, DELIVERY_STATUSES } from '../value-lists.ts';
import { noun } from './noun.ts';
import { memberOf } from './rest-form.ts';
import { address, graphTypes, id, idInPath, moment } from './terms.ts';

/** A type of the event catalogue, which the graph keeps as a text. */
export const eventType = z.enum(EVENT_TYPES).meta({ scalar: 'String' });
const deliveryStatus = z.enum(DELIVERY_STATUSES).register(graphTypes, {
  name: 'WebhookDeliveryStatus',
  description: 'Status of one attempt.',
});
const deliveryError = z.enum(DELIVERY_ERRORS).register(graphTypes, {
  name: 'WebhookDeliveryError',
  description: 'Why an attempt failed; HTTP_ERROR is any status but 2xx.',
});

/** One attempt to deliver one event; the order of the members is the order in every answer. */
export const delivery = z
  .object({
    id: id('dlv').meta({ graph: 'dlv_ and 22 characters.' }),
    eventId: id('evt').meta({
      description: 'The same in every attempt at the event',
      graph: 'evt_ and 22 characters; the same in every attempt at the event.',
    }),
    eventType: eventType.meta({ graph: 'Type of the event.' }),
    attempt: z.int().min(1).max(6).meta({ graph: '1 to 6.' }),
    status: deliveryStatus.meta({ graph: 'Status of the attempt.' }),
    url: address.meta({ graph: 'Where it went, or will go.' }),
    responseStatus: z.int().nullable().meta({ graph: 'HTTP status of the answer; null without one.' }),
    responseTimeMs: z.int().nullable().meta({ graph: 'Milliseconds from the lookup to the answer or the failure.' }),
    responseBody: z.string().nullable().meta({
      description: 'First kilobyte of the answer',
    }),
    error: deliveryError.nullable().meta({ graph: 'Why it failed; null otherwise.' }),
    scheduledAt: moment.meta({ graph: 'When it is due.' }),
    sentAt: moment.nullable().meta({ graph: 'When it was sent.' }),
    completedAt: moment.nullable().meta({ graph: 'When its outcome was known.' }),
    nextAttemptAt: moment.nullable().meta({ graph: 'When the attempt behind it is due; null where there is none.' }),
    requestHeaders: z.record(z.string(), z.string()).nullable().meta({
      description: 'As they were sent',
      graph: 'Headers that were sent; null before.',
    }),
    test: z.boolean().meta({ graph: 'Whether it was a test, about nothing that happened.' }),
  })
  .meta({ id: 'WebhookDelivery' })
  .register(graphTypes, { name: 'WebhookDelivery', description: 'One attempt to deliver one event.' });

export const deliveryFilter = z
  .object({
    status: deliveryStatus.optional().meta({ graph: 'Of this status.' }),
    eventType: eventType.optional().meta({ graph: 'At events of this type.' }),
  })
  .meta({ graph: 'Which attempts; what is left out narrows nothing.' });

const redelivery = z
  .object({ delivery: memberOf(delivery, 'The new attempt, with the event id of the old one.') })
  .meta({ id: 'WebhookRedelivery' })
  .register(graphTypes, { name: 'RedeliverWebhookPayload', description: 'The attempt that will be made.' });

export const exampleDelivery = {
  id: 'dlv_01JQ2n4Kc7WyQhTzBdMpRs',
  event_id: 'evt_01JQ2n4Kc7WyQhTzBdMpRt',
  event_type: 'attribution.completed',
  attempt: 1,
  status: 'success',
  url: 'https://hooks.spring.example/liftgraph',
  response_status: 200,
  response_time_ms: 84,
  response_body: 'ok',
  error: null,
  scheduled_at: '2026-02-01T09:30:00.000Z',
  sent_at: '2026-02-01T09:30:00.012Z',
  completed_at: '2026-02-01T09:30:00.096Z',
  next_attempt_at: null,
  request_headers: { 'X-SVC-Event': 'attribution.completed', 'X-SVC-Attempt': '1' },
  test: false,
};
const WEBHOOK = '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10';
const yetToCome = {
  status: 'pending',
  response_status: null,
  response_time_ms: null,
  response_body: null,
  sent_at: null,
  completed_at: null,
  request_headers: null,
};
const webhookId = idInPath({ rest: 'webhook_id', description: 'Webhook, a UUID', graph: 'UUID of the subscription.' });
const deliveryId = idInPath({
  rest: 'delivery_id',
  description: 'Any attempt at the event, dlv_…',
  graph: 'The attempt, dlv_….',
});

export const deliveries = noun({
  one: 'delivery',
  many: 'deliveries',
  tag: 'Webhooks',
  record: delivery,
  withoutTrust: true,
  example: exampleDelivery,
  operations: {
    listWebhookDeliveries: {
      method: 'GET',
      path: '/webhooks/{webhook_id}/deliveries',
      kind: 'read',
      action: 'webhook:read',
      field: 'webhookDeliveries',
      summary: 'List attempts to deliver',
      description:
        'Newest first, one record per attempt: a failed one with retries left is followed by a pending one, due at ' +
        'scheduled_at. Kept for 90 days.',
      graph:
        'Attempts to deliver to a subscription, newest first. Errors: RESOURCE_NOT_FOUND, VALIDATION_ERROR, ' +
        'INSUFFICIENT_PERMISSIONS.',
      named: z.object({ webhookId }),
      filter: deliveryFilter,
      limit: { usual: 20, most: 100 },
      answer: { page: delivery },
      answered: 'A page of attempts',
      example: { path: { webhook_id: WEBHOOK }, query: { status: 'success', limit: '20' } },
    },
    redeliverWebhook: {
      method: 'POST',
      path: '/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver',
      kind: 'write',
      action: 'webhook:write',
      summary: 'Deliver an event again',
      description:
        'The event of the attempt is sent again with the same event id, as the first of a new series of attempts.',
      graph:
        'Sends the event of an attempt again, with its id. Errors: RESOURCE_NOT_FOUND, CONFLICT (delivery_pending, ' +
        'webhook_inactive).',
      named: z.object({ webhookId, deliveryId }).meta({ graph: 'An attempt whose event is to be sent again.' }),
      answer: { outcome: redelivery, trust: 'Trust envelope of the record.' },
      status: 202,
      answered: 'The attempt that will be made',
      problems: ['conflict'],
      example: {
        path: { webhook_id: WEBHOOK, delivery_id: exampleDelivery.id },
        response: { delivery: { ...exampleDelivery, id: 'dlv_01JQ2n4Kc7WyQhTzBdMpRu', ...yetToCome } },
      },
    },
  },
});
