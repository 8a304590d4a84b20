import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { lockAccount } from '../../../services/identity/accounts/account-store.ts';
import { auditActor, recordAuditEvent } from '../../../services/audit/audit-event.ts';
import type { Principal, RequestContext } from '../../../schema/principal.ts';
import { removeGuests } from '../../../services/identity/workspaces/workspace-store.ts';
import { changeEndpoint, findCallback } from '../../../services/webhooks/endpoint-store.ts';

/** Closed by itself, or suspended by whoever runs the house, for fraud. */
export type AgentEnd = 'closed' | 'suspended';

/** Ids of an audit entry: it tells the number of all, and does not grow with it. */
const TOLD_KEYS = 100;

/**
 * Ends an agent, whose account `em` acts for: every key and token of it, what guests may do in workspaces of it, and
 * the commissions that it could still earn. What it has earned stays: a closed agent is paid on the usual days, a
 * suspended one waits. Its referrals and those of its referrers end with the next look at them.
 * @param by null for whoever runs the house
 */
export async function endAgent(
  em: SqlEntityManager,
  context: Pick<RequestContext, 'requestId' | 'origin'>,
  { accountId, agentId }: { readonly accountId: Uuid; readonly agentId: Uuid },
  end: AgentEnd,
  by: Principal | null,
  reason: string | null,
): Promise<void> {
  await lockAccount(em, accountId);
  await em.execute(`update agents.agents set status = ? where id = ?`, [end, agentId]);
  const keys = await em.execute<{ key_id: Uuid }[]>(`select key_id from auth.end_agent(?::uuid)`, [agentId]);
  // What they run there, the account would pay.
  const guests = await removeGuests(em, accountId, agentId);
  const callback = await findCallback(em);
  if (callback !== null && end === 'suspended') await changeEndpoint(em, callback.id, { isActive: false });
  await recordAuditEvent(em, context, {
    accountId,
    type: 'agent.key_revoked',
    actor: by === null ? { type: 'system', id: null } : auditActor(by),
    target: { type: 'agent', id: publicId('agent', agentId) },
    outcome: 'success',
    environment: 'live',
    details: {
      change: `agent_${end}`,
      reason,
      keys: keys.length,
      guests,
      key_ids: keys.slice(0, TOLD_KEYS).map(({ key_id: id }) => publicId('key', id)),
    },
  });
}
