import type { Trait } from '../simulator.ts';
import { drawChannel, unpaidChannel } from './draw-channel.ts';
import type { ChannelSetting } from './draw-channel.ts';
import { Draws } from './random.ts';
import type { ChannelSpec, ShopSpec } from './shop-spec.ts';

export const SHOPS = 28;

const NOTHING_WORKS: ReadonlySet<number> = new Set([4, 10, 16, 22, 27]);
const HARMFUL: Readonly<Record<number, string>> = {
  3: 'video',
  9: 'retargeting',
  14: 'email',
  21: 'display',
  26: 'coupon_site',
};
const OPTIONAL: readonly string[] = [
  'video',
  'display',
  'shopping',
  'affiliate',
  'coupon_site',
  'influencer',
  'sms',
  'brand_search',
];
const UNTRACKED: readonly string[] = ['tv', 'radio', 'out_of_home', 'direct_mail'];
const UNPAID: readonly string[] = ['organic_search', 'organic_social', 'organic_referral'];

/** Mondays. */
const STARTS: readonly string[] = ['2023-01-09', '2023-09-04', '2024-02-05', '2024-04-15', '2024-09-30', '2025-03-03'];

function shopTraits(index: number, nothingWorks: boolean): Trait[] {
  const traits: Trait[] = [];
  const add = (trait: Trait, holds: boolean): void => {
    if (holds) traits.push(trait);
  };
  add('nothing_works', nothingWorks);
  add('harm', HARMFUL[index] !== undefined);
  add('synergy', index % 3 === 1 && !nothingWorks);
  add('long_horizon', index % 4 === 2 && !nothingWorks);
  add('short_horizon', index % 4 === 1);
  add('ids_split', index % 4 === 3 || index === 10);
  add('touches_lost', index % 5 === 2);
  add('sparse_orders', index % 6 === 5);
  add('promotions', index % 3 === 0 || index === 4);
  add('reactive_targeting', index % 2 === 0 || index === 27);
  add('navigational_clicks', index % 2 === 1 || index === 16);
  add('untracked_spend', index % 3 === 2 || index % 8 === 0);
  add('budget_follows_demand', index % 3 === 1 || index % 7 === 0);
  add('halo_visits', index % 4 === 0 && !nothingWorks);
  return traits;
}

function channelNames(draws: Draws, index: number, traits: readonly Trait[]): string[] {
  const names = ['email', 'paid_search', 'paid_social'];
  const must = [HARMFUL[index] ?? ''];
  if (index % 5 !== 0 || traits.includes('reactive_targeting')) must.push('retargeting');
  if (traits.includes('navigational_clicks')) must.push('brand_search');
  if (traits.includes('navigational_clicks') && index % 4 === 3) must.push('coupon_site');
  if (traits.includes('halo_visits') || traits.includes('synergy')) must.push('video');
  for (const name of must) if (name !== '' && !names.includes(name)) names.push(name);
  if (traits.includes('untracked_spend')) {
    names.push(UNTRACKED[index % 9 === 8 ? 3 : draws.whole([0, 2])]!);
    if (draws.chance(0.25) && !names.includes('radio')) names.push('radio');
  }
  const count = Math.max(names.length, draws.whole([5, 9]));
  const rest = OPTIONAL.filter((name) => !names.includes(name));
  while (names.length < count) names.push(...rest.splice(draws.whole([0, rest.length - 1]), 1));
  return names.slice(0, 9);
}

function promotionDays(draws: Draws, days: number, burnIn: number, many: boolean): ShopSpec['promotions'] {
  const promotions: { from: number; to: number; cut: number }[] = [];
  const gap = many ? 24 : 75;
  for (let day = -burnIn + draws.whole([0, gap]); day < days; day += draws.whole([gap - 8, gap + 8])) {
    const cut = many ? draws.range([0.12, 0.3]) : draws.range([0.05, 0.1]);
    promotions.push({ from: day, to: day + draws.whole([2, 6]), cut });
  }
  return promotions;
}

/** The shop of that index: all ranges of the simulator are here, in `draw-channel.ts` and in `channel-kinds.ts`. */
export function drawShop(index: number): ShopSpec {
  const draws = new Draws(7001, index);
  const nothingWorks = NOTHING_WORKS.has(index);
  const traits = shopTraits(index, nothingWorks);
  const has = (trait: Trait): boolean => traits.includes(trait);
  const long = index % 4 === 2;
  const short = has('short_horizon');
  const setting: ChannelSetting = {
    nothingWorks,
    harmful: HARMFUL[index] ?? '',
    traits,
    viewsSeen: index % 3 !== 1,
  };
  const names = channelNames(draws, index, traits);
  const channels: ChannelSpec[] = names.map((name) => drawChannel(name, draws, setting));
  channels.push(unpaidChannel('direct'));
  for (const name of UNPAID.slice(0, draws.whole([1, 3]))) channels.push(unpaidChannel(name));
  const days = draws.whole([60, 120]);
  const burnInDays = long ? 90 : 60;
  const cycleDays = short ? draws.range([18, 35]) : long ? draws.range([70, 150]) : draws.range([30, 80]);
  const targetShare = has('harm') ? draws.logRange([0.08, 0.3]) : draws.logRange([0.07, 0.55]);
  const roas = draws.logRange([0.7, 2.6]);
  const spendShare = nothingWorks ? draws.range([0.06, 0.2]) : Math.min(0.32, Math.max(0.06, targetShare / roas));
  const targetUntracked = has('untracked_spend') && !nothingWorks ? draws.range([0.05, 0.26]) : 0;
  return {
    index,
    seed: 90001 + 7919 * index,
    name: `consumer-states_${index}`,
    days,
    burnInDays,
    startS: Date.parse(`${STARTS[index % STARTS.length]}T00:00:00Z`) / 1000,
    traits,
    nothingWorks,
    channels,
    tempo: short ? draws.range([0.9, 1.5]) : long ? draws.range([0.18, 0.35]) : draws.range([0.4, 0.9]),
    cycleDays,
    needSigma: draws.range([0.7, 1.2]),
    lapseDays: cycleDays * draws.range([1.5, 3]),
    customerShare: draws.range([0.1, 0.3]),
    buyHazard: draws.range([0.08, 0.22]),
    impulse: short ? draws.range([0.05, 0.12]) : draws.range([0.005, 0.03]),
    visitRate: [0.009, 0.07, draws.range([0.16, 0.28]), draws.range([0.28, 0.45]), 0.02, 0.004],
    competitor: draws.range([0.9, 2.2]),
    primaryDemand: draws.range([0.2, 0.8]),
    liftCap: draws.range([0.9, 1.6]),
    synergy: has('synergy') ? draws.range([1, 2.5]) : draws.range([0, 0.3]),
    haloVisits: has('halo_visits') ? draws.range([0.6, 1.5]) : 0,
    wordOfMouth: draws.range([0, 0.6]),
    navigational: has('navigational_clicks') ? draws.range([1.6, 2.4]) : draws.range([0.7, 1.1]),
    buyerExclusion: draws.range([0.1, 1]),
    basket: draws.logRange(long ? [90, 260] : [35, 110]),
    basketSigma: draws.range([0.35, 0.6]),
    seasonAmplitude: draws.range([0.05, 0.3]),
    demandNoise: draws.range([0.05, 0.15]),
    promotions: promotionDays(draws, days, burnInDays, has('promotions')),
    priceElasticity: draws.range([1.5, 3.5]),
    idsSplit: has('ids_split') ? draws.range([0.5, 0.8]) : index % 3 === 0 ? draws.range([0.02, 0.1]) : 0,
    touchesLost: has('touches_lost') ? draws.range([0.06, 0.15]) : draws.range([0, 0.02]),
    trackingRefused: has('touches_lost') ? draws.range([0.06, 0.15]) : 0,
    phoneOrders: draws.range([0, 0.06]),
    targetOrders: has('sparse_orders') ? draws.range([0.03, 0.05]) : draws.logRange([0.06, 0.22]),
    targetShare: Math.max(targetShare, targetUntracked * 1.25),
    targetUntracked,
    targetSpendShare: spendShare,
  };
}
