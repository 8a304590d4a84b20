import type { Environment } from '../../../schema/principal.ts';
import type { Period } from '../../../schema/period.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';

/** Commissions of the account in a period, less what was taken back; a test key sees none. */
export async function commissionsEarned(
  em: SqlEntityManager,
  environment: Environment,
  { from, until }: Period,
  currency: string,
): Promise<bigint> {
  if (environment === 'sandbox') return 0n;
  const bounds = [from, until].flatMap((bound) => Array(2).fill(bound?.toISOString() ?? null));
  const [row] = await em.execute<[{ cents: string }]>(
    `select coalesce(sum(amount_cents), 0) as cents from billing.commissions where currency = ?
       and (?::timestamptz is null or created_at >= ?) and (?::timestamptz is null or created_at < ?)`,
    [currency, ...bounds],
  );
  return BigInt(row.cents);
}
