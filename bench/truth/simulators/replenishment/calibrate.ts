import type { EventSink } from '../simulator.ts';
import type { Scenario } from './gate.ts';
import { Life } from './life.ts';
import type { Levels, Shop } from './model.ts';
import { Person } from './person.ts';
import { ShopView } from './shop-view.ts';

/** Others than those of the shop, whose numbers begin at 1. */
const FIRST_PILOT = 50_000_000;
const PILOTS = 4_000;
const ROUNDS = 9;

/** Everything as it is, and all paid channels off. */
export function scenario(shop: Shop, isOff: (c: number) => boolean): Scenario {
  return { factors: Float64Array.from(shop.channels, ({ paid }, c) => (paid && isOff(c) ? 0 : 1)), withheld: null };
}

function pilot(
  shop: Shop,
  levels: Levels,
  plan: Scenario,
  view: ShopView | null = null,
): { orders: number; cents: number } {
  const person = new Person(shop);
  const life = new Life(shop, levels, plan);
  let orders = 0;
  let cents = 0;
  for (let n = 0; n < PILOTS; n++) {
    person.become(FIRST_PILOT + n);
    view?.begin(person);
    life.live(person, plan, null, view);
    orders += life.orders;
    cents += life.cents;
  }
  return { orders, cents };
}

/** What all channels cost, at prices of 1. */
function costOf(shop: Shop, levels: Levels, plan: Scenario): number {
  let cost = 0;
  const sink: EventSink = {
    event: () => undefined,
    endUser: () => undefined,
    spend: (_day, _channel, amount) => {
      cost += amount;
    },
  };
  const view = new ShopView(shop, 1, plan.factors, PILOTS, sink);
  pilot(shop, levels, plan, view);
  view.bill.tell(sink);
  return cost;
}

/**
 * The shop's place in the market, and the scale of what advertising does, such that orders per person and the part of
 * revenue that all channels bring come near what the shop aims at. Then the size of the whole budget, by planned
 * revenue: what a single channel works does not enter what it costs.
 */
export function calibrate(shop: Shop): Levels {
  const { aim, worksAtAll } = shop;
  const asItIs = scenario(shop, () => false);
  const allOff = scenario(shop, () => true);
  let levels: Levels = { base: -2.5, effects: worksAtAll ? 1 : 0, prices: 1 };
  for (let round = 0; round < ROUNDS; round++) {
    const factual = pilot(shop, levels, asItIs);
    const off = worksAtAll ? pilot(shop, levels, allOff) : factual;
    // Steps become smaller, as the pilot is small and what it finds is partly chance.
    const step = 1 / (1 + 0.25 * round);
    const missed = Math.log((aim.ordersPerPerson * PILOTS) / Math.max(4, factual.orders));
    const brought = Math.max(0.01, 1 - off.cents / Math.max(1, factual.cents));
    const effects = levels.effects * (aim.incremental / brought) ** (0.8 * step);
    levels = {
      prices: 1,
      base: Math.max(-9, Math.min(3, levels.base + 1.2 * step * missed)),
      effects: worksAtAll ? Math.max(0.05, Math.min(12, effects)) : 0,
    };
  }
  const planned = (shop.weeklyRevenue * PILOTS * shop.days) / 7;
  return { ...levels, prices: (aim.marketing * planned) / costOf(shop, levels, asItIs) };
}
