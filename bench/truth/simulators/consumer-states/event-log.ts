import type { EventSink } from '../simulator.ts';
import { mix, uniform } from './random.ts';
import type { ShopSpec } from './shop-spec.ts';

const CAPACITY = 2048;
const DAY_S = 86400;
const LATEST_S = 23.6 * 3600;
/** share of a day's traffic by hour */
const HOURS: readonly number[] = [
  20, 11, 7, 5, 5, 8, 17, 30, 42, 50, 54, 56, 58, 56, 53, 51, 50, 52, 57, 66, 75, 77, 63, 37,
];
const HOUR_SUM = HOURS.reduce((sum, share) => sum + share, 0);

/** Second of the day for a uniform number: increasing, busiest at noon and in the evening. */
function secondOfDay(u: number): number {
  let rest = u * HOUR_SUM;
  for (let hour = 0; hour < 24; hour += 1) {
    if (rest < HOURS[hour]!) return Math.min(LATEST_S, Math.floor((hour + rest / HOURS[hour]!) * 3600));
    rest -= HOURS[hour]!;
  }
  return LATEST_S;
}

/** Collects a person's events as the shop's tracker sees them: ids by device, some touches lost. */
export class EventLog {
  private readonly spec: ShopSpec;
  private readonly sink: EventSink;
  private readonly mobile: Uint8Array;
  private readonly direct: number;
  private readonly time = new Float64Array(CAPACITY);
  private readonly channel = new Int16Array(CAPACITY);
  private readonly cents = new Int32Array(CAPACITY);
  private readonly device = new Uint8Array(CAPACITY);
  private readonly rank = new Int32Array(CAPACITY);
  private count = 0;
  private key = 0;
  private person = 0;
  private devices = 1;
  private refused = false;

  constructor(spec: ShopSpec, sink: EventSink) {
    this.spec = spec;
    this.sink = sink;
    this.mobile = Uint8Array.from(spec.channels, ({ name }) => Number(/email|sms|social|influencer/.test(name)));
    this.direct = spec.channels.findIndex((channel) => channel.name === 'direct');
  }

  begin(person: number, key: number): void {
    this.count = 0;
    this.person = person;
    this.key = mix(key, 2);
    const split = uniform(this.key, 1) < this.spec.idsSplit;
    this.devices = split ? (uniform(this.key, 2) < 0.7 ? 2 : 3) : 1;
    this.refused = uniform(this.key, 3) < this.spec.trackingRefused;
  }

  touch(day: number, time: number, c: number): void {
    if (!this.spec.channels[c]!.tracked || this.lost(day, c)) return;
    this.add(day * DAY_S + secondOfDay(time), c, -1, this.deviceOf(day, c));
  }

  order(day: number, time: number, door: number, cents: number, byPhone: boolean): void {
    const device = this.deviceOf(day, door);
    const session = day * DAY_S + secondOfDay(time);
    const end = session + 120 + ((mix(this.key, day + 40000) >>> 0) % 1000);
    const unknown = byPhone || this.lost(day, door);
    if (door === this.direct && !unknown) this.add(session, door, -1, device);
    this.add(end, unknown || door === this.direct ? -1 : door, cents, device);
  }

  /** Hands the person's events over, each device as a user of its own. */
  end(): void {
    const { count, rank, time, sink, spec } = this;
    for (let i = 0; i < count; i += 1) {
      let j = i;
      while (j > 0 && time[rank[j - 1]!]! > time[i]!) {
        rank[j] = rank[j - 1]!;
        j -= 1;
      }
      rank[j] = i;
    }
    for (let device = 0; device < this.devices; device += 1) {
      let emitted = false;
      for (let i = 0; i < count; i += 1) {
        const at = rank[i]!;
        if (this.device[at] !== device) continue;
        const cents = this.cents[at]!;
        sink.event(spec.startS + time[at]!, this.channel[at]!, cents >= 0, cents >= 0 ? cents / 100 : 0);
        emitted = true;
      }
      if (emitted) sink.endUser(this.idOf(device));
    }
  }

  private idOf(device: number): string {
    const id = Math.imul(this.person * 3 + device + this.spec.seed, 0x9e3779b1) >>> 0;
    return `c${id.toString(36).padStart(7, '0')}`;
  }

  private lost(day: number, c: number): boolean {
    if (this.refused) return true;
    return this.spec.touchesLost > 0 && uniform(this.key, 100000 + day * 64 + c) < this.spec.touchesLost;
  }

  private deviceOf(day: number, c: number): number {
    if (this.devices === 1) return 0;
    const u = uniform(this.key, 50000 + day * 64 + c);
    if (this.mobile[c] === 1) return u < 0.75 ? 1 : u < 0.92 ? 0 : this.devices - 1;
    return u < 0.6 ? 0 : u < 0.85 ? this.devices - 1 : 1;
  }

  private add(time: number, channel: number, cents: number, device: number): void {
    if (this.count >= CAPACITY) return;
    this.time[this.count] = time;
    this.channel[this.count] = channel;
    this.cents[this.count] = cents;
    this.device[this.count] = device;
    this.count += 1;
  }
}
