import type { ENVIRONMENTS } from './value-lists.ts';

/** The ten scopes of the contract. */
export const SCOPES = [
  'attribution:read',
  'attribution:write',
  'channels:read',
  'journeys:read',
  'campaigns:read',
  'health:read',
  'billing:read',
  'referrals:read',
  'referrals:write',
  'audit:read',
] as const;

export type Scope = (typeof SCOPES)[number];
export type Environment = (typeof ENVIRONMENTS)[number];

/** What a member of a workspace may do in it (decision table of the contract, workspaces). */
export const ROLES = ['owner', 'analyst', 'viewer', 'auditor'] as const;
export type Role = (typeof ROLES)[number];

/**
 * Plans of an account; they decide how often it may call, and what an analysis costs. `self_hosted` is for whoever runs
 * the service for himself, and stands outside of the agent program.
 */
export const PLANS = ['pay_per_analysis', 'pro_trial', 'pro', 'enterprise', 'self_hosted'] as const;
export type Plan = (typeof PLANS)[number];

/**
 * How the caller proved who it is. `secret` is a secret key, or a token of `client_credentials`; `delegated` is a
 * token that a resource owner granted to an agent, which may not manage keys or money.
 */
export type Proof = 'secret' | 'delegated';

/** Who is calling: the outcome of authentication, and all that authorisation and tenancy need. */
export interface Principal {
  readonly kind: 'agent' | 'account';
  /** UUID of the account: the tenant. Row level security compares against it. In a foreign workspace, its owner's. */
  readonly accountId: string;
  /** UUID of the agent that the key is bound to. */
  readonly agentId: string | null;
  /** UUID of the key or token that was shown. */
  readonly credentialId: string;
  readonly scopes: readonly Scope[];
  readonly environment: Environment;
  readonly proof: Proof;
  /**
   * The workspace that the request acts in, the caller's role there, and the account that the caller came from (UUIDs);
   * null acts for the caller's own account.
   */
  readonly workspace: { readonly id: string; readonly role: Role; readonly homeAccountId: string } | null;
  /**
   * What ends it (UUID): the grant of a token, or a key that ends but for a rotation; absent for a key without an end.
   */
  readonly bond?: string;
}

/** Where a request came from, for the audit log. */
export interface RequestOrigin {
  /** Proxies that are believed taken into account. */
  readonly clientAddress: string;
  readonly userAgent: string | null;
}

/**
 * An attempt's claim on an idempotency key, taken at the door. Whoever commits the effect of the operation records it
 * in the same transaction: see services/idempotency.
 */
export interface IdempotencyClaim {
  /** Names the key of one scope without telling it, base64url. */
  readonly id: string;
  /** UUID of this attempt; an attempt whose lease was taken over commits nothing any more. */
  readonly attemptId: string;
  /** Seals what is stored for this key, so that it stays unreadable without the client's key. Never stored. */
  readonly sealKey: string;
  /** An earlier attempt had the effect and died before it answered: it must be recalled, not repeated. */
  readonly hasEffect: boolean;
}

/** What every operation runs in, whichever door it came through. `principal` is null for public operations. */
export interface RequestContext {
  readonly requestId: string;
  readonly principal: Principal | null;
  /** Dated version that the answer follows, e.g. `2026-02-01`. */
  readonly apiVersion: string;
  /** The one that the caller goes by, where a door takes answers back to it; that of the answer when absent. */
  readonly callerVersion?: string;
  /** Absent where no request from outside stands behind the operation. */
  readonly origin?: RequestOrigin;
  /** Absent without an idempotency key. */
  readonly idempotency?: IdempotencyClaim;
  /** How much longer than need be the jobs of this request take, so that a test key can watch them. */
  readonly sandboxDelayMs?: number;
}
