import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestContext, RequestOrigin } from '../platform/auth/principal.ts';
import type { RateWindow } from '../platform/auth/rate-limits.ts';

/** An operation of a stranger on its way through the gateway, over HTTP or WebSocket. */
export interface PublicRequest {
  readonly context: RequestContext & { readonly origin: RequestOrigin };
  /** As it came: `X-Nonce`, or `extensions.nonce` over WebSocket. */
  readonly nonce: string | undefined;
  /** Where rate windows stand that the operation was counted in. */
  windows: readonly RateWindow[];
  /** Set when the operation was refused before it ran (GraphQL over HTTP, "request error"). */
  refused: boolean;
  /** What Apollo Server stumbled over; it would answer "Internal server error" and forget the cause. */
  failure?: unknown;
}

/**
 * The request under way. Apollo Server formats errors without saying whose they are; limits and nonces apply to
 * strangers only, and operations of our own doors run outside of any public request.
 */
export const publicRequests = new AsyncLocalStorage<PublicRequest>();
