import { fileURLToPath } from 'node:url';
import type { ApolloServer } from '@apollo/server';
import type { DocumentNode, ExecutionResult, FormattedExecutionResult, GraphQLSchema } from 'graphql';
import { ProblemError } from '../schema/problems.ts';
import type { RequestContext } from '../schema/principal.ts';
import { freshContext } from '../platform/graph/request-context.ts';
import { EventStream } from './event-stream.ts';
import { loadNamedDocuments, type NamedDocument } from './named-documents.ts';
import type { soleOwners } from './sole-owners.ts';
import type { Subscriptions } from './subscriptions.ts';

/**
 * What the other doors say to the graph: named documents, executed in this process. Authorisation is the
 * resolvers' part, so every call brings the context of the request that it serves.
 */
export interface GraphClient {
  /** Names of the documents in `schema/operations`. */
  readonly operations: readonly string[];
  readonly apiSchema: GraphQLSchema;
  /** The document with all its fragments. @throws when there is none of this name */
  document(name: string): DocumentNode;
  /**
   * Runs a query or mutation and returns its data, camelCase as the graph has it.
   * @throws ProblemError for the first error of the answer, `internal_error` where the error is no problem of ours
   */
  execute(
    name: string,
    variables: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): Promise<Record<string, unknown>>;
  /**
   * Runs a subscription; each item is the data of one event. `return()` takes effect at once, also while `next()`
   * waits. The iterator throws a ProblemError where the source refuses, breaks, or an event fails.
   */
  subscribe(
    name: string,
    variables: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): AsyncIterableIterator<Record<string, unknown>>;
}

export interface GraphClientOptions {
  readonly server: ApolloServer<RequestContext>;
  readonly subscriptions: Subscriptions;
  /** The subgraph that answers a document alone. */
  readonly ownerOf: ReturnType<typeof soleOwners>;
  readonly apiSchema: GraphQLSchema;
  readonly documentsFolder: string | undefined;
}

const DOCUMENTS_FOLDER = fileURLToPath(new URL('../schema/operations', import.meta.url));

/** @throws NamedDocumentsError when a document does not fit the graph */
export function graphClient({
  server,
  subscriptions,
  ownerOf,
  apiSchema,
  documentsFolder = DOCUMENTS_FOLDER,
}: GraphClientOptions): GraphClient {
  const documents = loadNamedDocuments(documentsFolder, apiSchema);
  const named = (name: string): NamedDocument => {
    const document = documents.get(name);
    if (document === undefined) throw new Error(`there is no document ${name}`);
    return document;
  };
  return {
    operations: [...documents.keys()],
    apiSchema,
    document: (name) => named(name).document,
    async execute(name, variables, context) {
      const { document, text } = named(name);
      const owner = ownerOf(document);
      if (owner !== undefined) return dataOf(await owner(variables, freshContext(context)));
      // Text, not the document: Apollo's caches of documents and plans are keyed by it.
      const { body } = await server.executeOperation(
        { query: text, variables: { ...variables } },
        { contextValue: freshContext(context) },
      );
      if (body.kind !== 'single') throw new Error('the graph has no incremental delivery');
      return dataOf(body.singleResult);
    },
    subscribe(name, variables, context) {
      const { document } = named(name);
      return new EventStream(
        deferred(subscriptions.subscribe({ document, operationName: name, variables, context })),
        dataOf,
        (reason) => {
          throw reason;
        },
      );
    },
  };
}

/** @throws ProblemError for the first error */
function dataOf({
  data,
  errors,
}: Pick<ExecutionResult | FormattedExecutionResult, 'data' | 'errors'>): Record<string, unknown> {
  const [error] = errors ?? [];
  if (error !== undefined)
    throw (
      ProblemError.fromExtensions(error.message, error.extensions) ??
      new ProblemError('internal_error', 'An unexpected error occurred.')
    );
  return data ?? {};
}

/** The stream is being opened already; a refusal is its one event. */
function deferred(opening: ReturnType<Subscriptions['subscribe']>): AsyncIterator<ExecutionResult> {
  let refusalTaken = false;
  return {
    async next() {
      const stream = await opening;
      if (stream instanceof EventStream) return stream.next();
      if (refusalTaken) return { done: true, value: undefined };
      refusalTaken = true;
      return { done: false, value: stream };
    },
    async return() {
      const stream = await opening;
      return stream instanceof EventStream ? stream.return() : { done: true, value: undefined };
    },
  };
}
