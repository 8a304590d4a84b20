import { ProblemError } from '../../../schema/problems.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { refuseBeyondLimit, type WantedAnalysis } from '../spend-limits/spend-gate.ts';

/**
 * Refuses an analysis of an account whose plan is past due, and one that would pass what it wants to spend, in the
 * transaction that would accept it.
 * @throws ProblemError `payment_required`, `spend_limit_exceeded`
 */
export async function refuseUnpayable(em: SqlEntityManager, wanted: WantedAnalysis): Promise<void> {
  if (wanted.environment === 'live') {
    const [plan] = await em.execute<[{ late: boolean }]>('select billing.plan_is_past_due() as late');
    if (plan.late)
      throw new ProblemError(
        'payment_required',
        'The plan of this account is past due: an invoice waits to be paid, see GET /billing/invoices.',
        { code: 'past_due' },
      );
  }
  await refuseBeyondLimit(em, wanted);
}
