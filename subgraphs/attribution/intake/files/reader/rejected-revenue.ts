import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import type { RecordLayout } from './record-layout.ts';
import type { RowCells } from './record-reader.ts';
import type { Styles } from './record-tables.ts';
import type { Located, CellSource } from './row-cells.ts';
import { PLAIN_BYTES, WrittenNumber } from './styles/number-style.ts';

/** What rejected orders were worth, as far as their amounts can be read. */
export class RejectedRevenue {
  sum = 0;
  /** Orders whose amount cannot be read. */
  unpriced = 0;
  readonly #isOrders: boolean;
  readonly #source: CellSource | undefined;
  readonly #currency: CellSource | undefined;
  readonly #own: () => string | null;
  readonly #decimal: 'point' | 'comma';
  readonly #number = new WrittenNumber();
  readonly #plain = Buffer.alloc(PLAIN_BYTES);

  constructor(layout: RecordLayout, styles: Styles, own: () => string | null) {
    const column = 'revenue' satisfies CanonicalColumn;
    const columns = layout.forms.map((form) => form.columns).find((each) => each.has(column));
    this.#source = columns?.get(column);
    this.#currency = columns?.get('currency');
    this.#own = own;
    this.#decimal = styles.decimalOf(column) ?? 'point';
    this.#isOrders = layout.kind === 'conversions';
  }

  add(cells: RowCells, located: Located): void {
    if (this.#source === undefined) return;
    const isForeign = this.#isForeign(cells, located);
    const { data, start, end } = located.at(this.#source, cells);
    if (end <= start || isForeign) {
      if (this.#isOrders || end > start) this.unpriced += 1;
      return;
    }
    this.#number.take(data, start, end);
    const other = this.#decimal === 'point' ? 'comma' : 'point';
    for (const decimal of [this.#decimal, other] as const) {
      const length = this.#number.writePlain(decimal, this.#plain);
      const amount = length > 0 ? Number(this.#plain.toString('latin1', 0, length)) : Number.NaN;
      if (!Number.isFinite(amount)) continue;
      this.sum += amount;
      return;
    }
    this.unpriced += 1;
  }

  /** What it is worth in the currency of the source hangs on its day, which may be what is wrong with the row. */
  #isForeign(cells: RowCells, located: Located): boolean {
    if (this.#currency === undefined) return false;
    const { data, start, end } = located.at(this.#currency, cells);
    if (end <= start) return false;
    return Buffer.from(data.subarray(start, end)).toString('latin1').trim().toUpperCase() !== this.#own();
  }
}
