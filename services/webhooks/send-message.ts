import { CallFailedError, type Caller } from '../../platform/outgoing/caller.ts';
import type { Outcome } from './delivery.ts';
import type { Message } from './message.ts';
import { retryAfterMs } from './retry-schedule.ts';

/** From the lookup to the last byte that is read (decisions, webhooks). */
export const SEND_TIMEOUT_MS = 15_000;
/** Of the answer this much is kept for the owner of the endpoint to see. */
export const SHOWN_RESPONSE_BYTES = 1_024;

/** Sends a message once. Only 2xx counts as received; redirects are not followed. */
export async function sendMessage(
  caller: Caller,
  url: string,
  { body, headers }: Message,
  clock: () => Date,
): Promise<Outcome> {
  const startedMs = performance.now();
  const elapsed = (): number => Math.round(performance.now() - startedMs);
  try {
    const response = await caller.call({ url, method: 'POST', headers, body });
    const isSuccess = response.status >= 200 && response.status < 300;
    return {
      status: isSuccess ? 'success' : 'failed',
      responseStatus: response.status,
      responseTimeMs: elapsed(),
      responseBody: shown(response.body),
      error: isSuccess ? null : 'http_error',
      retryAfterMs: isSuccess ? 0 : retryAfterMs(response.headers['retry-after'], clock()),
      requestHeaders: headers,
    };
  } catch (error) {
    if (!(error instanceof CallFailedError)) throw error;
    return {
      status: 'failed',
      responseStatus: null,
      responseTimeMs: elapsed(),
      responseBody: null,
      error: error.code,
      retryAfterMs: 0,
      requestHeaders: headers,
    };
  }
}

/** PostgreSQL keeps no NUL, and half a character at the cut is none. */
function shown(body: Buffer): string {
  return body.subarray(0, SHOWN_RESPONSE_BYTES).toString('utf8').replaceAll('\0', '\uFFFD');
}
