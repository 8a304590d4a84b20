import { drawCalendar } from './calendar.ts';
import type { Calendar } from './calendar.ts';
import type { Scales, ShopSpec } from './shop-spec.ts';

export const LIFTS = 5;
/** channels' halo together, in saturated channels */
export const MOST_HALO = 1.5;

/** A shop's parameters flattened for speed, the pilot's scales applied. */
export interface World {
  readonly spec: ShopSpec;
  readonly scales: Scales;
  readonly calendar: Calendar;
  readonly channels: number;
  readonly totalDays: number;
  /** per channel and lift */
  readonly lift: Float64Array;
  readonly push: readonly number[];
  readonly doors: readonly number[];
  readonly brands: readonly number[];
  readonly others: readonly number[];
  readonly retention: Float64Array;
  readonly saturation: Float64Array;
  readonly direct: number;
  /** bounds: relative gain by media, factor of word of mouth, factor of halo visits */
  readonly mostLift: number;
  readonly mostHeard: number;
  readonly mostHalo: number;
}

/** What is done otherwise from the window's first day. */
export interface Scenario {
  /** factor on exposures: spend's factor to the power of the channel's elasticity */
  readonly reach: Float64Array;
  readonly spend: Float64Array;
  readonly heldChannels: number;
  readonly heldFrom: number;
  readonly heldTo: number;
}

/** Scenario with those factors on spend; channels that aren't named stay as they are. */
export function scenarioOf(world: World, spend: ReadonlyMap<number, number>): Scenario {
  const reach = new Float64Array(world.channels).fill(1);
  const factors = new Float64Array(world.channels).fill(1);
  for (const [c, factor] of spend) {
    factors[c] = factor;
    reach[c] = Math.pow(factor, world.spec.channels[c]!.elasticity);
  }
  return { reach, spend: factors, heldChannels: 0, heldFrom: 0, heldTo: 0 };
}

/** World of a shop under given scales. */
export function worldOf(spec: ShopSpec, scales: Scales): World {
  const channels = spec.channels;
  const lift = new Float64Array(channels.length * LIFTS);
  const index = channels.map((_, c) => c);
  for (const c of index) {
    const strength = scales.strength * (channels[c]!.tracked ? 1 : scales.untracked);
    for (let k = 0; k < LIFTS; k += 1) lift[c * LIFTS + k] = channels[c]!.lift[k]! * strength;
  }
  return {
    spec,
    scales,
    calendar: drawCalendar(spec),
    channels: channels.length,
    totalDays: spec.days + spec.burnInDays,
    lift,
    push: index.filter((c) => !channels[c]!.door),
    doors: index.filter((c) => channels[c]!.door),
    brands: index.filter((c) => channels[c]!.brand),
    others: index.filter((c) => channels[c]!.paid && !channels[c]!.brand),
    retention: Float64Array.from(channels, (channel) => channel.retention),
    saturation: Float64Array.from(channels, (channel) => channel.saturation),
    direct: channels.findIndex((channel) => channel.name === 'direct'),
    mostLift: Math.exp(spec.liftCap) - 1,
    mostHeard: Math.exp(spec.wordOfMouth),
    mostHalo: 1 + spec.haloVisits * MOST_HALO,
  };
}
