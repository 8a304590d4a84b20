import { Arg, Ctx, ID, Int, Resolver, Root, Subscription, type ClassType } from 'type-graphql';
import { CHANGE_TYPES } from '../../../../schema/contract/attribution-progress.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import { assertAction } from '../../../../schema/actions.ts';
import type { RequestContext } from '../../../../schema/principal.ts';
import { watchEvents, type FeedServices, type TimedFeedServices } from '../../../../services/events/event-feed.ts';
import type { RecordedEvent } from '../../../../services/events/outbox.ts';
import { beginningWith } from '../../../../services/events/sequenced-watch.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import { publicId, requireUuid } from '../../../../platform/identifiers.ts';
import { DataSourceStore } from '../../intake/data-sources/data-source-store.ts';
import type { AttributionResolver } from './attribution-resolver.ts';
import { AttributionChangeType, type AttributionChange } from './attribution-types.ts';
import { beginningAt, presentChange } from './present-change.ts';

interface WatchArguments {
  readonly dataSourceId: string;
  readonly after?: number | null;
}

/** Where the stream begins, or what has changed. */
type Change = { readonly from: number } | RecordedEvent;

/**
 * The class is made per subgraph, because type-graphql gives `subscribe` no resolver instance to find its services in.
 */
export function attributionChangeResolver(services: TimedFeedServices, attributions: AttributionResolver): ClassType {
  @Resolver(() => AttributionChangeType)
  class AttributionChangeResolver {
    @Subscription(() => AttributionChangeType, {
      description:
        'Analyses of a source, alone or among others, that are completed, updated, or fail; the first item says ' +
        'where the stream begins. Errors: RESOURCE_NOT_FOUND, VALIDATION_ERROR.',
      subscribe: ({ args, context }) => watch(services, context as RequestContext, args as WatchArguments),
    })
    async attributionChanged(
      @Root() change: Change,
      @Ctx() context: RequestContext,
      @Arg('dataSourceId', () => ID, { description: 'Public id of the source.' }) _dataSourceId: string,
      @Arg('after', () => Int, {
        nullable: true,
        description: 'Sequence of the last change that was seen; 0 for all that are kept, from now on when absent.',
      })
      _after?: number | null,
    ): Promise<AttributionChange> {
      const trust = recordEnvelope(1, services.clock(), context.apiVersion);
      if ('from' in change) return beginningAt(change.from, trust);
      const result = await unlessGone(() => attributions.attribution(context, String(change.data['id'])));
      return presentChange(change, result, trust);
    }
  }
  return AttributionChangeResolver;
}

async function watch(
  services: FeedServices,
  context: RequestContext,
  { dataSourceId, after }: WatchArguments,
): Promise<AsyncIterableIterator<Change>> {
  const principal = assertAction(context.principal, 'attribution:read');
  const uuid = requireUuid('ds', dataSourceId, 'data source');
  const { id } = await services.database.asTenant(principal, (em) => new DataSourceStore(em).require(uuid));
  const source = publicId('ds', id);
  const isOfSource = ({ type, data }: RecordedEvent): boolean =>
    (CHANGE_TYPES as readonly string[]).includes(type) &&
    (data['data_source_id'] === source ||
      (data['data_source_ids'] as readonly unknown[] | undefined)?.includes(source) === true);
  const { from, events } = await watchEvents(services, principal, { after: after ?? null, accepts: isOfSource });
  return beginningWith<Change>({ from }, events);
}

async function unlessGone<Found>(read: () => Promise<Found>): Promise<Found | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ProblemError && error.type === 'resource_not_found') return null;
    throw error;
  }
}
