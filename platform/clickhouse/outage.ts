import { ClickHouseError } from '@clickhouse/client';
import { ProblemError } from '../../schema/problems.ts';
import { diskFullProblem, isDiskFull } from '../disk-full.ts';

/**
 * Engine error codes that mean "not now": slots (202), network (209, 210), shutting down (236), cancelled (394), table
 * still loading or read-only (242), password of an earlier run (516).
 */
const OUTAGE_CODES: ReadonlySet<string> = new Set(['202', '209', '210', '236', '242', '394', '516']);
/** Refused for memory: of the statement itself, as these words of new and old engines say, or of all together. */
const MEMORY_CODE = '241';
const OWN_MEMORY = /query memory limit exceeded|memory limit \(for query\) exceeded/i;
const OUTAGE_SYSTEM_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_STREAM_PREMATURE_CLOSE',
]);
/** The client and Node give these no code: how their messages begin. */
const OUTAGE_BEGINNINGS = [
  'Timeout error',
  'socket hang up',
  'aborted',
  'The operation was aborted',
  'The user aborted a request',
  'Premature close',
  'Unable to connect',
];
const OUTAGE_MESSAGES = new RegExp(`^(?:${OUTAGE_BEGINNINGS.join('|')})`, 'i');
const RETRY_AFTER_S = 2;
/** `max_result_bytes`. */
const RESULT_TOO_LARGE_CODE = '396';
/** Out of time: the statement was ended, in the engine or with it. */
const ENDED_CODES: ReadonlySet<string> = new Set(['159', '160']);
const STATEMENT_ENDED = 'statement_ended';
const STATEMENT_TOO_LARGE = 'statement_too_large';
const MEMORY_SHORT = 'memory_short';

/** The result of a statement is larger than its caller takes. */
export class ResultTooLargeError extends Error {
  override readonly name = 'ResultTooLargeError';
}

/**
 * What a caller may see of an engine error: an outage becomes a 503 with Retry-After, a statement that took too long
 * one with the code `statement_ended`, one that needs more memory than it may have `statement_too_large`, one for which
 * all others left too little `memory_short`; all else stays as it is.
 */
export function outageAsProblem(error: unknown): unknown {
  if (error instanceof ClickHouseError && ENDED_CODES.has(error.code)) return statementEnded(error);
  if (error instanceof ClickHouseError && error.code === MEMORY_CODE) return memoryRefused(error);
  if (error instanceof ClickHouseError && error.code === RESULT_TOO_LARGE_CODE)
    return new ResultTooLargeError(error.message, { cause: error });
  if (error instanceof ProblemError) return error;
  if (isDiskFull(error)) return diskFullProblem(error);
  if (!isOutage(error)) return error;
  return new ProblemError(
    'service_unavailable',
    'The columnar store cannot answer at the moment. Try again in a few seconds.',
    { retryAfterS: RETRY_AFTER_S, cause: error },
  );
}

export function statementEnded(cause: unknown): ProblemError {
  return new ProblemError(
    'service_unavailable',
    'The columnar store needed too long for this and ended it. Try again later, or ask for less.',
    { code: STATEMENT_ENDED, retryAfterS: RETRY_AFTER_S, cause },
  );
}

function memoryRefused(cause: ClickHouseError): ProblemError {
  const [detail, code] = OWN_MEMORY.test(cause.message)
    ? ['The columnar store needs more memory for this than one question may take. Ask for less.', STATEMENT_TOO_LARGE]
    : [
        'The columnar store has too little memory left for this at the moment. Try again later, or ask for less.',
        MEMORY_SHORT,
      ];
  return new ProblemError('service_unavailable', detail, { code, retryAfterS: RETRY_AFTER_S, cause });
}

const isUnavailable = (error: unknown): error is ProblemError =>
  error instanceof ProblemError && error.type === 'service_unavailable';

/**
 * Why a statement must not be sent again as it is, null where it may be: it took too long, may be stuck again, and each
 * time the engine has to be started anew for everybody; or it needs more memory than it will ever get.
 */
export function refusedForGood(error: unknown): typeof STATEMENT_ENDED | typeof STATEMENT_TOO_LARGE | null {
  const code = isUnavailable(error) ? error.problem.code : undefined;
  return code === STATEMENT_ENDED || code === STATEMENT_TOO_LARGE ? code : null;
}

/** Whether the same work may be tried again at once: after an outage, which passes. */
export const isPassing = (error: unknown): boolean => isUnavailable(error) && refusedForGood(error) === null;

/** Whether an outage is one of memory: it passes when others have done, unless whoever asks is what takes it. */
export const isMemoryShort = (error: unknown): boolean => isUnavailable(error) && error.problem.code === MEMORY_SHORT;

/** An engine that is away or has no place left, or a connection that failed. */
export function isOutage(error: unknown): boolean {
  if (error instanceof ClickHouseError) return OUTAGE_CODES.has(error.code);
  for (
    let current = linkOf(error), depth = 0;
    current !== undefined && depth < 5;
    current = linkOf(current.errors?.[0] ?? current.cause), depth += 1
  ) {
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
const linkOf = (error: unknown): ErrorLink | undefined =>
  typeof error === 'object' && error !== null ? error : undefined;
