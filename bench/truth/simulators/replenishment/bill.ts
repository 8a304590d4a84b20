import type { EventSink } from '../simulator.ts';
import type { Shop } from './model.ts';
import { keyOf, normal, uniform } from './random.ts';

/** Spread of the logarithm of prices from day to day. */
const DAILY_SPREAD = 0.2;
const WEEK = 7;

/** What was spent per channel and day: contacts and clicks at the day's price, commissions, and fees by the week. */
export class Bill {
  private readonly shop: Shop;
  private readonly factors: Float64Array;
  private readonly people: number;
  private readonly prices: number;
  private readonly spent: Float64Array;

  constructor(shop: Shop, prices: number, factors: Float64Array, people: number) {
    this.shop = shop;
    this.factors = factors;
    this.people = people;
    this.prices = prices;
    this.spent = new Float64Array(shop.channels.length * shop.days);
  }

  contact(channel: number, t: number): void {
    this.add(channel, t, this.shop.channels[channel]!.deal.perContact);
  }

  click(channel: number, t: number): void {
    this.add(channel, t, this.shop.channels[channel]!.deal.perClick);
  }

  commission(channel: number, t: number, cents: number): void {
    this.add(channel, t, (this.shop.channels[channel]!.deal.commission * cents) / 100);
  }

  private add(channel: number, t: number, amount: number): void {
    if (t >= 0) this.spent[channel * this.shop.days + Math.floor(t)]! += amount;
  }

  tell(sink: EventSink): void {
    const { days, channels, seed } = this.shop;
    for (let day = 0; day < days; day++) {
      for (let c = 0; c < channels.length; c++) {
        const { paid, k, deal, weeksOn } = channels[c]!;
        if (!paid) continue;
        const f = this.factors[c]!;
        // Contacts go with f / (f + k), so prices go with f + k: the bill is f times the usual one.
        const price = ((f + k) / (1 + k)) * Math.exp(DAILY_SPREAD * normal(keyOf(seed, 7000 + c), 2 * day));
        const fee = (f * (weeksOn[Math.floor(day / WEEK)] ?? 0) * deal.weeklyFee * this.people) / WEEK;
        const bumpy = fee * (0.9 + 0.2 * uniform(keyOf(seed, 8000 + c), day));
        sink.spend(day, c, Math.round(100 * this.prices * (this.spent[c * days + day]! * price + bumpy)) / 100);
      }
    }
  }
}
