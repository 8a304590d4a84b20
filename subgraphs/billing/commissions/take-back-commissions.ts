import type { Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import { appendCommission, type Beneficiary } from './append-commission.ts';
import { COMMISSION_COLUMNS, commissionOf, type CommissionRow } from './commission-entry.ts';

/**
 * Takes back what an agent has earned by referrals that have ended, as far as it is younger than the clawback window,
 * each by an entry of its own; `em` acts for the account of the beneficiary. What was taken back stays so.
 * @param sources the referred agents that are gone
 * @returns how many entries were taken back
 */
export async function takeBackCommissions(
  em: SqlEntityManager,
  pubSub: PubSub,
  beneficiary: Beneficiary,
  sources: readonly Uuid[],
): Promise<number> {
  const rows = await em.execute<CommissionRow[]>(
    `select ${COMMISSION_COLUMNS} from billing.commissions c
     where c.agent_id = ? and c.source_agent_id in (select value::uuid from jsonb_array_elements_text(?::jsonb))
       and c.type in ('l1_referral', 'l2_referral') and c.payable_at > auth.clock()
       and not exists (select from billing.commissions taken where taken.reverses = c.id)
     order by c.sequence`,
    [beneficiary.agentId, JSON.stringify(sources)],
  );
  for (const commission of rows.map(commissionOf)) {
    const { sourceAgentId, analysisId, amountCents, currency, deltaRCents, rate } = commission;
    await appendCommission(em, pubSub, beneficiary, {
      type: 'clawback',
      sourceAgentId,
      analysisId,
      amountCents: -amountCents,
      currency,
      deltaRCents: 0 - deltaRCents,
      rate,
      reverses: commission.id,
      waitsDays: 0,
    });
  }
  return rows.length;
}
