import { ClickHouseError } from '@clickhouse/client';
import { ProblemError } from '../../schema/problems.ts';
import { diskFullProblem, isDiskFull } from '../disk-full.ts';

/**
 * Engine error codes that mean "not now": memory (241), slots (202), network (209, 210),
 * shutting down (236), cancelled (394), table still loading or read-only (242), password of an earlier run (516).
 */
const OUTAGE_CODES: ReadonlySet<string> = new Set(['202', '209', '210', '236', '241', '242', '394', '516']);
const OUTAGE_SYSTEM_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENOTFOUND', 'EAI_AGAIN',
  'ERR_STREAM_PREMATURE_CLOSE',
]);
/** The client and Node give these no code. */
const OUTAGE_MESSAGES = /^(?:Timeout error|socket hang up|aborted|The operation was aborted|The user aborted a request|Premature close|Unable to connect)/i;
const RETRY_AFTER_S = 2;
/** Out of time: the statement was ended, in the engine or with it. */
const ENDED_CODES: ReadonlySet<string> = new Set(['159', '160']);
const STATEMENT_ENDED = 'statement_ended';

/**
 * What a caller may see of an engine error: an outage becomes a 503 with Retry-After, a statement that took too long one
 * with the code `statement_ended`; all else stays as it is.
 */
export function outageAsProblem(error: unknown): unknown {
  if (error instanceof ClickHouseError && ENDED_CODES.has(error.code)) return statementEnded(error);
  if (error instanceof ProblemError) return error;
  if (isDiskFull(error)) return diskFullProblem(error);
  if (!isOutage(error)) return error;
  return new ProblemError('service_unavailable', 'The columnar store cannot answer at the moment. Try again in a few seconds.', { retryAfterS: RETRY_AFTER_S, cause: error });
}

export function statementEnded(cause: unknown): ProblemError {
  return new ProblemError('service_unavailable', 'The columnar store needed too long for this and ended it. Try again later, or ask for less.', { code: STATEMENT_ENDED, retryAfterS: RETRY_AFTER_S, cause });
}

/**
 * Whether the same work may be tried again at once: after an outage, which passes, but not after its statement was ended.
 * That one may be stuck again, and each time the engine has to be started anew for everybody.
 */
export function isPassing(error: unknown): boolean {
  return error instanceof ProblemError && error.type === 'service_unavailable' && error.problem.code !== STATEMENT_ENDED;
}

/** An engine out of resources, or a connection that failed. */
export function isOutage(error: unknown): boolean {
  if (error instanceof ClickHouseError) return OUTAGE_CODES.has(error.code);
  for (let current = linkOf(error), depth = 0; current !== undefined && depth < 5; current = linkOf(current.errors?.[0] ?? current.cause), depth += 1) {
    if (OUTAGE_SYSTEM_CODES.has(String(current.code)) || OUTAGE_MESSAGES.test(String(current.message))) return true;
  }
  return false;
}

interface ErrorLink {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  /** A connection that fails on every address of a host comes as an AggregateError. */
  readonly errors?: readonly unknown[];
}

/** Read by shape: an error of Node's own may come from another realm. */
const linkOf = (error: unknown): ErrorLink | undefined => (typeof error === 'object' && error !== null ? error : undefined);
