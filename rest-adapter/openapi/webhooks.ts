import { delivery } from '../../schema/contract/deliveries.ts';
import { restForm } from '../../schema/contract/rest-form.ts';
import { EVENT_TYPES, scopeOfEvent, type EventType } from '../../schema/event-catalogue.ts';
import { messageSchema } from '../../schema/event-message.ts';
import { RETRY_WAITS_MS } from '../../services/webhooks/retry-schedule.ts';
import { SEND_TIMEOUT_MS } from '../../services/webhooks/send-message.ts';
import type { Json } from '../operation.ts';
import type { Components } from './components.ts';

/** What a receiver's answer means, by its status. */
const ANSWERS = {
  '2XX': {
    name: 'webhook.taken',
    description: `Taken. Answer within ${SEND_TIMEOUT_MS / 1_000} seconds, and work on the event afterwards.`,
  },
  410: {
    name: 'webhook.gone',
    description: 'Unsubscribes: the webhook is switched off (disabled_reason `gone`), and nothing is sent to it.',
  },
  default: {
    name: 'webhook.failed',
    description:
      `Not taken, as are redirects and answers that come too late: sent again after ${waits()}, or later where ` +
      'Retry-After asks for it, at most 24 hours after the event. 20 events in a row that failed in every attempt ' +
      'switch the webhook off (disabled_reason `consecutive_failures`).',
  },
} as const;

/** Responses for the components of the document. */
export const WEBHOOK_RESPONSES: Json = Object.fromEntries(
  Object.values(ANSWERS).map(({ name, description }) => [name, { description }]),
);

/** Headers of a message, as parameters for the components of the document. */
export function webhookParameters(components: Components): Json {
  const { eventType, attempt } = delivery.shape;
  const headers: Readonly<Record<string, readonly [description: string, schema: Json]>> = {
    'X-SVC-Signature': ['HMAC-SHA256 of the raw body under the secret, in hex', text('^[0-9a-f]{64}$')],
    'X-SVC-Event': ['Type of the event', components.schemaOf(restForm(eventType))],
    'X-SVC-Delivery': ['Id of the attempt, dlv_…', text()],
    'X-SVC-Attempt': ['Number of the attempt at this event', components.schemaOf(restForm(attempt))],
    'webhook-id': ['Id of the event, evt_…: the same in every attempt, so that doubles can be dropped', text()],
    'webhook-timestamp': ['When the attempt was made, seconds since 1970; refuse old ones', { type: 'integer' }],
    'webhook-signature': [
      'As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a ' +
        'change of the secret two for 24 hours, with a space between them',
      text('^v1,[A-Za-z0-9+/=]+( v1,[A-Za-z0-9+/=]+)*$'),
    ],
  };
  return Object.fromEntries(
    Object.entries(headers).map(([name, [description, schema]]) => [
      name,
      { name, in: 'header', required: true, description, schema },
    ]),
  );
}

/** The section `webhooks`: what is sent to those who subscribed, an entry for each type of event. */
export function webhooksOf(components: Components): Json {
  const parameters = Object.keys(webhookParameters(components)).map((name) => ({
    $ref: `#/components/parameters/${name}`,
  }));
  const responses = Object.fromEntries(
    Object.entries(ANSWERS).map(([status, { name }]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
  return Object.fromEntries(
    EVENT_TYPES.map((type) => [type, { post: { ...operationOf(type, components), parameters, responses } }]),
  );
}

function operationOf(type: EventType, components: Components): Json {
  const { $schema: _, examples, ...schema } = messageSchema(type) as Json;
  const scope = scopeOfEvent(type);
  const name = type
    .split(/[._]/)
    .map((word) => `${word[0]!.toUpperCase()}${word.slice(1)}`)
    .join('');
  return {
    operationId: `on${name}`,
    tags: ['Webhooks'],
    summary: `Hear of ${type}`,
    description: scope === null ? schema['description'] : `${String(schema['description'])}\n\nNeeds \`${scope}\`.`,
    // A message shows that it is genuine by its signatures.
    security: [],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: components.named(`${name}Event`, schema),
          example: (examples as readonly unknown[])[0],
        },
      },
    },
  };
}

function text(pattern?: string): Json {
  return { type: 'string', ...(pattern !== undefined && { pattern }) };
}

/** The waits between attempts, in words. */
function waits(): string {
  const words = RETRY_WAITS_MS.map((ms) => (ms < 60_000 ? `${ms / 1_000} s` : `${ms / 60_000} min`));
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
