import {
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type DocumentNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

type Path = readonly (string | number)[];

/**
 * Where the answer of a subgraph would have stood: its root fields, or below `_entities` (Apollo Federation, subgraph
 * specification) each field of each entity.
 * @param document one operation of the query planner, without named fragments
 */
export function askedPaths(document: DocumentNode, variables: Readonly<Record<string, unknown>>): Path[] {
  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION)!;
  const { representations } = variables;
  return fieldsOf(operation.selectionSet, undefined, variables).flatMap(({ name, selectionSet }): Path[] => {
    if (name !== '_entities' || selectionSet === undefined || !Array.isArray(representations)) return [[name]];
    return (representations as readonly { readonly __typename: string }[]).flatMap(({ __typename: type }, index) =>
      fieldsOf(selectionSet, type, variables).map((field) => [name, index, field.name]),
    );
  });
}

interface AskedField {
  /** In the answer. */
  readonly name: string;
  readonly selectionSet: SelectionSetNode | undefined;
}

function fieldsOf(
  { selections }: SelectionSetNode,
  type: string | undefined,
  variables: Readonly<Record<string, unknown>>,
): AskedField[] {
  return selections
    .filter((selection) => isIncluded(selection, variables))
    .flatMap((selection): AskedField[] => {
      if (selection.kind === Kind.FIELD)
        return selection.name.value === '__typename'
          ? []
          : [{ name: (selection.alias ?? selection.name).value, selectionSet: selection.selectionSet }];
      if (selection.kind !== Kind.INLINE_FRAGMENT) return [];
      const condition = selection.typeCondition?.name.value;
      return type === undefined || condition === undefined || condition === type
        ? fieldsOf(selection.selectionSet, type, variables)
        : [];
    });
}

function isIncluded(selection: SelectionNode, variables: Readonly<Record<string, unknown>>): boolean {
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false
  );
}
