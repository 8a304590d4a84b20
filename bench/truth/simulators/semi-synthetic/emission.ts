import { FOR, mix, uniform } from './random.ts';
import type { PersonRecord } from './record.ts';
import type { World } from './world.ts';
import type { EventSink } from '../simulator.ts';

const DAY_S = 86_400;
const MOST_IDS = 6;

/** Gives a person's rows to the shop's files as its tracker sees them: some lost, some under another id. */
export class Tracker {
  private readonly world: World;
  private readonly sink: EventSink;
  private readonly idOf = new Int8Array(4096);

  constructor(world: World, sink: EventSink) {
    this.world = world;
    this.sink = sink;
  }

  emit(record: PersonRecord, personKey: number, number: number): void {
    const { spec, startS, span } = this.world;
    const refuses = uniform(personKey, FOR.loss, 0) < spec.refusalShare;
    const devices = this.devicesOf(personKey);
    const isReset = uniform(personKey, FOR.reset, 0) < spec.resetShare;
    const reset = isReset ? DAY_S * (spec.burnIn + spec.days * uniform(personKey, FOR.reset, 1)) : span * DAY_S;
    for (let k = 0; k < record.rows; k += 1) {
      const slot = Math.floor(record.time[k]!) * 16 + record.channel[k]! + 1;
      const isOrder = record.orderCents[k]! > 0;
      const isLost = !isOrder && (refuses || uniform(personKey, FOR.loss, mix(slot)) < spec.lossRate);
      const device = devices === 1 ? 0 : deviceOf(uniform(personKey, FOR.device, mix(slot)), devices);
      this.idOf[k] = isLost ? -1 : 2 * device + (record.time[k]! >= reset ? 1 : 0);
    }
    for (let id = 0; id < MOST_IDS; id += 1) {
      let seen = false;
      for (let k = 0; k < record.rows; k += 1) {
        if (this.idOf[k] !== id) continue;
        seen = true;
        const timeS = Math.floor(record.time[k]!) - spec.burnIn * DAY_S + startS;
        const cents = record.orderCents[k]!;
        this.sink.event(timeS, record.channel[k]!, cents > 0, cents / 100);
      }
      const label = mix(personKey ^ Math.imul(id + 1, 0x9e3779b1)) >>> 0;
      if (seen) this.sink.endUser(`${label.toString(36)}-${(number * MOST_IDS + id).toString(36)}`);
    }
  }

  private devicesOf(personKey: number): number {
    const u = uniform(personKey, FOR.device, 0);
    const { splitShare } = this.world.spec;
    return u >= splitShare ? 1 : u < 0.25 * splitShare ? 3 : 2;
  }
}

function deviceOf(u: number, devices: number): number {
  if (devices === 2) return u < 0.6 ? 0 : 1;
  return u < 0.5 ? 0 : u < 0.85 ? 1 : 2;
}
