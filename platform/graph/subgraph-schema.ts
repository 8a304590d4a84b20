import 'reflect-metadata';
import { buildSubgraphSchema, type GraphQLSchemaModule } from '@apollo/subgraph';
import { printSchemaWithDirectives } from '@graphql-tools/utils';
import { parse, type GraphQLSchema } from 'graphql';
import { buildSchema, createResolversMap, type BuildSchemaOptions, type NonEmptyArray } from 'type-graphql';
import type { RequestContext } from '../../schema/principal.ts';
import { hearRootTrust } from './root-trust.ts';
import { roundFigures } from './round-figures.ts';
import { DateTimeScalar, UrlScalar } from './scalars.ts';

/** One owner's part of the graph. `sdl` is what composition reads, `schema` executes. */
export interface Subgraph {
  readonly name: string;
  readonly sdl: string;
  readonly schema: GraphQLSchema;
}

type ResolverMap = NonNullable<GraphQLSchemaModule['resolvers']>;

/** What another subgraph knows of an entity: the fields of its `@key`, and those that a field of ours `@requires`. */
export interface EntityReference {
  readonly __typename: string;
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Resolves an entity from its reference; null where there is none. */
export type ReferenceResolver = (reference: EntityReference, context: RequestContext) => unknown;

export interface SubgraphOptions {
  readonly name: string;
  /** Instances of resolver classes, made with the services they need; classes stand for instances without. */
  readonly resolvers: readonly object[];
  /** By GraphQL type name. An entity without one resolves to its reference, which suits types that only add fields. */
  readonly references?: Readonly<Record<string, ReferenceResolver>>;
  /** Types that no field of this subgraph leads to, such as entities that are reached from other subgraphs only. */
  readonly orphanedTypes?: readonly Function[];
  /** Beyond `Date` → DateTime, `URL` → URL. */
  readonly scalarsMap?: BuildSchemaOptions['scalarsMap'];
  /** Needed for subscriptions by topic; those with a `subscribe` function go without. */
  readonly pubSub?: NonNullable<BuildSchemaOptions['pubSub']>;
}

/** type-graphql wants one as soon as there is any subscription, even one that brings its own stream. */
const WITHOUT_TOPICS: NonNullable<BuildSchemaOptions['pubSub']> = {
  publish: () => failWithoutTopics(),
  subscribe: () => failWithoutTopics(),
};

function failWithoutTopics(): never {
  throw new Error('A subscription by topic needs a subgraph with a pubSub');
}

const FEDERATION_LINK = `extend schema @link(
  url: "https://specs.apollo.dev/federation/v2.9"
  import: ["@key", "@shareable", "@external", "@requires", "@provides", "@override", "@inaccessible", "@tag"]
)`;

/**
 * A federated subgraph from type-graphql classes. Directives come from `@Directive('@key(fields: "id")')` and the
 * like; type-graphql knows nothing of federation, so its schema is printed and built anew with Apollo's machinery.
 * @throws when the classes make no schema
 */
export async function buildSubgraph(options: SubgraphOptions): Promise<Subgraph> {
  const instances = new Map<unknown, unknown>(
    options.resolvers.map((resolver) =>
      isClass(resolver) ? [resolver, new resolver()] : [resolver.constructor, resolver],
    ),
  );
  const classes = await buildSchema({
    resolvers: [...instances.keys()] as unknown as NonEmptyArray<Function>,
    container: { get: (type) => instances.get(type) },
    orphanedTypes: [...(options.orphanedTypes ?? [])] as NonNullable<BuildSchemaOptions['orphanedTypes']>,
    scalarsMap: [
      { type: Date, scalar: DateTimeScalar },
      { type: URL, scalar: UrlScalar },
      ...(options.scalarsMap ?? []),
    ],
    // The federation directives are unknown until Apollo's machinery adds them, and a subgraph may have no query.
    skipCheck: true,
    validate: false,
    pubSub: options.pubSub ?? WITHOUT_TOPICS,
  });
  const sdl = `${FEDERATION_LINK}\n\n${printSchemaWithDirectives(classes)}\n`;
  const resolvers: Record<string, object> = createResolversMap(classes);
  for (const [type, resolve] of Object.entries(options.references ?? {})) {
    if (resolvers[type] === undefined)
      throw new Error(`Subgraph ${options.name} has a reference resolver for ${type}, but no such type`);
    resolvers[type] = { ...resolvers[type], __resolveReference: extensible(resolve) };
  }
  // Given as a list: the form for a single module leaves the resolvers out.
  const schema = buildSubgraphSchema([{ typeDefs: parse(sdl), resolvers: resolvers as ResolverMap }]);
  roundFigures(schema);
  hearRootTrust(schema);
  return { name: options.name, sdl, schema };
}

function isClass(resolver: object): resolver is new () => object {
  return typeof resolver === 'function';
}

/** Apollo writes `__typename` onto what a reference resolves to, which a frozen object refuses. */
function extensible(resolve: ReferenceResolver): ReferenceResolver {
  return async (reference, context) => {
    const entity: unknown = await resolve(reference, context);
    if (typeof entity !== 'object' || entity === null || Object.isExtensible(entity)) return entity;
    return Object.create(Object.getPrototypeOf(entity) as object | null, Object.getOwnPropertyDescriptors(entity));
  };
}
