import { FIRST_DAY_S, histories } from './histories.ts';
import { FOR, keyOf, uniform } from './random.ts';
import type { ShopSpec } from './draw-shop.ts';
import type { Plan } from '../simulator.ts';

/** A shop ready to run: its parameters, its calibration, and what is the same for all people on a day. */
export interface World {
  readonly spec: ShopSpec;
  /** days of burn-in and window; index 0 is the first day of the burn-in */
  readonly span: number;
  readonly startS: number;
  /** factor on each channel's exposures per day */
  readonly pressure: readonly Float64Array[];
  /** part of the price that is cut on a day */
  readonly cut: Float64Array;
  /** promotion that begins within the next five days: days until then, 0 where none */
  readonly waiting: Int32Array;
  /** log odds of a purchase in the category going to this shop */
  readonly baseline: number;
  readonly effectScale: number;
  /** per channel and click, view or sending, major units; share of the order for commission */
  readonly unitPrice: Float64Array;
}

function pressureOf(spec: ShopSpec, channel: number, cut: Float64Array, season: Float64Array): Float64Array {
  const { followsDemand, flights, kind } = spec.channels[channel]!;
  const key = keyOf(spec.seed, 5000 + channel);
  const span = season.length;
  const factors = new Float64Array(span);
  let level = 1;
  let flightEnds = -1;
  let on = true;
  for (let day = 0; day < span; day += 1) {
    if (day > flightEnds) {
      on = flights ? !on : uniform(key, 0, day) < 0.93;
      flightEnds = day + 6 + Math.floor(uniform(key, 1, day) * 15);
      level = 0.75 + 0.5 * uniform(key, 2, day);
    }
    const plan = on ? level * (flights ? 1.7 : 1.03) : flights ? 0.05 : 0.5;
    const noise = 0.85 + 0.3 * uniform(key, 3, day);
    const more = cut[day]! > 0 && kind !== 'intent' && kind !== 'unpaid' ? 1.4 : 1;
    factors[day] = plan * noise * more * season[day]! ** followsDemand;
  }
  return factors;
}

/** Lays out the days of a shop. */
export function worldOf(spec: ShopSpec, baseline: number, effectScale: number, unitPrice: Float64Array): World {
  const span = spec.burnIn + spec.days;
  const cut = new Float64Array(span);
  const waiting = new Int32Array(span);
  for (const promotion of spec.promotions) {
    const from = promotion.from + spec.burnIn;
    for (let day = from; day < promotion.to + spec.burnIn && day < span; day += 1) cut[day] = promotion.cut;
    for (let ahead = 1; ahead <= 5; ahead += 1) if (from - ahead < span) waiting[from - ahead] = ahead;
  }
  const file = histories().season;
  const season = Float64Array.from({ length: span }, (_, day) => file[spec.firstDay - spec.burnIn + day] ?? 1);
  const mean = season.reduce((sum, s) => sum + s, 0) / span;
  const relative = season.map((s) => s / mean);
  return {
    spec,
    span,
    startS: FIRST_DAY_S + spec.firstDay * 86_400,
    pressure: spec.channels.map((_, channel) => pressureOf(spec, channel, cut, relative)),
    cut,
    waiting,
    baseline,
    effectScale,
    unitPrice,
  };
}

/** A plan by channel index. */
export interface CompiledPlan {
  readonly spend: Float64Array;
  /** share of people within reach, factor on their exposures, and on the price of one: their product follows spend */
  readonly reach: Float64Array;
  readonly frequency: Float64Array;
  readonly cost: Float64Array;
  readonly holdout?: {
    /** bits of channels */
    readonly bits: number;
    readonly share: number;
    /** indices of the span */
    readonly from: number;
    readonly to: number;
  };
}

const MOST_REACH = 0.97;

/**
 * Reach has diminishing returns, 1 − exp(−curvature × factor), and so has frequency: more spend makes ads dearer.
 */
export function compilePlan(spec: ShopSpec, plan: Plan): CompiledPlan {
  const count = spec.channels.length;
  const spend = new Float64Array(count).fill(1);
  const reach = new Float64Array(count);
  const frequency = new Float64Array(count).fill(1);
  const cost = new Float64Array(count).fill(1);
  spec.channels.forEach((channel, c) => {
    const factor = channel.kind === 'unpaid' ? 1 : Math.max(0, plan.spend?.[channel.name] ?? 1);
    spend[c] = factor;
    const share = (f: number): number => (1 - Math.exp(-channel.curvature * f)) / (1 - Math.exp(-channel.curvature));
    reach[c] = Math.min(MOST_REACH, channel.reach * share(factor));
    frequency[c] = factor ** channel.frequencyPower;
    const more = channel.reach > 0 ? (frequency[c]! * reach[c]!) / channel.reach : 0;
    cost[c] = factor > 0 && more > 0 && channel.pricing !== 'commission' ? factor / more : 1;
  });
  const { holdout } = plan;
  if (!holdout) return { spend, reach, frequency, cost };
  const bits = spec.channels.reduce((all, { name }, c) => (holdout.channels.includes(name) ? all | (1 << c) : all), 0);
  const [from, to] = [holdout.fromDay + spec.burnIn, holdout.toDay + spec.burnIn];
  return { spend, reach, frequency, cost, holdout: { bits, share: holdout.share, from, to } };
}

/** Whether a person belongs to the part of a holdout that meets nothing of the channel. */
export function isHeldOut(plan: CompiledPlan, personKey: number): boolean {
  return plan.holdout !== undefined && uniform(personKey, FOR.holdout, 0) < plan.holdout.share;
}
