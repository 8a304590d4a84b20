/** The contract's rule for client libraries (§8): 3 retries, 500 ms base delay, exponential. */
const RETRIES = 3;
const BASE_DELAY_MS = 500;
/** Longer waits than this are for the caller to decide. */
const LONGEST_WAIT_MS = 60_000;

/** Answers that may turn out otherwise a moment later, whatever was asked. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
const STATE_CHANGING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const WITH_IDEMPOTENCY_KEY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

export interface RetryOptions {
  /** Attempts after the first one; 3. */
  readonly retries?: number;
  /** Wait before the first retry, doubled for each further one; 500. */
  readonly baseDelayMs?: number;
  /** The platform's `fetch` when absent. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** How to wait, unless the caller gives the call up meanwhile; a timer when absent. */
  readonly sleep?: (delayMs: number, signal: AbortSignal) => Promise<void>;
  /** A fresh nonce or idempotency key; `crypto.randomUUID` when absent. */
  readonly newKey?: () => string;
}

/**
 * A `fetch` that repeats what failed in passing: no connection, 429, 5xx, and 409 `idempotency_in_progress`.
 * `Retry-After` is obeyed where it asks for more than the usual wait, up to a minute. Every attempt carries a nonce of
 * its own; all attempts of one call carry the same idempotency key, so that what an unheard answer had done is not done
 * again. A key that the caller derives from the business operation and sends as `SVC-Idempotency-Key` also covers later
 * calls.
 */
export function retrying(
  options: RetryOptions,
  authorise: (headers: Headers) => Promise<void>,
): (request: Request) => Promise<Response> {
  const {
    retries = RETRIES,
    baseDelayMs = BASE_DELAY_MS,
    fetch: send = (request: Request) => fetch(request),
    sleep = wait,
    newKey = () => crypto.randomUUID(),
  } = options;
  return async (request) => {
    if (
      WITH_IDEMPOTENCY_KEY.has(request.method) &&
      !request.headers.has('SVC-Idempotency-Key') &&
      !request.headers.has('Idempotency-Key')
    )
      request.headers.set('SVC-Idempotency-Key', newKey());
    for (let attempt = 0; ; attempt += 1) {
      const isLast = attempt >= retries;
      // A request can be sent once; its copies share the body.
      const copy = isLast ? request : request.clone();
      if (STATE_CHANGING.has(copy.method)) copy.headers.set('X-Nonce', newKey());
      await authorise(copy.headers);
      const outcome = await send(copy).catch((error: unknown) => ({ error }));
      const delayMs = baseDelayMs * 2 ** attempt;
      if (outcome instanceof Response) {
        const askedMs = retryAfterMs(outcome.headers.get('Retry-After'));
        if (isLast || askedMs > LONGEST_WAIT_MS || !(await isPassing(outcome))) return outcome;
        await outcome.body?.cancel();
        await sleep(Math.max(delayMs, askedMs), request.signal);
      } else {
        if (isLast || request.signal.aborted) throw outcome.error;
        await sleep(delayMs, request.signal);
      }
    }
  };
}

async function isPassing(response: Response): Promise<boolean> {
  if (PASSING_STATUSES.has(response.status)) return true;
  if (response.status !== 409) return false;
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as { error?: { type?: unknown } } | null;
  return body?.error?.type === 'idempotency_in_progress';
}

/** Only delta-seconds occur (contract §8). */
function retryAfterMs(header: string | null): number {
  return header !== null && /^\d+$/.test(header) ? Number(header) * 1000 : 0;
}

function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    }, delayMs);
    const giveUp = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
  });
}
