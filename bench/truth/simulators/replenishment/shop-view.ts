import type { EventSink } from '../simulator.ts';
import { Bill } from './bill.ts';
import type { Shop } from './model.ts';
import type { Person } from './person.ts';
import { uniform } from './random.ts';

const DAY_S = 86_400;
/** Draws of a contact that decide what the shop sees of it. */
const LOST_SLOT = 40;
const DEVICE_SLOT = 41;

/** What the shop sees: rows of a person, told when the life is over, and what everything cost. */
export class ShopView {
  readonly bill: Bill;
  private readonly shop: Shop;
  private readonly sink: EventSink;
  private person: Person | null = null;
  private count = 0;
  private readonly timeS: number[] = [];
  private readonly channel: number[] = [];
  /** -1 for a touch */
  private readonly cents: number[] = [];
  /** 0 and 1: the person's own; from 2 on: friends who were told of the shop */
  private readonly ids: number[] = [];
  private friends = 0;

  constructor(shop: Shop, prices: number, factors: Float64Array, people: number, sink: EventSink) {
    this.shop = shop;
    this.sink = sink;
    this.bill = new Bill(shop, prices, factors, people);
  }

  begin(person: Person): void {
    this.person = person;
    this.count = 0;
    this.friends = 0;
  }

  touch(t: number, channel: number, key: number): void {
    if (t >= 0 && this.isSeen(channel, key)) this.write(t, channel, -1, this.device(key));
  }

  /** @param channel whose click closed it, -1 = none */
  order(t: number, channel: number, cents: number, key: number): void {
    const closedBy = channel >= 0 && this.isSeen(channel, key) ? channel : -1;
    this.write(t, closedBy, cents, this.device(key));
  }

  friendOrder(t: number, cents: number): void {
    this.write(t, -1, cents, 2 + this.friends++);
  }

  end(number: number): void {
    for (let id = 0; id < 2 + this.friends; id++) this.tellId(number, id);
  }

  private isSeen(channel: number, key: number): boolean {
    const { tracked, lost } = this.shop.channels[channel]!;
    return tracked && !this.person!.refusesTracking && uniform(key, LOST_SLOT) >= lost;
  }

  private device(key: number): number {
    const { hasSeveralIds, secondDevice } = this.person!;
    return hasSeveralIds && uniform(key, DEVICE_SLOT) < secondDevice ? 1 : 0;
  }

  private write(t: number, channel: number, cents: number, id: number): void {
    const timeS = Math.floor(t * DAY_S);
    let at = this.count++;
    while (at > 0 && this.timeS[at - 1]! > timeS) {
      this.timeS[at] = this.timeS[at - 1]!;
      this.channel[at] = this.channel[at - 1]!;
      this.cents[at] = this.cents[at - 1]!;
      this.ids[at] = this.ids[at - 1]!;
      at--;
    }
    this.timeS[at] = timeS;
    this.channel[at] = channel;
    this.cents[at] = cents;
    this.ids[at] = id;
  }

  private tellId(number: number, id: number): void {
    let rows = 0;
    for (let n = 0; n < this.count; n++) {
      if (this.ids[n] !== id) continue;
      rows++;
      const cents = this.cents[n]!;
      this.sink.event(this.shop.startS + this.timeS[n]!, this.channel[n]!, cents >= 0, Math.max(0, cents) / 100);
    }
    if (rows > 0) this.sink.endUser(id === 0 ? `p${number}` : id === 1 ? `p${number}b` : `p${number}f${id - 1}`);
  }
}
