import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  GraphQLError,
  Kind,
  parse,
  print,
  Source,
  validate,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';

/** A named operation with the fragments that it needs, and nothing else. */
export interface NamedDocument {
  readonly name: string;
  readonly kind: OperationDefinitionNode['operation'];
  readonly document: DocumentNode;
  /** One text per operation: the caches of documents and plans are keyed by it. */
  readonly text: string;
}

/** The named documents do not fit the graph. The message has one line per mistake, with file, line and column. */
export class NamedDocumentsError extends Error {
  override readonly name = 'NamedDocumentsError';
  readonly code = 'named_documents_invalid';
}

/**
 * Reads every `*.graphql` file of a folder. A fragment may stand in another file than the operation that spreads it.
 * @throws NamedDocumentsError naming file and field, when the graph cannot answer a document
 */
export function loadNamedDocuments(folder: string, apiSchema: GraphQLSchema): ReadonlyMap<string, NamedDocument> {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.graphql'))
    .toSorted()) {
    for (const definition of parsed(new Source(readFileSync(join(folder, file), 'utf8'), file)).definitions) {
      if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
      else if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    }
  }
  const documents = operations.map((operation) => namedDocument(operation, fragments));
  const mistakes = new Set(documents.flatMap(({ document }) => validate(apiSchema, document).map(described)));
  if (mistakes.size > 0) throw new NamedDocumentsError([...mistakes].join('\n'));
  return new Map(documents.map((document) => [document.name, document]));
}

function parsed(source: Source): DocumentNode {
  try {
    return parse(source);
  } catch (error) {
    throw error instanceof GraphQLError ? new NamedDocumentsError(described(error)) : error;
  }
}

function namedDocument(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): NamedDocument {
  const needed = new Map<string, FragmentDefinitionNode>();
  const collect = (node: OperationDefinitionNode | FragmentDefinitionNode): void => {
    visit(node, {
      FragmentSpread: ({ name: { value: name } }) => {
        const fragment = fragments.get(name);
        if (fragment === undefined || needed.has(name)) return;
        needed.set(name, fragment);
        collect(fragment);
      },
    });
  };
  collect(operation);
  const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...needed.values()] };
  return { name: operation.name?.value ?? '', kind: operation.operation, document, text: print(document) };
}

function described(error: GraphQLError): string {
  const place = error.locations?.[0];
  const file = error.source?.name ?? error.nodes?.[0]?.loc?.source.name ?? 'unknown file';
  return `${file}${place === undefined ? '' : `:${place.line}:${place.column}`} ${error.message}`;
}
