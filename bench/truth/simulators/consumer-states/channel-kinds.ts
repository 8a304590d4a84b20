import type { Range } from './random.ts';

/** Whom a channel can meet: everybody, people like buyers or in the market, past visitors, lists, searchers. */
export type Targeting = 'broad' | 'prospect' | 'visitors' | 'list' | 'search' | 'deal';

/**
 * Ranges of a kind of channel. Push channels come to people; doors are chosen by people who set out for a shop.
 * An exposure is a day with one or more impressions. Prices are per exposure of push channels and per click of
 * doors, commissions per unit of revenue.
 */
export interface ChannelKind {
  readonly name: string;
  readonly door: boolean;
  readonly targeting: Targeting;
  readonly tracked: boolean;
  /** the shop's tracker can see its impressions, not its clicks alone */
  readonly views: boolean;
  /** builds the memory that other channels draw on (synergy) */
  readonly brand: boolean;
  /** exposures a day of an average member; of doors, how often its ad is present */
  readonly rate: Range;
  /** share of people who can be met at all */
  readonly member: Range;
  /** clicks per exposure outside any intention */
  readonly click: Range;
  /** push: weight as the door of a visit of own accord after an exposure; doors: visits lost without the ad */
  readonly divert: Range;
  readonly halfLifeDays: Range;
  /** exposures in stock at which 63 % of the effect is reached */
  readonly saturation: Range;
  /** relative effect on need, consideration, intention, purchase and winning back */
  readonly lift: readonly [number, number, number, number, number];
  readonly price: Range;
  readonly commission: Range;
  /** reach grows by spend to this power (dearer auctions at the margin) */
  readonly elasticity: Range;
}

type Lift = ChannelKind['lift'];

const NONE: Range = [0, 0];

function push(
  name: string,
  targeting: Targeting,
  flags: string,
  rate: Range,
  member: Range,
  click: Range,
  divert: Range,
  halfLifeDays: Range,
  saturation: Range,
  lift: Lift,
  price: Range,
): ChannelKind {
  return {
    name,
    door: false,
    targeting,
    tracked: !flags.includes('untracked'),
    views: flags.includes('views'),
    brand: flags.includes('brand'),
    rate,
    member,
    click,
    divert,
    halfLifeDays,
    saturation,
    lift,
    price,
    commission: NONE,
    elasticity: targeting === 'list' ? [0.9, 1] : [0.65, 0.95],
  };
}

function door(
  name: string,
  targeting: Targeting,
  rate: Range,
  divert: Range,
  lift: Lift,
  price: Range,
  commission: Range,
): ChannelKind {
  return {
    name,
    door: true,
    targeting,
    tracked: true,
    views: false,
    brand: false,
    rate,
    member: [1, 1],
    click: NONE,
    divert,
    halfLifeDays: [2, 5],
    saturation: [0.8, 2],
    lift,
    price,
    commission,
    elasticity: [0.7, 0.95],
  };
}

const KINDS: readonly ChannelKind[] = [
  push(
    'tv',
    'broad',
    'untracked brand',
    [0.15, 0.35],
    [0.75, 0.9],
    NONE,
    NONE,
    [12, 25],
    [3, 7],
    [1, 0.5, 0.1, 0.05, 0.8],
    [0.03, 0.06],
  ),
  push(
    'radio',
    'broad',
    'untracked',
    [0.15, 0.3],
    [0.45, 0.7],
    NONE,
    NONE,
    [6, 12],
    [3, 6],
    [0.7, 0.3, 0.05, 0.05, 0.5],
    [0.02, 0.04],
  ),
  push(
    'out_of_home',
    'broad',
    'untracked brand',
    [0.2, 0.4],
    [0.35, 0.6],
    NONE,
    NONE,
    [7, 14],
    [4, 9],
    [0.7, 0.25, 0, 0, 0.4],
    [0.018, 0.035],
  ),
  push(
    'direct_mail',
    'list',
    'untracked',
    [0.03, 0.06],
    [0.7, 0.9],
    NONE,
    NONE,
    [10, 20],
    [0.8, 1.2],
    [0.6, 0.3, 0.2, 0.2, 1],
    [0.4, 0.7],
  ),
  push(
    'video',
    'prospect',
    'views brand',
    [0.03, 0.08],
    [0.5, 0.8],
    [0.002, 0.006],
    [0.01, 0.03],
    [7, 15],
    [2, 4],
    [0.9, 0.6, 0.1, 0.05, 0.5],
    [0.035, 0.06],
  ),
  push(
    'paid_social',
    'prospect',
    '',
    [0.06, 0.16],
    [0.5, 0.75],
    [0.008, 0.018],
    [0.04, 0.1],
    [4, 9],
    [2, 4],
    [0.7, 0.6, 0.3, 0.15, 0.5],
    [0.025, 0.045],
  ),
  push(
    'display',
    'prospect',
    'views',
    [0.04, 0.1],
    [0.75, 0.95],
    [0.001, 0.003],
    [0.01, 0.02],
    [3, 7],
    [3, 6],
    [0.35, 0.3, 0.1, 0.05, 0.2],
    [0.015, 0.028],
  ),
  push(
    'influencer',
    'broad',
    '',
    [0.04, 0.09],
    [0.12, 0.3],
    [0.02, 0.045],
    [0.06, 0.15],
    [5, 12],
    [1.5, 3],
    [1, 0.7, 0.3, 0.1, 0.3],
    [0.04, 0.08],
  ),
  push(
    'retargeting',
    'visitors',
    'views',
    [0.3, 0.7],
    [0.7, 0.9],
    [0.006, 0.014],
    [0.06, 0.14],
    [2, 4],
    [2, 4],
    [0.1, 0.4, 0.6, 0.4, 0.3],
    [0.03, 0.06],
  ),
  push(
    'email',
    'list',
    '',
    [0.12, 0.35],
    [1, 1],
    [0.03, 0.08],
    [0.2, 0.45],
    [2, 4],
    [1.5, 3],
    [0.3, 0.2, 0.3, 0.3, 0.6],
    [0.04, 0.08],
  ),
  push(
    'sms',
    'list',
    '',
    [0.02, 0.06],
    [0.25, 0.45],
    [0.05, 0.11],
    [0.2, 0.45],
    [1, 2.5],
    [1, 2],
    [0.3, 0.2, 0.4, 0.5, 0.6],
    [0.04, 0.07],
  ),
  door('paid_search', 'search', [0.45, 0.8], [0.15, 0.5], [0, 0.5, 0.8, 0.25, 0.2], [0.5, 1.2], NONE),
  door('shopping', 'search', [0.45, 0.8], [0.1, 0.4], [0, 0.4, 0.9, 0.3, 0.2], [0.3, 0.7], NONE),
  door('brand_search', 'search', [0.7, 0.95], [0, 0.06], [0, 0, 0.15, 0.08, 0.1], [0.12, 0.35], NONE),
  door('affiliate', 'deal', [0.7, 0.95], [0.04, 0.2], [0, 0.3, 0.5, 0.25, 0], NONE, [0.04, 0.09]),
  door('coupon_site', 'deal', [0.8, 0.97], [0, 0.04], [0, 0, 0.05, 0.12, 0], NONE, [0.03, 0.06]),
];

/** The kind of that name; channels of shops are drawn from its ranges. */
export function channelKind(name: string): ChannelKind {
  const kind = KINDS.find((candidate) => candidate.name === name);
  if (kind === undefined) throw new RangeError(`no such kind of channel: ${name}`);
  return kind;
}
