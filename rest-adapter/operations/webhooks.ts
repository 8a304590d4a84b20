import { z } from 'zod';
import { deliveries, deliveryFilter } from '../../schema/contract/deliveries.ts';
import { webhooks } from '../../schema/contract/webhooks.ts';
import { queryInteger } from '../../schema/contract/query-integer.ts';
import { fromRest, restForm } from '../../schema/contract/rest-form.ts';
import { operationsOf } from '../contract-operations.ts';
import { nodesAt, objectAt } from '../members.ts';
import type { Json, ValidRequest } from '../operation.ts';
import { graphPage, isWithinReach, pageParameters, presentMeta, withinReach } from '../representations/list.ts';
import type { PageRequest } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 20;

const active = z.enum(['true', 'all']).default('true').meta({ description: '`all` shows those that are off, too' });
const listQuery = withinReach(z.object({ active, ...pageParameters }));

const { status, event_type } = restForm(deliveryFilter).shape;
const deliveriesQuery = z
  .object({
    limit: queryInteger(1, MAX_LIMIT, 'Entries per page; 20 when nothing is said').optional(),
    status: status!,
    event_type: event_type!,
    page: pageParameters.page,
    per_page: queryInteger(1, MAX_LIMIT, 'The same as limit, as other lists have it').optional(),
  })
  .refine(({ page, limit, per_page }) => isWithinReach(page, limit ?? per_page ?? DEFAULT_LIMIT, MAX_LIMIT), {
    path: ['page'],
    message: 'page × limit must not pass 100 000',
    params: { code: 'page_out_of_reach' },
  });

/** The page that a query asks for. */
function pageOf({ query }: ValidRequest): PageRequest {
  const { page, limit, per_page } = query as z.output<typeof deliveriesQuery>;
  return { page, per_page: limit ?? per_page ?? DEFAULT_LIMIT };
}

export const webhookOperations = operationsOf(webhooks, {
  createWebhook: { location: (body) => `/webhooks/${String(body['id'])}` },
  listWebhooks: {
    querySchema: listQuery,
    variables: ({ query }) => ({
      ...graphPage(query as unknown as PageRequest),
      includeInactive: query['active'] === 'all',
    }),
  },
  deleteWebhook: {
    representation: {
      description: 'It is gone, with Prefer: return=representation',
      schema: z
        .object({
          id: z.uuid(),
          deleted: z.literal(true),
          trust: trustEnvelope,
        })
        .meta({ id: 'DeletedWebhook' }),
      present: (data) => objectAt(data, 'delete_webhook'),
      example: { id: webhooks.example.id, deleted: true, trust: exampleTrust(1) },
    },
  },
});

export const deliveryOperations = operationsOf(deliveries, {
  listWebhookDeliveries: {
    querySchema: deliveriesQuery,
    variables: (request) => ({
      webhookId: request.path['webhook_id'],
      ...graphPage(pageOf(request)),
      filter: fromRest(deliveryFilter, request.query) as Json,
    }),
    present: (data, request) => {
      const connection = objectAt(data, 'webhook_deliveries');
      return {
        deliveries: nodesAt(connection),
        meta: presentMeta(pageOf(request), Number(connection['total_count'])),
        trust: connection['trust'],
      };
    },
  },
});
