import { Ctx, Directive, Field, FieldResolver, ID, ObjectType, Resolver, Root } from 'type-graphql';
import { assertAction } from '../../../../schema/actions.ts';
import type { RequestContext } from '../../../../schema/principal.ts';
import { CentsScalar, UrlScalar } from '../../../../platform/graph/scalars.ts';
import { requireUuid } from '../../../../platform/identifiers.ts';
import type { Database } from '../../../../platform/postgres/database.ts';
import { DataSourceType } from '../../intake/data-sources/data-source-type.ts';
import { attributionTypes, type AttributionRecord } from './attribution-types.ts';

/** The agent as this subgraph knows it: an id that the agents subgraph owns. */
@Directive('@key(fields: "id")')
@ObjectType('Agent')
export class ServedAgentType {
  @Field(() => ID)
  id!: string;
}

/** What leads from an analysis to entities of other owners. */
@Resolver(() => attributionTypes.Record)
export class AttributionLinksResolver {
  readonly #findSource: (reference: { readonly id: string }, context: RequestContext) => Promise<DataSourceType | null>;

  /** Ends in `/v1`. */
  readonly #publicBaseUrl: string;

  constructor(
    findSource: (reference: { readonly id: string }, context: RequestContext) => Promise<DataSourceType | null>,
    publicBaseUrl: string,
  ) {
    this.#findSource = findSource;
    this.#publicBaseUrl = publicBaseUrl;
  }

  @FieldResolver(() => ServedAgentType, { nullable: true, description: 'The agent that served the source.' })
  agent(@Root() attribution: AttributionRecord): ServedAgentType | null {
    return attribution.agentId === null ? null : { id: attribution.agentId };
  }

  @FieldResolver(() => DataSourceType, {
    nullable: true,
    description: 'The source that was analysed; null after it was deleted.',
  })
  dataSource(@Root() attribution: AttributionRecord, @Ctx() context: RequestContext): Promise<DataSourceType | null> {
    return this.#findSource({ id: attribution.dataSourceId }, context);
  }

  @FieldResolver(() => UrlScalar, {
    nullable: true,
    description:
      'Where the report for people is downloaded, an HTML page, with the same credential; null until there are ' +
      'figures.',
  })
  reportUrl(@Root() { id, currency }: AttributionRecord): string | null {
    // Figures and their currency come together.
    return currency === null ? null : `${this.#publicBaseUrl}/attribution/${id}/report`;
  }
}

/** What the attribution subgraph adds to an agent. */
@Resolver(() => ServedAgentType)
export class ServedAgentResolver {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  @FieldResolver(() => CentsScalar, {
    nullable: true,
    description:
      'Recovered revenue of all completed live analyses that the agent served: to itself in every account, to others ' +
      'in theirs. Null only together with an error.',
  })
  async totalDeltaRCents(@Root() agent: ServedAgentType, @Ctx() context: RequestContext): Promise<number> {
    const principal = assertAction(context.principal, 'agent:readSelf');
    const agentId = requireUuid('agent', agent.id, 'agent');
    const values = [agentId];
    const [row] =
      agentId === principal.agentId
        ? await this.#database.ask<{ total: string }>({
            name: 'attribution.recovered_by',
            text: 'select attribution.recovered_by($1) as total',
            values,
          })
        : await this.#database.askAs<{ total: string }>(
            { ...principal, environment: 'live' },
            {
              name: 'attribution.recovered_here_by',
              text:
                `select least(coalesce(sum((result ->> 'deltaRCents')::numeric), 0), ${Number.MAX_SAFE_INTEGER}) ` +
                `as total from attribution.attributions where agent_id = $1 and status = 'completed'`,
              values,
            },
          );
    return Number(row!.total);
  }
}
