import { Arg, Ctx, Int, Resolver, Root, Subscription, type ClassType } from 'type-graphql';
import { commissionEarned, LEDGER_EVENTS } from '../../../schema/contract/commission-earned.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { EventData } from '../../../schema/event-catalogue.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { objectTypeOf, type GraphRecord } from '../../../platform/graph/contract-types.ts';
import { uuidFromPublicId } from '../../../platform/identifiers.ts';
import { watchEvents, type FeedServices, type TimedFeedServices } from '../../../services/events/event-feed.ts';
import type { RecordedEvent } from '../../../services/events/outbox.ts';
import { beginningWith } from '../../../services/events/sequenced-watch.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import { presentCommission } from './commission-resolver.ts';
import { CommissionStore } from './commission-store.ts';

const CommissionEarnedType = objectTypeOf(commissionEarned, 'Trust envelope of the item.');
type CommissionEarned = GraphRecord<typeof commissionEarned>;

/** Where the stream begins, or an entry. */
type Item = { readonly from: number } | RecordedEvent;
type LedgerEvent = (typeof LEDGER_EVENTS)[number];

const isLedgerEvent = (type: string): type is LedgerEvent => (LEDGER_EVENTS as readonly string[]).includes(type);

/**
 * The class is made per subgraph, because type-graphql gives `subscribe` no resolver instance to find its services in.
 */
export function commissionEarnedResolver(services: TimedFeedServices): ClassType {
  @Resolver(() => CommissionEarnedType)
  class CommissionEarnedResolver {
    @Subscription(() => CommissionEarnedType, {
      description:
        'The commission ledger of the account’s agent, as it grows; the first item says where the stream begins. ' +
        'Errors: VALIDATION_ERROR, INSUFFICIENT_PERMISSIONS.',
      subscribe: ({ args, context }) =>
        watch(services, context as RequestContext, (args as { readonly after?: number | null }).after ?? null),
    })
    async commissionEarned(
      @Root() item: Item,
      @Ctx() context: RequestContext,
      @Arg('after', () => Int, {
        nullable: true,
        description: 'Sequence of the last entry that was seen; 0 for all that are kept, from now on when absent.',
      })
      _after?: number | null,
    ): Promise<CommissionEarned> {
      const trust = recordEnvelope(1, services.clock(), context.apiVersion);
      const common = { channelImpact: null, trust };
      if ('from' in item)
        return { ...common, sequence: item.from, kind: 'PROGRESS', progress: 0, stage: 'watching', result: null };
      return {
        ...common,
        sequence: item.position,
        kind: 'RESULT',
        progress: 1,
        stage: item.type as LedgerEvent,
        result: await entryOf(services, item),
      };
    }
  }
  return CommissionEarnedResolver;
}

async function watch(
  services: FeedServices,
  context: RequestContext,
  after: number | null,
): Promise<AsyncIterableIterator<Item>> {
  const principal = assertAction(context.principal, 'referral:read');
  const { from, events } = await watchEvents(services, principal, {
    after,
    accepts: ({ type }) => isLedgerEvent(type),
  });
  return beginningWith<Item>({ from }, events);
}

async function entryOf(
  { database }: FeedServices,
  { data, accountId, environment }: RecordedEvent,
): Promise<CommissionEarned['result']> {
  const { commission } = data as EventData<LedgerEvent>;
  const id = uuidFromPublicId('com', commission.id);
  const entry = await database.asTenant({ accountId, environment, workspace: null }, async (em) =>
    id === undefined ? null : new CommissionStore(em, environment).find(id),
  );
  return entry === null ? null : presentCommission(entry);
}
