import { Ctx, FieldResolver, Float, Resolver, Root } from 'type-graphql';
import { agentProfile } from '../../../schema/contract/agent-profile.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { homeOf } from '../../../services/identity/workspaces/workspace-store.ts';
import { descriptionOf } from '../../../platform/graph/contract-types.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { ofAgents, type ShownAgent } from './present-agent.ts';

/** How often an agent has called. */
@Resolver(() => ofAgents.Record)
export class CallTotalResolver {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  @FieldResolver(() => Float, { nullable: true, description: descriptionOf(agentProfile.shape.totalApiCalls) })
  async totalApiCalls(@Root() { agentUuid }: ShownAgent, @Ctx() context: RequestContext): Promise<number | null> {
    const home = homeOf(assertAction(context.principal, 'agent:readSelf'));
    // One's own agent alone has a UUID to be seen, and an account has one agent.
    if (agentUuid === null) return null;
    const [row] = await this.#database.askAs<{ calls: string }>(home, {
      name: 'auth.live_calls',
      text: 'select auth.live_calls() as calls',
      values: [],
    });
    return Number(row!.calls);
  }
}
