import type { Context } from 'koa';
import { RateLimitError, rateLimitHeaders, type RateWindow } from '../platform/auth/rate-limits.ts';
import { setHeaders } from './set-headers.ts';

/** Counts a call and tells where its windows stand, also when it came on top of them. @throws whatever counting throws */
export async function tellWindows(http: Context, count: Promise<readonly RateWindow[]>): Promise<void> {
  try {
    setHeaders(http, rateLimitHeaders(await count));
  } catch (error) {
    if (error instanceof RateLimitError) setHeaders(http, rateLimitHeaders(error.windows));
    throw error;
  }
}
