import { Ctx, Directive, Field, FieldResolver, ID, ObjectType, Resolver, Root } from 'type-graphql';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { CentsScalar } from '../../../platform/graph/scalars.ts';
import { requireUuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';

/** The agent as billing knows it: an id that the agents subgraph owns. */
@Directive('@key(fields: "id")')
@ObjectType('Agent')
export class CreditedAgentType {
  @Field(() => ID)
  id!: string;

  /** Null for every agent but one's own; there where a field requires it. */
  @Directive('@external')
  @Field(() => ID, { nullable: true })
  agentUuid?: string | null;
}

/** What billing adds to an agent. */
@Resolver(() => CreditedAgentType)
export class RecoveredRevenueResolver {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  @FieldResolver(() => CentsScalar, {
    nullable: true,
    description:
      'Recovered revenue of the completed live analyses that the agent served, each input digest once and without ' +
      'accounts on the plan self_hosted: to itself in every account, to others in theirs. It counts an analysis with ' +
      'its charge. Null only together with an error.',
  })
  async totalDeltaRCents(@Root() agent: CreditedAgentType, @Ctx() context: RequestContext): Promise<number> {
    const principal = assertAction(context.principal, 'agent:readSelf');
    const agentId = requireUuid('agent', agent.id, 'agent');
    const values = [agentId];
    const [row] =
      agentId === principal.agentId
        ? await this.#database.ask<{ total: string }>({
            name: 'billing.recovered',
            text: 'select billing.recovered($1) as total',
            values,
          })
        : await this.#database.askAs<{ total: string }>(principal, {
            name: 'billing.recovered_here',
            text: 'select billing.recovered_here($1) as total',
            values,
          });
    return Number(row!.total);
  }
}
