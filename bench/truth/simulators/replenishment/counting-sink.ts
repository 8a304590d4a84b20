import type { EventSink } from '../simulator.ts';

/** Counts the rows of a shop, sums its spend, and takes a fingerprint of all. */
export class CountingSink implements EventSink {
  hash = 2166136261;
  rows = 0;
  orders = 0;
  users = 0;
  buyers = 0;
  /** orders without a click */
  unclosed = 0;
  readonly touches: number[];
  readonly closed: number[];
  readonly spent: number[];
  private readonly touchesOfIds: number[] = [];
  private lastS = 0;
  private touchesOfId = 0;
  private ordersOfId = 0;

  constructor(channels: number) {
    const zeros = (): number[] => Array.from({ length: channels }, () => 0);
    this.touches = zeros();
    this.closed = zeros();
    this.spent = zeros();
  }

  event(timeS: number, channel: number, isOrder: boolean, revenue: number): void {
    if (timeS < this.lastS) throw new Error('events are out of the order of time');
    this.lastS = timeS;
    this.rows++;
    this.mix(timeS);
    this.mix(channel + (isOrder ? 100 : 0));
    this.mix(Math.round(revenue * 100));
    if (!isOrder) {
      this.touches[channel]!++;
      this.touchesOfId++;
      return;
    }
    this.orders++;
    this.ordersOfId++;
    if (channel < 0) this.unclosed++;
    else this.closed[channel]!++;
  }

  endUser(userId: string): void {
    this.users++;
    if (this.ordersOfId > 0) this.buyers++;
    this.touchesOfIds.push(this.touchesOfId);
    this.lastS = 0;
    this.touchesOfId = 0;
    this.ordersOfId = 0;
    for (let n = 0; n < userId.length; n++) this.mix(userId.charCodeAt(n));
  }

  spend(day: number, channel: number, amount: number): void {
    if (!(amount >= 0)) throw new Error('spend is not a number from 0 on');
    this.spent[channel]! += amount;
    this.mix(day * 64 + channel);
    this.mix(Math.round(amount * 100));
  }

  /** Touches per id that the shop sees: the median, and what 90 % and 99 % have at most. */
  quantiles(): number[] {
    const sorted = this.touchesOfIds.toSorted((a, b) => a - b);
    return [0.5, 0.9, 0.99].map((share) => sorted[Math.floor(share * sorted.length)] ?? 0);
  }

  private mix(word: number): void {
    this.hash = Math.imul(this.hash ^ word, 16777619) ^ (word >>> 7);
  }
}
