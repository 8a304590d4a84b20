import { z } from 'zod';
import { EVENT_TYPES } from '../../schema/event-catalogue.ts';
import { DELIVERY_STATUSES } from '../../services/webhooks/delivery.ts';
import { MAX_METADATA_KEYS, MAX_WEBHOOKS } from '../../services/webhooks/endpoint.ts';
import { webhookMembers } from '../../services/webhooks/webhook-members.ts';
import { given, nodesAt, objectAt } from '../members.ts';
import { operation, type Json } from '../operation.ts';
import { graphPage, isWithinReach, meta, pageParameters, presentMeta, queryInteger, withinReach } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';
import { exampleDelivery, exampleWebhook, presentDelivery, presentWebhook, webhookDelivery, webhookRecord } from '../representations/webhook-record.ts';

const SECRET = 'Shown only here and where it was set: keep it';
const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 20;

const members = {
  url: z.url({ protocol: /^https?$/, error: 'must be an https address' }).max(2048, 'must have at most 2,048 characters').meta({ description: 'https address of a public host' }),
  events: webhookMembers.events.meta({ description: 'Event types, each readable with the scopes of the key, or ["*"] for all that it may read, later ones included' }),
  metadata: webhookMembers.metadata.meta({ description: `Up to ${MAX_METADATA_KEYS} texts of your own, part of every message` }),
  secret: webhookMembers.secret.meta({ description: 'Signs the messages' }),
};

const creation = z.object({ url: members.url, events: members.events, secret: members.secret.optional(), metadata: members.metadata.optional() }).meta({ id: 'WebhookRequest' });
const update = z
  .object({ url: members.url.optional(), events: members.events.optional(), active: z.boolean().optional(), metadata: members.metadata.optional(), secret: members.secret.optional() })
  .meta({ id: 'WebhookUpdate' });

const answer = webhookRecord.extend({ trust: trustEnvelope }).meta({ id: 'WebhookAnswer' });
const answerWithSecret = webhookRecord.extend({ secret: z.string().optional().meta({ description: SECRET }), trust: trustEnvelope }).meta({ id: 'WebhookSecretAnswer' });

const listQuery = withinReach(z.object({ active: z.enum(['true', 'all']).default('true').meta({ description: '`all` shows those that are off, too' }), ...pageParameters }));
const deliveriesQuery = z
  .object({
    limit: queryInteger(1, MAX_LIMIT, 'Entries per page; 20 when nothing is said').optional(),
    status: z.enum(DELIVERY_STATUSES).optional(),
    event_type: z.enum(EVENT_TYPES).optional(),
    page: pageParameters.page,
    per_page: queryInteger(1, MAX_LIMIT, 'The same as limit, as other lists have it').optional(),
  })
  .refine(({ page, limit, per_page }) => isWithinReach(page, limit ?? per_page ?? DEFAULT_LIMIT, MAX_LIMIT), { path: ['page'], message: 'page × limit must not pass 100 000', params: { code: 'page_out_of_reach' } });

/** The page that a query asks for. */
function pageOf({ page, limit, per_page }: z.output<typeof deliveriesQuery>): { readonly page: number; readonly per_page: number } {
  return { page, per_page: limit ?? per_page ?? DEFAULT_LIMIT };
}

const webhookPath = z.object({ webhook_id: z.string().meta({ description: 'Webhook, a UUID' }) });
const examplePath = { webhook_id: exampleWebhook['id'] as string };

function presentShown(payload: Json): Json {
  const { webhook, secret, trust } = payload;
  return { ...presentWebhook(webhook as Json), ...(secret === null ? {} : { secret }), trust };
}

export const webhookOperations = [
  operation({
    id: 'createWebhook',
    tag: 'Webhooks',
    method: 'POST',
    path: '/webhooks',
    kind: 'write',
    action: 'webhook:write',
    document: 'CreateWebhook',
    summary: 'Subscribe an address to events',
    description: `Events of your account, or of the workspace that you act in, are sent to the address as signed JSON; the JSON Schema of each type is part of this release (schema/events). At most ${MAX_WEBHOOKS} webhooks. Without a secret one is made. Addresses that are not public are refused, now and at every sending.`,
    bodySchema: creation,
    badBodyStatus: 400,
    success: { status: 201, description: 'The webhook and its secret', schema: answerWithSecret },
    problems: [],
    variables: ({ body }) => ({ input: given({ url: body.url, events: body.events, secret: body.secret, metadata: body.metadata }) }),
    present: (data) => presentShown(objectAt(data, 'create_webhook')),
    location: (body) => `/webhooks/${String(body['id'])}`,
    example: {
      body: { url: exampleWebhook['url'], events: ['*'], metadata: { shop: 'spring' } },
      response: { ...exampleWebhook, secret: 'whsec_mZ9EXAMPLEexampleEXAMPLEexampleEXAMPLEexampl=', trust: exampleTrust(1) },
    },
  }),
  operation({
    id: 'listWebhooks',
    tag: 'Webhooks',
    method: 'GET',
    path: '/webhooks',
    kind: 'read',
    action: 'webhook:read',
    document: 'Webhooks',
    summary: 'List webhooks',
    description: 'Newest first; those that are on, or all of them with active=all.',
    querySchema: listQuery,
    success: { status: 200, description: 'A page of webhooks', schema: z.object({ webhooks: z.array(webhookRecord), meta, trust: trustEnvelope }), headers: { Link: 'first, prev, next and last page' } },
    problems: [],
    variables: ({ query }) => ({ ...graphPage(query), includeInactive: query.active === 'all' }),
    present: (data, { query }) => {
      const connection = objectAt(data, 'webhooks');
      return { webhooks: nodesAt(connection).map(presentWebhook), meta: presentMeta(query, Number(connection['total_count'])), trust: connection['trust'] };
    },
    example: { response: { webhooks: [exampleWebhook], meta: { page: 1, per_page: 20, total: 1, total_pages: 1 }, trust: exampleTrust(1) } },
  }),
  operation({
    id: 'getWebhook',
    tag: 'Webhooks',
    method: 'GET',
    path: '/webhooks/{webhook_id}',
    kind: 'read',
    action: 'webhook:read',
    document: 'Webhook',
    summary: 'Read a webhook',
    description: 'With how it fares; the secret is not shown again.',
    pathSchema: webhookPath,
    success: { status: 200, description: 'The webhook', schema: answer },
    problems: ['resource_not_found'],
    isResource: true,
    variables: ({ path }) => ({ id: path.webhook_id }),
    present: (data) => {
      const { trust, ...webhook } = objectAt(data, 'webhook');
      return { ...presentWebhook(webhook), trust };
    },
    example: { path: examplePath, response: { ...exampleWebhook, trust: exampleTrust(1) } },
  }),
  operation({
    id: 'updateWebhook',
    tag: 'Webhooks',
    method: 'PATCH',
    path: '/webhooks/{webhook_id}',
    kind: 'write',
    action: 'webhook:write',
    document: 'UpdateWebhook',
    summary: 'Change a webhook',
    description: 'Members that are left out stay. A secret that is replaced signs beside the new one for 24 hours, so that receivers need not change in the same moment. Switching a webhook on again counts its failures anew. Another url or secret takes the scopes of all that it hears.',
    pathSchema: webhookPath,
    bodySchema: update,
    success: { status: 200, description: 'The webhook as it is now, with the secret where one was set', schema: answerWithSecret },
    problems: ['resource_not_found'],
    variables: ({ path, body }) => ({ input: given({ id: path.webhook_id, url: body.url, events: body.events, active: body.active, metadata: body.metadata, secret: body.secret }) }),
    present: (data) => presentShown(objectAt(data, 'update_webhook')),
    example: { path: examplePath, body: { active: false }, response: { ...exampleWebhook, active: false, trust: exampleTrust(1) } },
  }),
  operation({
    id: 'deleteWebhook',
    tag: 'Webhooks',
    method: 'DELETE',
    path: '/webhooks/{webhook_id}',
    kind: 'write',
    action: 'webhook:write',
    document: 'DeleteWebhook',
    summary: 'Delete a webhook',
    description: 'Nothing more is sent to it, and the record of its deliveries is gone as well.',
    pathSchema: webhookPath,
    success: { status: 204, description: 'It is gone', schema: null },
    representation: {
      description: 'It is gone, with Prefer: return=representation',
      schema: z.object({ id: z.uuid(), deleted: z.literal(true), trust: trustEnvelope }).meta({ id: 'DeletedWebhook' }),
      present: (data) => objectAt(data, 'delete_webhook'),
      example: { id: exampleWebhook['id'], deleted: true, trust: exampleTrust(1) },
    },
    problems: ['resource_not_found'],
    variables: ({ path }) => ({ input: { id: path.webhook_id } }),
    present: () => null,
    example: { path: examplePath },
  }),
  operation({
    id: 'testWebhook',
    tag: 'Webhooks',
    method: 'POST',
    path: '/webhooks/{webhook_id}/test',
    kind: 'write',
    action: 'webhook:write',
    document: 'TestWebhook',
    summary: 'Send a test event',
    description: 'A made-up event of the type, marked "test": true, is sent at once and not tried again. The answer comes when the receiver has answered, or after 15 seconds.',
    pathSchema: webhookPath,
    bodySchema: z.object({ event_type: z.enum(EVENT_TYPES).optional().meta({ description: 'The first type subscribed to when nothing is said' }) }).meta({ id: 'WebhookTestRequest' }).default({}),
    success: { status: 200, description: 'What came of it', schema: z.object({ delivered: z.boolean(), event_type: z.enum(EVENT_TYPES), delivery: webhookDelivery, trust: trustEnvelope }).meta({ id: 'WebhookTest' }) },
    problems: ['resource_not_found'],
    variables: ({ path, body }) => ({ input: given({ id: path.webhook_id, eventType: body.event_type }) }),
    present: (data) => {
      const { delivered, event_type, delivery, trust } = objectAt(data, 'test_webhook');
      return { delivered, event_type, delivery: presentDelivery(delivery as Json), trust };
    },
    example: { path: examplePath, body: { event_type: 'attribution.completed' }, response: { delivered: true, event_type: 'attribution.completed', delivery: { ...exampleDelivery, test: true }, trust: exampleTrust(1) } },
  }),
  operation({
    id: 'listWebhookDeliveries',
    tag: 'Webhooks',
    method: 'GET',
    path: '/webhooks/{webhook_id}/deliveries',
    kind: 'read',
    action: 'webhook:read',
    document: 'WebhookDeliveries',
    summary: 'List attempts to deliver',
    description: 'Newest first, one record per attempt: a failed one with retries left is followed by a pending one, due at scheduled_at. Kept for 90 days.',
    pathSchema: webhookPath,
    querySchema: deliveriesQuery,
    success: { status: 200, description: 'A page of attempts', schema: z.object({ deliveries: z.array(webhookDelivery), meta, trust: trustEnvelope }), headers: { Link: 'first, prev, next and last page' } },
    problems: ['resource_not_found'],
    variables: ({ path, query }) => ({ webhookId: path.webhook_id, ...graphPage(pageOf(query)), filter: given({ status: query.status, eventType: query.event_type }) }),
    present: (data, { query }) => {
      const connection = objectAt(data, 'webhook_deliveries');
      return { deliveries: nodesAt(connection).map(presentDelivery), meta: presentMeta(pageOf(query), Number(connection['total_count'])), trust: connection['trust'] };
    },
    example: { path: examplePath, query: { status: 'success', limit: '20' }, response: { deliveries: [exampleDelivery], meta: { page: 1, per_page: 20, total: 1, total_pages: 1 }, trust: exampleTrust(1) } },
  }),
  operation({
    id: 'redeliverWebhook',
    tag: 'Webhooks',
    method: 'POST',
    path: '/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver',
    kind: 'write',
    action: 'webhook:write',
    document: 'RedeliverWebhook',
    summary: 'Deliver an event again',
    description: 'The event of the attempt is sent again with the same event id, as the first of a new series of attempts.',
    pathSchema: webhookPath.extend({ delivery_id: z.string().meta({ description: 'Any attempt at the event, dlv_…' }) }),
    success: { status: 202, description: 'The attempt that will be made', schema: z.object({ delivery: webhookDelivery, trust: trustEnvelope }).meta({ id: 'WebhookRedelivery' }) },
    problems: ['resource_not_found', 'conflict'],
    variables: ({ path }) => ({ input: { webhookId: path.webhook_id, deliveryId: path.delivery_id } }),
    present: (data) => {
      const { delivery, trust } = objectAt(data, 'redeliver_webhook');
      return { delivery: presentDelivery(delivery as Json), trust };
    },
    example: {
      path: { ...examplePath, delivery_id: exampleDelivery['id'] as string },
      response: {
        delivery: { ...exampleDelivery, id: 'dlv_01JQ2n4Kc7WyQhTzBdMpRu', status: 'pending', response_status: null, response_time_ms: null, response_body: null, sent_at: null, completed_at: null, request_headers: null },
        trust: exampleTrust(1),
      },
    },
  }),
];
