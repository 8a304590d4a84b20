import type { ENVIRONMENTS } from '../../schema/value-lists.ts';

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

/** Who is calling: the outcome of authentication, and all that authorisation and tenancy need. */
export interface Principal {
  readonly kind: 'agent' | 'account';
  /** UUID of the account: the tenant. Row level security compares against it. */
  readonly accountId: string;
  /** UUID of the agent that the key is bound to. */
  readonly agentId: string | null;
  /** UUID of the key or token that was shown. */
  readonly credentialId: string;
  readonly scopes: readonly Scope[];
  readonly environment: Environment;
}

/** What every operation runs in, whichever door it came through. `principal` is null for public operations. */
export interface RequestContext {
  readonly requestId: string;
  readonly principal: Principal | null;
  /** Dated version that the answer follows, e.g. `2026-02-01`. */
  readonly apiVersion: string;
}
