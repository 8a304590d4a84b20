import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ProblemError, type ProblemType } from '../schema/problems.ts';
import { withoutValue } from '../platform/graph/bad-values.ts';
import { problemIn } from '../platform/graph/crossing-errors.ts';
import type { Logger } from '../platform/telemetry/logs.ts';

/** Codes of Apollo Server for operations that cannot be run as they are (GraphQL over HTTP, "request error"). */
const UNRUNNABLE: Readonly<Record<string, string>> = {
  GRAPHQL_PARSE_FAILED: 'syntax',
  GRAPHQL_VALIDATION_FAILED: 'invalid_document',
  OPERATION_RESOLUTION_FAILURE: 'unknown_operation',
  PERSISTED_QUERY_NOT_SUPPORTED: 'persisted_queries_off',
  BAD_REQUEST: 'invalid_request',
};

const TYPE_OF_STATUS: Readonly<Record<number, ProblemType>> = {
  405: 'method_not_allowed',
  406: 'not_acceptable',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
};

/**
 * The problem behind anything that went wrong in the gateway. What is no problem and no fault of the request is
 * logged with its stack and masked.
 */
export function problemBehind(thrown: unknown, requestId: string, logger: Logger): ProblemError {
  const known = problemIn(thrown) ?? unrunnable(thrown);
  if (known !== undefined) return known;
  const cause = thrown instanceof GraphQLError ? (thrown.originalError ?? thrown) : thrown;
  logger.error(
    { err: cause instanceof Error ? cause : new Error(`thrown: ${String(cause)}`), requestId },
    'a GraphQL operation failed',
  );
  return new ProblemError('internal_error', 'An unexpected error occurred.');
}

/** A document that does not parse or validate, outside Apollo Server's own pipeline. */
export function invalidDocument(error: GraphQLError): ProblemError {
  return new ProblemError('invalid_request', withoutValue(error.message), { code: 'invalid_document' });
}

function unrunnable(thrown: unknown): ProblemError | undefined {
  if (!(thrown instanceof GraphQLError)) return undefined;
  const { code, http } = thrown.extensions as { code?: unknown; http?: { status?: number } };
  if (code === 'BAD_USER_INPUT')
    return new ProblemError('validation_error', withoutValue(thrown.message), { code: 'invalid_value' });
  const reason = typeof code === 'string' ? UNRUNNABLE[code] : undefined;
  // A rule of graphql-js that throws instead of reporting: a condition on the root field of a subscription.
  if (
    code === undefined &&
    thrown.path === undefined &&
    thrown.originalError === undefined &&
    thrown.nodes !== undefined
  )
    return invalidDocument(thrown);
  return reason === undefined
    ? undefined
    : new ProblemError(TYPE_OF_STATUS[http?.status ?? 0] ?? 'invalid_request', withoutValue(thrown.message), {
        code: reason,
      });
}

/** What REST has in the path is a member of the input here. */
function inInput(param: string): string {
  return param.replace(/^path:/, '/');
}

/** Shows problems the way the graph's callers see them. */
export class PublicErrors {
  readonly #docsRoot: string;
  readonly #logger: Logger;

  /** @param docsRoot address below which `/docs/errors/<type>` explains each type */
  constructor(docsRoot: string, logger: Logger) {
    this.#docsRoot = docsRoot;
    this.#logger = logger;
  }

  /**
   * `extensions` holds the contract's members, and beside them `reason`, `errors`, `data_quality` and `retry_after`
   * where there are any.
   */
  present(thrown: unknown, requestId: string): GraphQLFormattedError {
    const { message, problem } = problemBehind(thrown, requestId, this.#logger).renaming(inInput);
    const { path, locations } = thrown instanceof GraphQLError ? thrown : {};
    return {
      message,
      ...(locations === undefined ? {} : { locations }),
      ...(path === undefined ? {} : { path }),
      extensions: {
        code: problem.type.toUpperCase(),
        type: problem.type,
        http_status: problem.status,
        request_id: requestId,
        doc_url: `${this.#docsRoot}/docs/errors/${problem.type}`,
        ...(problem.param === undefined ? {} : { param: problem.param }),
        ...(problem.code === undefined ? {} : { reason: problem.code }),
        ...(problem.errors === undefined ? {} : { errors: problem.errors }),
        ...(problem.dataQuality === undefined ? {} : { data_quality: problem.dataQuality }),
        ...(problem.retryAfterS === undefined ? {} : { retry_after: problem.retryAfterS }),
      },
    };
  }
}
