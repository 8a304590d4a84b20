import type { Environment } from '../../../schema/principal.ts';
import type { Period } from '../../../schema/period.ts';
import type { PeriodFigures } from '../fees/period-figures.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';

/** Commissions of the account in a period by currency, less what was taken back; a test key sees none. */
export async function commissionsEarned(
  em: SqlEntityManager,
  environment: Environment,
  { from, until }: Period,
): Promise<ReadonlyMap<string, bigint>> {
  if (environment === 'sandbox') return new Map();
  const bounds = [from, until].flatMap((bound) => Array(2).fill(bound?.toISOString() ?? null));
  const rows = await em.execute<{ currency: string; cents: string }[]>(
    `select currency, sum(amount_cents) as cents from billing.commissions
     where (?::timestamptz is null or created_at >= ?) and (?::timestamptz is null or created_at < ?)
     group by currency`,
    bounds,
  );
  return new Map(rows.map(({ currency, cents }) => [currency, BigInt(cents)]));
}

/** Currencies besides that of the figures in which something was charged or earned, in the order of the alphabet. */
export function currenciesBeside(
  { currency, otherCurrencies }: Pick<PeriodFigures, 'currency' | 'otherCurrencies'>,
  earned: ReadonlyMap<string, bigint>,
): string[] {
  return [...new Set([...otherCurrencies, ...earned.keys()])].filter((other) => other !== currency).toSorted();
}
