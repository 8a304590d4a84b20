import type { Gate } from './gate.ts';
import type { Shop } from './model.ts';
import type { Person } from './person.ts';
import { keyOf, uniform } from './random.ts';

/** A click of the last days may be the way back to the shop. */
const CLICK_LASTS_DAYS = 1.5;
const RETURN_BY_CLICK = 0.5;
const SLOT = { seeker: 20, site: 21, couponLeak: 22, byName: 23, brandLeak: 24, byClick: 25, free: 26 } as const;

/** The order went to another shop, as a door was missing. */
export const LOST = -2;

/** Ways into the shop of people who know where they want to go. */
export class Doors {
  readonly organic: number;
  readonly direct: number;
  private readonly brand: number;
  private readonly coupons: readonly number[];
  private readonly shop: Shop;
  private readonly gate: Gate;
  private person!: Person;
  private lastClick = -1;
  private lastClickAt = -Infinity;

  constructor(shop: Shop, gate: Gate) {
    const { channels } = shop;
    this.shop = shop;
    this.gate = gate;
    this.organic = channels.findIndex(({ name }) => name === 'organic_search');
    this.direct = channels.findIndex(({ name }) => name === 'direct');
    this.brand = channels.findIndex(({ role }) => role === 'brand');
    this.coupons = channels.flatMap(({ role }, c) => (role === 'coupon' ? [c] : []));
  }

  enter(person: Person): void {
    this.person = person;
    this.lastClick = -1;
    this.lastClickAt = -Infinity;
  }

  clicked(channel: number, t: number): void {
    this.lastClick = channel;
    this.lastClickAt = t;
  }

  freeDoor(key: number): number {
    return uniform(key, SLOT.free) < 0.5 ? this.organic : this.direct;
  }

  ofVisit(t: number, key: number): number {
    if (uniform(key, SLOT.byName) >= this.shop.brandSearchers) return this.freeDoor(key);
    return this.brand >= 0 && this.isOpen(this.brand, t, key) ? this.brand : this.organic;
  }

  /** By which channel's click a decided buyer comes, -1 without a click, or `LOST`. */
  ofOrder(t: number, key: number): number {
    const { channels, brandSearchers } = this.shop;
    if (this.person.seeksCoupons && this.coupons.length > 0 && uniform(key, SLOT.seeker) < 0.8) {
      const site = this.coupons[Math.floor(uniform(this.person.key, SLOT.site) * this.coupons.length)]!;
      if (this.isOpen(site, t, key)) return site;
      if (uniform(key, SLOT.couponLeak) < channels[site]!.leak) return LOST;
    }
    if (t - this.lastClickAt < CLICK_LASTS_DAYS && uniform(key, SLOT.byClick) < RETURN_BY_CLICK) return this.lastClick;
    if (uniform(key, SLOT.byName) < brandSearchers) {
      if (this.brand >= 0 && this.isOpen(this.brand, t, key)) return this.brand;
      return this.brand >= 0 && uniform(key, SLOT.brandLeak) < channels[this.brand]!.leak ? LOST : this.organic;
    }
    return uniform(key, SLOT.free) < 0.4 ? this.organic : -1;
  }

  private isOpen(channel: number, t: number, key: number): boolean {
    return this.gate.isOpen(channel, t, keyOf(key, 800 + channel));
  }
}
