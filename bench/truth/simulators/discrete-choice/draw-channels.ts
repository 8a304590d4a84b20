import type { Trait } from '../simulator.ts';
import type { ChannelKind, ChannelModel } from './model.ts';
import type { Stream } from './random.ts';

type Range = readonly [number, number];

/** Ranges of one medium; effects are at full stock and before the shop's strength. */
interface Medium {
  readonly name: string;
  readonly kind: ChannelKind;
  readonly tracked: boolean;
  readonly traits: readonly Trait[];
  readonly reach: Range;
  readonly audience: Range;
  readonly inMarket: Range;
  readonly click: Range;
  readonly door: Range;
  readonly views: number;
  readonly awareness: Range;
  readonly utility: Range;
  readonly stimulus: Range;
  readonly onAir: Range;
  readonly spendWeight: number;
}

const NONE: Range = [0, 0];
const ALL: Range = [1, 1];
const BROADCAST = {
  kind: 'broadcast',
  tracked: true,
  traits: [],
  inMarket: [1.2, 3],
  door: NONE,
  stimulus: NONE,
  onAir: ALL,
} as const;
const SEARCH = {
  kind: 'search_ad',
  tracked: true,
  traits: ['reactive_targeting'],
  audience: ALL,
  inMarket: ALL,
  door: NONE,
  views: 0,
  awareness: [0.1, 0.5],
  stimulus: NONE,
  onAir: ALL,
} as const;
const DOOR = {
  tracked: true,
  traits: ['navigational_clicks'],
  audience: ALL,
  inMarket: ALL,
  click: ALL,
  door: NONE,
  views: 0,
  awareness: NONE,
  utility: NONE,
  stimulus: NONE,
  onAir: ALL,
} as const;
const LIST = {
  kind: 'list',
  tracked: true,
  traits: ['reactive_targeting'],
  audience: ALL,
  inMarket: ALL,
  door: [0.2, 0.45],
  views: 1,
  awareness: [0.1, 0.5],
  stimulus: [0.1, 0.5],
  onAir: ALL,
} as const;

/** The media from which a shop takes its channels. */
export const MEDIA: readonly Medium[] = [
  {
    ...BROADCAST,
    name: 'tv',
    tracked: false,
    traits: ['untracked_spend'],
    reach: [0.12, 0.25],
    audience: [0.6, 0.9],
    inMarket: ALL,
    click: NONE,
    views: 0,
    awareness: [0.9, 2],
    utility: NONE,
    onAir: [0.4, 0.7],
    spendWeight: 5,
  },
  {
    ...BROADCAST,
    name: 'outdoor',
    tracked: false,
    traits: ['untracked_spend'],
    reach: [0.08, 0.16],
    audience: [0.5, 0.8],
    inMarket: ALL,
    click: NONE,
    views: 0,
    awareness: [0.9, 1.8],
    utility: NONE,
    onAir: [0.3, 0.6],
    spendWeight: 2.2,
  },
  {
    ...BROADCAST,
    name: 'online_video',
    reach: [0.015, 0.035],
    audience: [0.5, 0.8],
    click: [0.003, 0.01],
    views: 0.85,
    awareness: [0.6, 1.8],
    utility: [0, 0.2],
    onAir: [0.5, 1],
    spendWeight: 1.6,
  },
  {
    ...BROADCAST,
    name: 'display',
    reach: [0.02, 0.05],
    audience: [0.6, 0.9],
    click: [0.004, 0.012],
    door: [0.02, 0.05],
    views: 0.75,
    awareness: [0.3, 1],
    utility: [0, 0.3],
    spendWeight: 1.2,
  },
  {
    ...BROADCAST,
    name: 'paid_social',
    reach: [0.015, 0.04],
    audience: [0.5, 0.8],
    click: [0.02, 0.06],
    door: [0.08, 0.2],
    views: 0.7,
    awareness: [0.5, 1.6],
    utility: [0.1, 0.5],
    stimulus: [0.1, 0.6],
    spendWeight: 2.6,
  },
  {
    ...BROADCAST,
    name: 'influencers',
    reach: [0.006, 0.018],
    audience: [0.15, 0.35],
    click: [0.08, 0.2],
    door: [0.1, 0.2],
    views: 0.5,
    awareness: [0.8, 2],
    utility: [0.2, 0.7],
    stimulus: [0.3, 0.9],
    onAir: [0.4, 0.8],
    spendWeight: 0.9,
  },
  { ...SEARCH, name: 'paid_search', reach: [0.45, 0.8], click: [0.15, 0.35], utility: [0.1, 0.5], spendWeight: 2.6 },
  { ...SEARCH, name: 'shopping_ads', reach: [0.4, 0.75], click: [0.15, 0.35], utility: [0.2, 0.6], spendWeight: 2.2 },
  {
    ...SEARCH,
    name: 'price_comparison',
    reach: [0.25, 0.5],
    click: [0.12, 0.25],
    utility: [0.1, 0.4],
    spendWeight: 0.9,
  },
  {
    ...BROADCAST,
    name: 'retargeting',
    kind: 'retargeting',
    traits: ['reactive_targeting'],
    reach: [0.12, 0.4],
    audience: [0.6, 0.9],
    click: [0.01, 0.03],
    door: [0.06, 0.16],
    views: 0.85,
    awareness: [0.05, 0.25],
    utility: [0.1, 0.45],
    spendWeight: 1.6,
  },
  { ...LIST, name: 'email', reach: [0.18, 0.35], click: [0.1, 0.25], utility: [0.1, 0.5], spendWeight: 0.35 },
  { ...LIST, name: 'text_messages', reach: [0.1, 0.25], click: [0.1, 0.2], utility: [0.1, 0.4], spendWeight: 0.4 },
  { ...DOOR, name: 'brand_search', kind: 'brand_door', reach: [0.75, 0.98], spendWeight: 0.9 },
  { ...DOOR, name: 'affiliates', kind: 'coupon_door', reach: [0.7, 0.98], spendWeight: 0 },
];

/** What the shop's traits mean for its channels. */
export interface ChannelSetting {
  readonly traits: readonly Trait[];
  readonly strength: number;
  readonly harmful: string;
  readonly needless: readonly string[];
  readonly visitGain: number;
}

function retention(stream: Stream, setting: ChannelSetting, tracked: boolean): number {
  if (setting.traits.includes('long_horizon')) return stream.between(0.955, 0.977);
  if (setting.traits.includes('short_horizon') && tracked) return stream.between(0.55, 0.8);
  return stream.between(0.85, 0.95);
}

/** Draws one paid channel of a shop. */
export function drawChannel(medium: Medium, setting: ChannelSetting, stream: Stream): ChannelModel {
  const idle = setting.traits.includes('nothing_works') || setting.needless.includes(medium.name);
  const harmful = setting.harmful === medium.name;
  const { kind } = medium;
  const own = idle ? 0 : setting.strength * Math.exp(0.35 * stream.gaussian());
  const sign = harmful ? -1 : 1;
  const size = Math.exp(0.4 * stream.gaussian());
  const met = stream.between(...medium.reach);
  const reach = kind === 'broadcast' || kind === 'retargeting' ? met * size : met;
  const traits: Trait[] = [...medium.traits];
  const slowRetention = retention(stream, setting, medium.tracked);
  const discount = kind === 'coupon_door' && !idle && stream.chance(0.6) ? stream.between(0.03, 0.1) : 0;
  if (idle || (kind === 'coupon_door' && discount === 0)) traits.push('nothing_works');
  if (harmful) traits.push('harm');
  if (!idle && kind === 'broadcast' && slowRetention >= 0.955) traits.push('long_horizon');
  if (!idle && medium.awareness[1] > 0 && slowRetention <= 0.8) traits.push('short_horizon');
  const inMarketBoost = stream.between(...medium.inMarket);
  if (inMarketBoost > 2.2 && kind === 'broadcast') traits.push('reactive_targeting');
  const follows = setting.traits.includes('budget_follows_demand') && kind !== 'list' && kind !== 'coupon_door';
  if (follows) traits.push('budget_follows_demand');
  const halo = setting.traits.includes('halo_visits') && (medium.awareness[1] >= 1.2 || !medium.tracked);
  if (halo && kind === 'broadcast') traits.push('halo_visits');
  // harm comes by annoyance: of the fresh contact where the channel has one, else of the shop's name
  const awareness = stream.between(...medium.awareness) * own * sign;
  const utility = stream.between(...medium.utility) * own * sign * (harmful ? 1.5 : 1);
  const gain = stream.between(0.15, 0.35);
  const substitution = stream.between(0.15, 0.5);
  return {
    name: medium.name,
    kind,
    tracked: medium.tracked,
    traits,
    reach,
    audienceShare: stream.between(...medium.audience),
    habitSd: stream.between(0.6, 1.1),
    needTargeting: medium.tracked ? stream.between(0.1, 0.45) : 0,
    brandTargeting: medium.tracked ? stream.between(0, 0.4) : 0,
    inMarketBoost,
    clickRate: stream.between(...medium.click),
    doorUse: stream.between(...medium.door),
    viewsSeen: stream.chance(medium.views),
    haloVisitRate: halo && kind === 'broadcast' ? stream.between(0.01, 0.035) : 0,
    awareness,
    slowRetention,
    utility,
    freshRetention: stream.between(0.3, 0.65),
    needStimulus: harmful ? 0 : stream.between(...medium.stimulus) * own,
    // an idle search ad is a door alone: those who click it would have come by the organic result
    considerGain: kind !== 'search_ad' ? 0 : idle ? setting.visitGain : Math.min(0.6, gain * own),
    organicSubstitution: idle ? 1 : substitution,
    discount,
    halfSaturation: stream.logBetween(0.8, 5),
    followsDemand: follows ? stream.between(0.8, 1.6) : 0,
    onAir: stream.between(...medium.onAir),
    spendWeight: medium.spendWeight * size * Math.exp(0.3 * stream.gaussian()),
    commission: kind === 'coupon_door' ? stream.between(0.04, 0.09) : 0,
  };
}

/** An unpaid channel: a door. */
export function unpaidChannel(name: string): ChannelModel {
  return {
    name,
    kind: 'unpaid',
    tracked: true,
    traits: [],
    reach: 0,
    audienceShare: 0,
    habitSd: 0,
    needTargeting: 0,
    brandTargeting: 0,
    inMarketBoost: 1,
    clickRate: 1,
    doorUse: 0,
    viewsSeen: false,
    haloVisitRate: 0,
    awareness: 0,
    slowRetention: 0,
    utility: 0,
    freshRetention: 0,
    needStimulus: 0,
    considerGain: 0,
    organicSubstitution: 0,
    discount: 0,
    halfSaturation: 1,
    followsDemand: 0,
    onAir: 1,
    spendWeight: 0,
    commission: 0,
  };
}
