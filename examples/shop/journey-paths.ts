import { CHANNELS } from './marketing-plan.ts';
import type { UserHistory } from './shop-history.ts';

/** How far before an order (or before the last touch) a journey reaches. */
const LOOKBACK_S = 30 * 86_400;

export interface PathCounts {
  conversions: number;
  cents: number;
  nulls: number;
}

/**
 * The shop's journeys, added up by path. A converting journey holds the touches since the previous order and
 * within 30 days before this one; a null journey the touches after the last order, within 30 days of the last
 * of them. Paths come back in the order of their text.
 */
export function aggregatePaths(users: readonly UserHistory[]): ReadonlyMap<string, PathCounts> {
  const counts = new Map<string, PathCounts>();
  const entry = (channels: readonly number[]): PathCounts => {
    const path = channels.map((channel) => CHANNELS[channel]!.name).join(' > ');
    const known = counts.get(path);
    if (known !== undefined) return known;
    const fresh = { conversions: 0, cents: 0, nulls: 0 };
    counts.set(path, fresh);
    return fresh;
  };

  for (const { touches, orders } of users) {
    let next = 0;
    for (const order of orders) {
      const path: number[] = [];
      for (let touch = touches[next]; touch !== undefined && touch.timeS <= order.timeS; touch = touches[next]) {
        next += 1;
        if (touch.timeS >= order.timeS - LOOKBACK_S) path.push(touch.channel);
      }
      const count = entry(path);
      count.conversions += 1;
      count.cents += order.cents;
    }
    if (next < touches.length) {
      const endS = touches.at(-1)!.timeS;
      entry(
        touches
          .slice(next)
          .filter((touch) => touch.timeS >= endS - LOOKBACK_S)
          .map((touch) => touch.channel),
      ).nulls += 1;
    }
  }
  return new Map([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
