import { FEE_FLOOR_CENTS } from '../../../schema/platform-fee.ts';
import type { Environment } from '../../../schema/principal.ts';
import { ProblemError } from '../../../schema/problems.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { planIn } from '../../../services/identity/accounts/account-store.ts';
import { feeOn } from '../fees/fee.ts';
import { USUAL_CURRENCY } from '../ledger/ledger.ts';
import { lockSpendLimit, spentThisMonth } from './spend-limit.ts';

/** An analysis that is about to be accepted. */
export interface WantedAnalysis {
  readonly accountId: Uuid;
  readonly environment: Environment;
  /** Of its source; null where it is not known yet. */
  readonly currency: string | null;
}

/**
 * Refuses an analysis whose least fee would pass what the account wants to spend this month, in the transaction that
 * would accept it. What others have under way counts with its least fee, and what is about to be charged with what its
 * event says, so that of many that are asked for at once only as many are accepted as there is room for.
 * @throws ProblemError `spend_limit_exceeded`
 */
export async function refuseBeyondLimit(
  em: SqlEntityManager,
  { accountId, environment, currency }: WantedAnalysis,
): Promise<void> {
  const limit = await lockSpendLimit(em, environment);
  if (limit?.action !== 'block') return;
  const isLive = environment === 'live';
  if (isLive && feeOn(await planIn(em, accountId), 0n) === 0n) return;
  const committed = isLive ? await committedCents(em, currency ?? USUAL_CURRENCY) : 0n;
  if (committed + FEE_FLOOR_CENTS <= limit.monthlyLimitCents) return;
  throw new ProblemError(
    'spend_limit_exceeded',
    `This month's limit of ${limit.monthlyLimitCents} cents is reached: ${committed} are spent or about to be, and ` +
      `an analysis costs ${FEE_FLOOR_CENTS} at least. Raise it with POST /billing/spend-limit, or wait for the next ` +
      'month.',
    { code: 'monthly_limit' },
  );
}

/** What has been charged, is about to be, and will be at least. */
async function committedCents(em: SqlEntityManager, currency: string): Promise<bigint> {
  const [row] = await em.execute<[{ announced: string; waiting: string }]>(
    `select billing.about_to_be_charged(?) as announced, billing.analyses_under_way() as waiting`,
    [currency],
  );
  return (await spentThisMonth(em, currency)) + BigInt(row.announced) + BigInt(row.waiting) * FEE_FLOOR_CENTS;
}
