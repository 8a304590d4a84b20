import type { Levels, Shop } from './model.ts';
import type { Person } from './person.ts';
import { exponential, uniform } from './random.ts';

/** Memory m of a channel counts as m / (m + HALF). */
const HALF = 1;
/** Somebody who only saw the shop forgets it, after this many days at most. */
const KNOWN_DAYS = 60;
/** Odds of the shop, of somebody who has turned away. */
const TURNED_LOG_ODDS = -1.8;
const TURNED_DAYS = 25;
const KNOW_SLOT = 0;
const TURN_SLOT = 2;

/** What a person knows and remembers of the shop. */
export class Mind {
  isCustomer = false;
  isOnList = false;
  private readonly shop: Shop;
  private readonly levels: Levels;
  private readonly memory: Float64Array;
  private readonly memoryAt: Float64Array;
  private knowsUntil = 0;
  private turnedUntil = 0;
  private taste = 0;

  constructor(shop: Shop, levels: Levels) {
    this.shop = shop;
    this.levels = levels;
    this.memory = new Float64Array(shop.channels.length);
    this.memoryAt = new Float64Array(shop.channels.length);
  }

  enter(person: Person): void {
    this.isCustomer = person.isCustomer;
    this.isOnList = person.isOnList;
    this.taste = person.taste;
    this.knowsUntil = person.knows ? Infinity : -Infinity;
    this.turnedUntil = -Infinity;
    this.memory.fill(0);
  }

  knows(t: number): boolean {
    return t < this.knowsUntil;
  }

  hasTurnedAway(t: number): boolean {
    return t < this.turnedUntil;
  }

  /** A contact leaves its traces. */
  meet(c: number, t: number, key: number): void {
    const { awareness, turnAway } = this.shop.channels[c]!.effects;
    this.memory[c] = this.freshness(c, t) + 1;
    this.memoryAt[c] = t;
    if (awareness > 0 && uniform(key, KNOW_SLOT) < awareness * this.levels.effects)
      this.knowsUntil = Math.max(this.knowsUntil, t + KNOWN_DAYS * (0.3 + 0.7 * uniform(key, KNOW_SLOT + 1)));
    if (turnAway > 0 && uniform(key, TURN_SLOT) < turnAway)
      this.turnedUntil = Math.max(this.turnedUntil, t + TURNED_DAYS * (0.5 + exponential(key, TURN_SLOT + 1)));
  }

  /** After an order, which makes a customer. */
  buy(joinsList: boolean): void {
    this.isCustomer = true;
    this.knowsUntil = Infinity;
    if (joinsList) this.isOnList = true;
  }

  /** Log odds of choosing the shop, of somebody to whom it occurs. */
  logOdds(t: number, depth: number): number {
    const { shop, levels } = this;
    const advertising = levels.effects === 0 ? 0 : levels.effects * this.recall(t);
    return (
      levels.base +
      this.taste +
      (this.isCustomer ? shop.loyalty : 0) +
      shop.priceSensitivity * depth +
      Math.min(4, advertising) +
      (this.hasTurnedAway(t) ? TURNED_LOG_ODDS : 0)
    );
  }

  /** Relative gain of the basket by advertising. */
  basketGain(t: number): number {
    if (this.levels.effects === 0) return 0;
    const { channels } = this.shop;
    let gain = 0;
    for (let c = 0; c < channels.length; c++) {
      const { basket } = channels[c]!.effects;
      if (basket > 0 && this.memory[c]! > 0) gain += basket * this.share(c, t);
    }
    return Math.min(0.6, gain * this.levels.effects);
  }

  private recall(t: number): number {
    const { channels } = this.shop;
    let sum = 0;
    for (let c = 0; c < channels.length; c++) {
      const { effects, partner, synergy } = channels[c]!;
      if (effects.recall === 0 || this.memory[c] === 0) continue;
      const helped = partner >= 0 ? 1 + synergy * this.share(partner, t) : 1;
      sum += effects.recall * this.share(c, t) * helped;
    }
    return sum;
  }

  private share(c: number, t: number): number {
    const fresh = this.freshness(c, t);
    return fresh / (fresh + HALF);
  }

  private freshness(c: number, t: number): number {
    const memory = this.memory[c]!;
    return memory === 0 ? 0 : memory * Math.exp((this.memoryAt[c]! - t) / this.shop.channels[c]!.effects.fadeDays);
  }
}
