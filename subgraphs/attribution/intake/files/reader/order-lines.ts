import { limitExceeded } from './refused-file.ts';

/** Of one file: an id and its sums take about 200 bytes. */
const MOST_ORDERS = 400_000;

interface LineSum {
  amount: bigint;
  cogs: bigint | null;
  /** Its row has been stored. */
  isTaken: boolean;
}

/**
 * Orders whose rows are lines: they are added up in a reading of their own, and the first row of each stands for all.
 */
export class OrderLines {
  readonly #sums = new Map<string, LineSum>();
  /** The sums are being taken. */
  isCollecting = true;
  /** Rows that were added to another one of their order. */
  added = 0;

  /** @throws RefusedFileError `file_limit_exceeded` */
  tell(key: string, amount: number | bigint, cogs: number | bigint | null): void {
    const sum = this.#sums.get(key);
    if (sum === undefined) {
      if (this.#sums.size === MOST_ORDERS)
        throw limitExceeded('its rows are lines of too many orders', `${MOST_ORDERS} in a file`);
      this.#sums.set(key, { amount: BigInt(amount), cogs: cogs === null ? null : BigInt(cogs), isTaken: false });
      return;
    }
    sum.amount += BigInt(amount);
    if (cogs !== null) sum.cogs = (sum.cogs ?? 0n) + BigInt(cogs);
  }

  /** What the order comes to; null while that is not known. */
  of(key: string): { readonly amount: bigint; readonly cogs: bigint | null } | null {
    return this.isCollecting ? null : (this.#sums.get(key) ?? null);
  }

  /** Whether the row is to stand for its order: the first that asks is. */
  takes(key: string): boolean {
    const sum = this.#sums.get(key);
    if (sum === undefined || sum.isTaken) {
      this.added += 1;
      return false;
    }
    sum.isTaken = true;
    return true;
  }
}
