import { z } from 'zod';
import { EVENT_CATALOGUE, EVENT_TYPES, type CatalogueEntry, type EventType } from './event-catalogue.ts';
import { ENVIRONMENTS } from './value-lists.ts';

/** The message around `data`, as it is sent (decisions, webhooks). */
export const eventEnvelope = z.object({
  id: z.string().meta({ description: 'evt_…; the same on every repeat' }),
  type: z.enum(EVENT_TYPES),
  timestamp: z.iso.datetime().meta({ description: 'When it happened' }),
  api_version: z.string(),
  environment: z.enum(ENVIRONMENTS),
  webhook_id: z.uuid().nullable().meta({ description: 'The subscription; null for callbacks of an agent' }),
  metadata: z.record(z.string(), z.string()).meta({ description: 'As given with the subscription' }),
  test: z.literal(true).optional().meta({ description: 'Only on what POST /webhooks/{webhook_id}/test sends' }),
});

/** The JSON Schema (2020-12) of a whole message of this type. */
export function messageSchema(type: EventType): object {
  const { description, data, example, emittedBy } = EVENT_CATALOGUE[type] as CatalogueEntry;
  const message = eventEnvelope
    .extend({ type: z.literal(type), data })
    .meta({ title: type, description: emittedBy === null ? `${description} Nothing sends it yet.` : description });
  return {
    ...z.toJSONSchema(message, { io: 'input', override: ({ jsonSchema }) => void withoutRepetition(jsonSchema) }),
    examples: [exampleMessage(type, example)],
  };
}

/** A pattern behind a format only repeats it. */
function withoutRepetition(schema: { format?: string | undefined; pattern?: string | undefined }): void {
  if (schema.format !== undefined) delete schema.pattern;
}

function exampleMessage(type: EventType, data: unknown): object {
  return {
    id: 'evt_0351EFUQxpVTZ7WdNYMSuY',
    type,
    timestamp: '2026-01-31T17:58:00.000Z',
    api_version: '2026-02-01',
    environment: 'live',
    webhook_id: '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10',
    metadata: {},
    data,
  };
}
