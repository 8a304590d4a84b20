import { clockTime } from './calendar.ts';
import { BURN_IN_DAYS, HABITS } from './model.ts';
import type { Shop } from './model.ts';
import { keyOf, Stream, uniform } from './random.ts';

const GIFT_DATES = 3;
/** An own idle visit, in place of a channel. */
export const OWN_VISIT = -1;

/** What a person is, and whom of the media they might meet at their leisure: all that no plan changes. */
export class Person {
  key = 0;
  taste = 0;
  knows = false;
  isCustomer = false;
  isOnList = false;
  seeksCoupons = false;
  /** 0 … 1 */
  dealProne = 0;
  hasSeveralIds = false;
  refusesTracking = false;
  /** part of what happens on the second device */
  secondDevice = 0;
  /** days, 0 where the person does not use the good */
  readonly cycle: Float64Array;
  /** day on which what was there at first runs out */
  readonly firstEnd: Float64Array;
  /** per good, `GIFT_DATES` dates; Infinity = no more */
  readonly giftDates: Float64Array;
  /** what may be met, in the order of time */
  count = 0;
  readonly time: number[] = [];
  readonly channel: number[] = [];
  readonly keys: number[] = [];
  private readonly shop: Shop;
  private readonly stream = new Stream(0);
  private readonly habits = new Float64Array(HABITS.length);

  constructor(shop: Shop) {
    this.shop = shop;
    this.cycle = new Float64Array(shop.goods.length);
    this.firstEnd = new Float64Array(shop.goods.length);
    this.giftDates = new Float64Array(shop.goods.length * GIFT_DATES);
  }

  /** Date of the n-th gift of a good. */
  giftDate(good: number, n: number): number {
    return n < GIFT_DATES ? this.giftDates[good * GIFT_DATES + n]! : Infinity;
  }

  /** Becomes the person `number`. */
  become(number: number): void {
    const { shop, stream } = this;
    this.key = keyOf(shop.seed, number);
    stream.restart(this.key);
    const z = stream.normal();
    this.taste = shop.tasteSpread * z;
    const online = 0.4 * stream.normal();
    const market = this.drawGoods();
    this.drawTies(z, market);
    for (let h = 0; h < HABITS.length; h++) this.habits[h] = Math.exp(online + 0.7 * stream.normal() - 0.325);
    // Who uses the goods, and likes shops of this kind, is found by audiences that media build.
    this.drawMeetings(0.5 * z + (market ? 0.6 : -0.8), market);
  }

  private drawGoods(): boolean {
    const { shop, stream } = this;
    let market = false;
    shop.goods.forEach((good, g) => {
      const uses = stream.isTrue(good.users);
      const cycle = good.cycleDays * stream.jitter(good.cycleSpread);
      const at = stream.next();
      this.cycle[g] = uses ? cycle : 0;
      this.firstEnd[g] = -BURN_IN_DAYS + at * cycle;
      if (uses) market = true;
      if (good.isGift) this.drawGifts(g, uses ? stream.poisson((BURN_IN_DAYS + shop.days) / cycle) : 0);
    });
    return market;
  }

  private drawGifts(good: number, count: number): void {
    const { shop, stream, giftDates } = this;
    const dates = Array.from({ length: GIFT_DATES }, (_, n) => {
      const peak = shop.peaks.length > 0 ? stream.pick(shop.peaks) : undefined;
      const atPeak = stream.isTrue(0.5) && peak !== undefined;
      const u = stream.next();
      const date = atPeak ? peak.fromDay + u * (peak.toDay - peak.fromDay) : u * (BURN_IN_DAYS + shop.days);
      return n < count ? (atPeak ? date : date - BURN_IN_DAYS) : Infinity;
    }).toSorted((a, b) => a - b);
    dates.forEach((date, n) => {
      giftDates[good * GIFT_DATES + n] = date;
    });
  }

  private drawTies(z: number, market: boolean): void {
    const { shop, stream } = this;
    const leaning = Math.exp(0.5 * z - 0.125) * (market ? 1.2 : 0.4);
    this.isCustomer = stream.isTrue(Math.min(0.9, shop.customers * leaning));
    this.knows = stream.isTrue(Math.min(0.95, shop.known * leaning)) || this.isCustomer;
    this.isOnList = this.isCustomer && stream.isTrue(shop.joinsList);
    this.dealProne = stream.next();
    this.seeksCoupons = stream.isTrue(shop.couponSeekers * 2 * this.dealProne);
    this.hasSeveralIds = stream.isTrue(shop.severalIds);
    this.secondDevice = stream.between(0.2, 0.6);
    this.refusesTracking = stream.isTrue(shop.refusesTracking);
  }

  private drawMeetings(appeal: number, market: boolean): void {
    const { shop, stream } = this;
    const { days, channels } = shop;
    const span = BURN_IN_DAYS + days;
    this.count = 0;
    for (let c = 0; c < channels.length; c++) {
      const { perDay, role, habit, lookalike, dayQuantiles, delayDays } = channels[c]!;
      if (perDay > 0) {
        // Nobody is met many times a day, however keen the audience.
        const lean = Math.exp(Math.min(1.6, lookalike * appeal) - 0.3 * lookalike * lookalike);
        const met = stream.poisson(Math.min(0.7, perDay * this.habits[habit]! * lean) * span);
        for (let n = 0; n < met; n++) {
          const day = dayQuantiles[Math.floor(stream.next() * dayQuantiles.length)]!;
          this.add(day - BURN_IN_DAYS + clockTime(stream.next()), c);
        }
      } else if (role === 'newsletter' && (market || this.isOnList)) {
        const mailings = Math.floor(span / delayDays);
        const opened = stream.poisson(Math.min(0.8, shop.opensMail * this.habits[habit]! * 1.5) * mailings);
        for (let n = 0; n < opened; n++) {
          const sent = Math.floor(Math.floor(stream.next() * mailings) * delayDays) - BURN_IN_DAYS + 0.4;
          this.add(sent + 0.6 * stream.next() * stream.next(), c);
        }
      }
    }
    const visits = stream.poisson(shop.visitsPerDay * span * (market ? 1.4 : 0.4));
    for (let n = 0; n < visits; n++)
      this.add(Math.floor(stream.next() * span) - BURN_IN_DAYS + clockTime(stream.next()), OWN_VISIT);
  }

  /** Insertion sort: people meet few. */
  private add(time: number, channel: number): void {
    const key = this.stream.key();
    let at = this.count++;
    while (at > 0 && this.time[at - 1]! > time) {
      this.time[at] = this.time[at - 1]!;
      this.channel[at] = this.channel[at - 1]!;
      this.keys[at] = this.keys[at - 1]!;
      at--;
    }
    this.time[at] = time;
    this.channel[at] = channel;
    this.keys[at] = key;
  }
}

/** Whether a person is held out: by a hash of the person's key and of the shop's seed alone. */
export const isHeldOut = (shop: Shop, number: number, share: number): boolean =>
  uniform(keyOf(keyOf(shop.seed, number), -77), 0) < share;
