import type { EventSink } from '../simulator.ts';
import { childKey, uniform } from './random.ts';
import { DRAW, type Person } from './person.ts';
import type { World } from './world.ts';

const DEVICES = 3;

/** What a shop's tracker writes down of one person: rows by device, some of them lost. */
export class Rows {
  private readonly world: World;
  private size = 0;
  private readonly times: number[] = [];
  private readonly channels: number[] = [];
  /** revenue in cents; -1 for touches */
  private readonly cents: number[] = [];
  private readonly devices: number[] = [];
  private readonly order: number[] = [];

  constructor(world: World) {
    this.world = world;
  }

  clear(): void {
    this.size = 0;
  }

  touch(person: Person, time: number, key: number, channel: number): void {
    if (time < 0 || time >= this.world.days) return;
    const device = this.device(person, key);
    if (!this.lost(person, key, device)) this.add(time, channel, -1, device);
  }

  /** An order's row is never lost, its click may be. */
  orderRow(person: Person, time: number, key: number, channel: number, cents: number): void {
    if (time < 0 || time >= this.world.days) return;
    const device = this.device(person, key);
    const lost = channel >= 0 && this.lost(person, key, device);
    this.add(time, lost ? -1 : channel, cents, device);
  }

  /** Hands the person's rows on, device by device. */
  emit(index: number, sink: EventSink): void {
    if (this.size === 0) return;
    this.order.length = 0;
    for (let i = 0; i < this.size; i++) this.order.push(i);
    const { times, cents } = this;
    this.order.sort(
      (a, b) => (times[a] as number) - (times[b] as number) || (cents[a] as number) - (cents[b] as number) || a - b,
    );
    for (let device = 0; device < DEVICES; device++) {
      let any = false;
      for (const i of this.order) {
        if (this.devices[i] !== device) continue;
        any = true;
        const sum = cents[i] as number;
        sink.event(times[i] as number, this.channels[i] as number, sum >= 0, sum >= 0 ? sum / 100 : 0);
      }
      if (any) sink.endUser(userId(index, device));
    }
  }

  private add(time: number, channel: number, cents: number, device: number): void {
    const i = this.size++;
    this.times[i] = this.world.startS + Math.floor(time * 86_400);
    this.channels[i] = channel;
    this.cents[i] = cents;
    this.devices[i] = device;
  }

  /** The ids under which a session or an ad is seen: most on the main device, the rest on one or two others. */
  private device(person: Person, key: number): number {
    const { splitShare, mainDevice } = this.world;
    if (splitShare === 0) return 0;
    const split = uniform(person.key, DRAW.split);
    if (split >= splitShare) return 0;
    const u = uniform(key, DRAW.device);
    if (u < mainDevice) return 0;
    return split < splitShare * 0.3 && u > (1 + mainDevice) / 2 ? 2 : 1;
  }

  /** Half of the loss is of people who refuse to be tracked on a device, half falls on single touches. */
  private lost(person: Person, key: number, device: number): boolean {
    const share = this.world.lostTouches;
    if (share === 0) return false;
    const refused = uniform(childKey(person.key, device), DRAW.consent) < share / 2;
    return refused || uniform(key, DRAW.loss) < share / 2;
  }
}

/** One-to-one in person and device, and telling nothing of either. */
function userId(index: number, device: number): string {
  const scrambled = Math.imul(Math.imul(index * 4 + device, 0x9e3779b1) ^ 0x2545f491, 0x85ebca77) >>> 0;
  return `u${scrambled.toString(36)}`;
}
