import { ProblemError } from '../../schema/problems.ts';
import { diskFullProblem, isDiskFull } from '../disk-full.ts';

/**
 * SQLSTATE classes and codes that mean "not now": connection lost, shutting down, out of resources, cut off by a
 * timeout.
 */
const OUTAGE_SQLSTATE = /^(?:08|53)|^57P0[1-3]$|^57014$|^25P0[34]$/;
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
]);
/** node-postgres gives these no code: how their messages begin. */
const OUTAGE_BEGINNINGS = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Client was closed and is not queryable',
  'Client has encountered a connection error',
  'Cannot use a pool after calling end',
  'driver has already been destroyed',
];
const OUTAGE_MESSAGES = new RegExp(`^(?:${OUTAGE_BEGINNINGS.join('|')})`);

const RETRY_AFTER_S = 2;
const MAX_CAUSES = 5;

/** True when the transaction lost a race and would go through if run again (serialization failure, deadlock). */
export function isLostRace(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}

/** True when the database could not be reached or had to give up: a matter of time, not of the statement. */
function isOutage(error: unknown): boolean {
  let current: unknown = error;
  for (let depth = 0; isErrorLike(current) && depth < MAX_CAUSES; depth += 1) {
    const code = codeOf(current);
    if (code !== undefined && (OUTAGE_SYSTEM_CODES.has(code) || OUTAGE_SQLSTATE.test(code))) return true;
    if (OUTAGE_MESSAGES.test(current.message)) return true;
    // A connection that fails on every address of a host comes as an AggregateError.
    current = current.errors?.[0] ?? current.cause;
  }
  return false;
}

/** What a caller may see of a database error: an outage becomes a 503 with Retry-After, all else stays as it is. */
export function outageAsProblem(error: unknown): unknown {
  if (error instanceof ProblemError) return error;
  if (isDiskFull(error)) return diskFullProblem(error);
  if (!isOutage(error)) return error;
  return new ProblemError(
    'service_unavailable',
    'The database cannot be reached at the moment. Try again in a few seconds.',
    { retryAfterS: RETRY_AFTER_S, cause: error },
  );
}

interface ErrorLike {
  readonly message: string;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
}

/** By shape: an error of Node itself is not an instance of the Error of another realm, such as a test's. */
function isErrorLike(value: unknown): value is ErrorLike {
  return typeof value === 'object' && value !== null && typeof (value as { message?: unknown }).message === 'string';
}

function codeOf(error: unknown): string | undefined {
  return isErrorLike(error) && typeof error.code === 'string' ? error.code : undefined;
}
