import type { Trait } from '../simulator.ts';
import { ParameterSource, type Kernel } from './random.ts';
import type { ChannelWorld } from './world.ts';

/** A channel without anything: each kind names what it has. */
const BLANK: ChannelWorld = {
  name: '',
  kind: 'unpaid',
  tracked: true,
  traits: [],
  share: 0,
  rate: 0,
  lookalike: 0,
  scoreNoise: 0,
  intentRate: 0,
  odds: 1,
  elasticity: 1,
  budgetRatio: 9,
  budgetDemand: 0,
  clickRate: 0,
  viewSeen: 0,
  visitMean: 0,
  searchMean: 0,
  orderMean: 0,
  clickQuality: 0,
  kernel: { power: false, scale: 1, shape: 1 },
  strength: 0,
  halfFrequency: 8,
  annoyance: 0,
  tolerance: 99,
  hijack: 0,
  hijackDays: 0,
  afterCart: false,
  membershipDays: 0,
  capPerDay: 0,
  capPerEntry: 0,
  bidDecayDays: 1,
  suppressDays: 0,
  addressable: 0,
  openRate: 0,
  delays: [],
  lostShare: 0,
  discount: 0,
  price: 0,
};

/** What the shop's traits say about its channels. */
export interface ChannelSetting {
  readonly traits: readonly Trait[];
  /** factor on kernels' scales */
  readonly horizon: number;
}

/** Kernel of a channel: mostly exponential, a power law in part of the shops (all of it cut at 60 days). */
function drawKernel(from: ParameterSource, setting: ChannelSetting, days: number, heavy: number): Kernel {
  const power = from.chance(setting.traits.includes('long_horizon') ? Math.max(heavy, 0.5) : heavy);
  const scale = days * setting.horizon * from.ratio(0.7, 1.5);
  return power ? { power, scale: scale * 0.8, shape: from.between(0.6, 1.4) } : { power, scale, shape: 1 };
}

/** Unpaid doors; shares are of own visits that do not come by a search for the shop's name. */
export function drawUnpaid(from: ParameterSource): ChannelWorld[] {
  const names = ['direct', 'organic_search', 'organic_social', 'organic_referral'];
  const count = from.integer(2, 4);
  const shares = [from.between(0.45, 0.65), from.between(0.2, 0.35), from.between(0.04, 0.1), from.between(0.03, 0.08)];
  return names.slice(0, count).map((name, i) => ({ ...BLANK, name, traits: [], share: shares[i] as number }));
}

/** Names by group; a shop has one to three of the first, and so on. */
const PROSPECTING = ['paid_social', 'display', 'video', 'native_ads', 'app_network'] as const;
const SEARCHES = ['paid_search', 'shopping_ads', 'price_comparison'] as const;

/** Strength against the usual one of a kind: wide, and nothing at all for about one channel in six. */
function drawStrength(from: ParameterSource, setting: ChannelSetting): number {
  const idle = from.chance(0.16);
  const strength = Math.exp(0.75 * from.normal());
  return setting.traits.includes('nothing_works') || idle ? 0 : Math.min(strength, 2.5);
}

function prospecting(from: ParameterSource, setting: ChannelSetting, name: string): ChannelWorld {
  const social = name === 'paid_social';
  const video = name === 'video';
  // where only clicks are tracked, it is because the channel is bought for its clicks
  const clicksOnly = social || name === 'native_ads' || (!video && from.chance(0.15));
  const halo = setting.traits.includes('halo_visits');
  const lift = from.ratio(0.6, 1.6);
  return {
    ...BLANK,
    name,
    kind: 'prospecting',
    traits: [],
    rate: from.ratio(0.05, 0.16),
    lookalike: from.between(0, 0.9),
    scoreNoise: from.between(0.3, 1),
    intentRate: from.chance(0.7) ? from.between(0.5, 3) : 0,
    odds: from.ratio(0.5, 2),
    elasticity: from.between(0.8, 1.4),
    budgetRatio: from.between(0.5, 1.2),
    budgetDemand: setting.traits.includes('budget_follows_demand') ? from.between(0.8, 2) : from.between(0, 0.2),
    clickRate: clicksOnly ? from.ratio(0.015, 0.05) : from.ratio(0.002, 0.01),
    viewSeen: clicksOnly && (social || from.chance(0.7)) ? 0 : from.between(0.5, 1),
    visitMean: (video ? 0.03 : 0.02) * lift * (halo ? 4 : 1),
    searchMean: 0.012 * lift * (halo ? 2 : 1),
    orderMean: 0.003 * lift * (halo ? 0.3 : 1),
    clickQuality: from.between(0.25, 0.5),
    kernel: drawKernel(from, setting, video ? 6 : 3, video ? 0.6 : 0.3),
    strength: drawStrength(from, setting),
    halfFrequency: from.ratio(2, 15),
    hijack: social ? from.between(0.04, 0.12) : from.between(0, 0.05),
    hijackDays: from.between(2, 5),
    suppressDays: from.chance(0.4) ? from.between(14, 60) : 0,
    price: social ? 0.02 : video ? 0.025 : 0.01,
  };
}

function broadcast(from: ParameterSource, setting: ChannelSetting, name: string): ChannelWorld {
  const lift = from.ratio(0.6, 1.6);
  return {
    ...BLANK,
    name,
    kind: 'broadcast',
    tracked: false,
    traits: ['untracked_spend'],
    rate: from.ratio(0.08, 0.2),
    odds: from.ratio(0.8, 2),
    elasticity: 1,
    visitMean: 0.03 * lift,
    searchMean: 0.02 * lift,
    orderMean: 0.004 * lift,
    budgetDemand: setting.traits.includes('budget_follows_demand') ? 1 : 0,
    kernel: drawKernel(from, setting, 5, 0.4),
    halfFrequency: from.ratio(3, 10),
    price: 0.03,
    strength: setting.traits.includes('nothing_works') ? 0 : from.between(1, 1.8),
  };
}

function search(from: ParameterSource, setting: ChannelSetting, name: string, share: number): ChannelWorld {
  return {
    ...BLANK,
    name,
    kind: 'search',
    share,
    odds: from.ratio(0.8, 4),
    elasticity: from.between(0.7, 1.3),
    strength: setting.traits.includes('nothing_works') ? 0 : 1,
    price: 0.5,
    halfFrequency: 99,
    lostShare: setting.traits.includes('nothing_works') ? 0 : from.between(0.1, 0.8),
  };
}

function brand(from: ParameterSource, setting: ChannelSetting): ChannelWorld {
  return {
    ...BLANK,
    name: 'brand_search',
    kind: 'brand',
    odds: from.ratio(3, 12),
    elasticity: 1,
    price: 0.15,
    traits: ['navigational_clicks'],
    lostShare: setting.traits.includes('nothing_works') || from.chance(0.4) ? 0 : from.between(0.01, 0.1),
  };
}

function affiliate(from: ParameterSource, setting: ChannelSetting, name: string): ChannelWorld {
  const inert = setting.traits.includes('nothing_works');
  return {
    ...BLANK,
    name,
    kind: 'affiliate',
    odds: from.ratio(2, 8),
    elasticity: 1,
    price: 4,
    traits: ['navigational_clicks'],
    lostShare: inert ? 0 : from.between(0, 0.25),
    discount: inert || from.chance(0.5) ? 0 : from.between(0.02, 0.08),
  };
}

function retargeting(from: ParameterSource, setting: ChannelSetting, name: string): ChannelWorld {
  const cart = name === 'cart_ads';
  const social = name !== 'retargeting';
  const lift = from.ratio(0.6, 1.6) * (cart ? 1.5 : 1);
  return {
    ...BLANK,
    name,
    kind: 'retargeting',
    traits: ['reactive_targeting'],
    afterCart: cart,
    rate: from.ratio(0.8, 2.5),
    odds: from.ratio(0.4, 1.5),
    elasticity: from.between(0.8, 1.3),
    budgetRatio: from.between(0.6, 1.3),
    clickRate: from.ratio(0.006, 0.02),
    budgetDemand: setting.traits.includes('budget_follows_demand') ? from.between(0.5, 1.2) : 0,
    viewSeen: social && from.chance(0.7) ? 0 : from.between(0.6, 1),
    visitMean: 0.02 * lift,
    searchMean: 0,
    orderMean: 0.004 * lift,
    clickQuality: from.between(0.6, 1),
    kernel: drawKernel(from, setting, 1.2, 0.2),
    strength: drawStrength(from, setting),
    halfFrequency: from.ratio(2, 8),
    hijack: from.between(0.08, 0.25),
    hijackDays: from.between(1, 4),
    membershipDays: cart ? from.between(3, 10) : from.pick([7, 14, 14, 30]),
    capPerDay: from.integer(1, 4),
    capPerEntry: from.integer(6, 25),
    bidDecayDays: from.between(3, 12),
    suppressDays: from.pick([0, 7, 14, 30]),
    addressable: from.between(0.55, 0.9),
    delays: cart ? [from.pick([0.02, 0.05, 0.2, 1])] : [0],
    price: 0.008,
  };
}

function newsletter(from: ParameterSource, setting: ChannelSetting): ChannelWorld {
  const lift = from.ratio(0.6, 1.6);
  return {
    ...BLANK,
    name: 'email_newsletter',
    kind: 'newsletter',
    odds: from.ratio(3, 10),
    elasticity: 1,
    openRate: from.between(0.15, 0.35),
    clickRate: from.between(0.05, 0.14),
    visitMean: 0.02 * lift,
    orderMean: 0.004 * lift,
    clickQuality: from.between(0.4, 0.8),
    kernel: drawKernel(from, setting, 1, 0.2),
    strength: drawStrength(from, setting),
    halfFrequency: from.ratio(3, 10),
    hijack: from.between(0.08, 0.25),
    hijackDays: from.between(0.5, 2),
    price: 0.02,
  };
}

function cartMail(from: ParameterSource, setting: ChannelSetting): ChannelWorld {
  const sequences = [[0.042], [0.042, 1], [0.125, 1, 3], [1]] as const;
  return {
    ...BLANK,
    name: 'email_cart',
    kind: 'cartMail',
    traits: ['reactive_targeting'],
    odds: from.ratio(5, 20),
    elasticity: 1,
    openRate: from.between(0.35, 0.5),
    clickRate: from.between(0.12, 0.25),
    visitMean: 0.05,
    orderMean: 0.02 * from.ratio(0.5, 1.6),
    clickQuality: from.between(0.8, 1.4),
    addressable: from.between(0.35, 0.7),
    kernel: drawKernel(from, setting, 0.7, 0.1),
    strength: drawStrength(from, setting),
    hijack: from.between(0.15, 0.4),
    hijackDays: from.between(0.5, 2),
    delays: from.pick(sequences),
    price: 0.05,
  };
}

/** More contacts than people bear, and hardly any excitation: the inhibitory kernel outweighs it. */
function makeHarmful(from: ParameterSource, channel: ChannelWorld): ChannelWorld {
  return {
    ...channel,
    strength: from.between(0, 0.03),
    annoyance: from.between(0.05, 0.12),
    tolerance: from.between(0.2, 0.8),
    odds: channel.odds * 2.5,
    capPerDay: channel.capPerDay + 3,
    capPerEntry: channel.capPerEntry + 20,
    openRate: Math.min(0.4, channel.openRate * 1.4),
  };
}

/** A shop's paid channels, five to nine. */
export function drawPaid(from: ParameterSource, setting: ChannelSetting): ChannelWorld[] {
  const has = (trait: Trait): boolean => setting.traits.includes(trait);
  const paid: ChannelWorld[] = [];
  const first = from.integer(0, PROSPECTING.length - 1);
  const prospects = from.integer(1, 3);
  for (let i = 0; i < prospects; i++) {
    paid.push(prospecting(from, setting, PROSPECTING[(first + 2 * i) % PROSPECTING.length] as string));
  }
  let navigationalBySearch = false;
  const searches = from.integer(1, 2);
  const slots = from.between(0.7, 0.95);
  for (let i = 0; i < searches; i++) {
    const name = i === 0 ? SEARCHES[from.integer(0, 1)] : SEARCHES[2];
    paid.push(search(from, setting, name as string, slots * (searches === 1 ? 1 : i === 0 ? 0.7 : 0.3)));
  }
  paid.push(retargeting(from, setting, from.chance(0.65) ? 'retargeting' : 'social_retargeting'));
  if (has('untracked_spend')) paid.push(broadcast(from, setting, from.chance(0.75) ? 'television' : 'radio'));
  if (has('navigational_clicks') || from.chance(0.5)) paid.push(brand(from, setting));
  else navigationalBySearch = true;
  if (has('harm') || from.chance(0.8)) paid.push(newsletter(from, setting));
  if (from.chance(0.5)) paid.push(cartMail(from, setting));
  if (from.chance(0.45)) paid.push(retargeting(from, setting, 'cart_ads'));
  if (has('navigational_clicks') && from.chance(0.75)) {
    paid.push(affiliate(from, setting, from.chance(0.5) ? 'affiliate' : 'coupon_sites'));
  }
  if (paid.length < 5) paid.push(cartMail(from, setting));
  paid.length = Math.min(paid.length, 9);
  const culprit = from.chance(0.5) ? 'newsletter' : 'retargeting';
  const at = has('harm') ? paid.findIndex((channel) => channel.kind === culprit) : -1;
  if (!has('nothing_works')) reviveSome(from, paid);
  const drawn = paid.map((channel, i) => ({
    ...(i === at ? makeHarmful(from, channel) : mildFatigue(from, channel)),
    traits: [...channel.traits],
  }));
  if (navigationalBySearch) drawn.find((channel) => channel.kind === 'search')?.traits.push('navigational_clicks');
  if (at >= 0) drawn[at]?.traits.push('harm');
  for (const channel of drawn) markTraits(channel, has('halo_visits'));
  return drawn;
}

/** At most a third of the channels that could excite people do nothing: one channel seldom carries a whole shop. */
function reviveSome(from: ParameterSource, paid: ChannelWorld[]): void {
  const able = paid.filter((channel) => channel.orderMean > 0);
  let idle = able.filter((channel) => channel.strength === 0).length;
  for (const channel of able) {
    if (idle * 3 <= able.length || channel.strength > 0) continue;
    paid[paid.indexOf(channel)] = { ...channel, strength: from.between(0.4, 1.2) };
    idle--;
  }
}

/** Says of a channel what has been drawn for it. */
function markTraits(channel: ChannelWorld, halo: boolean): void {
  const works = channel.strength > 0 || channel.lostShare > 0 || channel.discount > 0 || channel.annoyance > 0;
  if (!works) channel.traits.push('nothing_works');
  if (works && halo && channel.kind === 'prospecting') channel.traits.push('halo_visits');
  if (channel.budgetDemand >= 0.5) channel.traits.push('budget_follows_demand');
}

/** Where nothing is meant to be harmful, too many contacts still tire a little in some channels. */
function mildFatigue(from: ParameterSource, channel: ChannelWorld): ChannelWorld {
  const tires = from.chance(0.25);
  const annoyance = from.between(0.01, 0.04);
  const contacts = channel.kind === 'prospecting' || channel.kind === 'retargeting' || channel.kind === 'newsletter';
  return contacts && tires && channel.strength > 0 ? { ...channel, annoyance, tolerance: 5 } : channel;
}
