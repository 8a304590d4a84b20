import type { Context } from 'koa';
import { RateLimitError, rateLimitHeaders, type RateWindow } from '../services/identity/limits/rate-limits.ts';
import { setHeaders } from './set-headers.ts';

/** Tells where the windows of a counted call stand, also when it exceeded them. @throws whatever counting throws */
export async function tellWindows(http: Context, count: Promise<readonly RateWindow[]>): Promise<void> {
  await tellingWindows(http, count, (windows) => windows);
}

/** The same for what counts a call among other things. */
export async function tellingWindows<Counted>(
  http: Context,
  counted: Promise<Counted>,
  windowsOf: (counted: Counted) => readonly RateWindow[],
): Promise<Counted> {
  try {
    const result = await counted;
    setHeaders(http, rateLimitHeaders(windowsOf(result)));
    return result;
  } catch (error) {
    if (error instanceof RateLimitError) setHeaders(http, rateLimitHeaders(error.windows));
    throw error;
  }
}
