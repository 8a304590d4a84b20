import type { Trait } from '../simulator.ts';
import { channelKind } from './channel-kinds.ts';
import { Draws } from './random.ts';
import type { Range } from './random.ts';
import type { ChannelSpec } from './shop-spec.ts';

/** What of the shop bears on how its channels are drawn. */
export interface ChannelSetting {
  readonly nothingWorks: boolean;
  readonly harmful: string;
  readonly traits: readonly Trait[];
  readonly viewsSeen: boolean;
}

const DUD_SHARE = 0.15;
const STRENGTH_SIGMA = 0.6;
const LIFT_NOISE: Range = [0.7, 1.3];
const SIZE: Range = [0.3, 1.6];
const IN_MARKET: Range = [1.3, 2.5];
const IN_MARKET_REACTIVE: Range = [3, 6];
const FOLLOW: Range = [0, 0.3];
const FOLLOW_DEMAND: Range = [0.8, 1.8];
const HALF_LIFE_LONG = 1.8;
const HALF_LIFE_SHORT = 0.5;
/** a harmful channel puts people off in every state (log of hazards, before the shop's strength) */
const ANNOYANCE: Range = [0.4, 0.8];
const SIZE_HARMFUL: Range = [1.2, 2];
const COUPON_DISCOUNT: Range = [0, 0.02];
/** a coupon site that does harm gives a price away to people who have decided */
const COUPON_DISCOUNT_HARMFUL: Range = [0.08, 0.15];

function channelTraits(name: string, setting: ChannelSetting): Trait[] {
  const kind = channelKind(name);
  const traits: Trait[] = [];
  if (setting.nothingWorks) traits.push('nothing_works');
  if (name === setting.harmful) traits.push('harm');
  if (kind.targeting === 'visitors' || name === 'email') traits.push('reactive_targeting');
  if (kind.targeting === 'prospect' && setting.traits.includes('reactive_targeting')) {
    traits.push('reactive_targeting');
  }
  if (name === 'brand_search' || name === 'coupon_site') traits.push('navigational_clicks');
  if (!kind.tracked) traits.push('untracked_spend');
  if (setting.traits.includes('budget_follows_demand')) traits.push('budget_follows_demand');
  if (kind.brand && setting.traits.includes('synergy')) traits.push('synergy');
  if (kind.views && !kind.door && setting.traits.includes('halo_visits')) traits.push('halo_visits');
  return traits;
}

/** A paid channel of the shop with parameters from its kind's ranges. */
export function drawChannel(name: string, draws: Draws, setting: ChannelSetting): ChannelSpec {
  const kind = channelKind(name);
  const harmful = name === setting.harmful;
  const reactive = setting.traits.includes('reactive_targeting');
  const strong = Math.exp(STRENGTH_SIGMA * draws.gaussian());
  const dud = draws.chance(DUD_SHARE) && kind.tracked && !harmful;
  const annoyance = draws.range(ANNOYANCE) * (name === 'coupon_site' ? 0 : 1);
  const effect = setting.nothingWorks || dud ? 0 : strong;
  const size = kind.door ? 1 : draws.logRange(harmful ? SIZE_HARMFUL : SIZE);
  const tempo = setting.traits.includes('long_horizon')
    ? HALF_LIFE_LONG
    : setting.traits.includes('short_horizon')
      ? HALF_LIFE_SHORT
      : 1;
  const flighted = kind.targeting === 'broad' || (kind.targeting === 'prospect' && draws.chance(0.4));
  const mail = name === 'direct_mail';
  const discount = harmful ? COUPON_DISCOUNT_HARMFUL : COUPON_DISCOUNT;
  const works = effect > 0 && !harmful ? 1 : 0;
  return {
    name,
    paid: true,
    tracked: kind.tracked,
    door: kind.door,
    targeting: kind.targeting,
    viewsSeen: kind.views && setting.viewsSeen,
    brand: kind.brand,
    rate: draws.range(kind.rate) * size,
    member: draws.range(kind.member),
    habitSigma: draws.range([0.5, 1]),
    click: draws.range(kind.click),
    divert: draws.range(kind.divert) * (kind.door ? 0 : 1),
    leak: kind.door ? draws.range(kind.divert) * works : 0,
    induce: draws.range([0.15, 0.5]) * works,
    retention: Math.pow(0.5, 1 / (draws.range(kind.halfLifeDays) * tempo)),
    saturation: draws.range(kind.saturation),
    lift: kind.lift.map((lift) => (harmful ? -annoyance : lift * effect) * draws.range(LIFT_NOISE)),
    price: draws.range(kind.price),
    commission: draws.range(kind.commission),
    discount: name === 'coupon_site' && !setting.nothingWorks ? draws.range(discount) : 0,
    elasticity: draws.range(kind.elasticity),
    inMarket: kind.targeting === 'prospect' ? draws.range(reactive ? IN_MARKET_REACTIVE : IN_MARKET) : 1,
    followDemand: draws.range(setting.traits.includes('budget_follows_demand') ? FOLLOW_DEMAND : FOLLOW),
    promotionLift: draws.range(kind.targeting === 'list' ? [1.3, 2] : [1, 1.6]),
    flightOn: mail ? 2 : flighted ? 7 * draws.whole([2, 4]) : 1,
    flightOff: mail ? 26 : flighted ? 7 * draws.whole([1, 3]) : 0,
    traits: channelTraits(name, setting),
  };
}

/** `direct` and `organic…`: doors that are always there and cost nothing. */
export function unpaidChannel(name: string): ChannelSpec {
  return {
    name,
    paid: false,
    tracked: true,
    door: true,
    targeting: 'search',
    viewsSeen: false,
    brand: false,
    rate: 1,
    member: 1,
    habitSigma: 0,
    click: 0,
    divert: 0,
    leak: 0,
    induce: 0,
    retention: 0,
    saturation: 1,
    lift: [0, 0, 0, 0, 0],
    price: 0,
    commission: 0,
    discount: 0,
    elasticity: 1,
    inMarket: 1,
    followDemand: 0,
    promotionLift: 1,
    flightOn: 1,
    flightOff: 0,
    traits: [],
  };
}
