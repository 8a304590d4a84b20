import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import type { RowForm } from './record-layout.ts';
import { NOT_TEXT, type RowCells } from './record-reader.ts';
import { Located, type CellSource } from './row-cells.ts';
import { PLAIN_BYTES, WrittenNumber, type DecimalSign } from './styles/number-style.ts';

/** What rows in one currency are worth. */
export interface CurrencySum {
  /** ISO 4217. */
  readonly currency: string;
  readonly rows: number;
  readonly amount: number;
}

interface Summed {
  readonly form: RowForm;
  readonly currency: CellSource;
  readonly amount: CellSource;
  readonly refunded: CellSource | undefined;
}

const MOST_CURRENCIES = 200;
const CODE_LENGTH = 3;
const CODE = /^[A-Z]{3}$/;
const AMOUNTS = ['revenue', 'spend'] as const satisfies readonly CanonicalColumn[];

/** Adds up what rows are worth by the currency that each names. */
export class CurrencySums {
  readonly #forms: readonly Summed[];
  readonly #sums = new Map<string, { rows: number; point: number; comma: number }>();
  readonly #located = new Located();
  readonly #number = new WrittenNumber();
  readonly #plain = Buffer.alloc(PLAIN_BYTES);

  constructor(forms: readonly RowForm[]) {
    this.#forms = forms.flatMap((form) => {
      const currency = form.columns.get('currency');
      const amount = AMOUNTS.map((column) => form.columns.get(column)).find((source) => source !== undefined);
      return currency === undefined || amount === undefined
        ? []
        : [{ form, currency, amount, refunded: form.columns.get('refunded') }];
    });
  }

  add(cells: RowCells): void {
    for (const { form, currency, amount, refunded } of this.#forms) {
      if (form.when?.(cells) === false) continue;
      const code = this.#codeAt(currency, cells);
      if (code === null) continue;
      const sum = this.#sumOf(code);
      if (sum === undefined) continue;
      const { data, start, end } = this.#located.at(amount, cells);
      if (end === NOT_TEXT || this.#number.take(data, start, end) === 'unreadable') continue;
      sum.rows += 1;
      sum.point += this.#amount('point');
      sum.comma += this.#amount('comma');
      this.#takeOff(sum, refunded, cells);
    }
  }

  /** The largest first. */
  read(decimal: DecimalSign): CurrencySum[] {
    return [...this.#sums]
      .map(([currency, sum]) => ({ currency, rows: sum.rows, amount: sum[decimal] }))
      .toSorted((a, b) => b.amount - a.amount);
  }

  /** A refund lowers its order; exports write it with either sign. */
  #takeOff(sum: { point: number; comma: number }, refunded: CellSource | undefined, cells: RowCells): void {
    if (refunded === undefined) return;
    const { data, start, end } = this.#located.at(refunded, cells);
    if (end === NOT_TEXT || this.#number.take(data, start, end) === 'unreadable') return;
    sum.point -= Math.abs(this.#amount('point'));
    sum.comma -= Math.abs(this.#amount('comma'));
  }

  #codeAt(source: CellSource, cells: RowCells): string | null {
    const { data, start, end } = this.#located.at(source, cells);
    if (end - start !== CODE_LENGTH) return null;
    const code = String.fromCharCode(data[start]!, data[start + 1]!, data[start + 2]!).toUpperCase();
    return CODE.test(code) ? code : null;
  }

  #sumOf(code: string): { rows: number; point: number; comma: number } | undefined {
    const known = this.#sums.get(code);
    if (known !== undefined || this.#sums.size >= MOST_CURRENCIES) return known;
    const sum = { rows: 0, point: 0, comma: 0 };
    this.#sums.set(code, sum);
    return sum;
  }

  #amount(decimal: DecimalSign): number {
    const length = this.#number.writePlain(decimal, this.#plain);
    const amount = length > 0 ? Number(this.#plain.toString('latin1', 0, length)) : 0;
    return Number.isFinite(amount) ? amount : 0;
  }
}
