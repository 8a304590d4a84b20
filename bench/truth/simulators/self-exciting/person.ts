import { childKey, mix, normal, roughNormal, uniform } from './random.ts';
import type { World } from './world.ts';

/** Purposes of draws, so that no two of one key meet. */
export const DRAW = {
  interest: 1,
  susceptibility: 4,
  online: 7,
  customer: 10,
  subscriber: 11,
  chronotype: 12,
  device: 13,
  split: 14,
  consent: 15,
  holdout: 16,
  activity: 20,
  time: 400,
  hour: 401,
  keep: 402,
  win: 403,
  price: 404,
  click: 405,
  view: 406,
  door: 407,
  navigate: 408,
  adClick: 409,
  lost: 410,
  cart: 411,
  checkout: 412,
  coupon: 413,
  couponLost: 414,
  basket: 415,
  late: 418,
  accept: 419,
  slot: 420,
  open: 421,
  loss: 422,
  score: 423,
  cookie: 480,
  known: 481,
  hijack: 520,
  offspring: 600,
} as const;

/** Chances to be seen while a person is online. */
export interface ChanceSink {
  chance(time: number, key: number): void;
}

/** Cumulative share of online time over the day, 1 % steps: little at night, most in the evening. */
const HOURS = [2, 1, 1, 1, 1, 2, 4, 6, 7, 7, 7, 7, 8, 7, 7, 7, 8, 9, 11, 13, 14, 13, 9, 5];
const QUANTILES = buildQuantiles();

function buildQuantiles(): Float64Array {
  const total = HOURS.reduce((a, b) => a + b, 0);
  const quantiles = new Float64Array(257);
  let hour = 0;
  let below = 0;
  for (let i = 0; i <= 256; i++) {
    const wanted = (i / 256) * total;
    while (hour < 23 && below + (HOURS[hour] as number) < wanted) below += HOURS[hour++] as number;
    quantiles[i] = Math.min(0.9999, (hour + (wanted - below) / (HOURS[hour] as number)) / 24);
  }
  return quantiles;
}

/** A person's lasting traits and times online; one object serves for all people in turn. */
export class Person {
  key = 0;
  interest = 1;
  susceptibility = 1;
  customer = false;
  subscriber = false;
  private shift = 0;
  /** online time per day from the burn-in's first, mean about 1, and its running sum */
  readonly activity: Float64Array;
  private readonly cumulative: Float64Array;
  episodes = 0;
  readonly episodeStart = new Float64Array(32);
  readonly episodeEnd = new Float64Array(32);
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
    this.activity = new Float64Array(world.days + world.burn);
    this.cumulative = new Float64Array(world.days + world.burn);
  }

  draw(index: number): void {
    const { world } = this;
    const key = mix(childKey(world.seed, index));
    this.key = key;
    const level = normal(key, DRAW.interest);
    this.interest = Math.exp(world.interestSpread * (level - world.interestSpread / 2));
    const tie = world.susceptibilityTie;
    const mood = tie * level + Math.sqrt(1 - tie * tie) * normal(key, DRAW.susceptibility);
    this.susceptibility = Math.exp(world.susceptibilitySpread * (mood - world.susceptibilitySpread / 2));
    const online = Math.exp(world.onlineSpread * (normal(key, DRAW.online) - world.onlineSpread / 2));
    const odds = world.customerShare * Math.sqrt(this.interest);
    this.customer = uniform(key, DRAW.customer) < odds / (1 + odds - world.customerShare);
    this.subscriber = uniform(key, DRAW.subscriber) < world.subscriberShare;
    this.shift = 0.12 * roughNormal(key, DRAW.chronotype);
    this.drawActivity(online);
    this.episodes = 0;
  }

  /** Bursts of being online: lognormal blocks of three days (activity bias: Lewis, Rao & Reiley 2011). */
  private drawActivity(online: number): void {
    const spread = this.world.activitySpread;
    const mean = online * Math.exp((-spread * spread) / 2);
    const burst = childKey(this.key, DRAW.activity);
    let sum = 0;
    let level = 1;
    for (let d = 0; d < this.activity.length; d++) {
      if (d % 3 === 0) level = mean * Math.exp(spread * roughNormal(burst, d));
      this.activity[d] = level;
      sum += level;
      this.cumulative[d] = sum;
    }
  }

  /** A time on a day (counted from the window's first) at which this person is online. */
  onDay(day: number, u: number): number {
    const at = u * 256;
    const low = Math.floor(at);
    const from = QUANTILES[low] as number;
    let fraction = from + (at - low) * ((QUANTILES[low + 1] as number) - from) + this.shift;
    fraction -= Math.floor(fraction);
    return day + fraction;
  }

  /** Poisson process over the person's online time, `rate` per day at activity 1; times lie within a day as used. */
  process(key: number, rate: number, sink: ChanceSink): void {
    const { cumulative } = this;
    const total = cumulative[cumulative.length - 1] as number;
    let at = 0;
    let day = 0;
    for (let k = 0; k < 2000; k++) {
      const eventKey = childKey(key, k);
      at -= Math.log(uniform(eventKey, DRAW.time)) / rate;
      if (at >= total) return;
      while ((cumulative[day] as number) < at) day++;
      sink.chance(this.onDay(day - this.world.burn, uniform(eventKey, DRAW.hour)), eventKey);
    }
  }

  /** Whether the person needs something of the shop's kind at this time. */
  inEpisode(time: number): boolean {
    for (let i = 0; i < this.episodes; i++) {
      if (time >= (this.episodeStart[i] as number) && time < (this.episodeEnd[i] as number)) return true;
    }
    return false;
  }
}
