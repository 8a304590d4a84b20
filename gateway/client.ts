import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { RequestContext } from '../platform/auth/principal.ts';

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
  execute(name: string, variables: Readonly<Record<string, unknown>>, context: RequestContext): Promise<Record<string, unknown>>;
  /**
   * Runs a subscription; each item is the data of one event. `return()` takes effect at once, also while `next()` waits.
   * The iterator throws a ProblemError where the source refuses, breaks, or an event fails.
   */
  subscribe(name: string, variables: Readonly<Record<string, unknown>>, context: RequestContext): AsyncIterableIterator<Record<string, unknown>>;
}
