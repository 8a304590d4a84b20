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
  const errors = (holes as GraphQLError[]).map(({ message, path }) => {
    logger.error({ requestId, path: path?.join('.'), reason: message }, 'the subgraphs left a hole in an answer');
    const problem = new ProblemError('internal_error', 'An unexpected error occurred.');
    return new GraphQLError(problem.message, {
      ...(path === undefined ? {} : { path }),
      extensions: { ...problem.extensions },
    });
  });
  return {
    ...rest,
    errors: [...(result.errors ?? []), ...errors],
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
  };
}
