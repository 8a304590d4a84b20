import { ClickHouseError } from '@clickhouse/client';
import { ProblemError } from '../../schema/problems.ts';
import { diskFullProblem, isDiskFull } from '../disk-full.ts';

/**
 * Engine error codes that mean "not now": out of time (159, 160), memory (241), slots (202), network (209, 210),
 * shutting down (236), cancelled (394), table still loading or read-only (242), password of an earlier run (516).
 */
const OUTAGE_CODES: ReadonlySet<string> = new Set(['159', '160', '202', '209', '210', '236', '241', '242', '394', '516']);
const OUTAGE_SYSTEM_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENOTFOUND', 'EAI_AGAIN',
  'ERR_STREAM_PREMATURE_CLOSE',
]);
/** The client and Node give these no code. */
const OUTAGE_MESSAGES = /^(?:Timeout error|socket hang up|aborted|The operation was aborted|The user aborted a request|Premature close|Unable to connect)/i;
const RETRY_AFTER_S = 2;

/** What a caller may see of an engine error: an outage becomes a 503 with Retry-After, all else stays as it is. */
export function outageAsProblem(error: unknown): unknown {
  if (error instanceof ProblemError) return error;
  if (isDiskFull(error)) return diskFullProblem(error);
  if (!isOutage(error)) return error;
  return new ProblemError('service_unavailable', 'The columnar store cannot answer at the moment. Try again in a few seconds.', { retryAfterS: RETRY_AFTER_S, cause: error });
}

function isOutage(error: unknown): boolean {
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
