import { REVENUE_DECIMALS, type OrderMoney } from './order-money.ts';

/** Orders of which something was paid back, and that are known again. */
const KEPT_ORDERS = 200_000;
const UNIT = 10 ** REVENUE_DECIMALS;

/** Refunds of a file that is only looked at: it may hold their orders, and else the source may. */
export interface RefundsLookedAt {
  readonly ofFile: number;
  readonly ofOthers: number;
  /** What the latter come to, in the currency of the source, above 0. */
  readonly amountOfOthers: number;
}

interface PaidBack {
  rows: number;
  /** As people read them: in the currency of the row, and in that of the source. */
  written: number;
  own: number;
}

/** Adds up what rows of their own take off orders, by order and currency. */
export class SampledRefunds {
  readonly #paidBack = new Map<string, PaidBack>();

  /** @param own what it is worth in the currency of the source */
  add(order: OrderMoney, own: number | bigint): void {
    const key = order.keyInCurrency;
    if (key === null) return;
    const known = this.#paidBack.get(key) ?? { rows: 0, written: 0, own: 0 };
    if (known.rows === 0 && this.#paidBack.size === KEPT_ORDERS) return;
    known.rows += 1;
    known.written -= Number(order.amount()) / UNIT;
    known.own -= Number(own) / UNIT;
    this.#paidBack.set(key, known);
  }

  /** Of an order, in its currency; 0 where nothing was. @param key its `keyInCurrency` */
  of(key: string): number {
    return this.#paidBack.get(key)?.written ?? 0;
  }

  told(isOrder: (orderKey: string) => boolean): RefundsLookedAt {
    let [ofFile, ofOthers, amountOfOthers] = [0, 0, 0];
    for (const [key, { rows, own }] of this.#paidBack) {
      if (isOrder(key.slice(key.indexOf(' ') + 1))) ofFile += rows;
      else {
        ofOthers += rows;
        amountOfOthers += own;
      }
    }
    return { ofFile, ofOthers, amountOfOthers };
  }
}
