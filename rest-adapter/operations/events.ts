import { z } from 'zod';
import { queryInteger } from '../../schema/contract/query-integer.ts';
import { queryList } from '../../schema/contract/query-list.ts';
import { EVENT_TYPES } from '../../schema/event-catalogue.ts';
import { given, objectAt } from '../members.ts';
import { operation, type Json } from '../operation.ts';

const MOST_EVENTS = 2 ** 31 - 1;

const position = (description: string) => queryInteger(0, MOST_EVENTS, description).optional();

/** `types=a,b`, also repeated. */
const types = queryList(z.array(z.enum(EVENT_TYPES)).max(EVENT_TYPES.length), {
  items: { type: 'string', enum: EVENT_TYPES },
})
  .optional()
  .meta({ description: 'Only these; all that the scopes of the key may read when left out' });

export const eventOperations = [
  operation({
    id: 'streamEvents',
    tag: 'Events',
    method: 'GET',
    path: '/events',
    kind: 'feed',
    action: 'event:read',
    document: 'Events',
    summary: 'Follow what happens',
    description:
      'Server-sent events without an end: everything that webhooks tell, in the order in which it was committed, ' +
      'each in the shape of its JSON Schema. The id that comes first says where the stream begins; whoever comes ' +
      'back with the last id misses nothing and sees nothing twice. A type that is asked for needs the scope that ' +
      'reads its resources; without types the stream leaves out what the key may not read.',
    querySchema: z.object({
      after: position(
        'Id of the last event that was seen, for clients that cannot set headers; 0 for all that are kept. Without ' +
          'it and Last-Event-ID the stream begins now',
      ),
      types,
    }),
    headerSchema: z.object({
      'last-event-id': position('Id of the last event that was seen; counts before after'),
    }),
    success: { status: 200, description: 'The event stream', schema: null },
    problems: ['insufficient_permissions'],
    variables: ({ query, headers }) => given({ after: headers['last-event-id'] ?? query.after, types: query.types }),
    present: (data) => {
      const { position: id, event } = objectAt(data, 'events');
      return event === null ? { id, event } : { id, event: (event as Json)['type'], data: message(event as Json) };
    },
    example: { query: { after: '0' } },
  }),
];

/** As webhooks tell it, to nobody's endpoint. */
function message({ id, type, timestamp, environment, data }: Json): Json {
  return { id, type, timestamp, environment, webhook_id: null, metadata: {}, data };
}
