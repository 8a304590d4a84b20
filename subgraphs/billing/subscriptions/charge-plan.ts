import { newUuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { changePlan } from '../../../services/identity/accounts/account-store.ts';
import { post } from '../ledger/ledger.ts';
import { planNamed } from '../plans/plan.ts';
import type { Subscription } from './subscription-store.ts';

/** Puts the account on the plan of a subscription that begins or goes on, which the sandbox does to nobody. */
export async function begin(em: SqlEntityManager, subscription: Subscription): Promise<void> {
  const { environment, accountId, planId } = subscription;
  if (environment === 'sandbox') return;
  await changePlan(em, accountId, planId);
  await chargePlan(em, subscription);
}

/** Charges the period that a subscription is in, once, and posts what is owed for it. The sandbox costs nothing. */
export async function chargePlan(em: SqlEntityManager, subscription: Subscription): Promise<void> {
  const { id, environment, accountId, planId, amountCents, periodStart, periodEnd } = subscription;
  if (environment === 'sandbox' || periodStart === null || periodEnd === null || amountCents === 0n) return;
  const { currency } = planNamed(planId);
  const chargeId = newUuid();
  const charged = await em.execute<object[]>(
    `insert into billing.plan_charges (id, account_id, subscription_id, plan, currency, amount_cents, period_start,
       period_end) values (?, ?, ?, ?, ?, ?::bigint, ?, ?) on conflict do nothing returning id`,
    [
      chargeId,
      accountId,
      id,
      planId,
      currency,
      String(amountCents),
      periodStart.toISOString(),
      periodEnd.toISOString(),
    ],
  );
  if (charged.length === 0) return;
  const key = `plan:${chargeId}`;
  await post(em, accountId, { key, debit: 'receivable', credit: 'plan_fees', amountCents, currency });
}
