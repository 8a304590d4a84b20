import { z } from 'zod';
import { deliveries, deliveryFilter } from '../../schema/contract/deliveries.ts';
import { webhooks } from '../../schema/contract/webhooks.ts';
import { fromRest, restForm } from '../../schema/contract/rest-form.ts';
import { operationsOf } from '../contract-operations.ts';
import { nodesAt, objectAt } from '../members.ts';
import type { Json } from '../operation.ts';
import { graphPage, limitedPages, pageParameters, presentMeta, withinReach } from '../representations/list.ts';
import type { PageRequest } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 20;

const active = z.enum(['true', 'all']).default('true').meta({ description: '`all` shows those that are off, too' });
const listQuery = withinReach(z.object({ active, ...pageParameters }));

const { querySchema: deliveriesQuery, pageOf } = limitedPages(restForm(deliveryFilter).shape, {
  usual: DEFAULT_LIMIT,
  most: MAX_LIMIT,
});

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
