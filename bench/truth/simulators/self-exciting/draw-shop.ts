import type { Trait } from '../simulator.ts';
import { drawCalendar } from './draw-calendar.ts';
import { drawPaid, drawUnpaid } from './draw-channels.ts';
import { mix, ParameterSource } from './random.ts';
import type { Synergy, World } from './world.ts';

/** How many shops there are. */
export const SHOPS = 28;

/** Which shops have which trait, by index; `reactive_targeting` is in all of them. */
const TRAIT_SHOPS: readonly (readonly [Trait, readonly number[]])[] = [
  ['nothing_works', [7, 14, 21, 28]],
  ['harm', [3, 11, 19, 26]],
  ['synergy', [2, 6, 13, 17, 24]],
  ['long_horizon', [2, 5, 9, 16, 20, 25]],
  ['short_horizon', [1, 8, 12, 18, 23]],
  ['ids_split', [4, 7, 10, 15, 20, 27]],
  ['touches_lost', [5, 9, 13, 14, 22, 26]],
  ['sparse_orders', [6, 12, 16, 21, 25]],
  ['promotions', [3, 8, 10, 14, 17, 22, 28]],
  ['untracked_spend', [4, 9, 11, 18, 24, 28]],
  ['budget_follows_demand', [2, 8, 13, 17, 21, 27]],
  ['halo_visits', [1, 5, 10, 15, 19, 23]],
  ['navigational_clicks', [1, 2, 3, 5, 6, 7, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24, 25, 26, 27, 28]],
];

/** Marketing's part of orders, by index (shops where nothing works aside). */
const TARGET_SHARES = [
  0.22, 0.35, 0.12, 0.3, 0.45, 0.16, 0, 0.08, 0.52, 0.26, 0.2, 0.1, 0.38, 0, 0.18, 0.28, 0.48, 0.32, 0.06, 0.4, 0, 0.14,
  0.24, 0.56, 0.34, 0.15, 0.42, 0,
];

/** Traits of the shop with this index. */
export function shopTraits(index: number): Trait[] {
  const traits = TRAIT_SHOPS.filter(([, shops]) => shops.includes(index)).map(([trait]) => trait);
  return [...traits, 'reactive_targeting'];
}

/** Draws a shop from its ranges; `baseScale`, `effectScale`, prices and cutoffs are left to calibration. */
export function drawShop(index: number): World {
  const seed = mix(0x5e1f0000 + index);
  const from = new ParameterSource(seed);
  const traits = shopTraits(index);
  const has = (trait: Trait): boolean => traits.includes(trait);
  const days = from.integer(60, 120);
  const burn = has('long_horizon') ? 60 : 45;
  const horizon = has('long_horizon') ? from.between(3, 6) : has('short_horizon') ? from.between(0.25, 0.5) : 1;
  const channels = [...drawUnpaid(from), ...drawPaid(from, { traits, horizon })];
  const mailsDaily = channels.some((channel) => channel.kind === 'newsletter' && channel.traits.includes('harm'));
  const calendar = drawCalendar(from, days, burn, has('promotions'), has('budget_follows_demand'), mailsDaily);
  const targetShare = TARGET_SHARES[index - 1] as number;
  const returnOnSpend = from.ratio(1.2, 4.5);
  const targetSpend = has('nothing_works') ? from.between(0.06, 0.15) : targetShare / returnOnSpend;
  // brand search has been drawn for some of the other shops as well
  const decided = channels.some((channel) => channel.traits.includes('navigational_clicks'));
  const shown: Trait[] = decided && !has('navigational_clicks') ? [...traits, 'navigational_clicks'] : traits;
  const basket = from.ratio(30, 140);
  for (const channel of channels) if (channel.kind === 'affiliate') channel.price = basket * from.between(0.05, 0.12);
  const lively = from.ratio(0.7, 1.4);
  return {
    name: `self-exciting_${index}`,
    seed,
    days,
    burn,
    startS: 1_704_067_200 + 86_400 * 7 * from.integer(0, 80),
    traits: shown,
    channels,
    synergies: has('synergy') ? drawSynergies(from, channels) : [],
    ...calendar,
    targetOrders: has('sparse_orders') ? from.between(0.03, 0.045) : from.ratio(0.06, 0.22),
    targetShare,
    targetSpend: Math.min(0.25, Math.max(0.03, targetSpend)),
    interestSpread: from.between(0.8, 1.3),
    onlineSpread: from.between(0.4, 0.8),
    susceptibilitySpread: from.between(0.2, 0.8),
    susceptibilityTie: from.between(-0.4, 0.6),
    activitySpread: from.between(0.4, 0.9),
    customerShare: from.between(0.1, 0.35),
    subscriberShare: from.between(0.4, 0.75),
    episodeRate: 0.006,
    episodeDays: from.ratio(2, 12),
    episodeVisits: from.between(1.5, 3.5),
    episodeSearches: from.ratio(0.6, 3),
    episodeOrders: from.between(0.03, 0.1),
    episodeGain: from.between(0, 3),
    backgroundVisits: from.ratio(0.003, 0.01),
    visitToVisit: from.between(0.12, 0.3),
    visitToSearch: from.between(0.02, 0.08),
    visitToCart: 0.075 * lively,
    cartToOrder: from.between(0.3, 0.48),
    cartToLaterOrder: from.between(0.12, 0.28),
    cartToVisit: from.between(0.2, 0.5),
    orderToVisit: from.between(0.2, 0.5),
    orderToOrder: from.between(0.04, 0.15),
    ownKernel: { power: from.chance(0.5), scale: from.ratio(1, 4), shape: from.between(0.8, 1.6) },
    cartKernel: { power: true, scale: from.ratio(0.3, 1.2), shape: from.between(0.9, 1.8) },
    repeatKernel: { power: false, scale: from.between(15, 40), shape: 1 },
    satiation: from.between(0.4, 0.85),
    satiationDays: from.between(6, 20),
    annoyanceDays: from.between(7, 20),
    stockDays: from.between(4, 10),
    navigationalShare: from.between(0.25, 0.45),
    brandAdShare: from.between(0.35, 0.7),
    searchAdClick: from.between(0.25, 0.45),
    searchResultClick: from.between(0.08, 0.25),
    couponSeekers: from.between(0.1, 0.25),
    basket,
    basketSpread: from.between(0.35, 0.7),
    splitShare: has('ids_split') ? from.between(0.4, 0.7) : 0,
    mainDevice: from.between(0.55, 0.8),
    lostTouches: has('touches_lost') ? from.between(0.1, 0.3) : 0,
    baseScale: 1,
    effectScale: 1,
    cutoff: channels.map(() => new Float64Array(days + burn).fill(1)),
  };
}

/** One or two pairs: a channel that is seen strengthens another that is seen or clicked. */
function drawSynergies(from: ParameterSource, channels: World['channels']): Synergy[] {
  const seen = channels.map((_, c) => c).filter((c) => isSeen(channels, c));
  const to = channels.map((_, c) => c).filter((c) => isSeen(channels, c) || channels[c]?.kind === 'search');
  const pairs: Synergy[] = [];
  for (const source of seen.slice(0, 2)) {
    const target = from.pick(to.filter((c) => c !== source));
    pairs.push({ from: source, to: target, strength: from.between(0.8, 2) });
    for (const c of [source, target]) {
      const traits = channels[c]?.traits;
      if (traits !== undefined && !traits.includes('synergy')) traits.push('synergy');
    }
  }
  return pairs;
}

function isSeen(channels: World['channels'], c: number): boolean {
  const kind = channels[c]?.kind;
  return kind === 'prospecting' || kind === 'broadcast' || kind === 'retargeting';
}
