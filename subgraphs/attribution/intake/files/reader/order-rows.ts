import type { RecordLayout } from './record-layout.ts';
import { NOT_TEXT, type RowCells } from './record-reader.ts';
import { tellsLineAmount, tellsLines, tellsTotal } from './order-row-names.ts';
import type { Question } from './questions.ts';
import { Located, type CellSource } from './row-cells.ts';
import { DECIMAL_SIGNS, PLAIN_BYTES, WrittenNumber, type DecimalSign } from './styles/number-style.ts';

/** Of one file: what is known of an order takes about 250 bytes. The rest is judged by them. */
const MOST_ORDERS = 200_000;
/** Of so many orders in several rows, chance does not make all amounts of each alike. */
const ENOUGH_ALIKE = 5;
const ENOUGH_AMOUNTS = 3;
/** Share of the orders in several rows that have to agree. */
const MOSTLY = 0.8;
const SOME = 0.2;
/** In cents: what rounding leaves of a sum, for each line. */
const ROUNDING = 1.5;

/** What rows of one order are: its lines, to be added up, or each the order as a whole, of which the last counts. */
export type OrderRows = 'lines' | 'whole';

type Amounts = Readonly<Record<DecimalSign, number>>;
interface SeenOrder {
  rows: number;
  readonly first: Amounts;
  readonly sum: Record<DecimalSign, number>;
  readonly total: Amounts;
  areAlike: boolean;
  /** As it is written in its first row; empty for none. */
  readonly moment: string;
  /** Some row of it has another. */
  hasMoments: boolean;
}

/** Where the columns of a file of orders stand that tell what a row is; null for other files, and for exports. */
export interface OrderColumns {
  readonly order: CellSource;
  readonly revenue: CellSource;
  /** When it was placed; null where no column says so. */
  readonly moment: CellSource | null;
  readonly revenueName: string;
  /** A column names an article, a quantity and the like. */
  readonly hasLines: boolean;
  /** Place of another column with the total of the order; -1 for none. */
  readonly total: number;
}

export function orderColumnsOf({ kind, preset, header, forms }: RecordLayout): OrderColumns | null {
  const [form] = forms;
  const [order, revenue] = [form?.columns.get('order_id'), form?.columns.get('revenue')];
  if (kind !== 'conversions' || preset !== null || order === undefined || revenue === undefined) return null;
  const read = new Set([...form!.columns.values()].flatMap((source) => ('place' in source ? [source.place] : [])));
  const others = header.flatMap((name, place) => (read.has(place) ? [] : [{ name, place }]));
  const revenueName = 'place' in revenue ? header[revenue.place]! : '';
  return {
    order,
    revenue,
    moment: form?.columns.get('timestamp') ?? null,
    revenueName,
    hasLines: others.some(({ name }) => tellsLines(name)),
    total: others.find(({ name }) => tellsTotal(name))?.place ?? -1,
  };
}

/** Collects what the rows of each order say of one another. */
export class OrderRowsEvidence {
  readonly #columns: OrderColumns;
  readonly #orders = new Map<string, SeenOrder>();
  readonly #located = new Located();
  readonly #number = new WrittenNumber();
  readonly #plain = Buffer.alloc(PLAIN_BYTES);

  constructor(columns: OrderColumns) {
    this.#columns = columns;
  }

  add(cells: RowCells): void {
    const { order, revenue, total, moment } = this.#columns;
    const id = this.#text(order, cells);
    if (id === '') return;
    const amount = this.#amounts(revenue, cells);
    // What is paid back says nothing of how rows are to be read.
    if (amount === null || amount.point < 0) return;
    const known = this.#orders.get(id);
    if (known === undefined) {
      if (this.#orders.size === MOST_ORDERS) return;
      const whole = (total < 0 ? null : this.#amounts({ place: total }, cells)) ?? { point: -1, comma: -1 };
      const at = moment === null ? '' : this.#text(moment, cells);
      this.#orders.set(id, {
        rows: 1,
        first: amount,
        sum: { ...amount },
        total: whole,
        areAlike: true,
        moment: at,
        hasMoments: false,
      });
      return;
    }
    known.rows += 1;
    known.hasMoments ||= moment !== null && this.#text(moment, cells) !== known.moment;
    known.areAlike &&= amount.point === known.first.point && amount.comma === known.first.comma;
    for (const sign of DECIMAL_SIGNS) known.sum[sign] += amount[sign];
  }

  /** Null where it makes no difference; `open` where nothing tells. */
  found(decimal: DecimalSign): OrderRows | 'open' | null {
    const several = [...this.#orders.values()].filter(({ rows }) => rows > 1);
    if (several.length === 0) return null;
    const { hasLines, total, revenueName } = this.#columns;
    const meet = several.filter((order) => cents(order.sum[decimal] - order.total[decimal]) <= ROUNDING * order.rows);
    if (total >= 0 && meet.length >= MOSTLY * several.length) return 'lines';
    const repeat = several.filter((order) => order.areAlike && order.first[decimal] === order.total[decimal]);
    if (total >= 0 && repeat.length >= MOSTLY * several.length) return 'whole';
    const alike = several.filter(({ areAlike }) => areAlike);
    if (alike.length < several.length) {
      const isMixed = several.length - alike.length < SOME * several.length;
      if ((hasLines && !isMixed) || tellsLineAmount(revenueName)) return 'lines';
      // Lines of an order are of one moment. At another it is the order anew, and the last row is what became of it.
      const differing = several.filter(({ areAlike }) => !areAlike);
      const isAnew = differing.filter(({ hasMoments }) => hasMoments).length >= MOSTLY * differing.length;
      return isAnew && !hasLines ? null : 'open';
    }
    if (tellsLineAmount(revenueName)) return 'lines';
    // The same once more, which nothing is lost by.
    if (!hasLines) return null;
    if (tellsTotal(revenueName)) return 'whole';
    const amounts = new Set(alike.map(({ first }) => first.point));
    return alike.length >= ENOUGH_ALIKE && amounts.size >= ENOUGH_AMOUNTS ? 'whole' : 'open';
  }

  /** Empty for what is not written. */
  #text(source: CellSource, cells: RowCells): string {
    const { data, start, end } = this.#located.at(source, cells);
    if (end === NOT_TEXT || end <= start) return '';
    return Buffer.from(data.buffer, data.byteOffset + start, end - start).toString('latin1');
  }

  #amounts(source: CellSource, cells: RowCells): Amounts | null {
    const { data, start, end } = this.#located.at(source, cells);
    if (end === NOT_TEXT || end <= start) return null;
    const trait = this.#number.take(data, start, end);
    if (trait === 'empty' || trait === 'unreadable') return null;
    const read = (sign: DecimalSign): number => {
      const length = this.#number.writePlain(sign, this.#plain);
      const amount = length > 0 ? Number(this.#plain.toString('latin1', 0, length)) : 0;
      return Number.isFinite(amount) ? amount : 0;
    };
    return { point: read('point'), comma: read('comma') };
  }
}

const cents = (amount: number): number => Math.abs(amount) * 100;

export const orderRowsQuestion = (orderName: string, revenueName: string): Question => ({
  id: `rows:${orderName}`,
  column: revenueName,
  code: 'repeated_orders',
  message: `Several rows have one "${orderName}". What is "${revenueName}" in each of them?`,
  options: [
    { value: 'lines', label: 'the amount of a line of the order: add the rows up' },
    { value: 'whole', label: 'the amount of the whole order: the last row of an order counts' },
  ],
});
