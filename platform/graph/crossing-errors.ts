import { GraphQLError, Kind, type ExecutionResult } from 'graphql';
import { ProblemError } from '../../schema/problems.ts';
import { withoutValue } from './bad-values.ts';
import type { Logger } from '../telemetry/logs.ts';

/** Where a result comes from, for the log. */
export interface ResultOrigin {
  readonly subgraph: string;
  readonly requestId: string;
  readonly logger: Logger;
}

/**
 * Readies what a subgraph answers to leave it: its errors become problems that survive every border, alike whether
 * the gateway is in this process or not. What was not meant for callers is logged here, where the stack is.
 */
export function withCrossingErrors(result: ExecutionResult, origin: ResultOrigin): ExecutionResult {
  return result.errors === undefined
    ? result
    : { ...result, errors: result.errors.map((error) => crossingError(error, origin)) };
}

/** The same for a single error, such as what a stream broke with. Anything may have been thrown. */
export function crossingError(thrown: unknown, origin: ResultOrigin): GraphQLError {
  const problem = problemIn(thrown) ?? maskedProblem(thrown, origin);
  const path = thrown instanceof GraphQLError ? thrown.path : undefined;
  return new GraphQLError(problem.message, {
    ...(path === undefined ? {} : { path }),
    extensions: { ...problem.extensions },
  });
}

/** The problem that an error is, or undefined for an error that callers must not see. */
export function problemIn(thrown: unknown): ProblemError | undefined {
  if (thrown instanceof ProblemError) return thrown;
  if (!(thrown instanceof GraphQLError)) return undefined;
  const problem = ProblemError.fromExtensions(thrown.message, thrown.extensions);
  return (
    problem ??
    (isBadValue(thrown)
      ? new ProblemError('validation_error', withoutValue(thrown.message), { code: 'invalid_value' })
      : undefined)
  );
}

/** A variable or argument whose value does not fit its type: graphql-js then points at the variable or the value. */
function isBadValue(error: GraphQLError): boolean {
  // A rule about the document may point there, too: a variable that nothing uses.
  if (error.extensions['code'] === 'GRAPHQL_VALIDATION_FAILED') return false;
  const kind = error.nodes?.length === 1 ? error.nodes[0]!.kind : undefined;
  if (kind === undefined) return false;
  return error.path === undefined
    ? kind === Kind.VARIABLE_DEFINITION
    : kind === Kind.VARIABLE || LITERAL_KINDS.has(kind);
}

/** Values that are written in a document. */
export const LITERAL_KINDS: ReadonlySet<string> = new Set([
  Kind.INT,
  Kind.FLOAT,
  Kind.STRING,
  Kind.BOOLEAN,
  Kind.NULL,
  Kind.ENUM,
  Kind.LIST,
  Kind.OBJECT,
]);

function maskedProblem(thrown: unknown, { subgraph, requestId, logger }: ResultOrigin): ProblemError {
  const cause = thrown instanceof GraphQLError ? (thrown.originalError ?? thrown) : thrown;
  const path = thrown instanceof GraphQLError ? thrown.path?.join('.') : undefined;
  logger.error(
    { err: cause instanceof Error ? cause : new Error(`thrown: ${String(cause)}`), requestId, subgraph, path },
    'a subgraph failed',
  );
  return new ProblemError('internal_error', 'An unexpected error occurred.');
}
