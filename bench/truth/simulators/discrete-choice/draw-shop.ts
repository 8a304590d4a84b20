import type { Trait } from '../simulator.ts';
import { MEDIA, drawChannel, unpaidChannel } from './draw-channels.ts';
import type { ChannelModel, GoodModel, RivalModel, ShopModel } from './model.ts';
import { Stream, mix } from './random.ts';

/** How many shops there are. */
export const SHOPS = 32;

const FIRST_DAY_S = 1672531200; // 2023-01-01
const DAY_S = 86400;
const BURN_IN_DAYS = 60;

/** The traits that a shop is drawn with, by its index: spread so that they meet in many combinations. */
export function plannedTraits(index: number): Trait[] {
  const traits: Trait[] = [];
  const nothing = index % 8 === 5 || index === 32;
  if (nothing) traits.push('nothing_works');
  if (!nothing && [2, 10, 18, 26].includes(index)) traits.push('harm');
  if (!nothing && [3, 9, 15, 24, 27].includes(index)) traits.push('synergy');
  if (!nothing && index % 3 === 1) traits.push('long_horizon');
  if (!nothing && [3, 8, 14, 18, 23, 30].includes(index)) traits.push('short_horizon');
  if (index % 4 === 3 || index === 13) traits.push('ids_split');
  if (index % 5 === 1) traits.push('touches_lost');
  if (index % 7 === 4) traits.push('sparse_orders');
  if (index % 3 === 2) traits.push('promotions');
  if (index % 3 === 0 || index === 29) traits.push('untracked_spend');
  if (index % 4 === 2 || index === 29) traits.push('budget_follows_demand');
  if (index % 5 === 0 || index % 6 === 3) traits.push('halo_visits');
  return traits;
}

function drawMedia(traits: readonly Trait[], stream: Stream): string[] {
  const untracked = new Set(['tv', 'outdoor']);
  const chosen = MEDIA.map((medium) => ({ medium, order: stream.between(0, 1) * (1 + medium.spendWeight) })).filter(
    ({ medium }) => !untracked.has(medium.name),
  );
  const names = new Set<string>();
  if (traits.includes('untracked_spend')) names.add(stream.chance(0.75) ? 'tv' : 'outdoor');
  if (traits.includes('halo_visits') || traits.includes('synergy')) names.add('online_video');
  if (traits.includes('harm')) names.add('retargeting').add('display');
  if (stream.chance(0.85)) names.add('brand_search');
  if (stream.chance(0.65)) names.add('affiliates');
  if (stream.chance(0.8)) names.add('email');
  if (stream.chance(0.75)) names.add('retargeting');
  if (stream.chance(0.75)) names.add('paid_search');
  const count = stream.whole(6, 9);
  chosen.sort((a, b) => b.order - a.order);
  for (const { medium } of chosen) {
    if (names.size >= count) break;
    if (medium.spendWeight > 0) names.add(medium.name);
  }
  return MEDIA.map((medium) => medium.name).filter((name) => names.has(name));
}

function drawGoods(stream: Stream, priceSensitivity: number): GoodModel[] {
  return Array.from({ length: stream.whole(3, 5) }, () => {
    const price = stream.logBetween(0.55, 1.7);
    // dearer goods are better by about what they cost a person of usual price sensitivity
    return { price, quality: priceSensitivity * (price - 1) + 0.5 * stream.gaussian() };
  });
}

function drawRivals(stream: Stream): RivalModel[] {
  return Array.from({ length: stream.whole(2, 4) }, () => ({
    considerationLogit: stream.between(-0.8, 1.2),
    intercept: stream.between(-0.6, 0.6),
    price: stream.between(0.9, 1.12),
    promotionShare: stream.between(0.05, 0.2),
  }));
}

/** Draws the shop of an index from the simulator's ranges. */
export function drawShop(index: number): ShopModel {
  const seed = mix(0x5eed + index * 7919);
  const stream = new Stream(seed, 1);
  const traits = plannedTraits(index);
  const has = (trait: Trait): boolean => traits.includes(trait);
  const nothing = has('nothing_works');
  const media = drawMedia(traits, stream);
  const visitGain = nothing ? 0 : stream.between(0.12, 0.3);
  const idlers = media.filter(() => stream.chance(0.14));
  const harmful = has('harm') ? (stream.chance(0.5) ? 'retargeting' : 'display') : '';
  const setting = {
    traits,
    visitGain,
    harmful,
    needless: idlers.filter((name) => name !== harmful),
    strength: stream.logBetween(0.55, 1.8),
  };
  const paid = MEDIA.filter((medium) => media.includes(medium.name)).map((medium, position) =>
    drawChannel(medium, setting, new Stream(seed, 100 + position)),
  );
  const channels: ChannelModel[] = [...paid, unpaidChannel('direct'), unpaidChannel('organic_search')];
  if (stream.chance(0.7)) channels.push(unpaidChannel('organic_social'));
  for (const trait of ['reactive_targeting', 'navigational_clicks'] as const) {
    if (paid.some((channel) => channel.traits.includes(trait))) traits.push(trait);
  }
  const slow = paid.map((channel, at) => ({ channel, at })).filter(({ channel }) => channel.awareness > 0);
  const [first, second] = slow.toSorted((a, b) => b.channel.reach - a.channel.reach);
  const paired = has('synergy') && first !== undefined && second !== undefined;
  const days = stream.whole(60, 120);
  const ordersPerPerson = has('sparse_orders') ? stream.between(0.03, 0.05) : stream.logBetween(0.055, 0.23);
  const priceSensitivity = stream.between(1.8, 3.2);
  const share = stream.between(0.04, 0.12);
  return {
    name: `discrete-choice_${index}`,
    seed,
    traits,
    channels,
    days,
    burnInDays: BURN_IN_DAYS,
    startS: FIRST_DAY_S + DAY_S * stream.whole(0, 700),
    referencePrice: stream.logBetween(25, 220),
    basketSd: stream.between(0.25, 0.6),
    ordersPerPerson,
    marketingShare: stream.logBetween(0.06, 0.4),
    totalRoas: nothing ? 0 : stream.logBetween(0.9, 3.5),
    needIntervalDays: (0.7 * days * share) / ordersPerPerson,
    needShape: stream.between(1, 2),
    needSd: stream.between(0.4, 0.8),
    seasonAmplitude: stream.between(0, 0.35),
    seasonPhase: stream.between(0, 365),
    demandShockSd: stream.between(0.04, 0.15),
    lifeEventRate: stream.between(0.02, 0.08),
    lifeEventFactor: stream.between(2, 4),
    searchDays: has('long_horizon')
      ? stream.between(6, 16)
      : has('short_horizon')
        ? stream.between(0.5, 2)
        : stream.between(1.5, 7),
    researchRate: stream.between(0.25, 0.6),
    categorySearch: stream.between(0.5, 0.85),
    organicClick: stream.between(0.05, 0.15),
    visitGain,
    considerationLogit: stream.between(-2, -0.9),
    inertiaConsideration: stream.between(1, 2),
    inertiaUtility: stream.between(0.3, 1),
    intercept: stream.between(-0.4, 0.6),
    brandSd: stream.between(0.5, 1),
    priceSensitivity,
    priceSd: stream.between(0.3, 0.6),
    responseSd: stream.between(0.2, 0.6),
    nestScale: stream.between(0.4, 0.85),
    noneUtility: stream.between(-1.8, -0.4),
    goods: drawGoods(stream, priceSensitivity),
    rivals: drawRivals(stream),
    stockOutRate: stream.between(0.02, 0.1),
    promotionCount: has('promotions') ? stream.whole(2, 5) : 0,
    promotionPull: stream.between(0.15, 0.6),
    synergy: paired ? stream.between(2.5, 4.5) : 0,
    synergyPair: paired ? [first.at, second.at] : [-1, -1],
    recognitionBoost: has('synergy') ? stream.between(0.4, 0.8) : stream.between(0, 0.2),
    searchDoor: stream.between(0.45, 0.75),
    brandLeak: nothing || setting.needless.includes('brand_search') ? 0 : stream.between(0, 0.06),
    couponSeekers: stream.between(0.1, 0.3),
    browseRate: stream.between(0.004, 0.012),
    idleSearchRate: stream.logBetween(0.003, 0.012),
    followerShare: stream.between(0.02, 0.08),
    optInRate: stream.between(0.4, 0.7),
    mailsPerWeek: stream.whole(1, 3),
    severalIdsShare: has('ids_split') ? stream.between(0.35, 0.6) : 0,
    lostShare: has('touches_lost') ? stream.between(0.1, 0.3) : 0,
  };
}
