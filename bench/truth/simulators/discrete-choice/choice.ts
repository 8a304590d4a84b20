import { OURS } from './person.ts';
import type { Person, State } from './person.ts';
import { branch, gumbel, normal, uniform } from './random.ts';
import type { World } from './world.ts';

/** Answer of `choose`: not one of our goods. */
export const NOT_BOUGHT = -1;
/** Rival r is -2 - r. */
export const FIRST_RIVAL = -2;

const logistic = (x: number): number => 1 / (1 + Math.exp(-x));

/** Counters of the draws that belong to a need. */
export const NEED = {
  searchLength1: 60,
  searchLength2: 61,
  awareSet: 62,
  choice: 1,
  rivalSet: 20,
  good: 30,
  basket: 50,
  coupon: 51,
  closing: 52,
  door: 53,
  leak: 56,
  gain: 58,
} as const;

/** Stocks of advertising on the logit of consideration: sum of a x / (1 + x), and the pair that reinforces itself. */
export function awarenessTerm(world: World, person: Person, state: State): number {
  const { table, shop } = world;
  let sum = 0;
  for (let c = 0; c < table.count; c++) {
    const stock = state.slow[c] ?? 0;
    if (stock > 0) sum += ((table.awareness[c] ?? 0) * stock) / (1 + stock);
  }
  if (shop.synergy > 0) {
    const a = state.slow[shop.synergyPair[0]] ?? 0;
    const b = state.slow[shop.synergyPair[1]] ?? 0;
    sum += shop.synergy * (a / (1 + a)) * (b / (1 + b));
  }
  return person.response * sum;
}

/**
 * Whether the shop comes into the consideration set by itself: a logit of its own before the choice (Swait and
 * Ben-Akiva 1987; advertising on consideration: Goeree 2008; Terui, Ban and Allenby 2011).
 */
export function comesToMind(
  world: World,
  person: Person,
  state: State,
  at: number,
  needKey: number,
  awareness: number,
): boolean {
  const { shop, calendar } = world;
  const customer = state.lastShop === OURS ? shop.inertiaConsideration : 0;
  const seen = 2.5 * (calendar.promotion[at] ?? 0);
  const logit = shop.considerationLogit + 0.8 * person.brand + customer + seen + awareness;
  return uniform(needKey, NEED.awareSet) < logistic(logit);
}

/**
 * Nested logit with random coefficients (McFadden 1978; Train 2009, ch. 4 and 6) over our goods, the rivals in the
 * set and not buying. Drawn in two steps with Gumbel shocks, the shop by its inclusive value and then the good, which
 * has the nested logit's probabilities; a better utility of ours can then only win buyers.
 */
export function choose(
  world: World,
  person: Person,
  state: State,
  at: number,
  needKey: number,
  coupon: number,
  moved: boolean,
): number {
  const { shop, calendar, table } = world;
  // inertia is weaker after a life event: needs are new
  const inertia = shop.inertiaUtility * (moved ? 0.4 : 1);
  let best = shop.noneUtility + gumbel(needKey, NEED.choice);
  let chosen = NOT_BOUGHT;
  shop.rivals.forEach((rival, r) => {
    const last = state.lastShop === r + 1;
    if (!last && uniform(needKey, NEED.rivalSet + r) >= logistic(rival.considerationLogit)) return;
    const taste = shop.brandSd * normal(branch(person.key, 61), r);
    const price = calendar.rivalPrice[at * shop.rivals.length + r] ?? 1;
    const utility =
      rival.intercept +
      taste -
      person.priceSensitivity * (price - 1) +
      (last ? inertia : 0) +
      gumbel(needKey, NEED.choice + 2 + r);
    if (utility > best) {
      best = utility;
      chosen = FIRST_RIVAL - r;
    }
  });
  if (!state.considered) return chosen;
  let sum = 0;
  let good = NOT_BOUGHT;
  let goodBest = -Infinity;
  const paidPart = (1 - (calendar.promotion[at] ?? 0)) * (1 - coupon);
  shop.goods.forEach((item, g) => {
    if (calendar.inStock[at * shop.goods.length + g] !== 1) return;
    const scaled = (item.quality - person.priceSensitivity * (item.price * paidPart - 1)) / shop.nestScale;
    sum += Math.exp(scaled);
    const shocked = scaled + gumbel(needKey, NEED.good + g);
    if (shocked > goodBest) {
      goodBest = shocked;
      good = g;
    }
  });
  if (good === NOT_BOUGHT) return chosen;
  let fresh = 0;
  for (let c = 0; c < table.count; c++) {
    const stock = state.fresh[c] ?? 0;
    if (stock > 0) fresh += ((table.utility[c] ?? 0) * stock) / (1 + stock);
  }
  const inclusive = shop.nestScale * Math.log(sum / shop.goods.length);
  const ours =
    shop.intercept +
    person.brand +
    inclusive +
    person.response * fresh +
    (state.lastShop === OURS ? inertia : 0) +
    gumbel(needKey, NEED.choice + 1);
  return ours > best ? good : chosen;
}

/** What the order comes to, in cents. */
export function orderCents(world: World, at: number, needKey: number, good: number, coupon: number): number {
  const { shop, calendar } = world;
  const basket = Math.exp(shop.basketSd * normal(needKey, NEED.basket) - 0.5 * shop.basketSd ** 2);
  const price = shop.goods[good]?.price ?? 1;
  const paidPart = (1 - (calendar.promotion[at] ?? 0)) * (1 - coupon);
  return Math.max(1, Math.round(100 * shop.referencePrice * price * paidPart * basket));
}
