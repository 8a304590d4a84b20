import type { RejectCode } from '../rejects.ts';
import type { IntegerColumn } from './block-columns.ts';
import type { Cell } from './cells.ts';

/** Decimals that are kept of a rate: seven significant digits of the smallest that currencies have. */
export const RATE_DECIMALS = 11;
const MOST_RATE = 5_000_000;
const PLAIN = /^\d{1,7}(?:\.\d{0,40})?$|^\.\d{1,40}$|^\d(?:\.\d{0,40})?e-?\d{1,2}$/i;
const LONGEST = 64;

/** How much one money is worth in another: above 0, at most {@link MOST_RATE}. */
export class RateCell implements Cell {
  #value = 0n;

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    if (start === end) return 'missing_value';
    const text = end - start > LONGEST ? '' : Buffer.from(data.subarray(start, end)).toString('latin1').trim();
    if (!PLAIN.test(text)) return 'not_a_rate';
    const rate = Number(text);
    if (!(rate > 0 && rate <= MOST_RATE)) return 'not_a_rate';
    this.#value = BigInt(rate.toFixed(RATE_DECIMALS).replace('.', ''));
    return this.#value > 0n ? null : 'not_a_rate';
  }

  addTo(column: IntegerColumn): void {
    column.add(this.#value);
  }
}
