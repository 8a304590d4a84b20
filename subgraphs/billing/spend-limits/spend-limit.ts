import type { Environment } from '../../../schema/principal.ts';
import type { SPEND_LIMIT_ACTIONS } from '../../../schema/value-lists.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';

/** Thresholds are kept in whole parts of so many of the limit. */
export const WHOLE = 10_000;

/** What an account wants to spend in a month at most, in each currency. */
export interface SpendLimit {
  readonly monthlyLimitCents: bigint;
  readonly action: (typeof SPEND_LIMIT_ACTIONS)[number];
  /** In ten thousandths of the limit, the lowest first. */
  readonly alertThresholds: readonly number[];
}

interface Row {
  readonly cents: string;
  readonly action: SpendLimit['action'];
  readonly thresholds: number[];
}

/** The limit of the account and environment that `em` acts for; null for none. */
export async function spendLimitOf(em: SqlEntityManager, environment: Environment): Promise<SpendLimit | null> {
  return limitOf(em, environment, '');
}

/** The same, held to the end of the transaction: whoever compares with it does so one after the other. */
export async function lockSpendLimit(em: SqlEntityManager, environment: Environment): Promise<SpendLimit | null> {
  return limitOf(em, environment, 'for no key update');
}

async function limitOf(em: SqlEntityManager, environment: Environment, lock: string): Promise<SpendLimit | null> {
  const [row] = await em.execute<Row[]>(
    `select monthly_limit_cents as cents, action, to_json(alert_thresholds) as thresholds
     from billing.spend_limits where environment = ? ${lock}`,
    [environment],
  );
  if (row === undefined) return null;
  const { cents, action, thresholds } = row;
  return { monthlyLimitCents: BigInt(cents), action, alertThresholds: thresholds };
}

/** What a limit leaves to spend: never less than nothing. */
export function remaining(limitCents: bigint, spentCents: bigint): bigint {
  return limitCents > spentCents ? limitCents - spentCents : 0n;
}

/** What the account that `em` acts for has been charged in the running month, in all of its workspaces. */
export async function spentThisMonth(em: SqlEntityManager, currency: string): Promise<bigint> {
  const [row] = await em.execute<[{ spent: string }]>(`select billing.spent_this_month(?) as spent`, [currency]);
  return BigInt(row.spent);
}
