import { z } from 'zod';
import { ENVIRONMENTS } from '../../schema/value-lists.ts';
import { EVENT_TYPES } from '../../schema/event-catalogue.ts';
import { DELIVERY_ERRORS, DELIVERY_STATUSES } from '../../services/webhooks/delivery.ts';
import { DISABLED_REASONS, EVERY_EVENT } from '../../services/webhooks/endpoint.ts';
import { inOrder } from '../members.ts';
import type { Json } from '../operation.ts';

/** A subscription, without the trust envelope; the order of the members is the order in the body. */
export const webhookRecord = z
  .object({
    id: z.uuid(),
    url: z.string(),
    events: z.array(z.enum([...EVENT_TYPES, EVERY_EVENT])),
    active: z.boolean(),
    metadata: z.record(z.string(), z.string()),
    secret_prefix: z.string().meta({ description: 'The beginning of the secret' }),
    api_version: z.string().meta({ description: 'Version that the messages follow: that of the request which made the webhook' }),
    environment: z.enum(ENVIRONMENTS),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    disabled_reason: z.enum(DISABLED_REASONS).nullable().meta({ description: 'Why it was switched off by itself' }),
    stats: z.object({
      delivered: z.int().min(0).meta({ description: 'Events that arrived' }),
      failed: z.int().min(0).meta({ description: 'Events that were given up after their last attempt' }),
      last_success_at: z.iso.datetime().nullable(),
      last_failure_at: z.iso.datetime().nullable().meta({ description: 'Of an attempt' }),
    }),
  })
  .meta({ id: 'Webhook' });

/** One attempt to deliver one event. */
export const webhookDelivery = z
  .object({
    id: z.string(),
    event_id: z.string().meta({ description: 'The same in every attempt at the event' }),
    event_type: z.enum(EVENT_TYPES),
    attempt: z.int().min(1).max(6),
    status: z.enum(DELIVERY_STATUSES),
    url: z.string(),
    response_status: z.int().nullable(),
    response_time_ms: z.int().nullable(),
    response_body: z.string().nullable().meta({ description: 'First kilobyte of the answer' }),
    error: z.enum(DELIVERY_ERRORS).nullable(),
    scheduled_at: z.iso.datetime(),
    sent_at: z.iso.datetime().nullable(),
    completed_at: z.iso.datetime().nullable(),
    next_attempt_at: z.iso.datetime().nullable(),
    request_headers: z.record(z.string(), z.string()).nullable().meta({ description: 'As they were sent' }),
    test: z.boolean(),
  })
  .meta({ id: 'WebhookDelivery' });

/** A subscription with its members in order. */
export function presentWebhook(shaped: Json): Json {
  return inOrder(webhookRecord, shaped);
}

/** An attempt with its members in order. */
export function presentDelivery(shaped: Json): Json {
  return inOrder(webhookDelivery, shaped);
}

export const exampleWebhook: Json = {
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

export const exampleDelivery: Json = {
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
