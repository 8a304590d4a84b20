import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';
import type { ProblemError } from '../schema/problems.ts';
import type { ShownCredential } from '../services/identity/admission/admission.ts';
import type { RequestContext, RequestOrigin } from '../schema/principal.ts';
import type { RateWindow } from '../services/identity/limits/rate-limits.ts';
import { rootTrust, type RootTrust } from '../platform/graph/root-trust.ts';
import type { HeldClaim } from '../services/idempotency/claims.ts';

/** The answer to a mutation with an idempotency key, as it is kept for whoever sends it again. */
export const keptResult = z.object({
  status: z.int().optional(),
  result: z.record(z.string(), z.unknown()),
  trust: rootTrust,
});
export type KeptResult = z.output<typeof keptResult>;

/** An operation of a stranger on its way through the gateway, over HTTP or WebSocket. */
export interface PublicRequest {
  readonly context: RequestContext & { readonly origin: RequestOrigin };
  /** As it came: `X-Nonce`, or `extensions.nonce` over WebSocket. */
  readonly nonce: string | undefined;
  /** Where rate windows stand that the operation was counted in. */
  windows: readonly RateWindow[];
  /** `SVC-Idempotency-Key`, or `extensions.idempotencyKey` over WebSocket. */
  readonly idempotencyKey: string | undefined;
  /** What a mutation with such a key holds while it runs. */
  held?: HeldClaim<KeptResult>;
  /** Of what was answered; null where it has not been measured, undefined where nothing has an envelope. */
  trust?: RootTrust | null | undefined;
  /** Of the key or token that was shown; null for a stranger. */
  readonly credential: ShownCredential | null;
  /** Set when the operation was refused before it ran (GraphQL over HTTP, "request error"). */
  refused: boolean;
  /** In place of what graphql-js says of values that stand in the document. */
  unfitValues?: ProblemError | undefined;
  /** Scopes that a root field was refused for want of. */
  readonly missingScopes: Set<string>;
  /** What Apollo Server stumbled over; it would answer "Internal server error" and forget the cause. */
  failure?: unknown;
}

/**
 * The request under way. Apollo Server formats errors without saying whose they are; limits and nonces apply to
 * strangers only, and operations of our own doors run outside of any public request.
 */
export const publicRequests = new AsyncLocalStorage<PublicRequest>();
