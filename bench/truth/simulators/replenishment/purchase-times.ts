import { clockTime } from './calendar.ts';
import { BURN_IN_DAYS } from './model.ts';
import type { Peak, Shop } from './model.ts';
import { uniform } from './random.ts';

/** Days of demand twice as high as usual lose nobody to later days. */
const FULL_DEMAND = 1.6;
const PEAK_SLOT = 100;
const LATER_SLOT = 60;

/** Those who know of a peak ahead wait for it, or buy ahead at one that comes shortly before stock is at an end. */
export function needTime(shop: Shop, t: number, now: number, dealProne: number, key: number): number {
  for (let n = 0; n < shop.peaks.length; n++) {
    const { fromDay, toDay, pull, heed } = shop.peaks[n]!;
    const waits = t > fromDay - pull && t < fromDay;
    const buysAhead = t > toDay && t < toDay + pull;
    if (!waits && !buysAhead) continue;
    const at = fromDay + (toDay - fromDay) * uniform(key, PEAK_SLOT + 2 * n + 1);
    if (at > now && uniform(key, PEAK_SLOT + 2 * n) < 1.2 * dealProne * heed) return at;
  }
  return t;
}

/** Purchases keep to the clock, and on days of low demand wait for later ones. */
export function decisionTime(shop: Shop, t: number, now: number, key: number): number {
  let at = t;
  for (let n = 0; n < 2; n++) {
    const demand = shop.demand[Math.floor(at) + BURN_IN_DAYS] ?? 1;
    if (uniform(key, LATER_SLOT + 2 * n) < demand / FULL_DEMAND) break;
    at += 0.5 + 4 * uniform(key, LATER_SLOT + 2 * n + 1);
  }
  const onClock = Math.floor(at) + clockTime(uniform(key, LATER_SLOT + 5));
  return onClock > now ? onClock : Math.max(at, now);
}

/** The deepest price cut of the shop at a time; 0 = none. */
export function priceCut(peaks: readonly Peak[], t: number): number {
  let depth = 0;
  for (const peak of peaks) if (peak.depth > depth && t >= peak.fromDay && t < peak.toDay) depth = peak.depth;
  return depth;
}
