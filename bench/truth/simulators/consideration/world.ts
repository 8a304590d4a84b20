import { normalOf, uniformOf } from './random.ts';

/** Days of the window, and days before it in which people live without being seen. */
export const DAYS = 90;
export const BURN_IN_DAYS = 20;
const ALL_DAYS = BURN_IN_DAYS + DAYS;
/** 6 January 2025, a Monday */
export const START_S = Date.UTC(2025, 0, 6) / 1000;

interface PaidChannel {
  readonly name: string;
  /** on the logarithm of the hazard of an order, by one fresh touch */
  readonly lift: number;
  /** of the ad-stock */
  readonly halfLifeDays: number;
  /** relative gain of the rate at which people begin to look around */
  readonly entry: number;
  /** of a touch, major units */
  readonly cost: number;
}

/** Typical values, which every world moves. */
const PAID: readonly PaidChannel[] = [
  { name: 'video', lift: 0.22, halfLifeDays: 8, entry: 0.6, cost: 0.02 },
  { name: 'display', lift: 0.12, halfLifeDays: 5, entry: 0.25, cost: 0.006 },
  { name: 'social', lift: 0.25, halfLifeDays: 4, entry: 0.5, cost: 0.03 },
  { name: 'paid_search', lift: 0.6, halfLifeDays: 2.5, entry: 0.25, cost: 0.9 },
  { name: 'brand_search', lift: 0.12, halfLifeDays: 1, entry: 0, cost: 0.25 },
  { name: 'retargeting', lift: 0.28, halfLifeDays: 2, entry: 0.05, cost: 0.05 },
  { name: 'email', lift: 0.45, halfLifeDays: 3, entry: 0.15, cost: 0.004 },
  { name: 'affiliate', lift: 0.06, halfLifeDays: 1, entry: 0, cost: 0.6 },
];
export const PAID_COUNT = PAID.length;
export const CHANNELS: readonly string[] = [...PAID.map(({ name }) => name), 'organic', 'direct'];
export const [VIDEO, DISPLAY, SOCIAL, PAID_SEARCH, BRAND_SEARCH] = [0, 1, 2, 3, 4] as const;
export const [RETARGETING, EMAIL, AFFILIATE, ORGANIC, DIRECT] = [5, 6, 7, 8, 9] as const;

/** What a world is drawn with, beside its seed. */
export interface Setting {
  readonly seed: number;
  /** factor on all effects of advertising: 0 = nothing works */
  readonly effects: number;
  /** factor on how far advertising and demand go together: 0 = touches follow the state of the person alone */
  readonly confounding: number;
  /** unpaid visits that awareness channels bring without more orders: 0 = none */
  readonly halo: number;
}

export interface World {
  readonly setting: Setting;
  /** per paid channel */
  readonly lift: readonly number[];
  readonly decay: readonly number[];
  readonly entry: readonly number[];
  readonly cost: readonly number[];
  /** per channel */
  readonly frequency: readonly number[];
  /** per channel and day, burn-in included: budgets and flights */
  readonly intensity: readonly Float64Array[];
  readonly season: Float64Array;
  /** of paid search and email after video or display, on the logarithm of the hazard of an order */
  readonly synergy: number;
  /** how far touches and orders both follow a person's affinity and time online */
  readonly selection: number;
  /** part of the orders outside of a session to which buyers come by a click on brand search, or on an affiliate */
  readonly navigation: { readonly brandSearch: number; readonly affiliate: number };
}

/** A world as its seed draws it. */
export function drawWorld(setting: Setting): World {
  const { seed, effects, confounding } = setting;
  const normal = (group: number, item: number): number =>
    normalOf(uniformOf(seed, -7, group, 2 * item), uniformOf(seed, -7, group, 2 * item + 1));
  const uniform = (group: number, item: number): number => uniformOf(seed, -8, group, item);
  const jitter = (item: number, spread: number, group: number): number => Math.exp(spread * normal(group, item));
  const isIdle = PAID.map((_, c) => uniform(4, c) < 0.12);
  const working = (c: number, effect: number): number => (isIdle[c] ? 0 : effect);
  return {
    setting,
    lift: PAID.map(({ lift }, c) => working(c, lift * jitter(c, 0.55, 1) * effects)),
    decay: PAID.map(({ halfLifeDays }, c) => Math.exp(-Math.LN2 / (halfLifeDays * jitter(c, 0.3, 2)))),
    entry: PAID.map(({ entry }, c) => working(c, entry * jitter(c, 0.5, 3) * effects)),
    cost: PAID.map(({ cost }) => cost),
    frequency: CHANNELS.map((_, c) => (c < PAID_COUNT ? jitter(c, 0.3, 5) : 1)),
    intensity: CHANNELS.map((_, c) => drawIntensity(c, normal, uniform)),
    season: Float64Array.from({ length: ALL_DAYS }, (_, day) => WEEK[day % 7]! * (1 + 0.1 * Math.sin(day / 14))),
    synergy: 0.35 * jitter(0, 0.4, 6) * effects,
    selection: confounding * (0.6 + 0.8 * uniform(7, 0)),
    navigation: {
      brandSearch: Math.min(0.6, 0.3 * jitter(1, 0.3, 7)) * Math.min(1, confounding),
      affiliate: Math.min(0.3, 0.1 * jitter(2, 0.4, 7)) * Math.min(1, confounding),
    },
  };
}

const WEEK: readonly number[] = [1, 1, 0.95, 1, 1.1, 0.85, 0.9];
const PERSISTENCE = 0.8;
const SHOCK = 0.6 * 0.35;
/** takes the mean of the log-normal back to about 1 */
const CENTRE = 0.06;

type WorldDraw = (group: number, item: number) => number;

/** Budgets wander from day to day (autoregressive); video and display come in flights by the week. */
function drawIntensity(c: number, normal: WorldDraw, uniform: WorldDraw): Float64Array {
  const hasFlights = c === VIDEO || c === DISPLAY;
  let level = 0;
  return Float64Array.from({ length: ALL_DAYS }, (_, day) => {
    level = PERSISTENCE * level + SHOCK * normal(100 + c, day);
    const flight = hasFlights ? (uniform(300 + c, Math.floor(day / 7)) < 0.25 ? 0.15 : 1.25) : 1;
    return Math.exp(level - CENTRE) * flight;
  });
}
