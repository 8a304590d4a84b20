import { ProblemError } from '../../../schema/problems.ts';
import type { Principal } from '../../../schema/principal.ts';

/** Errors that a test key may ask for, with what they say. */
const FORCIBLE = {
  rate_limit_exceeded: 'Too many requests, since SVC-Sandbox-Force asks for this answer.',
  service_unavailable: 'The service is not available, since SVC-Sandbox-Force asks for this answer.',
  internal_error: 'Something went wrong, since SVC-Sandbox-Force asks for this answer.',
} as const;
export type ForcibleProblem = keyof typeof FORCIBLE;
/** The errors that a test key may ask for. */
export const FORCIBLE_PROBLEMS = Object.keys(FORCIBLE) as readonly ForcibleProblem[];

/** Longest delay that a test key may ask for. */
export const MAX_SANDBOX_DELAY_MS = 30_000;
/** Forced answers may be retried at once. */
const RETRY_AFTER_S = 1;

/** What a request asks of the sandbox, as it came: headers, or members of a WebSocket operation's `extensions`. */
export interface SandboxWishes {
  readonly delay: string | undefined;
  readonly force: string | undefined;
}

/**
 * Grants a test key what it asks of the sandbox: the delay of the jobs that it starts, in milliseconds. Live keys and
 * strangers ask in vain.
 * @throws ProblemError the one that `force` names; `validation_error` for a wish that is none
 */
export function grantSandboxWishes(principal: Principal | null, { delay, force }: SandboxWishes): number | undefined {
  if (principal?.environment !== 'sandbox') return undefined;
  if (force !== undefined) {
    if (!isForcible(force)) throw invalid('SVC-Sandbox-Force', `must be one of ${FORCIBLE_PROBLEMS.join(', ')}`);
    throw new ProblemError(force, FORCIBLE[force], force === 'internal_error' ? {} : { retryAfterS: RETRY_AFTER_S });
  }
  if (delay === undefined) return undefined;
  if (!/^\d{1,5}$/.test(delay) || Number(delay) > MAX_SANDBOX_DELAY_MS)
    throw invalid('SVC-Sandbox-Delay', `must be a whole number of milliseconds from 0 to ${MAX_SANDBOX_DELAY_MS}`);
  return Number(delay);
}

function isForcible(text: string): text is ForcibleProblem {
  return Object.hasOwn(FORCIBLE, text);
}

function invalid(header: string, message: string): ProblemError {
  const param = `header:${header}`;
  return new ProblemError('validation_error', `${header}: ${message}`, {
    code: 'invalid_value',
    param,
    errors: [{ param, code: 'invalid_value', message }],
  });
}
