import { Arg, Ctx, Int, Resolver, Root, Subscription, type ClassType } from 'type-graphql';
import { TIER_CHANGED, tierChange } from '../../../schema/contract/tier-change.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { EventData } from '../../../schema/event-catalogue.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import type { Tier } from '../../../schema/value-lists.ts';
import { objectTypeOf, type GraphRecord } from '../../../platform/graph/contract-types.ts';
import { watchEvents, type FeedServices, type TimedFeedServices } from '../../../services/events/event-feed.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import type { RecordedEvent } from '../../../services/events/outbox.ts';
import { beginningWith } from '../../../services/events/sequenced-watch.ts';
import type { AgentResolver } from '../registry/agent-resolver.ts';

const TierChangeType = objectTypeOf(tierChange, 'Trust envelope of the item.');
type TierChange = GraphRecord<typeof tierChange>;

/** Where the stream begins, or a change. */
type Item = { readonly from: number } | RecordedEvent;

/**
 * The class is made per subgraph, because type-graphql gives `subscribe` no resolver instance to find its services in.
 */
export function tierChangeResolver(services: TimedFeedServices, agents: AgentResolver): ClassType {
  @Resolver(() => TierChangeType)
  class TierChangeResolver {
    @Subscription(() => TierChangeType, {
      description:
        'The tier of the account’s agent, as it changes; the first item says where the stream begins. Errors: ' +
        'VALIDATION_ERROR.',
      subscribe: ({ args, context }) =>
        watch(services, context as RequestContext, (args as { readonly after?: number | null }).after ?? null),
    })
    async tierChanged(
      @Root() item: Item,
      @Ctx() context: RequestContext,
      @Arg('after', () => Int, {
        nullable: true,
        description: 'Sequence of the last change that was seen; 0 for all that are kept, from now on when absent.',
      })
      _after?: number | null,
    ): Promise<TierChange> {
      const trust = recordEnvelope(1, services.clock(), context.apiVersion);
      if ('from' in item) return { ...beginningAt(item.from), trust };
      const data = item.data as EventData<typeof TIER_CHANGED>;
      return { ...presentChange(item.position, data, await agents.agent(context, data.agent_id)), trust };
    }
  }
  return TierChangeResolver;
}

async function watch(
  services: FeedServices,
  context: RequestContext,
  after: number | null,
): Promise<AsyncIterableIterator<Item>> {
  const principal = assertAction(context.principal, 'event:read');
  const { from, events } = await watchEvents(services, principal, {
    after,
    accepts: ({ type }) => type === TIER_CHANGED,
  });
  return beginningWith<Item>({ from }, events);
}

function beginningAt(sequence: number): Omit<TierChange, 'trust'> {
  return {
    sequence,
    kind: 'PROGRESS',
    progress: 0,
    stage: 'watching',
    previousTier: null,
    tier: null,
    activeReferrals: null,
    rateLimits: null,
    channelImpact: null,
    result: null,
  };
}

function presentChange(
  sequence: number,
  data: EventData<typeof TIER_CHANGED>,
  result: TierChange['result'],
): Omit<TierChange, 'trust'> {
  return {
    sequence,
    kind: 'RESULT',
    progress: 1,
    stage: TIER_CHANGED,
    previousTier: data.previous_tier as Tier,
    tier: data.tier as Tier,
    activeReferrals: data.active_referrals,
    rateLimits: { requestsPerMinute: data.rate_limits.requests_per_minute, dailyLimit: data.rate_limits.daily_limit },
    channelImpact: null,
    result,
  };
}
