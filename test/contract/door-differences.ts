import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
  isScalarType,
  Kind,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLType,
} from 'graphql';
import { snakeCase } from '../../schema/snake-case.ts';
import type { NamedDocument } from '../../gateway/named-documents.ts';

/* What one door has and the other has not, found in what is printed of both: the graph, and OpenAPI. */

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}
type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;
interface Reference {
  readonly $ref?: string;
}
export interface OperationObject {
  readonly operationId: string;
  readonly parameters: readonly (Reference & { name: string; in: string; schema: JsonSchema })[];
  readonly requestBody?: Reference & { readonly content: Content };
  readonly responses: Readonly<Record<string, Reference & { readonly content?: Content }>>;
}
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
}

export interface Doors {
  readonly graph: GraphQLSchema;
  readonly documents: ReadonlyMap<string, NamedDocument>;
  readonly openApi: OpenApi;
  /** What REST calls members of the graph otherwise, `Type.member` → its names there. */
  readonly renamed: Readonly<Record<string, readonly string[]>>;
  /** Members of the graph whose members stand in REST beside them, `Type.member`. */
  readonly flat: readonly string[];
}

/** Members of pages and payloads, in which the doors differ by design. */
const ENVELOPE: ReadonlySet<string> = new Set(['edges', 'pageInfo', 'totalCount', 'total_count', 'meta']);
/** Arguments and parameters of pages. */
const PAGING: ReadonlySet<string> = new Set('first after last before offset page per_page limit'.split(' '));
/** What can be the value of an enum in the graph; types of events and scopes cannot. */
const GRAPH_NAME = /^[a-z_]\w*$/i;
/** Which formats of REST are which scalars of the graph. */
const FORMATS: Readonly<Record<string, string>> = { 'date-time': 'DateTime', date: 'Date', uri: 'URL' };
const SCALARS_WITH_FORMAT: ReadonlySet<string> = new Set(Object.values(FORMATS));

/** One operation of REST, with the document that it says. */
export interface Pair {
  readonly operationId: string;
  readonly document: string;
}

/**
 * The differences between the doors over these operations, `Type.member: what`, each once: members of answers that one
 * door lacks, parameters and members of requests likewise, and members that are of another kind. `one door` means: in
 * no answer of REST that shows the whole of the type.
 */
export function differences(doors: Doors, pairs: readonly Pair[]): string[] {
  const comparison = new Comparison(doors);
  for (const pair of pairs) comparison.operation(pair);
  return comparison.found();
}

class Comparison {
  readonly #doors: Doors;
  readonly #found = new Set<string>();
  readonly #seen = new Map<GraphQLObjectType, Set<JsonSchema>>();
  readonly #operations: ReadonlyMap<string, OperationObject>;

  constructor(doors: Doors) {
    this.#doors = doors;
    const all = Object.values(doors.openApi.paths).flatMap((item) => Object.values(item));
    this.#operations = new Map(all.map((operation) => [operation.operationId, operation]));
  }

  found(): string[] {
    return [...this.#found].toSorted();
  }

  operation({ operationId, document }: Pair): void {
    const operation = this.#operations.get(operationId)!;
    const field = this.#rootField(document);
    this.#request(operationId, operation, field);
    const success = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
    for (const [, response] of success) {
      const schema = this.#at(response).content?.['application/json']?.schema;
      // A file may be JSON, too: its rows stand in no envelope.
      if (schema !== undefined && schema.type !== 'array')
        this.#answer(getNamedType(field.type) as GraphQLObjectType, schema);
    }
  }

  #rootField(name: string): GraphQLField<unknown, unknown> {
    const { document, kind } = this.#doors.documents.get(name)!;
    const [root] = document.definitions.flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? definition.selectionSet.selections : [],
    ) as readonly FieldNode[];
    const type = this.#doors.graph.getRootType(kind as Parameters<GraphQLSchema['getRootType']>[0])!;
    return type.getFields()[root!.name.value]!;
  }

  /** A page, the payload of a mutation, or a record. */
  #answer(type: GraphQLObjectType, schema: JsonSchema): void {
    const properties = this.#propertiesOf(schema);
    const { edges } = type.getFields();
    if (edges !== undefined) {
      const node = (getNamedType(edges.type) as GraphQLObjectType).getFields()['node']!;
      const [list] = Object.entries(properties).find(([, member]) => this.#itemsOf(member) !== undefined)!;
      // The envelope of a page is for all that is in it.
      this.#compare(getNamedType(node.type) as GraphQLObjectType, this.#itemsOf(properties[list]!)!, 'trust');
      this.#members(type, properties, new Set([...ENVELOPE, list]));
    } else if (type.name.endsWith('Payload')) this.#payload(type, properties);
    else this.#compare(type, schema);
  }

  /** In REST the members of the one record in a payload stand beside the others, and need not be all of them. */
  #payload(type: GraphQLObjectType, properties: Readonly<Record<string, JsonSchema>>): void {
    const wrapped = Object.values(type.getFields()).find(
      ({ name, type: member }) =>
        name !== 'trust' &&
        isObjectType(getNullableType(member)) &&
        !this.#namesOf(type, name).some((rest) => rest in properties),
    );
    const record = wrapped === undefined ? type : (getNullableType(wrapped.type) as GraphQLObjectType);
    const own = Object.keys(type.getFields()).filter((name) => name !== wrapped?.name);
    for (const name of own) this.#member(type, name, properties);
    const known = new Set(own.flatMap((name) => this.#namesOf(type, name)));
    for (const name of Object.keys(record.getFields())) {
      const shown = this.#namesOf(record, name).filter((rest) => rest in properties && !known.has(rest));
      if (shown.length > 0) this.#member(record, name, properties);
      for (const rest of shown) known.add(rest);
    }
    for (const name of Object.keys(properties))
      if (!known.has(name)) this.#found.add(`${record.name}.${name}: only in REST`);
  }

  #compare(type: GraphQLObjectType, schema: JsonSchema, ...meant: readonly string[]): void {
    const resolved = this.#resolved(schema);
    const seen = this.#seen.get(type) ?? new Set();
    if (seen.has(resolved)) return;
    this.#seen.set(type, seen.add(resolved));
    this.#members(type, this.#propertiesOf(resolved), new Set(meant));
  }

  #members(
    type: GraphQLObjectType,
    properties: Readonly<Record<string, JsonSchema>>,
    meant: ReadonlySet<string>,
  ): void {
    const names = Object.keys(type.getFields()).filter((name) => !meant.has(name));
    const known = new Set<string>();
    for (const name of names) {
      const beside = this.#flat(type, name, properties);
      if (beside === undefined) this.#member(type, name, properties);
      for (const rest of beside ?? this.#namesOf(type, name)) known.add(rest);
    }
    for (const name of Object.keys(properties))
      if (!known.has(name) && !meant.has(name) && !ENVELOPE.has(name))
        this.#found.add(`${type.name}.${name}: only in REST`);
  }

  /** REST's names of the members of a member that stand beside it there; undefined where it is no such member. */
  #flat(
    type: GraphQLObjectType,
    name: string,
    properties: Readonly<Record<string, JsonSchema>>,
  ): readonly string[] | undefined {
    if (!this.#doors.flat.includes(`${type.name}.${name}`)) return undefined;
    const inner = getNamedType(type.getFields()[name]!.type) as GraphQLObjectType;
    const names = Object.keys(inner.getFields());
    const shown = names.flatMap((each) => this.#namesOf(inner, each)).filter((rest) => rest in properties);
    // A list shows the record without it.
    if (shown.length > 0) for (const each of names) this.#member(inner, each, properties);
    return shown;
  }

  #member(type: GraphQLObjectType, name: string, properties: Readonly<Record<string, JsonSchema>>): void {
    const place = `${type.name}.${name}`;
    const rest = this.#namesOf(type, name).find((each) => each in properties);
    if (rest === undefined) this.#found.add(`${place}: only in the graph`);
    else this.#value(place, type.getFields()[name]!.type, properties[rest]!);
  }

  #value(place: string, type: GraphQLType, schema: JsonSchema): void {
    const nullable = getNullableType(type);
    const resolved = this.#resolved(schema);
    if (isListType(nullable)) {
      const items = this.#itemsOf(resolved);
      if (items === undefined) this.#found.add(`${place}: a list in the graph alone`);
      else this.#value(place, nullable.ofType, items);
      return;
    }
    if (this.#itemsOf(resolved) !== undefined) this.#found.add(`${place}: a list in REST alone`);
    else if (isObjectType(nullable)) this.#compare(nullable, resolved);
    else this.#leaf(place, nullable, resolved);
  }

  #leaf(place: string, type: GraphQLType, schema: JsonSchema): void {
    const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
    const isClosed =
      values !== undefined && values.every((value) => typeof value === 'string' && GRAPH_NAME.test(value));
    if (isEnumType(type)) {
      const own = type.getValues().map(({ name }) => name.toLowerCase());
      if (!isClosed) this.#found.add(`${place}: an enum in the graph alone`);
      else if (
        own.toSorted().join() !==
        values
          .map((value) => String(value).toLowerCase())
          .toSorted()
          .join()
      )
        this.#found.add(`${place}: other values than in REST`);
      return;
    }
    if (isClosed) this.#found.add(`${place}: an enum in REST alone`);
    if (!isScalarType(type)) return;
    const scalar = FORMATS[schema.format ?? ''];
    if (scalar !== type.name && (scalar !== undefined || SCALARS_WITH_FORMAT.has(type.name)))
      this.#found.add(`${place}: ${type.name}, in REST ${schema.format ?? String(schema.type)}`);
    if (place.endsWith('Cents') !== (type.name === 'Cents')) this.#found.add(`${place}: ${type.name}`);
  }

  #request(operationId: string, operation: OperationObject, field: GraphQLField<unknown, unknown>): void {
    const parameters = operation.parameters.map((each) => this.#at(each));
    const named = new Map(
      parameters.filter(({ in: place }) => place !== 'header').map(({ name, schema }) => [name, schema]),
    );
    const body = operation.requestBody && this.#at(operation.requestBody).content['application/json'];
    const given = { ...Object.fromEntries(named), ...(body && this.#propertiesOf(body.schema)) };
    const inputs = field.args.flatMap((argument): (GraphQLArgument | GraphQLInputField)[] => {
      const type = getNamedType(argument.type);
      return isInputObjectType(type) ? Object.values(type.getFields()) : [argument];
    });
    const place = (name: string) => `${operationId}(${name})`;
    // A path says `id` or `webhook_id`: what it names are the required ids of the graph that are called otherwise.
    const inPath = parameters.filter(({ in: where }) => where === 'path').map(({ name }) => name);
    const ids = inputs.filter(({ name, type }) => String(type) === 'ID!' && !(snakeCase(name) in given));
    const names = new Set(inputs.map(({ name }) => snakeCase(name)));
    const pathIds = inPath.filter((name) => !names.has(name));
    const paired = ids.slice(0, pathIds.length).map(({ name }) => name);
    const known = new Set<string>(pathIds.slice(0, paired.length));
    for (const { name } of inputs.filter((input) => !PAGING.has(input.name) && !paired.includes(input.name))) {
      const rest = this.#namesOf({ name: operationId }, name).find((each) => each in given);
      if (rest === undefined) this.#found.add(`${place(name)}: only in the graph`);
      else known.add(rest);
    }
    for (const name of Object.keys(given))
      if (!known.has(name) && !PAGING.has(name)) this.#found.add(`${place(name)}: only in REST`);
  }

  #namesOf(type: { readonly name: string }, name: string): readonly string[] {
    return this.#doors.renamed[`${type.name}.${name}`] ?? [snakeCase(name)];
  }

  #itemsOf(schema: JsonSchema): JsonSchema | undefined {
    const { prefixItems, items } = this.#resolved(schema);
    return prefixItems?.[0] ?? items;
  }

  #propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
    const { properties, allOf = [], oneOf = [], anyOf = [] } = this.#resolved(schema);
    const parts = [...allOf, ...oneOf, ...anyOf].map((part) => this.#propertiesOf(part));
    return Object.assign({}, ...parts, properties) as Record<string, JsonSchema>;
  }

  /** What stands behind references, and beside null. */
  #resolved(schema: JsonSchema): JsonSchema {
    const target = this.#at(schema);
    const choices = (target.anyOf ?? target.oneOf ?? []).filter(({ type }) => type !== 'null');
    return choices.length === 1 ? this.#resolved(choices[0]!) : target;
  }

  #at<Value extends Reference>(value: Value): Value {
    if (value.$ref === undefined) return value;
    const steps = value.$ref.slice('#/'.length).split('/');
    return this.#at(steps.reduce((part, step) => part[step]!, this.#doors.openApi as never as Tree) as never as Value);
  }
}
interface Tree {
  readonly [name: string]: Tree;
}
