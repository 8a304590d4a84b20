import { ClickHouseError } from '@clickhouse/client';
import { ProblemError } from '../../schema/problems.ts';

/**
 * Engine error codes that mean "not now": out of time (159, 160), memory (241), disk (243), slots (202), network (209, 210),
 * shutting down (236), cancelled (394), table still loading or read-only (242), password of an earlier run (516).
 */
const OUTAGE_CODES: ReadonlySet<string> = new Set(['159', '160', '202', '209', '210', '236', '241', '242', '243', '394', '516']);
const OUTAGE_SYSTEM_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENOTFOUND', 'EAI_AGAIN',
  'ERR_STREAM_PREMATURE_CLOSE',
]);
/** The client and Node give these no code. */
const OUTAGE_MESSAGES = /^(?:Timeout error|socket hang up|aborted|The operation was aborted|The user aborted a request|Premature close|Unable to connect)/i;
const RETRY_AFTER_S = 2;

/** What a caller may see of an engine error: an outage becomes a 503 with Retry-After, all else stays as it is. */
export function outageAsProblem(error: unknown): unknown {
  if (error instanceof ProblemError || !isOutage(error)) return error;
  return new ProblemError('service_unavailable', 'The columnar store cannot answer at the moment', { retryAfterS: RETRY_AFTER_S, cause: error });
}

function isOutage(error: unknown): boolean {
  if (error instanceof ClickHouseError) return OUTAGE_CODES.has(error.code);
  for (let current = error, depth = 0; current instanceof Error && depth < 5; depth += 1) {
    const { code } = current as { code?: unknown };
    if ((typeof code === 'string' && OUTAGE_SYSTEM_CODES.has(code)) || OUTAGE_MESSAGES.test(current.message)) return true;
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return false;
}
