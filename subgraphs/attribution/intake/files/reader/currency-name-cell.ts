import type { RejectCode } from '../rejects.ts';
import type { TextColumn } from './block-columns.ts';
import type { Cell } from './cells.ts';

const CODE = /^[A-Z]{3}$/;
const LONGEST = 16;

/** An ISO 4217 code that a row names whatever the source's own is; in upper case. */
export class CurrencyNameCell implements Cell {
  #code: Uint8Array = new Uint8Array(0);

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    if (start === end) return 'missing_value';
    const code =
      end - start > LONGEST ? '' : Buffer.from(data.subarray(start, end)).toString('latin1').trim().toUpperCase();
    if (!CODE.test(code)) return 'not_a_currency';
    this.#code = Buffer.from(code);
    return null;
  }

  shown(): string {
    return Buffer.from(this.#code).toString();
  }

  addTo(column: TextColumn): void {
    column.add(this.#code, 0, this.#code.length);
  }
}
