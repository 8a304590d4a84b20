import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from './source-key.ts';

/** Days that a rate holds for behind its own: over a weekend and a holiday, no longer. */
const RATE_HOLDS_DAYS = 7;
/** Of one source: some forty currencies over thirty years. The newest are read. */
const MAX_RATES = 500_000;
const READ_TIMEOUT_MS = 60_000;
const DAY_MS = 86_400_000;

/** The rates of one currency, by ascending days since 1970-01-01. As JSON they can be handed to another process. */
export interface CurrencyRates {
  readonly days: readonly number[];
  /** Units of the source's currency per unit of this one, on each of the days. */
  readonly rates: readonly number[];
}

/** By ISO 4217 code. */
export type ExchangeRates = Readonly<Record<string, CurrencyRates>>;

const Row = z.object({ currency: z.string(), days: z.array(z.number()), rates: z.array(z.number()) });

/** The rates that a source holds. */
export async function ratesOf(clickhouse: ClickHouse, key: SourceKey): Promise<ExchangeRates> {
  const rows = await clickhouse.rows(
    `SELECT currency, arrayMap(entry -> entry.1, entries) AS days, arrayMap(entry -> entry.2, entries) AS rates FROM (
      SELECT toString(currency) AS currency, arraySort(groupArray((toInt32(date), toFloat64(rate)))) AS entries FROM (
        SELECT currency, date, rate FROM fx FINAL WHERE ${OF_SOURCE} ORDER BY date DESC LIMIT ${MAX_RATES}
      ) GROUP BY currency
    )`,
    Row,
    { params: sourceParams(key), timeoutMs: READ_TIMEOUT_MS },
  );
  return Object.fromEntries(rows.map(({ currency, days, rates }) => [currency, { days, rates }]));
}

/**
 * What a unit of `currency` was worth in the source's on a day, by the latest rate of that day or the seven days before
 * it; null where there is none.
 * @param timeMs any moment of the UTC day, milliseconds since 1970
 */
export function rateOn(rates: ExchangeRates, currency: string, timeMs: number): number | null {
  if (!Object.hasOwn(rates, currency)) return null;
  const { days, rates: values } = rates[currency]!;
  const day = Math.floor(timeMs / DAY_MS);
  let [low, high] = [0, days.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (days[middle]! <= day) low = middle + 1;
    else high = middle;
  }
  const place = low - 1;
  return place >= 0 && day - days[place]! <= RATE_HOLDS_DAYS ? values[place]! : null;
}
