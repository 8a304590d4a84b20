import DataLoader from 'dataloader';
import { Ctx, Field, FieldResolver, Int, ObjectType, Resolver, Root } from 'type-graphql';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { nextTier, type Tier, type TierTable } from '../../../services/identity/limits/tiers.ts';
import { perRequest } from '../../../platform/graph/request-context.ts';
import { homeOf } from '../../../services/identity/workspaces/workspace-store.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { AgentType, TierEnum } from '../registry/agent-type.ts';
import { ACTIVE_REFERRALS } from './settle-tier.ts';

@ObjectType('NextTier', { description: 'The tier above an agent’s.' })
export class NextTierType {
  @Field(() => TierEnum, { description: 'Its name.' })
  name!: Tier;

  @Field(() => Int, { description: 'How many more active referrals it takes.' })
  referralsNeeded!: number;
}

/** What an agent's own referrals come to. */
@Resolver(() => AgentType)
export class ReferralStandingResolver {
  readonly #tierTable: TierTable;
  /** Several fields of one request stand on one count. */
  readonly #active;

  constructor(database: Database, tierTable: TierTable) {
    this.#tierTable = tierTable;
    this.#active = perRequest((context) => {
      const home = homeOf(assertAction(context.principal, 'agent:readSelf'));
      return new DataLoader<Uuid, number | null>(async (ids) => {
        const rows = await database.askAs<{ id: Uuid; active: number }>(home, { name: 'agents.active_referrals', text: `select id, (${ACTIVE_REFERRALS}) as active from agents.agents agent where id = any($1::uuid[])`, values: [ids] });
        const byId = new Map(rows.map(({ id, active }) => [id, active]));
        return ids.map((id) => byId.get(id) ?? null);
      });
    });
  }

  @FieldResolver(() => Int, { nullable: true, description: 'Active referrals that the agent made itself: they decide its tier. Null for others.' })
  activeReferrals(@Root() agent: AgentType, @Ctx() context: RequestContext): Promise<number | null> {
    return this.#activeReferrals(agent, context);
  }

  @FieldResolver(() => NextTierType, { nullable: true, description: 'Null at the highest tier, and for others.' })
  async nextTier(@Root() agent: AgentType, @Ctx() context: RequestContext): Promise<NextTierType | null> {
    const active = await this.#activeReferrals(agent, context);
    return active === null ? null : nextTier(this.#tierTable, active);
  }

  /** One's own agent alone has a UUID to be seen. */
  async #activeReferrals({ agentUuid }: AgentType, context: RequestContext): Promise<number | null> {
    return agentUuid === null ? null : this.#active(context).load(agentUuid as Uuid);
  }
}
