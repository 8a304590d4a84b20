import type { EventSink } from '../simulator.ts';
import type { Person } from './person.ts';
import { branch, mix, uniform } from './random.ts';
import type { World } from './world.ts';

const CAPACITY = 8192;

/** Collects one person's events as the shop's tracker would: some lost, under several ids, in the order of time. */
export class Recorder {
  /** per channel and day of the window: clicks, contacts or commissions, by which the channel is paid */
  readonly activity: Float64Array;
  private readonly world: World;
  private readonly sink: EventSink | null;
  private readonly time = new Int32Array(CAPACITY);
  private readonly channel = new Int8Array(CAPACITY);
  private readonly cents = new Int32Array(CAPACITY);
  private readonly device = new Uint8Array(CAPACITY);
  private readonly order = new Int32Array(CAPACITY);
  private count = 0;
  private key = 0;
  private ids = 1;

  constructor(world: World, sink: EventSink | null) {
    this.world = world;
    this.sink = sink;
    this.activity = new Float64Array(world.table.count * world.shop.days);
  }

  /** Begins a person. */
  begin(person: Person): void {
    this.count = 0;
    this.key = branch(person.key, 41);
    this.ids = person.ids;
  }

  /** Counts what a channel is paid by. */
  pay(at: number, channel: number, amount: number): void {
    const slot = channel * this.world.shop.days + at - this.world.shop.burnInDays;
    this.activity[slot] = (this.activity[slot] ?? 0) + amount;
  }

  /** A touch; the answer names it for `order`, -1 where the tracker lost it. */
  touch(at: number, second: number, channel: number): number {
    if (this.sink === null || this.count >= CAPACITY || this.isLost(at, second, channel)) return -1;
    const n = this.count;
    this.push(at, second, channel, -1);
    return n;
  }

  /** An order, closed by a touch of before (which is taken out), by a click of its own, or by no click. */
  sale(at: number, second: number, cents: number, closing: number, closingTouch: number): void {
    if (this.sink === null || this.count >= CAPACITY) return;
    if (closingTouch >= 0) this.channel[closingTouch] = -2;
    const lost = closing >= 0 && closingTouch < 0 && this.isLost(at, second, closing);
    this.push(at, second, lost ? -1 : closing, cents);
  }

  /** Ends a person: hands the events over, id by id. */
  end(person: Person): void {
    if (this.sink === null || this.count === 0) return;
    const { time, channel, cents, device, order } = this;
    for (let n = 0; n < this.count; n++) {
      let place = n;
      while (place > 0 && (time[order[place - 1] ?? 0] ?? 0) > (time[n] ?? 0)) {
        order[place] = order[place - 1] ?? 0;
        place -= 1;
      }
      order[place] = n;
    }
    for (let id = 0; id < this.ids; id++) {
      let any = false;
      for (let place = 0; place < this.count; place++) {
        const n = order[place] ?? 0;
        const by = channel[n] ?? 0;
        if (device[n] !== id || by === -2) continue;
        const paidCents = cents[n] ?? -1;
        const timeS = this.world.shop.startS + (time[n] ?? 0);
        this.sink.event(timeS, by, paidCents >= 0, paidCents >= 0 ? paidCents / 100 : 0);
        any = true;
      }
      if (any) this.sink.endUser(`u${(mix(this.world.shop.seed ^ (person.index * 4 + id)) >>> 0).toString(36)}`);
    }
  }

  private isLost(at: number, second: number, channel: number): boolean {
    const { lostShare } = this.world.shop;
    return lostShare > 0 && uniform(branch(this.key, at), (second << 4) + channel) < lostShare;
  }

  private push(at: number, second: number, channel: number, cents: number): void {
    const n = this.count;
    this.count += 1;
    this.time[n] = (at - this.world.shop.burnInDays) * 86400 + second;
    this.channel[n] = channel;
    this.cents[n] = cents;
    // one device for an hour: the main one in two of three cases
    const u = this.ids === 1 ? 0 : uniform(branch(this.key, 100000 + at), (second / 3600) | 0);
    this.device[n] = u < 0.65 ? 0 : this.ids === 2 || u < 0.85 ? 1 : 2;
  }
}
