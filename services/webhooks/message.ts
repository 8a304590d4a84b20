import { publicId } from '../../platform/identifiers.ts';
import { EVENT_CATALOGUE } from '../../schema/event-catalogue.ts';
import type { ClaimedDelivery } from './delivery.ts';
import type { EndpointSecrets } from './endpoint-secret.ts';
import { signatureHeaders } from './signature.ts';

/** What is sent: the bytes, and the headers that sign them. */
export interface Message {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The message of an attempt (decisions, webhooks). @throws SealBrokenError when the secret was sealed under another key
 */
export function messageOf(delivery: ClaimedDelivery, secrets: EndpointSecrets): Message {
  const { eventType, isTest, endpointId, kind, sentAt } = delivery;
  const eventId = publicId('evt', delivery.eventId);
  const body = JSON.stringify({
    id: eventId,
    type: eventType,
    timestamp: delivery.occurredAt.toISOString(),
    api_version: delivery.apiVersion,
    environment: delivery.environment,
    webhook_id: kind === 'callback' ? null : endpointId,
    metadata: delivery.metadata,
    ...(isTest ? { test: true } : {}),
    data: dataOf(delivery),
  });
  const { sealedSecret, sealedReplacedSecret } = delivery;
  const replaced = sealedReplacedSecret === null ? [] : [secrets.open(sealedReplacedSecret, endpointId)];
  return {
    body,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'svc-webhooks/1.0',
      'X-SVC-Event': eventType,
      'X-SVC-Delivery': publicId('dlv', delivery.id),
      'X-SVC-Attempt': String(delivery.attempt),
      ...signatureHeaders({ eventId, sentAt, body }, [secrets.open(sealedSecret, endpointId), ...replaced]),
    },
  };
}

function dataOf({ isTest, eventType, eventId, data }: ClaimedDelivery): unknown {
  if (isTest) return EVENT_CATALOGUE[eventType].example;
  if (data === null) throw new Error(`the event ${eventId} is not in the outbox any more`);
  return data;
}
