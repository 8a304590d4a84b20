import { z } from 'zod';
import { webhooks } from '../../schema/contract/webhooks.ts';
import { operationsOf } from '../contract-operations.ts';
import { objectAt } from '../members.ts';
import { graphPage, pageParameters, withinReach } from '../representations/list.ts';
import type { PageRequest } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const active = z.enum(['true', 'all']).default('true').meta({ description: '`all` shows those that are off, too' });
const listQuery = withinReach(z.object({ active, ...pageParameters }));

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
