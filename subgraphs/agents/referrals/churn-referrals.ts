import type { Uuid } from '../../../platform/identifiers.ts';
import { wholeAccount, type Database, type SqlEntityManager } from '../../../platform/postgres/database.ts';
import { lockAccount } from '../../../services/identity/accounts/account-store.ts';
import { settleTier, type Referrer, type TierServices } from './settle-tier.ts';

export interface ChurnServices extends TierServices {
  /** What else ends with a referral, in its transaction, which acts for the referrer's account: commissions. */
  readonly ended: (em: SqlEntityManager, referrer: Referrer, referred: readonly Uuid[]) => Promise<void>;
}

/** An agent without a billable analysis for so long is gone (decision table of the contract, referrals). */
export const IDLE_DAYS = 90;

/**
 * Ends the referrals whose agent has gone quiet, was suspended or has closed its account, and brings commissions and
 * tiers of those who referred them in line, each referrer in a transaction of its own. Any number of processes may do
 * so.
 * @returns how many referrals ended
 */
export async function churnReferrals(database: Database, services: ChurnServices): Promise<number> {
  const referrers = await database.asNobody((em) =>
    em.execute<{ account_id: Uuid; agent_id: Uuid }[]>(`select * from agents.referrers_to_look_at(?)`, [IDLE_DAYS]),
  );
  let churned = 0;
  for (const { account_id: accountId, agent_id: agentId } of referrers) {
    churned += await database.asTenant(wholeAccount({ accountId, environment: 'live' }), async (em) => {
      const gone = await em.execute<{ referred_id: Uuid }[]>(`select * from agents.churn_referrals(?::uuid, ?)`, [
        agentId,
        IDLE_DAYS,
      ]);
      if (gone.length > 0) {
        // In the order of the relay: referrals, account, ledger.
        await lockAccount(em, accountId);
        await services.ended(
          em,
          { accountId, agentId },
          gone.map(({ referred_id: referred }) => referred),
        );
        await settleTier(em, services, { accountId, agentId });
      }
      return gone.length;
    });
  }
  return churned;
}
