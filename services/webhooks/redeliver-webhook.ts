import type { z } from 'zod';
import { ProblemError } from '../../schema/problems.ts';
import type { Principal } from '../../schema/principal.ts';
import type { Delivery } from './delivery.ts';
import { DELIVERIES_TOPIC, insertDelivery, requireDelivery } from './delivery-store.ts';
import { requireWebhook } from './endpoint-store.ts';
import type { Settle } from '../idempotency/exactly-once.ts';
import type { attemptEffect } from './test-webhook.ts';
import type { WebhookServices } from './webhook-services.ts';

/**
 * Sends the event of an attempt again, with the same event id, as the first of a new series of attempts.
 * @throws ProblemError `resource_not_found`; `conflict` with code `delivery_pending` for an attempt that is still to be
 *   made, `webhook_inactive` for a subscription that is off
 */
export async function redeliverWebhook(
  { database, pubSub }: WebhookServices,
  principal: Principal,
  id: string,
  deliveryId: string,
  settle: Settle<z.output<typeof attemptEffect>>,
): Promise<Delivery> {
  return database.asTenant(principal, async (em) => {
    const { id: endpointId, accountId, environment, url, isActive } = await requireWebhook(em, id);
    const { eventId, eventType, isTest, status } = await requireDelivery(em, endpointId, deliveryId);
    if (status === 'pending')
      throw new ProblemError('conflict', 'This delivery has not been attempted yet. Wait for it.', {
        code: 'delivery_pending',
      });
    if (!isActive)
      throw new ProblemError('conflict', 'The webhook is off. Switch it on with PATCH and "active": true first.', {
        code: 'webhook_inactive',
      });
    const delivery = await insertDelivery(em, {
      accountId,
      environment,
      endpointId,
      eventId,
      eventType,
      isTest,
      attempt: 1,
      url,
    });
    await pubSub.publish(em, DELIVERIES_TOPIC, null);
    await settle(em, { webhookId: endpointId, deliveryId: delivery.id });
    return delivery;
  });
}
