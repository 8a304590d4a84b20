import { BROADCAST, DOORS, NEWSLETTERS, PROSPECTING, REACTIVE, SEARCH } from './channel-kinds.ts';
import type { ChannelKind } from './channel-kinds.ts';
import type { Stream } from './random.ts';
import type { ShopPlan } from './shop-plans.ts';

/** In random order. */
export function shuffled<T>(stream: Stream, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: stream.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Which channels a shop buys: 4 to 11 of them. */
export function lineUp(stream: Stream, { traits, harmful }: ShopPlan): ChannelKind[] {
  const some = (kinds: readonly ChannelKind[], least: number, most: number): ChannelKind[] =>
    shuffled(stream, kinds).slice(0, least + Math.floor(stream.next() * (most - least + 1)));
  const chosen = new Set([
    ...some(PROSPECTING, traits.has('synergy') || harmful === 'prospecting' ? 2 : 1, 4),
    ...(traits.has('untracked_spend') ? some(BROADCAST, 1, 2) : []),
    ...some(SEARCH, 1, 2),
    ...(harmful === 'retargeting' ? REACTIVE.slice(0, 2) : some(REACTIVE, 0, 2)),
    ...(harmful === 'newsletter' || stream.isTrue(0.75) ? some(NEWSLETTERS, 1, 1) : []),
    ...(harmful === 'coupon' ? DOORS.slice(0, 2) : some(DOORS, 0, 2)),
  ]);
  // Hardly a shop buys less than four.
  for (const kind of shuffled(stream, [...PROSPECTING, ...REACTIVE, ...DOORS])) if (chosen.size < 4) chosen.add(kind);
  return [...PROSPECTING, ...BROADCAST, ...SEARCH, ...REACTIVE, ...NEWSLETTERS, ...DOORS].filter((kind) =>
    chosen.has(kind),
  );
}
