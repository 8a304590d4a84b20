import { Arg, Field, Int, ObjectType, Resolver, Root, Subscription, type ClassType } from 'type-graphql';
import type { z } from 'zod';
import { rateLimits, tier } from '../../../schema/contract/agent-profile.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import type { Tier } from '../../../schema/value-lists.ts';
import { enumTypeOf, objectTypeOf } from '../../../platform/graph/contract-types.ts';
import type { EventData } from '../../../schema/event-catalogue.ts';
import { watchEvents, type FeedServices } from '../../../services/events/event-feed.ts';
import type { RecordedEvent } from '../../../services/events/outbox.ts';
import { beginningWith } from '../../../services/events/sequenced-watch.ts';

const TierEnum = enumTypeOf(tier);
const RateLimits = objectTypeOf(rateLimits);

@ObjectType('TierChange', { description: 'A change of the tier of the account’s agent.' })
export class TierChangeType {
  @Field(() => Int, { description: 'Rises with every change; pass the last one as `after` to resume.' })
  sequence!: number;
  @Field(() => TierEnum, {
    nullable: true,
    description: 'Null in the first item alone, which says where the stream begins; so are the others.',
  })
  previousTier!: Tier | null;
  @Field(() => TierEnum, { nullable: true, description: 'The tier from then on.' })
  tier!: Tier | null;
  @Field(() => Int, { nullable: true, description: 'The number of active referrals that made it so.' })
  activeReferrals!: number | null;
  @Field(() => RateLimits, { nullable: true, description: 'What the tier allows.' })
  rateLimits!: z.output<typeof rateLimits> | null;
}

/** Where the stream begins, or a change. */
type Item = { readonly from: number } | RecordedEvent;

/**
 * The class is made per subgraph, because type-graphql gives `subscribe` no resolver instance to find its services in.
 */
export function tierChangeResolver(services: FeedServices): ClassType {
  @Resolver(() => TierChangeType)
  class TierChangeResolver {
    @Subscription(() => TierChangeType, {
      description: 'The tier of the account’s agent, as it changes. Errors: VALIDATION_ERROR.',
      subscribe: ({ args, context }) =>
        watch(services, context as RequestContext, (args as { readonly after?: number | null }).after ?? null),
    })
    tierChanged(
      @Root() item: Item,
      @Arg('after', () => Int, {
        nullable: true,
        description: 'Sequence of the last change that was seen; 0 for all that are kept, from now on when absent.',
      })
      _after?: number | null,
    ): TierChangeType {
      return present(item);
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
    accepts: ({ type }) => type === 'agent.tier_changed',
  });
  return beginningWith<Item>({ from }, events);
}

function present(item: Item): TierChangeType {
  if ('from' in item)
    return { sequence: item.from, previousTier: null, tier: null, activeReferrals: null, rateLimits: null };
  const {
    previous_tier: previousTier,
    tier,
    active_referrals: activeReferrals,
    rate_limits: limits,
  } = item.data as EventData<'agent.tier_changed'>;
  return {
    sequence: item.position,
    previousTier: previousTier as Tier,
    tier: tier as Tier,
    activeReferrals,
    rateLimits: { requestsPerMinute: limits.requests_per_minute, dailyLimit: limits.daily_limit },
  };
}
