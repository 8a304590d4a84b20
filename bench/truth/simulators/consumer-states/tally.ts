import type { ShopSpec } from './shop-spec.ts';

/** Counts of one run: orders and revenue in cents, by arm of a holdout, and what spend depends on. */
export class Tally {
  orders = 0;
  cents = 0;
  /** arm of the person who lives now: 0 held out, 1 others */
  arm = 1;
  readonly people = [0, 0];
  readonly armOrders = [0, 0];
  readonly armCents = [0, 0];
  /** exposures or clicks by channel and day of the window */
  readonly units: Float64Array;
  /** revenue in cents of orders through the channel, for commissions */
  readonly through: Float64Array;
  private readonly days: number;
  private readonly armFrom: number;
  private readonly armTo: number;

  constructor(spec: ShopSpec, armFrom: number, armTo: number) {
    this.days = spec.days;
    this.armFrom = armFrom;
    this.armTo = armTo;
    this.units = new Float64Array(spec.channels.length * spec.days);
    this.through = new Float64Array(spec.channels.length * spec.days);
  }

  exposure(c: number, day: number): void {
    this.units[c * this.days + day]! += 1;
  }

  order(day: number, cents: number, door: number): void {
    this.orders += 1;
    this.cents += cents;
    this.through[door * this.days + day]! += cents;
    if (day < this.armFrom || day >= this.armTo) return;
    this.armOrders[this.arm]! += 1;
    this.armCents[this.arm]! += cents;
  }
}
