import type { z } from 'zod';
import type { billingUsage } from '../../../schema/contract/billing-usages.ts';
import { monthOf } from '../../../schema/period.ts';
import type { SqlEntityManager, TenantScope } from '../../../platform/postgres/database.ts';
import { chargingNow } from '../fees/charging-clock.ts';
import { feesOf, periodFigures, shownCents } from '../fees/period-figures.ts';
import { commissionsEarned, currenciesBeside } from './commissions-earned.ts';
import { remaining, spendLimitOf } from '../spend-limits/spend-limit.ts';

/** What the running month has cost so far, as far as whoever `em` acts for can see it. */
export async function currentUsage(
  em: SqlEntityManager,
  { environment, workspace }: TenantScope,
  wanted?: string,
): Promise<z.output<typeof billingUsage>> {
  const now = await chargingNow(em);
  const month = monthOf(now);
  const figures = await periodFigures(em, environment, month, wanted);
  const spent = feesOf(figures) + figures.planFeeCents;
  const earned = workspace === null ? await commissionsEarned(em, environment, month) : null;
  const limit = workspace === null ? await spendLimitOf(em, environment) : null;
  return {
    period: month.name,
    currency: figures.currency,
    otherCurrencies: currenciesBeside(figures, earned ?? new Map()),
    spendCents: shownCents(spent),
    spendLimitCents: limit === null ? null : shownCents(limit.monthlyLimitCents),
    remainingCents: limit === null ? null : shownCents(remaining(limit.monthlyLimitCents, spent)),
    deltaRCents: shownCents(figures.deltaRCents),
    commissionEarnedCents: earned === null ? null : Number(earned.get(figures.currency) ?? 0n),
    analysesCount: figures.analyses,
    projectedSpendCents: shownCents(projected(feesOf(figures), month, now) + figures.planFeeCents),
  };
}

const DAY_MS = 86_400_000;

/**
 * Fees of a whole month, if it goes on as it began: so far × length / what has passed, rounded half up. The first day
 * counts whole, since a few minutes say nothing of a month.
 */
export function projected(
  feesCents: bigint,
  { from, until }: { readonly from: Date; readonly until: Date },
  now: Date,
): bigint {
  const length = BigInt(until.getTime() - from.getTime());
  const passed = BigInt(Math.max(DAY_MS, now.getTime() - from.getTime()));
  return (2n * feesCents * length + passed) / (2n * passed);
}
