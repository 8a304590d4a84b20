import DataLoader from 'dataloader';
import { Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import type { z } from 'zod';
import { agentProfile, nextTier as tierAbove } from '../../../schema/contract/agent-profile.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { nextTier, type TierTable } from '../../../services/identity/limits/tiers.ts';
import { descriptionOf, objectTypeOf } from '../../../platform/graph/contract-types.ts';
import { perRequest } from '../../../platform/graph/request-context.ts';
import { homeOf } from '../../../services/identity/workspaces/workspace-store.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { ofAgents, type ShownAgent } from '../registry/present-agent.ts';
import { ACTIVE_REFERRALS } from './settle-tier.ts';

const { shape } = agentProfile;
const NextTier = objectTypeOf(tierAbove);

/** What an agent's own referrals come to. */
@Resolver(() => ofAgents.Record)
export class ReferralStandingResolver {
  readonly #tierTable: TierTable;
  /** Several fields of one request stand on one count. */
  readonly #active;

  constructor(database: Database, tierTable: TierTable) {
    this.#tierTable = tierTable;
    this.#active = perRequest((context) => {
      const home = homeOf(assertAction(context.principal, 'agent:readSelf'));
      return new DataLoader<Uuid, number | null>(async (ids) => {
        const rows = await database.askAs<{ id: Uuid; active: number }>(home, {
          name: 'agents.active_referrals',
          text: `select id, (${ACTIVE_REFERRALS}) as active from agents.agents agent where id = any($1::uuid[])`,
          values: [ids],
        });
        const byId = new Map(rows.map(({ id, active }) => [id, active]));
        return ids.map((id) => byId.get(id) ?? null);
      });
    });
  }

  @FieldResolver(() => Int, { nullable: true, description: descriptionOf(shape.activeReferrals) })
  activeReferrals(@Root() agent: ShownAgent, @Ctx() context: RequestContext): Promise<number | null> {
    return this.#activeReferrals(agent, context);
  }

  @FieldResolver(() => NextTier, { nullable: true, description: descriptionOf(shape.nextTier) })
  async nextTier(
    @Root() agent: ShownAgent,
    @Ctx() context: RequestContext,
  ): Promise<z.output<typeof tierAbove> | null> {
    const active = await this.#activeReferrals(agent, context);
    return active === null ? null : nextTier(this.#tierTable, active);
  }

  /** One's own agent alone has a UUID to be seen. */
  async #activeReferrals({ agentUuid }: ShownAgent, context: RequestContext): Promise<number | null> {
    return agentUuid === null ? null : this.#active(context).load(agentUuid as Uuid);
  }
}
