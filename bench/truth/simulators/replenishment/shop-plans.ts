import type { Trait } from '../simulator.ts';

/** What is laid down per shop, so that every trait comes often enough; the rest is drawn. */
export interface ShopPlan {
  readonly traits: ReadonlySet<Trait>;
  /** kinds of goods */
  readonly goods: 'consumables' | 'durables' | 'mixed' | 'gifts';
  /** 1 January of the year is day 0 of the window at 0 */
  readonly startDay: number;
  /** channel that does harm */
  readonly harmful: 'retargeting' | 'newsletter' | 'prospecting' | 'coupon' | null;
}

export const SHOPS = 24;

/** By trait: the shops that have it. Others follow from the channels that a shop buys. */
const WITH: Readonly<Partial<Record<Trait, readonly number[]>>> = {
  nothing_works: [5, 11, 17, 23],
  harm: [3, 9, 14, 20],
  synergy: [2, 6, 8, 13, 19, 24],
  long_horizon: [1, 4, 8, 12, 16, 20, 24],
  short_horizon: [2, 6, 10, 14, 18, 22],
  ids_split: [2, 4, 7, 9, 12, 15, 17, 20, 22],
  touches_lost: [1, 4, 7, 10, 13, 16, 19, 22],
  sparse_orders: [3, 10, 15, 21],
  promotions: [1, 2, 5, 8, 11, 13, 15, 18, 20, 23],
  untracked_spend: [4, 7, 11, 14, 16, 20, 24],
  budget_follows_demand: [3, 6, 9, 12, 17, 18, 21],
  halo_visits: [1, 5, 6, 8, 13, 19, 22],
};

const GOODS = ['consumables', 'durables', 'mixed', 'gifts', 'consumables', 'mixed', 'durables'] as const;
/** Of a year: spring, before and after Black Friday, over Christmas, from January. */
const STARTS: readonly number[] = [60, 255, 5, 290, 130, 230, 180];
const HARMFUL: Readonly<Record<number, ShopPlan['harmful']>> = {
  3: 'retargeting',
  9: 'newsletter',
  14: 'prospecting',
  20: 'coupon',
};

/** What is laid down for the shop `index`, 1 … `SHOPS`. */
export function shopPlan(index: number): ShopPlan {
  const traits = new Set<Trait>();
  for (const [trait, shops] of Object.entries(WITH) as [Trait, readonly number[]][]) {
    if (shops.includes(index)) traits.add(trait);
  }
  return {
    traits,
    goods: traits.has('short_horizon') ? 'consumables' : GOODS[index % GOODS.length]!,
    startDay: STARTS[(index * 3) % STARTS.length]!,
    harmful: HARMFUL[index] ?? null,
  };
}
