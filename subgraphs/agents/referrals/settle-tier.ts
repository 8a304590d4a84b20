import { changeTier, lockAccount } from '../../../services/identity/accounts/account-store.ts';
import { rateLimitOfTier } from '../../../services/identity/limits/rate-limits.ts';
import { tierOf, type TierTable } from '../../../services/identity/limits/tiers.ts';
import type { Tier } from '../../../schema/value-lists.ts';
import { recordAuditEvent } from '../../../services/audit/audit-event.ts';
import { recordEvent } from '../../../services/events/outbox.ts';
import { newRequestId, publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';

export interface TierServices {
  readonly pubSub: PubSub;
  /** The table of tiers that this installation serves. */
  readonly tierTable: TierTable;
}

export interface Referrer {
  readonly accountId: Uuid;
  readonly agentId: Uuid;
}

/** Nobody asked for it: what the system does by itself has a number of its own in the log. */
const bySystem = () => ({ requestId: newRequestId() });

/**
 * Brings an agent's tier in line with its active referrals, up or down, after any change to them; `em` acts for the
 * agent's account. The only place that changes a tier: of the agent, and of the account that its calls are limited by.
 * Does this last, since it records an event.
 */
export async function settleTier(
  em: SqlEntityManager,
  { pubSub, tierTable }: TierServices,
  { accountId, agentId }: Referrer,
): Promise<void> {
  // Of several changes at once, each waits here and counts what those before it have committed.
  await lockAccount(em, accountId);
  const [agent] = await em.execute<{ tier: Tier; active: number }[]>(
    `select tier, (${ACTIVE_REFERRALS}) as active from agents.agents agent where id = ?`,
    [agentId],
  );
  if (agent === undefined) throw new Error(`there is no agent ${agentId} in the account ${accountId}`);
  const { tier: previous, active } = agent;
  const tier = tierOf(tierTable, active);
  if (tier === previous) return;
  await em.execute(`update agents.agents set tier = ? where id = ?`, [tier, agentId]);
  await changeTier(em, accountId, tier);
  const id = publicId('agent', agentId);
  await recordAuditEvent(em, bySystem(), {
    accountId,
    type: 'agent.tier_changed',
    actor: { type: 'system', id: null },
    target: { type: 'agent', id },
    outcome: 'success',
    environment: 'live',
    details: { previous_tier: previous, tier, active_referrals: active },
  });
  const { perMinute, perDay } = rateLimitOfTier(tier);
  await recordEvent(em, pubSub, {
    accountId,
    environment: 'live',
    type: 'agent.tier_changed',
    subject: id,
    data: {
      agent_id: id,
      previous_tier: previous,
      tier,
      active_referrals: active,
      rate_limits: { requests_per_minute: perMinute, daily_limit: perDay },
    },
  });
}

/** How many referrals of `agent` count towards its tier: those that it made itself. */
export const ACTIVE_REFERRALS =
  `select count(*)::int from agents.referrals r where r.referrer_id = agent.id and ` +
  `r.chain_depth = 1 and r.status = 'active'`;
