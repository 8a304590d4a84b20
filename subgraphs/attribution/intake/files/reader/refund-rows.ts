import { createHash } from 'node:crypto';
import type { RowForm } from './record-layout.ts';
import { NOT_TEXT, type RowCells } from './record-reader.ts';
import { limitExceeded } from './refused-file.ts';
import { Located, type CellSource } from './row-cells.ts';
import { PLAIN_BYTES, WrittenNumber, type DecimalSign } from './styles/number-style.ts';

/** Of one file: an id and what was paid back take about 150 bytes. */
const MOST_ORDERS = 200_000;
/** Longer ids are kept by their digest. */
const LONGEST_KEPT = 64;

/** What rows of their own take off an order, in one currency. */
interface PaidBack {
  readonly currency: string;
  /** Below 0, in the unit of the amounts. */
  amount: bigint;
  isOrdered: boolean;
}

/** What became of rows with an order id and a negative amount. */
export interface RefundCounts {
  /** Accepted, and taken off an order of the file. */
  readonly takenOff: number;
  /** Stored as they are: the file has no order of their id. */
  readonly alone: number;
  /** Of exports whose refunds mean nothing without their order, which the file does not have. */
  readonly leftOut: number;
}

const NOTHING_YET: readonly PaidBack[] = [];

/**
 * Refunds that a file has as rows of their own: the same order id again with a negative amount. They are taken off the
 * order, and only where the file has it. Files are not sorted, so that all of it is looked at before a row is taken:
 * once for the ids concerned, once for the sums.
 */
export class RefundRows {
  readonly #paidBack = new Map<string, readonly PaidBack[]>();
  readonly #located = new Located();
  readonly #number = new WrittenNumber();
  readonly #plain = Buffer.alloc(PLAIN_BYTES);
  /** The sums are being taken. */
  isCollecting = false;
  readonly counts: { -readonly [Fate in keyof RefundCounts]: number } = { takenOff: 0, alone: 0, leftOut: 0 };

  get isEmpty(): boolean {
    return this.#paidBack.size === 0;
  }

  /**
   * Keeps the order id of a row that is negative, whichever sign stands before its decimals.
   * @throws RefusedFileError `file_limit_exceeded`
   */
  look({ columns, when }: RowForm, cells: RowCells): void {
    const order = columns.get('order_id');
    if (order === undefined || !this.#mayBeNegative(columns.get('revenue'), columns.get('refunded'), cells)) return;
    if (when?.(cells) === false) return;
    const { data, start, end } = this.#located.at(order, cells);
    if (end <= start) return;
    const id = Buffer.from(data.buffer, data.byteOffset + start, end - start).toString('latin1');
    const key = orderKey(id);
    if (this.#paidBack.has(key)) return;
    if (this.#paidBack.size === MOST_ORDERS)
      throw limitExceeded('its rows with negative amounts are of too many orders', `${MOST_ORDERS} in a file`);
    this.#paidBack.set(key, NOTHING_YET);
  }

  /** Of a row that can be taken. */
  tell(id: string, currency: string, amount: number | bigint): void {
    if (amount === 0) return;
    const key = orderKey(id);
    const known = this.#paidBack.get(key);
    if (known === undefined) return;
    let paid = known.find((each) => each.currency === currency);
    if (paid === undefined) this.#paidBack.set(key, [...known, (paid = { currency, amount: 0n, isOrdered: false })]);
    if (amount < 0) paid.amount += BigInt(amount);
    else paid.isOrdered = true;
  }

  /** What is taken off an order of the file, below 0; 0 for all others. */
  takenOff(id: string, currency: string): bigint {
    if (this.#paidBack.size === 0 || id === '') return 0n;
    const paid = this.#paidBack.get(orderKey(id))?.find((each) => each.currency === currency);
    return paid?.isOrdered === true ? paid.amount : 0n;
  }

  #mayBeNegative(revenue: CellSource | undefined, refunded: CellSource | undefined, cells: RowCells): boolean {
    const back = this.#read(refunded, cells);
    const isNegative = back.point !== 0 || back.comma !== 0;
    const paid = this.#read(revenue, cells);
    if (!isNegative) return paid.point < 0 || paid.comma < 0;
    return paid.point - Math.abs(back.point) < 0 || paid.comma - Math.abs(back.comma) < 0;
  }

  #read(source: CellSource | undefined, cells: RowCells): Readonly<Record<DecimalSign, number>> {
    if (source === undefined) return ZERO;
    const { data, start, end } = this.#located.at(source, cells);
    if (end === NOT_TEXT || end <= start) return ZERO;
    const trait = this.#number.take(data, start, end);
    if (trait === 'empty' || trait === 'unreadable') return ZERO;
    return { point: this.#amount('point'), comma: this.#amount('comma') };
  }

  #amount(decimal: DecimalSign): number {
    const length = this.#number.writePlain(decimal, this.#plain);
    const amount = length > 0 ? Number(this.#plain.toString('latin1', 0, length)) : 0;
    return Number.isFinite(amount) ? amount : 0;
  }
}

const ZERO = { point: 0, comma: 0 } as const;

/** Of an order, to be kept. @param id a character for each byte */
export const orderKey = (id: string): string =>
  id.length > LONGEST_KEPT ? createHash('sha256').update(id, 'latin1').digest('hex') : id;
