import { TimeCell } from './cells.ts';
import type { WrittenRates } from './currency-rates.ts';
import type { RecordShape } from './record-tables.ts';

/** Of a file that is only looked at, for the files beside it: ten years of twenty currencies. */
const MOST_RATES = 100_000;

/** Rates of exchange of a file, as the store writes them. */
export class SampledRates {
  readonly #cells: readonly RecordShape['cells'][number]['cell'][];
  readonly #rates = new Map<string, Map<number, string>>();
  #count = 0;

  constructor({ cells }: RecordShape) {
    this.#cells = (['date', 'currency', 'rate'] as const).flatMap(
      (wanted) => cells.find(({ column }) => column === wanted)?.cell ?? [],
    );
  }

  /** Of the row that has been read. */
  take(): void {
    const [date, currency, rate] = this.#cells;
    if (!(date instanceof TimeCell) || currency === undefined || rate === undefined || this.#count === MOST_RATES)
      return;
    this.#count += 1;
    const ofCurrency = this.#rates.get(currency.shown()) ?? new Map<number, string>();
    this.#rates.set(currency.shown(), ofCurrency.set(date.day, rate.shown()));
  }

  written(): WrittenRates {
    return Object.fromEntries(
      [...this.#rates].map(([currency, rates]) => [
        currency,
        [...rates]
          .toSorted(([a], [b]) => a - b)
          .map(([day, rate]) => `${day} ${rate}`)
          .join(','),
      ]),
    );
  }
}
