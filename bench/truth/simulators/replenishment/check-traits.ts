import type { EventSink, SimulatedShop, Trait, Truth } from '../simulator.ts';
import { correlation } from './check-returns.ts';
import { drawShop } from './draw-shop.ts';
import { shopPlan } from './shop-plans.ts';

const DAY_S = 86_400;
const RECENT_S = 25 * DAY_S;
/** Of the window: days in which the channel that brings most is withheld, to see what comes after. */
const FIRST_DAYS = 35;

/** What shows traits in the rows of a shop. */
class TraitSink implements EventSink {
  readonly ordersOfDay: Float64Array;
  readonly spentOfDay: Float64Array;
  unpaidTouches = 0;
  secondIds = 0;
  /** touches of channels that follow visitors, after the window's first weeks; and those after a recent visit */
  followed = 0;
  afterVisit = 0;
  private readonly shop: SimulatedShop;
  private visitedS = -Infinity;

  constructor(shop: SimulatedShop) {
    this.shop = shop;
    this.ordersOfDay = new Float64Array(shop.days);
    this.spentOfDay = new Float64Array(shop.days);
  }

  event(timeS: number, channel: number, isOrder: boolean): void {
    if (isOrder) this.ordersOfDay[Math.floor((timeS - this.shop.startS) / DAY_S)]!++;
    const isReactive = channel >= 0 && this.shop.channels[channel]!.traits.includes('reactive_targeting');
    if (!isReactive) {
      this.visitedS = timeS;
      if (!isOrder && !this.shop.channels[channel]!.paid) this.unpaidTouches++;
    } else if (timeS > this.shop.startS + RECENT_S) {
      this.followed++;
      if (timeS - this.visitedS < RECENT_S) this.afterVisit++;
    }
  }

  endUser(userId: string): void {
    this.visitedS = -Infinity;
    if (userId.endsWith('b')) this.secondIds++;
  }

  spend(day: number, channel: number, amount: number): void {
    if (this.shop.channels[channel]!.traits.includes('budget_follows_demand')) this.spentOfDay[day]! += amount;
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Looks for each trait of a shop in what comes out of it; gives what it found, and what is amiss. */
export function traitsSeen(index: number, shop: SimulatedShop, truth: Truth): { seen: string[]; amiss: string[] } {
  const rows = new TraitSink(shop);
  shop.run({}, rows);
  const seen: string[] = [];
  const amiss: string[] = [];
  const look = (trait: Trait, holds: (() => boolean) | null, what: () => string): void => {
    if (!shop.traits.includes(trait)) return;
    seen.push(`${trait} ${what()}`);
    if (holds !== null && !holds()) amiss.push(`${trait}: ${what()}`);
  };
  for (const trait of shopPlan(index).traits) if (!shop.traits.includes(trait)) amiss.push(`${trait} is missing`);
  const { channels, days, people } = shop;
  const marked = (trait: Trait): number[] => channels.flatMap(({ traits }, c) => (traits.includes(trait) ? [c] : []));
  const off = (which: readonly number[]): Record<string, number> =>
    Object.fromEntries(which.map((c) => [channels[c]!.name, 0]));

  look(
    'ids_split',
    () => rows.secondIds > 0.02 * people,
    () => `${rows.secondIds} second ids`,
  );
  look(
    'sparse_orders',
    () => truth.orders < 0.02 * people,
    () => `${truth.orders} orders`,
  );
  look(
    'untracked_spend',
    () => channels.some(({ tracked }) => !tracked),
    () => `${marked('untracked_spend').length}`,
  );
  look(
    'touches_lost',
    () => drawShop(index).channels.some(({ lost }) => lost > 0.1),
    () => '',
  );
  const followed = rows.afterVisit / Math.max(1, rows.followed);
  const isWhole = !shop.traits.includes('ids_split') && !shop.traits.includes('touches_lost');
  look('reactive_targeting', isWhole ? () => followed > 0.6 : null, () => `${followed.toFixed(2)} after a visit`);
  const follows = correlation([...rows.spentOfDay], [...rows.ordersOfDay]);
  look(
    'budget_follows_demand',
    () => people < 20_000 || follows > 0.1,
    () => `r ${follows.toFixed(2)} with orders`,
  );
  const cuts = drawShop(index).peaks.filter(({ depth }) => depth > 0);
  const isCut = (day: number): boolean => cuts.some(({ fromDay, toDay }) => day >= fromDay && day < toDay);
  const ordersWhere = (inCut: boolean): number => mean([...rows.ordersOfDay].filter((_, day) => isCut(day) === inCut));
  const rise = ordersWhere(true) / ordersWhere(false);
  look(
    'promotions',
    () => rise > 1.15,
    () => `orders × ${rise.toFixed(2)} on days of price cuts`,
  );
  if (shop.traits.includes('halo_visits')) {
    const without = new TraitSink(shop);
    shop.run({ spend: off(marked('halo_visits')) }, without);
    const lost = 1 - without.unpaidTouches / rows.unpaidTouches;
    look(
      'halo_visits',
      () => lost > 0.01,
      () => `${(100 * lost).toFixed(1)} % of unpaid touches`,
    );
  }
  if (shop.traits.includes('synergy')) {
    const pair = marked('synergy');
    const bothOff = shop.run({ spend: off(pair) });
    const single = pair.reduce((sum, c) => sum + truth.switchOff[c]!.revenue, 0);
    const more = single / (truth.revenue - bothOff.revenue);
    look('synergy', null, () => `parts are ${more.toFixed(2)} of the whole`);
  }
  if (!shop.traits.includes('nothing_works')) seen.push(timing(shop, truth, days));
  return { seen, amiss };
}

/** What of the best channel's first weeks comes in them, and what later; below 0: it is missing later. */
function timing(shop: SimulatedShop, truth: Truth, days: number): string {
  const best = shop.channels
    .map((_, c) => c)
    .toSorted((a, b) => truth.switchOff[b]!.orders - truth.switchOff[a]!.orders);
  const { name } = shop.channels[best[0]!]!;
  const whole = { channels: [name], fromDay: 0, toDay: Math.min(FIRST_DAYS, days) };
  const withheld = shop.run({ holdout: { ...whole, share: 1 } });
  const asItIs = shop.run({ holdout: { ...whole, share: 0 } });
  const within = asItIs.arms!.others.orders - withheld.arms!.heldOut.orders;
  const later = asItIs.orders - withheld.orders - within;
  return `${name} of the first ${FIRST_DAYS} days: ${within} orders in them, ${later} later`;
}
