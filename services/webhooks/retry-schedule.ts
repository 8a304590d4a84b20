/** The waits after attempts 1 to 5 (contract §6): the first send and five more. */
export const RETRY_WAITS_MS = [1_000, 5_000, 30_000, 120_000, 900_000] as const;
/** Nothing is tried again later than this after the event (contract §6). */
const GIVE_UP_AFTER_MS = 24 * 60 * 60_000;

/**
 * When a failed delivery is tried again; null when it was the last attempt, or the receiver asks for a time beyond a
 * day.
 * @param attempt the one that failed, counted from 1
 * @param retryAfterMs what the receiver asked for, obeyed where it is longer; 0 when it did not ask
 * @param waitsMs others than those of the contract, for tests that cannot wait for so long
 */
export function nextAttemptAt(
  attempt: number,
  failedAt: Date,
  retryAfterMs: number,
  occurredAt: Date,
  waitsMs: readonly number[] = RETRY_WAITS_MS,
): Date | null {
  const waitMs = waitsMs[attempt - 1];
  if (waitMs === undefined) return null;
  const atMs = failedAt.getTime() + Math.max(waitMs, retryAfterMs);
  return atMs - occurredAt.getTime() > GIVE_UP_AFTER_MS ? null : new Date(atMs);
}

/** The wait that a `Retry-After` header asks for (RFC 9110 §10.2.3): seconds or a date; 0 for anything else. */
export function retryAfterMs(header: string | undefined, now: Date): number {
  if (header === undefined) return 0;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? 0 : Math.max(0, atMs - now.getTime());
}
