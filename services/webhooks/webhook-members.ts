import { z } from 'zod';
import { EVENT_TYPES } from '../../schema/event-catalogue.ts';
import { EVERY_EVENT, MAX_METADATA_KEYS, MAX_METADATA_LENGTH, MAX_SECRET_LENGTH, MIN_SECRET_LENGTH } from './endpoint.ts';
import { isUsableSecret } from './signature.ts';

/** What a caller chooses of a subscription, the same at every door. The address is judged apart, where its host is looked up. */
export const webhookMembers = {
  events: z
    .array(z.enum([...EVENT_TYPES, EVERY_EVENT]))
    .min(1, 'name at least one event type, or ["*"] for all that you may read')
    .max(EVENT_TYPES.length)
    .refine((events) => !events.includes(EVERY_EVENT) || events.length === 1, '"*" stands alone'),
  metadata: z
    .record(z.string().min(1).max(MAX_METADATA_LENGTH), z.string().max(MAX_METADATA_LENGTH))
    .refine((metadata) => Object.keys(metadata).length <= MAX_METADATA_KEYS, `must have at most ${MAX_METADATA_KEYS} keys`),
  secret: z
    .string()
    .min(MIN_SECRET_LENGTH)
    .max(MAX_SECRET_LENGTH)
    .refine(isUsableSecret, 'must be base64 behind whsec_; a secret of your own has another beginning'),
};
