import type { SqlEntityManager } from '../postgres/database.ts';
import { newUuid, publicId, type Uuid } from '../identifiers.ts';
import type { Environment, Principal, RequestContext } from '../auth/principal.ts';

/** What the audit log knows of (contract §6). */
export const AUDIT_EVENT_TYPES = [
  'agent.registered',
  'auth.token_issued',
  'auth.token_refreshed',
  'auth.failed',
  'agent.key_rotated',
  'agent.key_revoked',
  'agent.scope_changed',
  'agent.tier_changed',
  'commission.created',
  'commission.verified',
  'referral.activated',
  'rate_limit.exceeded',
  'data.accessed',
  'data.exported',
] as const;

export type AuditEventType = (typeof AUDIT_EVENT_TYPES)[number];
export const AUDIT_SEVERITIES = ['info', 'warning', 'critical'] as const;
export type AuditSeverity = (typeof AUDIT_SEVERITIES)[number];

/** Severity of a type where its event says nothing else (decision table of the contract, audit). */
export const USUAL_SEVERITY: Readonly<Record<AuditEventType, AuditSeverity>> = {
  'agent.registered': 'info',
  'auth.token_issued': 'info',
  'auth.token_refreshed': 'info',
  'auth.failed': 'warning',
  'agent.key_rotated': 'info',
  'agent.key_revoked': 'warning',
  'agent.scope_changed': 'warning',
  'agent.tier_changed': 'info',
  'commission.created': 'info',
  'commission.verified': 'info',
  'referral.activated': 'info',
  'rate_limit.exceeded': 'warning',
  'data.accessed': 'info',
  'data.exported': 'warning',
};

export interface AuditActor {
  readonly type: 'agent' | 'key' | 'system' | 'anonymous';
  /** Public id; null for the system and for strangers. */
  readonly id: string | null;
}

/** Who did it, as the log names a caller: the agent that the credential is bound to, else the key itself. */
export function auditActor(principal: Principal | null): AuditActor {
  if (principal === null) return { type: 'anonymous', id: null };
  return principal.agentId === null ? { type: 'key', id: publicId('key', principal.credentialId as Uuid) } : { type: 'agent', id: publicId('agent', principal.agentId as Uuid) };
}

/** Something that happened, as whoever saw it tells it. Numbers, hashes and order come when it is sealed. */
export interface AuditEvent {
  /** UUID of the tenant whose log it belongs to; null belongs to the installation. */
  readonly accountId: string | null;
  readonly type: AuditEventType;
  readonly severity?: AuditSeverity;
  readonly actor: AuditActor;
  readonly target: { readonly type: string; readonly id: string } | null;
  readonly outcome: 'success' | 'failure';
  readonly environment: Environment;
  /** Never secrets, never personal data: the entry can't be changed any more. */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Records an event in the caller's transaction: what is rolled back has not happened. It joins its tenant's chain
 * when the log is next sealed, which every reader does first.
 */
export async function recordAuditEvent(em: SqlEntityManager, context: Pick<RequestContext, 'requestId' | 'origin'>, event: AuditEvent): Promise<void> {
  const { accountId, ...told } = event;
  const body = { ...told, severity: event.severity ?? USUAL_SEVERITY[event.type], requestId: context.requestId, userAgent: context.origin?.userAgent ?? null };
  await em.execute(`select events.record_audit_event(?::uuid, ?::uuid, ?::jsonb, ?)`, [newUuid(), accountId, JSON.stringify(body), context.origin?.clientAddress ?? null]);
}
