import { z } from 'zod';
import { EVENT_TYPES, EVERY_EVENT } from '../event-catalogue.ts';
import { isUsableSecret } from '../webhook-secret.ts';
import { eventType } from './deliveries.ts';
import { namedAddress } from './terms.ts';

const MAX_METADATA_KEYS = 50;
const MAX_METADATA_LENGTH = 500;
const MIN_SECRET_LENGTH = 8;
const MAX_SECRET_LENGTH = 256;

export const eventChoice = z.enum([...EVENT_TYPES, EVERY_EVENT]).meta({ scalar: 'String' });

/** What a caller chooses of a subscription. */
const chosen = {
  url: namedAddress.meta({ description: 'https address of a public host' }),
  events: z
    .array(eventChoice)
    .min(1, 'name at least one event type, or ["*"] for all that you may read')
    .max(EVENT_TYPES.length)
    .refine((events) => !events.includes(EVERY_EVENT) || events.length === 1, '"*" stands alone')
    .meta({
      description:
        'Event types, each readable with the scopes of the key, or ["*"] for all that it may read, later ones included',
    }),
  metadata: z
    .record(z.string().min(1).max(MAX_METADATA_LENGTH), z.string().max(MAX_METADATA_LENGTH))
    .refine(
      (metadata) => Object.keys(metadata).length <= MAX_METADATA_KEYS,
      `must have at most ${MAX_METADATA_KEYS} keys`,
    )
    .meta({ description: `Up to ${MAX_METADATA_KEYS} texts of your own, part of every message` }),
  secret: z
    .string()
    .min(MIN_SECRET_LENGTH)
    .max(MAX_SECRET_LENGTH)
    .refine(isUsableSecret, 'must be base64 behind whsec_; a secret of your own has another beginning')
    .meta({ description: 'Signs the messages' }),
};

export const newWebhook = z
  .object({
    url: chosen.url.meta({ graph: 'https address of a public host, at most 2048 characters.' }),
    events: chosen.events.meta({ graph: 'Event types, or ["*"] for all that the key may read.' }),
    secret: chosen.secret
      .optional()
      .meta({ graph: '8 to 256 characters; whsec_ and 32 random bytes when nothing is said.' }),
    metadata: chosen.metadata.optional().meta({ graph: 'Up to 50 texts of at most 500 characters.' }),
  })
  .meta({ id: 'WebhookRequest', graph: 'A new subscription.' });

export const webhookUpdate = z
  .object({
    url: chosen.url.optional(),
    events: chosen.events.optional().meta({ graph: 'Replaces the whole list.' }),
    active: z.boolean().optional().meta({ graph: 'Switches it on or off.' }),
    metadata: chosen.metadata.optional().meta({ graph: 'Replaces all of it.' }),
    secret: chosen.secret
      .optional()
      .meta({ graph: 'The new secret; the previous one keeps signing beside it for 24 hours.' }),
  })
  .meta({ id: 'WebhookUpdate', graph: 'Changes to a subscription; what is left out stays.' });

export const webhookTestRequest = z
  .object({
    eventType: eventType.optional().meta({
      description: 'The first type subscribed to when nothing is said',
      graph: 'Type of the made-up event; the first one subscribed to when nothing is said.',
    }),
  })
  .meta({ id: 'WebhookTestRequest', graph: 'A test of a subscription.' });
