import { addressBlock } from '../../platform/auth/address-block.ts';
import { RateLimitError, rateLimitHeaders } from '../../platform/auth/rate-limits.ts';
import type { Step } from '../call.ts';

/** Counts a call that needs no key by the address it comes from, where the operation has such a limit. */
export const limitStrangers: Step = {
  name: 'limit-strangers',
  problems: ['rate_limit_exceeded'],
  async run(call, next) {
    const { operation, http, door, requestId, origin } = call;
    if (operation.strangerLimit !== undefined) {
      try {
        http.set(rateLimitHeaders(await door.admission.countStranger(operation.strangerLimit, addressBlock(origin.clientAddress), { requestId, origin })));
      } catch (error) {
        if (error instanceof RateLimitError) http.set(rateLimitHeaders(error.windows));
        throw error;
      }
    }
    await next();
  },
};
