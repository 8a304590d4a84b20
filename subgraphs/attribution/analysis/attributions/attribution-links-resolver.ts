import { Ctx, Directive, Field, FieldResolver, ID, ObjectType, Resolver, Root } from 'type-graphql';
import type { RequestContext } from '../../../../schema/principal.ts';
import { UrlScalar } from '../../../../platform/graph/scalars.ts';
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
