import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestContext } from '../platform/auth/principal.ts';

/** An operation of a stranger on its way through the gateway, over HTTP or WebSocket. */
export interface PublicRequest {
  readonly context: RequestContext;
  readonly clientAddress: string;
  /** As it came: `X-Nonce`, or `extensions.nonce` over WebSocket. */
  readonly nonce: string | undefined;
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
