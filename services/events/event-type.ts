import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { Environment } from '../../schema/principal.ts';
import type { EventType } from '../../schema/event-catalogue.ts';
import { DateTimeScalar, JsonScalar } from '../../platform/graph/scalars.ts';
import { EnvironmentEnum } from '../../platform/graph/environment-type.ts';

@ObjectType('RecordedEvent', { description: 'Something that happened to the account, as webhooks deliver it.' })
export class RecordedEventType {
  @Field(() => ID, { description: 'evt_ and 22 characters; the same wherever the event appears.' })
  id!: string;
  @Field(() => String, { description: 'For example attribution.completed; schema/events has the shape of each.' })
  type!: EventType;
  @Field(() => DateTimeScalar, { description: 'When it happened.' })
  timestamp!: Date;
  @Field(() => EnvironmentEnum, { description: 'Live data, or the sandbox.' })
  environment!: Environment;
  @Field(() => ID, { description: 'Public id of what it happened to.' })
  subject!: string;
  @Field(() => JsonScalar, { description: 'Data of this type of event, as webhooks deliver it.' })
  data!: Readonly<Record<string, unknown>>;
}

@ObjectType('EventFeedItem', { description: 'A place in the events of an account, and the event there.' })
export class EventFeedItemType {
  @Field(() => Int, { description: 'Pass the last one as `after` to resume. Numbers of events that the stream leaves out are missing.' })
  position!: number;
  @Field(() => RecordedEventType, { nullable: true, description: 'Null in the first item alone, which says where the stream begins.' })
  event!: RecordedEventType | null;
}
