import type { Database, TenantScope } from '../../platform/postgres/database.ts';
import { RESYNC, type PubSub, type Resync } from '../../platform/postgres/pub-sub.ts';
import { accountTopic, eventsAfter, lastPosition, revivedEvent, type RecordedEvent } from './outbox.ts';
import { assertPlace, SequencedWatch } from './sequenced-watch.ts';

export interface FeedServices {
  readonly database: Database;
  readonly pubSub: PubSub;
}
/** The same, for who tells of a time as well. */
export type TimedFeedServices = FeedServices & { readonly clock: () => Date };

/** Where a feed begins, and what it shows. */
export interface FeedWishes {
  /** Position of the last event that was seen; 0 for all that are kept, null for those from now on. */
  readonly after: number | null;
  readonly accepts: (event: RecordedEvent) => boolean;
}

/** The events of an account and environment, in the order of their commits. */
export interface EventFeed {
  /** Where it begins: whoever comes back with this position has missed nothing. */
  readonly from: number;
  readonly events: SequencedWatch<RecordedEvent>;
}

const PAGE_SIZE = 500;

/**
 * The events of an account in an environment, each once, in the order of their commits, for as long as the watcher
 * stays; in a workspace those that happened there.
 * @throws ProblemError `validation_error` for a negative position, `service_unavailable`
 */
export async function watchEvents(
  { database, pubSub }: FeedServices,
  scope: TenantScope,
  { after, accepts }: FeedWishes,
): Promise<EventFeed> {
  assertPlace(after);
  const { accountId, environment, workspace } = scope;
  const isWithin = ({ workspaceId }: RecordedEvent): boolean => workspace === null || workspaceId === workspace.id;
  const told = pubSub.subscribe<RecordedEvent>(accountTopic(accountId, environment));
  try {
    const last = await lastPosition(database, scope);
    // Nobody has seen what is not there: were such a place believed, nothing would be told until it is reached.
    const from = Math.min(after ?? last, last);
    const read = (position: number): Promise<RecordedEvent[]> =>
      database.asTenant(scope, (em) => eventsAfter(em, environment, position, PAGE_SIZE));
    return {
      from,
      events: new SequencedWatch(
        {
          tenant: accountId,
          news: revived(told),
          placeOf: ({ position }) => position,
          read,
          pageSize: PAGE_SIZE,
          accepts: (event) => isWithin(event) && accepts(event),
        },
        from,
      ),
    };
  } catch (error) {
    await told.return?.();
    throw error;
  }
}

/** Messages are JSON, which has no dates. */
function revived(told: AsyncIterableIterator<RecordedEvent | Resync>): AsyncIterableIterator<RecordedEvent | Resync> {
  return {
    async next() {
      const { done, value } = await told.next();
      if (done === true) return { done, value: undefined };
      return { done: false, value: value === RESYNC ? value : revivedEvent(value) };
    },
    async return() {
      await told.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
