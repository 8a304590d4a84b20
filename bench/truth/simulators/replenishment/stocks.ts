import type { Agenda } from './agenda.ts';
import { NEED } from './agenda.ts';
import type { Shop } from './model.ts';
import type { Person } from './person.ts';
import { needTime } from './purchase-times.ts';
import { keyOf, normal } from './random.ts';

/** Spread of the day of need about the end of stock, part of the cycle. */
const NEED_SPREAD = 0.12;
const NEED_SLOT = 7;

/** What a person has of the goods, and which purchases are under way. */
export class Stocks {
  /** an ad began the purchase that is under way */
  readonly isNudged: Uint8Array;
  /** the shop was found, so that it may be chosen by those who did not know it */
  readonly isFound: Uint8Array;
  openCount = 0;
  private readonly shop: Shop;
  private readonly agenda: Agenda;
  private readonly end: Float64Array;
  private readonly ordinal: Int32Array;
  private readonly isOpen: Uint8Array;
  private person!: Person;

  constructor(shop: Shop, agenda: Agenda) {
    const { length } = shop.goods;
    this.shop = shop;
    this.agenda = agenda;
    this.isNudged = new Uint8Array(length);
    this.isFound = new Uint8Array(length);
    this.end = new Float64Array(length);
    this.ordinal = new Int32Array(length);
    this.isOpen = new Uint8Array(length);
  }

  enter(person: Person): void {
    this.person = person;
    this.end.set(person.firstEnd);
    this.ordinal.fill(0);
    this.isOpen.fill(0);
    this.openCount = 0;
    for (let good = 0; good < this.end.length; good++) this.planNeed(good, -Infinity);
  }

  /** Of the purchase that is under way, or the next one. */
  occasionKey(good: number): number {
    return keyOf(this.person.key, 64 * (this.ordinal[good]! + 1) + good);
  }

  /** Whether a need that was foreseen is still there: an ad may have begun, or ended, this purchase before. */
  isDue(good: number, key: number): boolean {
    return this.isOpen[good] === 0 && key === this.occasionKey(good);
  }

  open(good: number, isNudged: boolean): void {
    this.isOpen[good] = 1;
    this.isNudged[good] = isNudged ? 1 : 0;
    this.isFound[good] = isNudged ? 1 : 0;
    this.openCount++;
  }

  /** Bought, here or elsewhere: it adds to what is left. */
  refill(good: number, t: number, lasts: number): void {
    this.end[good] = Math.max(t, this.end[good]!) + this.person.cycle[good]! * lasts;
    this.ordinal[good]!++;
    this.isOpen[good] = 0;
    this.openCount--;
    this.planNeed(good, t);
  }

  /** The good with the least left of those that may be bought ahead, -1 = none. */
  scarcest(t: number): number {
    let good = -1;
    for (let g = 0; g < this.end.length; g++) {
      if (this.person.cycle[g] === 0 || this.isOpen[g] === 1 || this.shop.goods[g]!.isGift) continue;
      if (good < 0 || this.left(g, t) < this.left(good, t)) good = g;
    }
    return good;
  }

  /** Stock as part of a cycle. */
  left(good: number, t: number): number {
    return (this.end[good]! - t) / this.person.cycle[good]!;
  }

  /** The next need of a good: when stock should be at an end, or at the date of a gift. */
  private planNeed(good: number, now: number): void {
    const cycle = this.person.cycle[good]!;
    if (cycle === 0) return;
    const key = this.occasionKey(good);
    const natural = this.shop.goods[good]!.isGift
      ? this.person.giftDate(good, this.ordinal[good]!)
      : this.end[good]! + NEED_SPREAD * cycle * normal(key, NEED_SLOT);
    if (natural === Infinity) return;
    const at = needTime(this.shop, natural, now, this.person.dealProne, key);
    this.agenda.add(Math.max(at, now + 0.01), NEED, good, key);
  }
}
