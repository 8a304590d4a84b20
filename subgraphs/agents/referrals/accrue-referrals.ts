import { z } from 'zod';
import { recordAuditEvent } from '../../../services/audit/audit-event.ts';
import type { EventConsumer } from '../../../services/events/relay.ts';
import { newRequestId, publicId, uuidFromPublicId, type Uuid } from '../../../platform/identifiers.ts';
import { wholeAccount, type SqlEntityManager } from '../../../platform/postgres/database.ts';
import { actingFor } from '../../../platform/postgres/acting-for.ts';
import { planIn } from '../../../services/identity/accounts/account-store.ts';
import { settleTier, type TierServices } from './settle-tier.ts';

/** Recovered revenue that makes a referral active: 1,000 USD (contract §2, referral program constants). */
export const ACTIVE_FROM_CENTS = 100_000;

/** What counts of `attribution.completed`; events of releases before there were referrals say nothing of the agent. */
const finished = z.object({
  id: z.string(),
  status: z.string(),
  delta_r_cents: z.int().nullable(),
  agent_id: z.string().nullish(),
  input_digest: z.string().nullish(),
});

export interface AccrualServices extends TierServices {
  /** Whether an analysis that was charged repeats another one of its account, whichever agent served that. */
  readonly isRepetition: (em: SqlEntityManager, analysisId: Uuid) => Promise<boolean>;
}

interface Activated {
  readonly account_id: Uuid;
  readonly referrer_id: Uuid;
  readonly chain_depth: 1 | 2;
  readonly accumulated_delta_r_cents: string;
}

/**
 * Lets each completed live analysis count once for the referrals of the agent that served it, in the transaction that
 * relays its event: recovered revenue, activation, and the referrer's tier. A repetition on the same rows counts for
 * nothing, nor does an account that runs the service for itself, and a later revision is another event. Comes after the
 * charge, which tells repetitions.
 */
export function accrueReferrals(services: AccrualServices): EventConsumer {
  return async (em, { type, environment, data, accountId }) => {
    if (type !== 'attribution.completed' || environment !== 'live') return;
    const {
      id,
      status,
      delta_r_cents: deltaRCents,
      agent_id: servedBy,
      input_digest: inputDigest,
    } = finished.parse(data);
    if (status !== 'completed' || deltaRCents === null || servedBy == null) return;
    const [analysisId, agentId] = [uuidFromPublicId('attr', id), uuidFromPublicId('agent', servedBy)];
    if (analysisId === undefined || agentId === undefined)
      throw new Error(`the event of ${id} in the account ${accountId} has ids that are none`);
    if ((await planIn(em, accountId)) === 'self_hosted') return;
    // Else one analysis, asked for in the name of many agents, would make all of their referrals active.
    if (await services.isRepetition(em, analysisId)) return;
    const activated = await em.execute<Activated[]>(
      `select * from agents.accrue_referral(?::uuid, ?::uuid, ?::bigint, ?, ?::bigint) order by chain_depth desc`,
      [analysisId, agentId, deltaRCents, inputDigest ?? null, ACTIVE_FROM_CENTS],
    );
    for (const referral of activated) {
      await actingFor(em, wholeAccount({ accountId: referral.account_id, environment: 'live' }), () =>
        activate(em, services, agentId, referral),
      );
    }
  };
}

async function activate(
  em: SqlEntityManager,
  services: TierServices,
  referredId: Uuid,
  referral: Activated,
): Promise<void> {
  const referrer = { accountId: referral.account_id, agentId: referral.referrer_id };
  await recordAuditEvent(
    em,
    { requestId: newRequestId() },
    {
      accountId: referrer.accountId,
      type: 'referral.activated',
      actor: { type: 'system', id: null },
      target: { type: 'agent', id: publicId('agent', referredId) },
      outcome: 'success',
      environment: 'live',
      details: {
        chain_depth: referral.chain_depth,
        accumulated_delta_r_cents: Number(referral.accumulated_delta_r_cents),
      },
    },
  );
  if (referral.chain_depth === 1) await settleTier(em, services, referrer);
}
