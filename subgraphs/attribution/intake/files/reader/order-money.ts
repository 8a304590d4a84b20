import { createHash } from 'node:crypto';
import type { CurrencyCell, KnownNumberCell, NumberCell, TextCell } from './cells.ts';
import { MAX_AMOUNT } from './decimals.ts';
import type { OrderLines } from './order-lines.ts';
import type { SeenIds } from './seen-ids.ts';

/** Of revenue, in the columns that keep it. */
export const REVENUE_DECIMALS = 4;
const UNIT = 10 ** REVENUE_DECIMALS;
/** Longer ids are kept by their digest. */
const LONGEST_KEPT = 64;

interface OrderCells {
  readonly order_id: TextCell;
  readonly revenue: NumberCell;
  readonly refunded: NumberCell;
  readonly currency: CurrencyCell;
  readonly cogs: KnownNumberCell;
}

/** What an order, or what was paid back of one, is worth by the row that has been read. */
export class OrderMoney {
  readonly #cells: OrderCells;
  /** Refunds of the form that is read say nothing without their order. */
  needsOrder = false;

  /** Where rows are lines of their orders; else null. */
  readonly #lines: OrderLines | null;

  constructor(cells: OrderCells, lines: OrderLines | null) {
    this.#cells = cells;
    this.#lines = lines;
  }

  /** A row of its own for what was paid back: less than nothing, of an order that has an id. */
  get isRefund(): boolean {
    return !this.#cells.order_id.isEmpty && this.amount() < 0;
  }

  /** What tells the order from others; null where it has no id. */
  get key(): string | null {
    const { order_id: id } = this.#cells;
    return id.isEmpty ? null : orderKey(id.latin1());
  }

  /** Whether an order of its id was there before, not counting what was paid back. */
  isSeen(orders: SeenIds): boolean {
    return !this.isRefund && this.#cells.order_id.isAddedAgain(orders);
  }

  /** Another currency than the source's; null for that. */
  get foreign(): string | null {
    return this.#cells.currency.foreign;
  }

  /** What its own row takes off it, as people read it. */
  refundedOfRow(): number {
    return Math.abs(Number(this.#cells.refunded.value)) / UNIT;
  }

  isOutOfRange(): boolean {
    return Math.abs(Number(this.amount())) > MAX_AMOUNT * UNIT;
  }

  /** In the unit of the column, in the currency of the row. A refund lowers its order; exports write either sign. */
  amount(): number | bigint {
    return this.#summed()?.amount ?? this.#ofRow();
  }

  /** Of all lines of the order, as people read it; null where rows are no lines. */
  summedAmount(): number | null {
    const sum = this.#summed();
    return sum === null ? null : Number(sum.amount) / UNIT;
  }

  /** Cost of the goods, in the same; null where it is not known. */
  cogs(): number | bigint | null {
    const sum = this.#summed();
    return sum === null ? this.#cogsOfRow() : sum.cogs;
  }

  /** Tells what the row adds to its order. */
  tellLine(): void {
    const line = this.keyInCurrency;
    if (line !== null) this.#lines?.tell(line, this.#ofRow(), this.#cogsOfRow());
  }

  /** Whether the row stands for its order, whose other rows are lines of it. */
  takesLine(): boolean {
    const line = this.keyInCurrency;
    return line === null || this.#lines === null || this.#lines.takes(line);
  }

  /** What tells it from others in the same currency. */
  get keyInCurrency(): string | null {
    const { key } = this;
    return key === null ? null : `${this.foreign ?? ''} ${key}`;
  }

  #summed(): ReturnType<OrderLines['of']> {
    const line = this.#lines === null ? null : this.keyInCurrency;
    return line === null ? null : this.#lines!.of(line);
  }

  #cogsOfRow(): number | bigint | null {
    return this.#cells.cogs.isEmpty ? null : this.#cells.cogs.value;
  }

  #ofRow(): number | bigint {
    const [revenue, refunded] = [this.#cells.revenue.value, this.#cells.refunded.value];
    if (refunded === 0) return revenue;
    if (typeof revenue === 'number' && typeof refunded === 'number') return revenue - Math.abs(refunded);
    const [paid, back] = [BigInt(revenue), BigInt(refunded)];
    return back < 0n ? paid + back : paid - back;
  }
}

/** Of an order, to be kept. @param id a character for each byte */
const orderKey = (id: string): string =>
  id.length > LONGEST_KEPT ? createHash('sha256').update(id, 'latin1').digest('hex') : id;
