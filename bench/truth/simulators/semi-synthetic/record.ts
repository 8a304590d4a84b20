/** What one person did in the window: outcomes, and the rows that a tracker could see. */
export class PersonRecord {
  orders = 0;
  cents = 0;
  /** of the days of a holdout */
  armOrders = 0;
  armCents = 0;
  /** bit c: channel c met this person within the window, or was a door */
  met = 0;
  rows = 0;
  readonly time = new Float64Array(4096);
  readonly channel = new Int8Array(4096);
  readonly orderCents = new Int32Array(4096);
  /** spend per channel and day of the span, over all people since it was cleared */
  readonly spend: Float64Array;
  /** clicks, views, sendings that are charged, likewise */
  readonly charged: Float64Array;
  keepsRows = false;
  private readonly span: number;

  constructor(channels: number, span: number) {
    this.span = span;
    this.spend = new Float64Array(channels * span);
    this.charged = new Float64Array(channels);
  }

  startPerson(): void {
    this.orders = 0;
    this.cents = 0;
    this.armOrders = 0;
    this.armCents = 0;
    this.met = 0;
    this.rows = 0;
  }

  charge(channel: number, day: number, amount: number): void {
    this.spend[channel * this.span + day]! += amount;
    this.charged[channel]! += 1;
  }

  /** Takes a touch back. */
  withdraw(time: number, channel: number): void {
    for (let k = this.rows - 1; k >= 0; k -= 1) {
      if (this.time[k] !== time || this.channel[k] !== channel || this.orderCents[k] !== 0) continue;
      this.time.copyWithin(k, k + 1, this.rows);
      this.channel.copyWithin(k, k + 1, this.rows);
      this.orderCents.copyWithin(k, k + 1, this.rows);
      this.rows -= 1;
      return;
    }
  }

  /** Rows come nearly in order; this puts each in its place. */
  row(time: number, channel: number, cents: number): void {
    if (!this.keepsRows || this.rows >= this.time.length) return;
    let at = this.rows;
    for (; at > 0 && this.time[at - 1]! > time; at -= 1) {
      this.time[at] = this.time[at - 1]!;
      this.channel[at] = this.channel[at - 1]!;
      this.orderCents[at] = this.orderCents[at - 1]!;
    }
    this.time[at] = time;
    this.channel[at] = channel;
    this.orderCents[at] = cents;
    this.rows += 1;
  }
}
