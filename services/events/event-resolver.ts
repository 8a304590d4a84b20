import { Arg, Ctx, Int, Resolver, Root, Subscription, type ClassType } from 'type-graphql';
import { eventFeedItem } from '../../schema/contract/events.ts';
import { ProblemError } from '../../schema/problems.ts';
import { assertAction } from '../../schema/actions.ts';
import type { Principal, RequestContext } from '../../schema/principal.ts';
import { EVENT_TYPES, readableEventTypes, scopeOfEvent, type EventType } from '../../schema/event-catalogue.ts';
import { recordEnvelope } from '../trust/envelope.ts';
import { watchEvents, type FeedServices, type TimedFeedServices } from './event-feed.ts';
import type { RecordedEvent } from './outbox.ts';
import { beginningWith } from './sequenced-watch.ts';
import { publicId } from '../../platform/identifiers.ts';
import { objectTypeOf, type GraphRecord } from '../../platform/graph/contract-types.ts';

const EventFeedItemType = objectTypeOf(eventFeedItem, 'Trust envelope of the item.');
type ShownItem = GraphRecord<typeof eventFeedItem>;

interface FeedArguments {
  readonly after?: number | null;
  readonly types?: readonly string[] | null;
}

/** Where the feed begins, or an event. */
type FeedItem = { readonly from: number } | RecordedEvent;

/**
 * The class is made per subgraph, because type-graphql gives `subscribe` no resolver instance to find its services in.
 */
export function eventResolver(services: TimedFeedServices): ClassType {
  @Resolver(() => EventFeedItemType)
  class EventResolver {
    @Subscription(() => EventFeedItemType, {
      description:
        'What happens to the account in the environment of the key, in the order in which it was committed, as far ' +
        'as the scopes of the key may read it. Errors: VALIDATION_ERROR, INSUFFICIENT_PERMISSIONS.',
      subscribe: ({ args, context }) => openFeed(services, context as RequestContext, args as FeedArguments),
    })
    events(
      @Root() item: FeedItem,
      @Ctx() context: RequestContext,
      @Arg('after', () => Int, {
        nullable: true,
        description: 'Position of the last event that was seen; 0 for all that are kept, from now on when absent.',
      })
      _after?: number | null,
      @Arg('types', () => [String], { nullable: true, description: 'Only these; all that may be read when absent.' })
      _types?: string[] | null,
    ): ShownItem {
      return { ...present(item), trust: recordEnvelope(1, services.clock(), context.apiVersion) };
    }
  }
  return EventResolver;
}

async function openFeed(
  services: FeedServices,
  context: RequestContext,
  { after, types }: FeedArguments,
): Promise<AsyncIterableIterator<FeedItem>> {
  const principal = assertAction(context.principal, 'event:read');
  const wanted = wantedTypes(principal, types ?? null);
  const { from, events } = await watchEvents(services, principal, {
    after: after ?? null,
    accepts: ({ type }) => wanted.has(type),
  });
  return beginningWith<FeedItem>({ from }, events);
}

/**
 * @throws ProblemError `validation_error` for what is not a type, `insufficient_permissions` for one that the scopes
 * may not read
 */
function wantedTypes({ scopes }: Principal, types: readonly string[] | null): ReadonlySet<EventType> {
  const readable: ReadonlySet<string> = new Set(readableEventTypes(scopes));
  if (types?.length === 0)
    throw new ProblemError('validation_error', 'types: must name at least one; leave it out for all', {
      code: 'too_small',
      param: '/types',
    });
  for (const type of types ?? []) {
    if (!isEventType(type))
      throw new ProblemError(
        'validation_error',
        `types: ${JSON.stringify(type.slice(0, 100))} is not one of ${EVENT_TYPES.join(', ')}`,
        { code: 'unknown_event_type', param: '/types' },
      );
    if (!readable.has(type)) {
      const scope = scopeOfEvent(type);
      throw new ProblemError('insufficient_permissions', `The key lacks the scope ${scope}, which ${type} needs.`, {
        code: 'missing_scope',
        param: 'header:Authorization',
        ...(scope !== null && { scope }),
      });
    }
  }
  return new Set((types ?? [...readable]) as readonly EventType[]);
}

function isEventType(type: string): type is EventType {
  return (EVENT_TYPES as readonly string[]).includes(type);
}

function present(item: FeedItem): Omit<ShownItem, 'trust'> {
  if ('from' in item) return { position: item.from, event: null };
  const { position, eventId, type, occurredAt, environment, subject, data } = item;
  return { position, event: { id: publicId('evt', eventId), type, timestamp: occurredAt, environment, subject, data } };
}
