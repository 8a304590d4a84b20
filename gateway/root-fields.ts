import { Kind, type DocumentNode, type FieldNode, type SelectionSetNode } from 'graphql';

/**
 * The fields that a selection leads to through its fragments, each as often as it is asked for, conditions aside.
 * @param document valid and within the limits: its fragments exist, and do not multiply beyond measure
 */
export function rootFields(document: DocumentNode, { selections }: SelectionSetNode): FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(document, selection.selectionSet);
    const fragment = document.definitions.find(
      (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION ? rootFields(document, fragment.selectionSet) : [];
  });
}
