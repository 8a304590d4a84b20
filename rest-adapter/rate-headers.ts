import type { Context } from 'koa';
import { RateLimitError, rateLimitHeaders, type RateWindow } from '../platform/auth/rate-limits.ts';

/** Counts a call and tells where its windows stand, also when it came on top of them. @throws whatever counting throws */
export async function tellWindows(http: Context, count: Promise<readonly RateWindow[]>): Promise<void> {
  try {
    http.set(rateLimitHeaders(await count));
  } catch (error) {
    if (error instanceof RateLimitError) http.set(rateLimitHeaders(error.windows));
    throw error;
  }
}
