/** Days that a rate holds for behind its own: tables are kept by day, month or quarter. */
export const RATE_HOLDS_DAYS = 92;
const DAY_MS = 86_400_000;

/** The rates of one currency, by ascending days since 1970-01-01. */
export interface CurrencyRates {
  readonly days: readonly number[];
  /** Units of the source's currency per unit of this one, on each of the days. */
  readonly rates: readonly number[];
}

/**
 * As the store writes them, by currency: `day rate`, parted by commas. Whoever passes them on need not look into them,
 * and half a million take next to none of its time.
 */
export type WrittenRates = Readonly<Record<string, string>>;

/** A currency's are read when they are asked for: files name a few of them. */
export function ratesIn(written: WrittenRates): ExchangeRates {
  const rates: Record<string, CurrencyRates> = {};
  for (const [currency, text] of Object.entries(written)) {
    let read: CurrencyRates | undefined;
    Object.defineProperty(rates, currency, { enumerable: true, get: () => (read ??= currencyRates(text)) });
  }
  return rates;
}

function currencyRates(text: string): CurrencyRates {
  const entries = text.split(',').map((entry) => entry.split(' ').map(Number));
  return { days: entries.map(([day]) => day!), rates: entries.map(([, rate]) => rate!) };
}

/** By ISO 4217 code. */
export type ExchangeRates = Readonly<Record<string, CurrencyRates>>;

/**
 * What a unit of `currency` was worth in the source's on a day, by the latest rate of that day or the 92 days before
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
