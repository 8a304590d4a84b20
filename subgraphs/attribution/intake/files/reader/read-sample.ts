import type { WrittenRates } from './currency-rates.ts';
import type { RowForm } from './record-layout.ts';
import type { RowCells } from './record-reader.ts';
import type { RecordShape } from './record-tables.ts';
import { textAt } from './row-tests.ts';
import { SampledRates } from './sampled-rates.ts';
import { SampledRefunds, type RefundsLookedAt } from './sampled-refunds.ts';

/** Rows that are shown as they stand and as they are read. */
const SHOWN_ROWS = 20;
/** Ids that are looked for among those that are stored. */
const KEPT_IDS = 2_000;
/** Of them, as they are written in the statement that looks for them. */
const KEPT_ID_BYTES = 200_000;
/** Order ids that are known again further down. */
const KEPT_ORDERS = 200_000;
const LONGEST_SHOWN = 200;
/** Of all rows that are shown, with the names of their columns. */
const SHOWN_CHARACTERS = 256 * 1024;

/** What a look at a file shows of it, before anything is stored. */
export interface SampledRows {
  readonly rows: readonly {
    readonly line: number;
    readonly raw: Readonly<Record<string, string>>;
    readonly read: Readonly<Record<string, string>>;
  }[];
  /** Of the rows of the file, the first users that are unlike. */
  readonly userIds: readonly string[];
  /** The users of the first orders, one for each. */
  readonly buyers: readonly string[];
  /** Rows whose order id stood in an earlier one, as far as ids are kept. */
  readonly repeatedOrders: number;
  readonly refunds: RefundsLookedAt;
  /** Of a file of rates. */
  readonly rates: WrittenRates;
}

/** Collects the first rows of a file, and the ids by which it may belong to what is stored. */
export class ReadSample {
  readonly #shape: RecordShape;
  readonly #header: readonly string[];
  readonly #rows: SampledRows['rows'][number][] = [];
  readonly #userIds = new Set<string>();
  readonly #buyers: string[] = [];
  readonly #orders = new Set<string>();
  readonly #refunds = new SampledRefunds();
  readonly #rates: SampledRates;
  /** Orders among the rows that are shown: what later rows take off them is to be told. */
  readonly #shownOrders: { readonly key: string; readonly refunded: number; readonly read: Record<string, string> }[] =
    [];
  #repeatedOrders = 0;
  #idBytesLeft = KEPT_ID_BYTES;
  #charactersLeft = SHOWN_CHARACTERS;

  constructor(shape: RecordShape, header: readonly string[]) {
    this.#shape = shape;
    this.#header = header;
    this.#rates = new SampledRates(shape);
  }

  /** Takes the row that has just been read, in this form. */
  take(cells: RowCells, line: number, { columns }: RowForm): void {
    const user = this.#shape.cells.find(({ column }) => column === 'user_id')?.cell.shown() ?? '';
    if (user !== '') this.#keep(user);
    const { order, exchange } = this.#shape;
    const table = this.#shape.tableOf().name;
    const isOrder = table === 'conversions';
    if (table === 'fx') this.#rates.take();
    if (isOrder) this.#lookForRepetition();
    if (table === 'refunds' && order !== null) this.#refunds.add(order, exchange?.own(order.amount()) ?? 0);
    if (isOrder && this.#userIds.has(user) && this.#buyers.length < KEPT_IDS) this.#buyers.push(user);
    if (this.#rows.length === SHOWN_ROWS || this.#charactersLeft <= 0) return;
    const raw = Object.fromEntries(
      this.#header.flatMap((name, place) => {
        if (this.#charactersLeft <= 0) return [];
        const text = textAt(cells, place).slice(0, LONGEST_SHOWN).toWellFormed();
        this.#charactersLeft -= name.length + text.length;
        return [[name, text]];
      }),
    );
    const read: Record<string, string> = Object.fromEntries(
      this.#shape.cells.flatMap(({ column, cell }) => {
        const shown = columns.has(column) ? cell.shown() : '';
        return shown === '' ? [] : [[column, shown.slice(0, LONGEST_SHOWN).toWellFormed()]];
      }),
    );
    const summed = order?.summedAmount() ?? null;
    if (summed !== null) {
      read['revenue'] = String(summed);
      delete read['refunded'];
    }
    this.#rows.push({ line, raw, read });
    const key = isOrder ? (order?.keyInCurrency ?? null) : null;
    if (key !== null && order !== null)
      this.#shownOrders.push({ key, refunded: summed === null ? order.refundedOfRow() : 0, read });
  }

  #lookForRepetition(): void {
    const key = this.#shape.order?.key ?? null;
    if (key === null) return;
    if (this.#orders.has(key)) this.#repeatedOrders += 1;
    else if (this.#orders.size < KEPT_ORDERS) this.#orders.add(key);
  }

  #keep(user: string): void {
    if (this.#userIds.size === KEPT_IDS || this.#userIds.has(user)) return;
    // Quotes and backslashes are written with up to three more.
    const bytes = Buffer.byteLength(user) * (/['\\]/.test(user) ? 4 : 1) + 3;
    if (bytes > this.#idBytesLeft) return;
    this.#idBytesLeft -= bytes;
    this.#userIds.add(user);
  }

  shown(): SampledRows {
    for (const { key, refunded, read } of this.#shownOrders) {
      const back = this.#refunds.of(key);
      if (back > 0) read['refunded'] = String(refunded + back);
    }
    return {
      rows: this.#rows,
      userIds: [...this.#userIds],
      buyers: this.#buyers,
      repeatedOrders: this.#repeatedOrders,
      refunds: this.#refunds.told((order) => this.#orders.has(order)),
      rates: this.#rates.written(),
    };
  }
}
