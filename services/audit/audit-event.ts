import type { SqlEntityManager } from '../../platform/postgres/database.ts';
import { newUuid, publicId, type Uuid } from '../../platform/identifiers.ts';
import type { Environment, Principal, RequestContext } from '../../schema/principal.ts';
import type {
  AUDIT_ACTOR_TYPES,
  AUDIT_EVENT_TYPES,
  AUDIT_OUTCOMES,
  AUDIT_SEVERITIES,
} from '../../schema/value-lists.ts';

export type AuditEventType = (typeof AUDIT_EVENT_TYPES)[number];
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
  'data.deleted': 'warning',
  'audit.verification_failed': 'critical',
};

/** Who did what an entry tells. */
export interface AuditActor {
  readonly type: (typeof AUDIT_ACTOR_TYPES)[number];
  /** Public id; null for the system and for strangers. */
  readonly id: string | null;
}

/** Who did it, as the log names a caller: the agent that the credential is bound to, else the key itself. */
export function auditActor(principal: Principal | null): AuditActor {
  if (principal === null) return { type: 'anonymous', id: null };
  return principal.agentId === null
    ? { type: 'key', id: publicId('key', principal.credentialId as Uuid) }
    : { type: 'agent', id: publicId('agent', principal.agentId as Uuid) };
}

/** Something that happened, as whoever saw it tells it. Numbers, hashes and order come when it is sealed. */
export interface AuditEvent {
  /** UUID of the tenant whose log it belongs to; null belongs to the installation. */
  readonly accountId: string | null;
  readonly type: AuditEventType;
  readonly severity?: AuditSeverity;
  readonly actor: AuditActor;
  readonly target: { readonly type: string; readonly id: string } | null;
  readonly outcome: (typeof AUDIT_OUTCOMES)[number];
  readonly environment: Environment;
  /** Never secrets, never personal data: the entry can't be changed any more. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Longest part of a User-Agent that is kept. */
const USER_AGENT_LENGTH = 256;

type Told = Pick<RequestContext, 'requestId' | 'origin'>;

/**
 * Records an event in the caller's transaction: what is rolled back has not happened. It joins its tenant's chain
 * when the log is next sealed, which every reader does first.
 */
export async function recordAuditEvent(em: SqlEntityManager, context: Told, event: AuditEvent): Promise<void> {
  await em.execute(`select events.record_audit_event(?::uuid, ?::uuid, ?::jsonb, ?)`, toldAs(context, event));
}

/** Records an access unless the same subject had one told in this hour of the database's clock. */
export async function recordAccessOnce(
  em: SqlEntityManager,
  context: Told,
  event: AuditEvent,
  subject: string,
): Promise<void> {
  await em.execute(`select events.tell_access_once(?::uuid, ?::uuid, ?::jsonb, ?, ?)`, [
    ...toldAs(context, event),
    subject,
  ]);
}

function toldAs({ requestId, origin }: Told, event: AuditEvent): [string, string | null, string, string | null] {
  const { accountId, ...told } = event;
  const body = {
    ...told,
    severity: event.severity ?? USUAL_SEVERITY[event.type],
    requestId,
    userAgent: origin?.userAgent?.slice(0, USER_AGENT_LENGTH) ?? null,
  };
  return [newUuid(), accountId, JSON.stringify(body), origin?.clientAddress ?? null];
}
