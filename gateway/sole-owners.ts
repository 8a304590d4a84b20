import type { GraphQLDataSource } from '@apollo/gateway';
import type { FetchNode } from '@apollo/query-planner';
import type { DocumentNode, ExecutionResult } from 'graphql';
import type { RequestContext } from '../schema/principal.ts';
import type { Planner } from './planner.ts';

/** Answers a document without the gateway's executor. */
export type SoleOwner = (
  variables: Readonly<Record<string, unknown>>,
  context: RequestContext,
) => Promise<ExecutionResult>;

/**
 * Finds the subgraph that answers a document alone. Such a document needs nobody who joins answers: what the subgraph
 * says is the answer, and the executor would only take it apart and put it together again. Undefined where several
 * subgraphs have a part in it, or where it depends on the variables. Plans are kept for as long as their documents
 * live.
 */
export function soleOwners(
  planner: Planner,
  dataSources: Readonly<Record<string, GraphQLDataSource>>,
): (document: DocumentNode) => SoleOwner | undefined {
  const known = new WeakMap<DocumentNode, { readonly owner: SoleOwner | undefined }>();
  return (document) => {
    const kept = known.get(document);
    if (kept !== undefined) return kept.owner;
    const node = planner.plan(document);
    const owner = node?.kind === 'Fetch' && isWhole(node) ? ownerOf(node, dataSources[node.serviceName]!) : undefined;
    known.set(document, { owner });
    return owner;
  };
}

/** Whether the subgraph's answer is the caller's as it stands. */
function isWhole({ requires = [], inputRewrites = [], outputRewrites = [], contextRewrites = [] }: FetchNode): boolean {
  return [requires, inputRewrites, outputRewrites, contextRewrites].every(({ length }) => length === 0);
}

function ownerOf(fetch: FetchNode, dataSource: GraphQLDataSource): SoleOwner {
  const { operation: query, operationDocumentNode: document, operationName, variableUsages = [] } = fetch;
  return async (variables, context) => {
    const used = Object.fromEntries(
      variableUsages.filter((name) => name in variables).map((name) => [name, variables[name]]),
    );
    const request = { query, variables: used, ...(operationName === undefined ? {} : { operationName }) };
    const options = {
      kind: 'incoming operation',
      request,
      context,
      document,
      pathInIncomingRequest: [],
      incomingRequestContext: { request, context },
    };
    return (await dataSource.process(
      options as unknown as Parameters<GraphQLDataSource['process']>[0],
    )) as ExecutionResult;
  };
}
