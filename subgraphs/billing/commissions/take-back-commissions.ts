import type { Uuid } from '../../../platform/identifiers.ts';
import { actingFor } from '../../../platform/postgres/acting-for.ts';
import { wholeAccount, type SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import { appendCommission, type Beneficiary } from './append-commission.ts';
import { COMMISSION_COLUMNS, commissionOf, type Commission, type CommissionRow } from './commission-entry.ts';

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
  for (const commission of rows.map(commissionOf)) await takeBack(em, pubSub, beneficiary, commission, false);
  return rows.length;
}

/**
 * Takes back what fees have earned that an account owes no more, of whomever; `em` acts for that account. What was paid
 * out already is deducted from what is paid next.
 * @param month of the fees, such as `2026-02`
 */
export async function takeBackOnFees(
  em: SqlEntityManager,
  pubSub: PubSub,
  { accountId, month, currency }: { readonly accountId: Uuid; readonly month: string; readonly currency: string },
): Promise<void> {
  const rows = await em.execute<(CommissionRow & { readonly account_id: Uuid; readonly is_paid: boolean })[]>(
    `select ${COMMISSION_COLUMNS}, c.account_id, c.is_paid from billing.commissions_on_fees(?::uuid, ?, ?) c
     order by c.account_id, c.sequence`,
    [accountId, month, currency],
  );
  for (const row of rows) {
    const beneficiary = { accountId: row.account_id, agentId: row.agent_id };
    await actingFor(em, wholeAccount({ accountId: row.account_id, environment: 'live' }), () =>
      takeBack(em, pubSub, beneficiary, commissionOf(row), row.is_paid),
    );
  }
}

/** What was paid is not reversed: an adjustment of its own is owed. */
async function takeBack(
  em: SqlEntityManager,
  pubSub: PubSub,
  beneficiary: Beneficiary,
  { id, sourceAgentId, analysisId, amountCents, currency, deltaRCents, rate }: Commission,
  isPaid: boolean,
): Promise<void> {
  await appendCommission(em, pubSub, beneficiary, {
    type: isPaid ? 'adjustment' : 'clawback',
    sourceAgentId,
    analysisId,
    amountCents: -amountCents,
    currency,
    deltaRCents: 0 - deltaRCents,
    rate,
    reverses: isPaid ? null : id,
    waitsDays: 0,
  });
}
