import type { CurrencyCell, NumberCell, TextCell } from './cells.ts';
import { MAX_AMOUNT } from './decimals.ts';
import { orderKey, type RefundRows } from './refund-rows.ts';

/** Of revenue, in the columns that keep it. */
export const REVENUE_DECIMALS = 4;
const UNIT = 10 ** REVENUE_DECIMALS;

interface OrderCells {
  readonly order_id: TextCell;
  readonly revenue: NumberCell;
  readonly refunded: NumberCell;
  readonly currency: CurrencyCell;
}

/** What an order is worth after its refunds, those of its own row and those of other rows of its file. */
export class OrderMoney {
  readonly #cells: OrderCells;
  readonly #refunds: RefundRows;

  constructor(cells: OrderCells, refunds: RefundRows) {
    this.#cells = cells;
    this.#refunds = refunds;
  }

  /** The row as it stands is worth less than nothing. */
  get isNegative(): boolean {
    return !this.#cells.order_id.isEmpty && this.#row() < 0;
  }

  /** What tells it from other orders; null where it has no id, or stands in the row of its order. */
  get storedKey(): string | null {
    const { order_id: id } = this.#cells;
    return id.isEmpty || this.isTakenOff ? null : orderKey(id.latin1());
  }

  /** It is a refund that stands in the row of its order. */
  get isTakenOff(): boolean {
    return !this.#refunds.isEmpty && this.#row() < 0 && this.#back() < 0n;
  }

  /** Its refunds as people read them, where rows of their own are among them; else null. */
  get refundedElsewhere(): number | null {
    const row = this.#row();
    if (this.#refunds.isEmpty || row <= 0 || this.#back() === 0n) return null;
    return Number(BigInt(this.#cells.revenue.value) - BigInt(this.amount())) / UNIT;
  }

  /** In the unit of the column, in the currency of the row. */
  amount(): number | bigint {
    const row = this.#row();
    if (this.#refunds.isEmpty || row <= 0) return row;
    const back = this.#back();
    return back === 0n ? row : BigInt(row) + back;
  }

  isOutOfRange(): boolean {
    return Number(this.amount()) < -MAX_AMOUNT * UNIT;
  }

  /** Tells the refunds of the file of the row. */
  tell(): void {
    const { order_id: id } = this.#cells;
    if (!id.isEmpty) this.#refunds.tell(id.latin1(), this.#currency(), this.#row());
  }

  #back(): bigint {
    return this.#refunds.isCollecting ? 0n : this.#refunds.takenOff(this.#cells.order_id.latin1(), this.#currency());
  }

  #row(): number | bigint {
    return lessRefund(this.#cells.revenue.value, this.#cells.refunded.value);
  }

  /** Empty for that of the source. */
  #currency(): string {
    return this.#cells.currency.foreign ?? '';
  }
}

/** A refund lowers its order; exports write it with either sign. */
function lessRefund(revenue: number | bigint, refunded: number | bigint): number | bigint {
  if (refunded === 0) return revenue;
  if (typeof revenue === 'number' && typeof refunded === 'number') return revenue - Math.abs(refunded);
  const [paid, back] = [BigInt(revenue), BigInt(refunded)];
  return back < 0n ? paid + back : paid - back;
}
