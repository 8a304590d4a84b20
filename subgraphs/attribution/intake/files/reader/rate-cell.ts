import type { RejectCode } from '../rejects.ts';
import type { IntegerColumn } from './block-columns.ts';
import type { Cell } from './cells.ts';
import { PLAIN_BYTES, WrittenNumber, type DecimalSign } from './styles/number-style.ts';

/** Decimals that are kept of a rate: seven significant digits of the smallest that currencies have. */
export const RATE_DECIMALS = 11;
const MOST_RATE = 5_000_000;
/** How much one money is worth in another: above 0, at most {@link MOST_RATE}. */
export class RateCell implements Cell {
  readonly #decimal: DecimalSign;
  readonly #number = new WrittenNumber();
  readonly #plain = Buffer.alloc(PLAIN_BYTES);
  #value = 0n;

  /** @param decimal of its column; a point where nothing tells */
  constructor(decimal: DecimalSign | null) {
    this.#decimal = decimal ?? 'point';
  }

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    if (start === end) return 'missing_value';
    this.#number.take(data, start, end);
    const length = this.#number.writePlain(this.#decimal, this.#plain);
    if (length <= 0) return 'not_a_rate';
    const rate = Number(this.#plain.toString('latin1', 0, length));
    if (!(rate > 0 && rate <= MOST_RATE)) return 'not_a_rate';
    this.#value = BigInt(rate.toFixed(RATE_DECIMALS).replace('.', ''));
    return this.#value > 0n ? null : 'not_a_rate';
  }

  shown(): string {
    return String(Number(this.#value) / 10 ** RATE_DECIMALS);
  }

  addTo(column: IntegerColumn): void {
    column.add(this.#value);
  }
}
