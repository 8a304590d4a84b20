import { readFileSync } from 'node:fs';
import { Supergraph } from '@apollo/federation-internals';
import { Kind, type DocumentNode, type GraphQLSchema } from 'graphql';
import { z } from 'zod';
import { loadNamedDocuments, type NamedDocument } from '../../gateway/named-documents.ts';
import type { IdPrefix } from '../../schema/id-prefixes.ts';
import { isUuid, newUuid, publicId } from '../../platform/identifiers.ts';
import { CONTRACT, pathsOf } from '../../rest-adapter/contract.ts';
import type { Json, Operation } from '../../rest-adapter/operation.ts';
import { encodeVariables } from '../../rest-adapter/variables.ts';

/** Requests made from the examples of the contract, with other ids in place of theirs. */

export type Part = 'path' | 'query' | 'body';
/** Where an id stands in a request: `body/data_source_id`. */
export type Place = `${Part}/${string}`;
export interface ExampleRequest {
  readonly path: Json;
  readonly query: Json;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}
/** Kinds of ids: by prefix, and the webhooks, whose ids are bare UUIDs. */
export type IdKind = IdPrefix | 'webhook';
/** Gives the id for a place that takes one of a kind. */
export type ChooseId = (kind: IdKind, place: Place) => string;

const PUBLIC_ID = /^([a-z]+)_[0-9A-Za-z]{22}$/;
/** Which kind of id a member takes, by its name, where the example leaves it out. */
const KIND_OF_MEMBER: Readonly<Record<string, IdPrefix>> = {
  data_source_id: 'ds',
  agent_id: 'agent',
  analysis_id: 'attr',
  workspace_id: 'ws',
  actor_id: 'agent',
};
/**
 * Members that are called like ids and are none of an object: positions, clients of OAuth, brands in the caller's own
 * words.
 */
const NAMES_NOTHING_OF_OURS: ReadonlySet<string> = new Set(['last_event_id', 'client_id', 'brand_id']);
/** Members that example requests do without, since what they ask for depends on who asks. */
const WITHOUT: Readonly<Record<string, readonly string[]>> = { createKey: ['scopes'] };

export const unknownId = (kind: IdKind): string => (kind === 'webhook' ? newUuid() : publicId(kind, newUuid()));

/** The example of an operation, every id chosen anew; `optional` also fills a member that the example leaves out. */
export function exampleRequest({ id, example }: Operation, choose: ChooseId, optional?: Place): ExampleRequest {
  const chosen = (value: unknown, place: Place): unknown => {
    if (typeof value === 'string') {
      const kind = isUuid(value) ? 'webhook' : PUBLIC_ID.exec(value)?.[1];
      return kind === undefined ? value : choose(kind as IdKind, place);
    }
    if (Array.isArray(value)) return value.map((item, index) => chosen(item, `${place}/${index}`));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, chosen(member, `${place}/${name}`)]),
    );
  };
  const part = (name: Part): unknown => {
    const given = chosen(example[name] ?? (name === 'body' ? undefined : {}), name as Place);
    const added = optional?.startsWith(`${name}/`) === true ? optional.slice(name.length + 1) : undefined;
    const whole =
      added === undefined ? given : { ...(given as Json | undefined), [added]: choose(kindOfMember(added), optional!) };
    return WITHOUT[id] === undefined || name !== 'body'
      ? whole
      : Object.fromEntries(Object.entries(whole as Json).filter(([member]) => !WITHOUT[id]!.includes(member)));
  };
  return {
    path: part('path') as Json,
    query: part('query') as Json,
    headers: example.headers ?? {},
    body: part('body'),
  };
}

/** Every place of an operation that takes an id: those of its example, and optional members named like ids. */
export function idPlaces(operation: Operation): readonly { readonly place: Place; readonly optional: boolean }[] {
  const places: Place[] = [];
  exampleRequest(operation, (prefix, place) => (places.push(place), unknownId(prefix)));
  const optional = (['query', 'body'] as const).flatMap((part) => {
    const schema =
      part === 'query' ? operation.querySchema : operation.kind === 'upload' ? undefined : operation.bodySchema;
    return schema === undefined
      ? []
      : membersOf(schema)
          .filter((name) => name.endsWith('_id') && !NAMES_NOTHING_OF_OURS.has(name))
          .map((name): Place => `${part}/${name}`);
  });
  return [
    ...places.map((place) => ({ place, optional: false })),
    ...optional.filter((place) => !places.includes(place)).map((place) => ({ place, optional: true })),
  ];
}

function kindOfMember(name: string): IdPrefix {
  const kind = KIND_OF_MEMBER[name];
  if (kind === undefined)
    throw new Error(
      `what kind of id ${name} takes is unknown: say it in KIND_OF_MEMBER of test/contract/example-requests.ts`,
    );
  return kind;
}

function membersOf(schema: z.ZodType): string[] {
  const {
    properties = {},
    anyOf = [],
    oneOf = [],
  } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as {
    properties?: object;
    anyOf?: { properties?: object }[];
    oneOf?: { properties?: object }[];
  };
  return [...new Set([properties, ...[...anyOf, ...oneOf].map((each) => each.properties ?? {})].flatMap(Object.keys))];
}

/** Path and query of a request below `/v1`. */
export function addressOf(pattern: string, { path, query }: ExampleRequest): string {
  const search = new URLSearchParams(query as Record<string, string>);
  // Variant paths may name a variable otherwise.
  const values = Object.values(path);
  const filled = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(path[name] ?? values[0])),
  );
  return search.size === 0 ? filled : `${filled}?${search}`;
}

export interface OperationPath {
  readonly operation: Operation;
  readonly pattern: string;
  readonly name: string;
}

/** Every path of the contract, variants included. */
export const OPERATION_PATHS: readonly OperationPath[] = CONTRACT.flatMap((operation) =>
  pathsOf(operation).map((pattern) => ({ operation, pattern, name: `${operation.method} ${pattern}` })),
);

export const API_SCHEMA: GraphQLSchema = Supergraph.build(
  readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8'),
)
  .apiSchema()
  .toGraphQLJSSchema();

const DOCUMENTS = loadNamedDocuments(new URL('../../schema/operations', import.meta.url).pathname, API_SCHEMA);

/** One operation that can be said to the graph, and the root field that it asks. */
export interface Saying {
  readonly field: string;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly text: string;
  readonly operation: Operation | null;
  readonly places: readonly { readonly place: Place; readonly optional: boolean }[];
  variables(choose: ChooseId, optional?: Place): Record<string, unknown>;
}

/** Root fields that no row of the contract asks, with what they take. */
const KIND_OF_FIELD: Readonly<Record<string, IdPrefix>> = {
  dataSource: 'ds',
  dataSourceStatus: 'ds',
  attributionChanged: 'ds',
  workspace: 'ws',
  attribution: 'attr',
  experiment: 'exp',
  agent: 'agent',
  addRecords: 'ds',
  inspectRecords: 'ds',
};
const FURTHER_INPUT: Readonly<Record<string, Json>> = {
  addRecords: { records: [{ user_id: 'x' }] },
  inspectRecords: { records: [{ user_id: 'x' }] },
};

/**
 * A saying for every root field of the graph: the documents of the contract with its examples, and bare fields where no
 * row asks.
 */
export function sayings(): readonly Saying[] {
  const ofRows = CONTRACT.flatMap((operation): Saying[] => {
    const document =
      operation.document === null || operation.kind === 'download' ? undefined : DOCUMENTS.get(operation.document);
    return document === undefined ? [] : [ofRow(operation, document)];
  });
  const said = new Set(ofRows.map(({ field }) => field));
  const roots = [
    ['query', API_SCHEMA.getQueryType()],
    ['mutation', API_SCHEMA.getMutationType()],
    ['subscription', API_SCHEMA.getSubscriptionType()],
  ] as const;
  const bare = roots.flatMap(([kind, type]) =>
    Object.values(type?.getFields() ?? {})
      .filter(({ name }) => !said.has(name))
      .map(({ name, args }) =>
        ofField(
          kind,
          name,
          args.map((argument) => argument.name),
        ),
      ),
  );
  return [...ofRows, ...bare];
}

function ofRow(operation: Operation, { document, text, kind }: NamedDocument): Saying {
  return {
    field: rootFieldOf(document),
    kind: kind as Saying['kind'],
    text,
    operation,
    places: idPlaces(operation),
    variables(choose, optional) {
      const { path, query, headers, body } = exampleRequest(operation, choose, optional);
      const parsed = {
        path: (operation.pathSchema?.parse(path) ?? {}) as Json,
        query: (operation.querySchema?.parse(query) ?? {}) as Json,
        headers: (operation.headerSchema?.parse(headers) ?? {}) as Json,
        body: operation.bodySchema?.parse(body),
      };
      return encodeVariables(API_SCHEMA, document, operation.variables(parsed));
    },
  };
}

function rootFieldOf(document: DocumentNode): string {
  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION)!;
  const [field] = operation.selectionSet.selections;
  if (field?.kind !== Kind.FIELD || operation.selectionSet.selections.length !== 1)
    throw new Error(`${operation.name?.value} asks more than one root field`);
  return field.name.value;
}

function ofField(kind: Saying['kind'], field: string, argumentNames: readonly string[]): Saying {
  const prefix = KIND_OF_FIELD[field];
  const idName = argumentNames.find((name) => name === 'id' || name.endsWith('Id'));
  const takesId = idName !== undefined || argumentNames.includes('input');
  if (takesId && prefix === undefined)
    throw new Error(
      `no row of the contract asks for ${field}; if that is meant, say in KIND_OF_FIELD of ` +
        `test/contract/example-requests.ts what kind of id it takes`,
    );
  const place: Place = idName === undefined ? 'body/dataSourceId' : 'path/id';
  const [declared, given] = !takesId
    ? ['', '']
    : idName !== undefined
      ? ['($id: ID!)', `(${idName}: $id)`]
      : [`($input: ${field[0]!.toUpperCase()}${field.slice(1)}Input!)`, '(input: $input)'];
  return {
    field,
    kind,
    text: `${kind} ${declared} { ${field}${given} { __typename } }`,
    operation: null,
    places: takesId ? [{ place, optional: false }] : [],
    variables(choose) {
      if (!takesId) return {};
      const id = choose(prefix!, place);
      return place === 'path/id' ? { id } : { input: { dataSourceId: id, ...FURTHER_INPUT[field] } };
    },
  };
}
