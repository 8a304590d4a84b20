import type { PubSub } from '../../platform/postgres/pub-sub.ts';
import type { EventConsumer } from '../events/relay.ts';
import { DELIVERIES_TOPIC, insertDelivery } from './delivery-store.ts';
import { hears } from './endpoint.ts';
import { activeEndpoints } from './endpoint-store.ts';

/** Writes the first attempt for every endpoint that asked for the event, in the transaction that relays it. */
export function fanOut(pubSub: PubSub): EventConsumer {
  return async (em, event) => {
    const listening = (await activeEndpoints(em)).filter((endpoint) => hears(endpoint, event));
    for (const { id: endpointId, url } of listening) {
      await insertDelivery(em, {
        accountId: event.accountId,
        environment: event.environment,
        endpointId,
        eventId: event.eventId,
        eventType: event.type,
        isTest: false,
        attempt: 1,
        begunAt: event.occurredAt,
        url,
      });
    }
    if (listening.length > 0) await pubSub.publish(em, DELIVERIES_TOPIC, null);
  };
}
