import { Arg, Ctx, ID, Int, Resolver, Root, Subscription, type ClassType } from 'type-graphql';
import { assertAction } from '../../../../schema/actions.ts';
import type { RequestContext } from '../../../../schema/principal.ts';
import { requireUuid } from '../../../../platform/identifiers.ts';
import type { AttributionResolver } from './attribution-resolver.ts';
import { AttributionStore } from './attribution-store.ts';
import { AttributionProgressType, type AttributionProgress } from './attribution-types.ts';
import { presentProgress } from './present-progress.ts';
import { endOfProgress, watchProgress, type SequencedEvent } from './progress.ts';
import type { RunAttributionServices } from './run-attribution.ts';

interface WatchArguments {
  readonly id: string;
  readonly after?: number | null;
}

const NOTHING_FOLLOWS: AsyncIterable<SequencedEvent> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/**
 * The class is made per subgraph, because type-graphql gives `subscribe` no resolver instance to find its services in.
 */
export function attributionProgressResolver(
  services: Pick<RunAttributionServices, 'database' | 'pubSub'>,
  attributions: AttributionResolver,
): ClassType {
  @Resolver(() => AttributionProgressType)
  class AttributionProgressResolver {
    @Subscription(() => AttributionProgressType, {
      description:
        'Everything that happens to an analysis, from behind `after` on; ends with RESULT or ERROR. Errors: ' +
        'RESOURCE_NOT_FOUND.',
      subscribe: ({ args, context }) => watch(services, context as RequestContext, args as WatchArguments),
    })
    async attributionProgress(
      @Root() sequenced: SequencedEvent,
      @Ctx() context: RequestContext,
      @Arg('id', () => ID, { description: 'Public id of the analysis.' }) id: string,
      @Arg('after', () => Int, { nullable: true, description: 'Sequence of the last event that was seen; 0 for all.' })
      _after?: number | null,
    ): Promise<AttributionProgress> {
      const result = sequenced.event.kind === 'RESULT' ? await attributions.attribution(context, id) : null;
      return presentProgress(sequenced, result);
    }
  }
  return AttributionProgressResolver;
}

async function watch(
  services: Pick<RunAttributionServices, 'database' | 'pubSub'>,
  context: RequestContext,
  { id, after }: WatchArguments,
): Promise<AsyncIterable<SequencedEvent>> {
  const principal = assertAction(context.principal, 'attribution:read');
  const uuid = requireUuid('attr', id, 'attribution');
  const seen = after ?? 0;
  const { isOver, last } = await services.database.asTenant(principal, async (em) => {
    const attribution = await new AttributionStore(em).require(uuid);
    const end = await endOfProgress(em, uuid, seen);
    return { isOver: attribution.isFinished() && !end.holdsMore, last: end.last };
  });
  // A place that nothing has reached yet would hide the end, and the watcher would wait for ever.
  return isOver
    ? NOTHING_FOLLOWS
    : watchProgress(services.database, services.pubSub, principal, uuid, Math.min(seen, last));
}
