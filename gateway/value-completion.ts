import { GraphQLError, type ExecutionResult } from 'graphql';
import { ProblemError } from '../schema/problems.ts';
import type { Logger } from '../platform/telemetry/logs.ts';

/**
 * Where a field that may not be null got no value (an entity that another subgraph does not know), Apollo's executor
 * leaves a null and a note in `extensions`, but no error. The GraphQL specification (§6.4.4) asks for one, and a
 * caller must be able to tell a hole from an answer.
 */
export function withCompletionErrors(result: ExecutionResult, requestId: string, logger: Logger): ExecutionResult {
  const holes = result.extensions?.['valueCompletion'];
  if (!Array.isArray(holes)) return result;
  const { valueCompletion: _holes, ...extensions } = result.extensions ?? {};
  const { extensions: _extensions, ...rest } = result;
  const known = (result.errors ?? []).flatMap(({ path }) => (path === undefined ? [] : [path]));
  const unexplained = (holes as GraphQLError[]).filter(({ path = [] }) => !known.some((other) => leadsTo(other, path) || leadsTo(path, other)));
  const errors = unexplained.map(({ message, path }) => {
    logger.error({ requestId, path: path?.join('.'), reason: message }, 'the subgraphs left a hole in an answer');
    const problem = new ProblemError('internal_error', 'An unexpected error occurred.');
    return new GraphQLError(problem.message, { ...(path === undefined ? {} : { path }), extensions: { ...problem.extensions } });
  });
  return { ...rest, errors: [...(result.errors ?? []), ...errors], ...(Object.keys(extensions).length === 0 ? {} : { extensions }) };
}

/** Whether one path is the other, or the beginning of it. A hole that an error stands in, above or below is its consequence. */
function leadsTo(one: readonly (string | number)[], other: readonly (string | number)[]): boolean {
  return one.every((part, index) => part === other[index]);
}
