import { z } from 'zod';
import type { Principal } from '../../schema/principal.ts';
import { webhookTestRequest } from '../../schema/contract/webhook-requests.ts';
import { EVERY_EVENT, readableEventTypes, type EventType } from '../../schema/event-catalogue.ts';
import type { Delivery } from './delivery.ts';
import { claimedDeliveries, insertDelivery, requireDelivery } from './delivery-store.ts';
import type { Endpoint } from './endpoint.ts';
import { requireWebhook } from './endpoint-store.ts';
import { messageOf } from './message.ts';
import { SEND_TIMEOUT_MS, sendMessage } from './send-message.ts';
import { settleDelivery } from './settle-delivery.ts';
import { parseGraphInput } from '../../platform/graph/parse-input.ts';
import type { Settle } from '../idempotency/exactly-once.ts';
import { newUuid, publicId, uuid, type Uuid } from '../../platform/identifiers.ts';
import type { WebhookServices } from './webhook-services.ts';

/** Longer than the sending can take: nobody else shall send the test as well. */
const LEASE_MS = 2 * SEND_TIMEOUT_MS;

/** The attempt as a retry tells of it again. */
export const attemptEffect = z.object({ webhookId: uuid, deliveryId: uuid });

/**
 * Sends a made-up event of a type at once, marked `"test": true`, whether or not the subscription is on. It is not
 * tried again and counts for nothing.
 * @throws ProblemError `resource_not_found`, `validation_error`
 */
export async function testWebhook(
  services: WebhookServices,
  principal: Principal,
  id: string,
  rawInput: unknown,
  settle: Settle<z.output<typeof attemptEffect>>,
): Promise<Delivery> {
  const { database, outgoing, endpointSecrets, clock } = services;
  const { eventType } = parseGraphInput(webhookTestRequest, rawInput);
  const sender = newUuid();
  const { webhookId, claimed } = await database.asTenant(principal, async (em) => {
    const webhook = await requireWebhook(em, id);
    const { accountId, environment, url } = webhook;
    const delivery = await insertDelivery(em, {
      accountId,
      environment,
      endpointId: webhook.id,
      eventId: newUuid(clock().getTime()),
      eventType: eventType ?? firstOf(webhook),
      isTest: true,
      attempt: 1,
      url,
      claimedBy: { sender, leaseMs: LEASE_MS },
    });
    const [claimed] = await claimedDeliveries(em, sender, [delivery.id]);
    await settle(em, { webhookId: webhook.id, deliveryId: delivery.id });
    return { webhookId: webhook.id, claimed: claimed! };
  });
  await settleDelivery(
    services,
    sender,
    claimed,
    await sendMessage(outgoing, claimed.url, messageOf(claimed, endpointSecrets), clock),
  );
  return readDelivery(services, principal, webhookId, claimed.id);
}

/** An attempt at an event of a webhook as it is now. @throws ProblemError `resource_not_found` */
export async function readDelivery(
  { database }: Pick<WebhookServices, 'database'>,
  principal: Principal,
  webhookId: Uuid,
  deliveryId: Uuid,
): Promise<Delivery> {
  return database.asTenant(principal, (em) => requireDelivery(em, webhookId, publicId('dlv', deliveryId)));
}

/** The first type that it is subscribed to. */
function firstOf({ events, scopes }: Endpoint): EventType {
  const [first] = events;
  return first === undefined || first === EVERY_EVENT ? readableEventTypes(scopes)[0]! : first;
}
