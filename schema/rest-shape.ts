import {
  getNamedType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  Kind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLOutputType,
  type GraphQLSchema,
  type GraphQLObjectType,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { MAPS_IN_REST } from './contract/contract.ts';
import { figureShaper } from './shown-figures.ts';
import { snakeCase } from './snake-case.ts';

export { snakeCase };

/** A JSON object as it stands in a REST body: snake_case members, lower-case enum values. */
export type Json = Record<string, unknown>;

type Shaper = (value: unknown) => unknown;

/**
 * Turns GraphQL data into REST: snake_case members, lower-case enums, RFC 3339 timestamps, rounding at this edge only.
 * The document's selection and the schema's types say what each value is; the keys of JSON maps (channel names)
 * pass untouched. Shapers are compiled once per document.
 */
export class RestShape {
  readonly #schema: GraphQLSchema;
  readonly #shapers = new WeakMap<DocumentNode, Shaper>();

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  shape(document: DocumentNode, data: Readonly<Record<string, unknown>>): Json {
    let shaper = this.#shapers.get(document);
    if (shaper === undefined) {
      shaper = this.#compile(document);
      this.#shapers.set(document, shaper);
    }
    return shaper(data) as Json;
  }

  #compile(document: DocumentNode): Shaper {
    const operation = document.definitions.find(
      (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
    );
    const root = operation === undefined ? undefined : this.#schema.getRootType(operation.operation);
    if (operation === undefined || root === undefined || root === null)
      throw new Error('the document has no operation that the schema knows');
    const fragments = new Map(
      document.definitions
        .filter((definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION)
        .map((fragment) => [fragment.name.value, fragment]),
    );
    return this.#objectShaper(root, [operation.selectionSet], fragments);
  }

  #objectShaper(
    type: GraphQLObjectType,
    selections: readonly SelectionSetNode[],
    fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  ): Shaper {
    const members = new Map<
      string,
      { name: string; type: GraphQLOutputType; parent: string; field: string; selections: SelectionSetNode[] }
    >();
    const collect = (selection: SelectionSetNode, parent: GraphQLObjectType): void => {
      for (const node of selection.selections) {
        if (node.kind === Kind.FIELD) {
          const field = node.name.value;
          const definition = parent.getFields()[field];
          if (definition === undefined) continue;
          const key = node.alias?.value ?? field;
          const member = members.get(key) ?? {
            name: snakeCase(key),
            type: definition.type,
            parent: parent.name,
            field,
            selections: [],
          };
          if (node.selectionSet !== undefined) member.selections.push(node.selectionSet);
          members.set(key, member);
        } else {
          const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
          if (fragment === undefined) continue;
          const condition =
            fragment.typeCondition === undefined ? parent : this.#schema.getType(fragment.typeCondition.name.value);
          collect(fragment.selectionSet, condition as GraphQLObjectType);
        }
      }
    };
    for (const selection of selections) collect(selection, type);

    const shapers = [...members].map(([key, member]) => ({
      key,
      name: member.name,
      shape: this.#valueShaper(member.type, member.parent, member.field, member.selections, fragments),
    }));
    return (value) => {
      const source = value as Record<string, unknown>;
      const shaped: Json = {};
      for (const { key, name, shape } of shapers) {
        const member = source[key];
        // A member that an @include left out stays out.
        if (member !== undefined) shaped[name] = member === null ? null : shape(member);
      }
      return shaped;
    };
  }

  #valueShaper(
    type: GraphQLOutputType,
    parent: string,
    field: string,
    selections: SelectionSetNode[],
    fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  ): Shaper {
    if (isNonNullType(type))
      return this.#valueShaper(type.ofType as GraphQLOutputType, parent, field, selections, fragments);
    if (isListType(type)) {
      const item = this.#valueShaper(type.ofType as GraphQLOutputType, parent, field, selections, fragments);
      if (MAPS_IN_REST.has(`${parent}.${field}`)) return (value) => mapOf((value as readonly unknown[]).map(item));
      return (value) => (value as readonly unknown[]).map((element) => (element === null ? null : item(element)));
    }
    const named = getNamedType(type);
    if (isCompositeType(named)) return this.#objectShaper(named as GraphQLObjectType, selections, fragments);
    if (isEnumType(named)) return (value) => String(value).toLowerCase();
    return scalarShaper(named.name, parent, field);
  }
}

/** Entries of two members each, as a map from the first to the second. */
function mapOf(entries: readonly unknown[]): Json {
  return Object.fromEntries(entries.map((entry) => Object.values(entry as Json) as [string, unknown]));
}

function scalarShaper(scalar: string, parent: string, field: string): Shaper {
  const figure = figureShaper(scalar, `${parent}.${field}`);
  if (figure !== null) return figure;
  switch (scalar) {
    case 'DateTime':
      return (value) => new Date(value as string | Date).toISOString();
    case 'Date':
      return (value) => (value instanceof Date ? value.toISOString().slice(0, 10) : value);
    default:
      return (value) => value;
  }
}
