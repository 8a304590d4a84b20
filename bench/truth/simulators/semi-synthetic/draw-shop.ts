import type { Draws } from './draws.ts';
import { drawChannels } from './draw-channels.ts';
import type { ChannelSpec } from './draw-channels.ts';
import { keyOf, uniform } from './random.ts';
import type { Trait } from '../simulator.ts';

/** All that sets one shop apart from the others. Ranges are those of README.md. */
export interface ShopSpec {
  readonly index: number;
  readonly seed: number;
  readonly days: number;
  readonly burnIn: number;
  /** day of the file of real histories on which the window begins: the season that it falls into */
  readonly firstDay: number;
  readonly traits: readonly Trait[];
  readonly channels: readonly ChannelSpec[];
  /** two channels that strengthen each other, and by how much; strength 0 where none do */
  readonly synergy: { readonly a: number; readonly b: number; readonly strength: number };
  /** aims of the calibration: orders per person, share of revenue that paid channels cause, spend over revenue */
  readonly ordersPerPerson: number;
  readonly incrementalShare: number;
  readonly spendShare: number;
  /** mean order in major units, and the power that tames the real orders' spread */
  readonly orderValue: number;
  readonly valuePower: number;
  readonly customerShare: number;
  readonly customerLift: number;
  /** standard deviation of people's log odds of buying here when they buy at all */
  readonly heterogeneity: number;
  /** rise of the log odds by earlier orders, and by visits within the last days */
  readonly loyaltyLift: number;
  readonly visitLift: number;
  readonly visitHalfLife: number;
  /** part of impulse orders that replace a purchase of the following weeks */
  readonly pullForward: number;
  /** browsing follows a second real history, its time made shorter by this factor and its events thinned */
  readonly browseSpeed: number;
  readonly browseKeep: number;
  /** visits to this shop before a purchase, of people who consider it */
  readonly visitsBefore: number;
  readonly cartShare: number;
  readonly promotions: readonly { readonly from: number; readonly to: number; readonly cut: number }[];
  readonly promotionLift: number;
  readonly promotionTraffic: number;
  /** people who are seen under several ids, and people whose id is given anew within the window */
  readonly splitShare: number;
  readonly resetShare: number;
  /** touches lost one by one, and people who refuse to be tracked (their orders alone are seen) */
  readonly lossRate: number;
  readonly refusalShare: number;
}

export const SHOPS = 32;

function drawsOf(seed: number): Draws {
  let n = 0;
  const next = (): number => uniform(seed, 900, n++);
  return {
    between: (low, high) => low + (high - low) * next(),
    logBetween: (low, high) => low * (high / low) ** next(),
    whole: (low, high) => low + Math.floor((high - low + 1) * next()),
    chance: (p) => next() < p,
  };
}

/** Every trait at least four times over the shops, in changing company. */
function traitsOf(index: number): Trait[] {
  const nothing = index % 7 === 5;
  const traits: Trait[] = [];
  if (nothing) traits.push('nothing_works');
  else {
    if (index % 6 === 3) traits.push('harm');
    if (index % 5 === 3) traits.push('synergy');
    if (index % 4 === 3) traits.push('long_horizon');
    if (index % 4 === 0) traits.push('short_horizon');
    if (index % 3 === 2) traits.push('halo_visits');
  }
  if (index % 4 === 1 || index % 8 === 6) traits.push('ids_split');
  if (index % 4 === 2 || index % 8 === 5) traits.push('touches_lost');
  if (index % 6 === 2) traits.push('sparse_orders');
  if (index % 3 === 0) traits.push('promotions');
  if (index % 5 === 2) traits.push('untracked_spend');
  if (index % 3 === 1) traits.push('budget_follows_demand');
  return traits;
}

function drawPromotions(draws: Draws, days: number): ShopSpec['promotions'] {
  const count = draws.whole(2, 4);
  return Array.from({ length: count }, (_, k) => {
    const from = Math.floor(((k + draws.between(0.2, 0.7)) * days) / count);
    return { from, to: from + draws.whole(2, 5), cut: draws.between(0.1, 0.25) };
  });
}

/** The shop of an index, from 1 to `SHOPS`. */
export function drawShop(index: number): ShopSpec {
  const seed = keyOf(0x5e317, index);
  const draws = drawsOf(seed);
  const traits = traitsOf(index);
  const has = (trait: Trait): boolean => traits.includes(trait);
  const nothing = has('nothing_works');
  const days = draws.whole(60, 120);
  const burnIn = has('long_horizon') ? 63 : 42;
  const channels = drawChannels(draws, index, has);
  if (channels.some((c) => c.traits.includes('reactive_targeting'))) traits.push('reactive_targeting');
  if (channels.some((c) => c.traits.includes('navigational_clicks'))) traits.push('navigational_clicks');
  const pair = channels.flatMap((c, k) => (c.traits.includes('synergy') ? [k] : []));
  const incrementalShare = nothing ? 0 : draws.logBetween(0.06, 0.55);
  const returnOnSpend = draws.logBetween(0.9, 3.5);
  return {
    index,
    seed,
    days,
    burnIn,
    firstDay: draws.whole(burnIn + 24, 374 - days - 24),
    traits,
    channels,
    synergy: { a: pair[0] ?? 0, b: pair[1] ?? 0, strength: pair.length > 1 ? draws.between(0.8, 1.8) : 0 },
    ordersPerPerson: has('sparse_orders') ? draws.between(0.03, 0.045) : draws.logBetween(0.05, 0.22),
    incrementalShare,
    spendShare: nothing ? draws.between(0.08, 0.2) : Math.min(0.3, Math.max(0.05, incrementalShare / returnOnSpend)),
    orderValue: draws.logBetween(30, 150),
    valuePower: draws.between(0.4, 0.75),
    customerShare: draws.between(0.12, 0.35),
    customerLift: draws.between(1.2, 2.2),
    heterogeneity: draws.between(0.6, 1.1),
    loyaltyLift: draws.between(0.3, 0.9),
    visitLift: nothing ? 0 : draws.between(0.15, 0.5),
    visitHalfLife: draws.between(1.5, 6),
    pullForward: draws.between(0.2, 0.7),
    browseSpeed: draws.between(3, 7),
    browseKeep: draws.between(0.08, 0.3),
    visitsBefore: draws.between(0.6, 2),
    cartShare: draws.between(0.08, 0.2),
    promotions: has('promotions') ? drawPromotions(draws, days) : [],
    promotionLift: draws.between(0.4, 0.9),
    promotionTraffic: draws.between(0.01, 0.03),
    splitShare: has('ids_split') ? draws.between(0.35, 0.6) : draws.between(0, 0.04),
    resetShare: has('ids_split') ? draws.between(0.05, 0.2) : 0,
    lossRate: has('touches_lost') ? draws.between(0.1, 0.22) : draws.between(0, 0.03),
    refusalShare: has('touches_lost') ? draws.between(0.02, 0.1) : 0,
  };
}
