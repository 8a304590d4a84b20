import type { Database } from '../platform/postgres/database.ts';
import { churnReferrals } from '../subgraphs/agents/referrals/churn-referrals.ts';
import type { TierServices } from '../subgraphs/agents/referrals/settle-tier.ts';
import { takeBackCommissions } from '../subgraphs/billing/commissions/take-back-commissions.ts';

/**
 * Ends the referrals of agents that are gone, and takes back what they have earned too early.
 * @returns how many referrals ended
 */
export function endReferrals(database: Database, tiers: TierServices): Promise<number> {
  return churnReferrals(database, {
    ...tiers,
    ended: async (em, referrer, referred) => void (await takeBackCommissions(em, tiers.pubSub, referrer, referred)),
  });
}
