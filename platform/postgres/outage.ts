import { ProblemError } from '../../schema/problems.ts';

/** SQLSTATE classes and codes that mean "not now": connection lost, shutting down, out of resources, cut off by a timeout. */
const OUTAGE_SQLSTATE = /^(?:08|53)|^57P0[1-3]$|^57014$|^25P0[34]$/;
const OUTAGE_SYSTEM_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENOTFOUND', 'EAI_AGAIN',
]);
/** node-postgres gives these no code. */
const OUTAGE_MESSAGES =
  /^(?:Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client was closed and is not queryable|Client has encountered a connection error|Cannot use a pool after calling end|driver has already been destroyed)/;

const RETRY_AFTER_S = 2;

/** True when the transaction lost a race and would go through if run again (serialization failure, deadlock). */
export function isLostRace(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}

/** True when the database could not be reached or had to give up: a matter of time, not of the statement. */
export function isOutage(error: unknown): boolean {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = causeOf(current), depth += 1) {
    const code = codeOf(current);
    if (code !== undefined && (OUTAGE_SYSTEM_CODES.has(code) || OUTAGE_SQLSTATE.test(code))) return true;
    if (OUTAGE_MESSAGES.test(current.message)) return true;
  }
  return false;
}

/** What a caller may see of a database error: an outage becomes a 503 with Retry-After, all else stays as it is. */
export function outageAsProblem(error: unknown): unknown {
  if (error instanceof ProblemError || !isOutage(error)) return error;
  return new ProblemError('service_unavailable', 'The database cannot be reached at the moment', { retryAfterS: RETRY_AFTER_S, cause: error });
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function causeOf(error: Error): unknown {
  // A connection that fails on every address of a host comes as an AggregateError.
  return error instanceof AggregateError ? error.errors[0] : error.cause;
}
