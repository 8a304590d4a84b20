import { CurrencyCell, type TimeCell } from './cells.ts';
import type { CurrencySum } from './currency-sums.ts';
import { rateOn, type ExchangeRates } from './currency-rates.ts';
import { MAX_AMOUNT } from './decimals.ts';

/** What rows in one currency came to in that of the source. */
export interface ConvertedSum extends CurrencySum {
  /** In the currency of the source. */
  readonly worth: number;
}

/** What a row is worth as it stands in the file, times `unit`. */
export interface Money {
  readonly amount: number | bigint;
  readonly unit: number;
}

export type MoneyFault = 'no_rate' | 'amount_out_of_range';

interface ExchangeOptions {
  readonly currency: string | null;
  readonly unnamed: string | null;
  readonly rates: ExchangeRates;
}

/** Amounts of a row in the currency of the source, by the rate of its day. */
export class Exchange {
  readonly currency: CurrencyCell;
  readonly #rates: ExchangeRates;
  readonly #time: TimeCell;
  readonly #money: () => Money;
  readonly #beside: () => number | bigint;
  readonly #sums = new Map<string, { rows: number; amount: number; worth: number }>();

  /**
   * @param money of the row that has been read
   * @param beside another amount of that row, which is converted with it and counted nowhere
   */
  constructor(
    { currency, unnamed, rates }: ExchangeOptions,
    time: TimeCell,
    money: () => Money,
    beside: () => number | bigint = () => 0,
  ) {
    this.currency = new CurrencyCell(currency, unnamed, (code) => Object.hasOwn(rates, code));
    this.#rates = rates;
    this.#time = time;
    this.#money = money;
    this.#beside = beside;
  }

  /** Of the row that has been read; what is worth nothing needs no rate. */
  fault(): { readonly column: 'currency'; readonly code: MoneyFault } | null {
    if (this.currency.foreign === null) return null;
    const { amount, unit } = this.#money();
    const largest = Math.max(Math.abs(Number(amount)), Math.abs(Number(this.#beside())));
    if (largest === 0) return null;
    const rate = this.#rate();
    if (rate === null) return { column: 'currency', code: 'no_rate' };
    return largest * rate > MAX_AMOUNT * unit ? { column: 'currency', code: 'amount_out_of_range' } : null;
  }

  /** To the last decimal that the column keeps. */
  own(amount: number | bigint): number | bigint {
    return this.currency.foreign === null ? amount : BigInt(Math.round(Number(amount) * (this.#rate() ?? 0)));
  }

  /** The row that has been read was taken. */
  count(): void {
    const { foreign } = this.currency;
    if (foreign === null) return;
    const { amount, unit } = this.#money();
    const sum = this.#sums.get(foreign) ?? { rows: 0, amount: 0, worth: 0 };
    this.#sums.set(foreign, sum);
    sum.rows += 1;
    sum.amount += Number(amount) / unit;
    sum.worth += Number(this.own(amount)) / unit;
  }

  /** What was converted, by currency; the largest first. */
  converted(): ConvertedSum[] {
    return [...this.#sums]
      .map(([currency, sum]) => ({ currency, ...sum }))
      .toSorted((a, b) => b.worth - a.worth || (a.currency < b.currency ? -1 : 1));
  }

  #rate(): number | null {
    const { foreign } = this.currency;
    return foreign === null ? 1 : rateOn(this.#rates, foreign, this.#time.ms);
  }
}
