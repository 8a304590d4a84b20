import { z } from 'zod';
import { eventType } from './deliveries.ts';
import { environment, graphTypes, id, moment } from './terms.ts';

/** An event as it was recorded; what its data is, the event catalogue says. */
const recordedEvent = z
  .object({
    id: id('evt').meta({ graph: 'evt_ and 22 characters; the same wherever the event appears.' }),
    type: eventType.meta({ graph: 'For example attribution.completed; schema/events has the shape of each.' }),
    timestamp: moment.meta({ graph: 'When it happened.' }),
    environment: environment.meta({ graph: 'Live data, or the sandbox.' }),
    subject: z.string().meta({ scalar: 'ID', graph: 'Public id of what it happened to.' }),
    data: z.record(z.string(), z.unknown()).meta({ graph: 'Data of this type of event, as webhooks deliver it.' }),
  })
  .register(graphTypes, {
    name: 'RecordedEvent',
    description: 'Something that happened to the account, as webhooks deliver it.',
  });

/** What the subscription `events` tells. */
export const eventFeedItem = z
  .object({
    position: z.int().meta({
      graph: 'Pass the last one as `after` to resume. Numbers of events that the stream leaves out are missing.',
    }),
    event: recordedEvent.nullable().meta({
      graph: 'Null in the first item alone, which says where the stream begins.',
    }),
  })
  .register(graphTypes, {
    name: 'EventFeedItem',
    description: 'A place in the events of an account, and the event there.',
  });
