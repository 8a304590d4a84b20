import { BURN_IN_DAYS } from './model.ts';
import type { Peak } from './model.ts';
import type { Stream } from './random.ts';

const DAY_S = 86_400;
/** Weekday 0 is Monday: shops on the net sell most on Sunday and Monday evenings. */
const WEEK: readonly number[] = [1.12, 1.05, 1, 0.97, 0.88, 0.87, 1.11];

/** Midnight of a day of 2025, counted from 1 January; a Monday, so that weeks are whole. */
export function mondayFrom(dayOfYear: number): number {
  const day = new Date(Date.UTC(2025, 0, 1 + dayOfYear));
  const ahead = (8 - day.getUTCDay()) % 7;
  return day.getTime() / 1000 + ahead * DAY_S;
}

/** Days of the window on which all shops sell most; the year is known to all. */
function marketPeaks(startS: number, days: number): Peak[] {
  const dates: readonly (readonly [month: number, day: number, length: number, pull: number, heed: number])[] = [
    [0, 2, 9, 6, 0.3],
    [1, 10, 5, 6, 0.2],
    [4, 6, 5, 6, 0.2],
    [6, 8, 4, 5, 0.25],
    [10, 24, 8, 18, 0.6],
    [11, 8, 12, 12, 0.3],
  ];
  return [0, 1].flatMap((year) =>
    dates.flatMap(([month, day, length, pull, heed]): Peak[] => {
      const fromDay = (Date.UTC(2025 + year, month, day) / 1000 - startS) / DAY_S;
      const toDay = fromDay + length;
      if (toDay < -BURN_IN_DAYS || fromDay > days) return [];
      return [{ fromDay, toDay, depth: 0, pull, heed, isMarketWide: true }];
    }),
  );
}

/** The peaks of the market and, in shops with promotions, price cuts, some of them on the market's peaks. */
export function drawPeaks(stream: Stream, startS: number, days: number, hasPromotions: boolean): Peak[] {
  const ofMarket = marketPeaks(startS, days);
  if (!hasPromotions) return ofMarket;
  const cuts: Peak[] = ofMarket
    .filter(() => stream.isTrue(0.6))
    .map((peak) => ({ ...peak, depth: stream.between(0.1, 0.3), isMarketWide: false }));
  for (let day = -BURN_IN_DAYS + stream.between(5, 25); day < days; day += stream.between(18, 45)) {
    const fromDay = Math.round(day);
    cuts.push({
      fromDay,
      toDay: fromDay + Math.round(stream.between(3, 9)),
      depth: stream.between(0.08, 0.25),
      pull: stream.between(3, 12),
      heed: stream.between(0.2, 0.6),
      isMarketWide: false,
    });
  }
  return [...ofMarket, ...cuts];
}

/** How much is bought on a day, mean 1: week, peaks, a slow wave and weather (autoregressive). */
export function drawDemand(stream: Stream, days: number, peaks: readonly Peak[]): Float64Array {
  const wave = stream.between(0, 0.25);
  const length = stream.between(60, 200);
  const phase = stream.between(0, length);
  const shock = stream.between(0.03, 0.12);
  let weather = 0;
  const demand = Float64Array.from({ length: BURN_IN_DAYS + days }, (_, n) => {
    const day = n - BURN_IN_DAYS;
    weather = 0.7 * weather + shock * stream.normal();
    const peak = Math.max(0, ...peaks.map(({ fromDay, toDay, heed }) => (day >= fromDay && day < toDay ? heed : 0)));
    const slow = 1 + wave * Math.sin((2 * Math.PI * (day + phase)) / length);
    return WEEK[n % 7]! * slow * Math.exp(weather) * (1 + 1.5 * peak);
  });
  const mean = demand.reduce((sum, value) => sum + value, 0) / demand.length;
  return demand.map((value) => value / mean);
}

/** Hours of the clock by share of activity, as quantiles: nights are quiet, evenings are not. */
const HOURS: readonly number[] = (() => {
  const weights = [2, 1, 0.5, 0.4, 0.4, 0.8, 2, 3, 4, 5, 5.5, 5.5, 6, 5.5, 5, 5, 5, 5.5, 6, 7, 8, 8, 6, 3.5];
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.flatMap((weight, hour) => Array.from({ length: Math.round((256 * weight) / total) }, () => hour));
})();

/** Time within the day for a uniform number, in days. */
export function clockTime(u: number): number {
  const scaled = u * HOURS.length;
  const n = Math.floor(scaled);
  return (HOURS[n]! + (scaled - n)) / 24;
}

const QUANTILES = 2048;

/** Quantiles of the day at which something happens, from its intensity per day. */
export function dayQuantiles(intensity: Float64Array): Int16Array {
  const total = intensity.reduce((sum, value) => sum + value, 0);
  const table = new Int16Array(QUANTILES);
  let day = 0;
  let below = intensity[0]!;
  for (let n = 0; n < QUANTILES; n++) {
    while ((n + 0.5) / QUANTILES > below / total && day < intensity.length - 1) below += intensity[++day]!;
    table[n] = day;
  }
  return table;
}
