import type { Trait } from '../simulator.ts';
import type { Kernel } from './random.ts';

/** How a channel comes to meet people. */
export type ChannelKind =
  | 'unpaid'
  | 'prospecting'
  | 'broadcast'
  | 'search'
  | 'brand'
  | 'retargeting'
  | 'newsletter'
  | 'cartMail'
  | 'affiliate';

/** A channel's parameters; those that do not suit its kind are 0. */
export interface ChannelWorld {
  readonly name: string;
  readonly kind: ChannelKind;
  readonly tracked: boolean;
  readonly traits: Trait[];
  /** share of own visits that enter here (unpaid), or of generic searches whose ad slot is this channel's (search) */
  readonly share: number;
  /** chances of a contact: per person and day (prospecting, broadcast) or per day on the list (retargeting) */
  readonly rate: number;
  /** exponent of the platform's propensity score in its bid, and how well it knows the person's interest */
  readonly lookalike: number;
  readonly scoreNoise: number;
  /** further chances per episode of need, from third-party intent data */
  readonly intentRate: number;
  /** odds that the chance is won at today's spend, and their elasticity to spend */
  readonly odds: number;
  readonly elasticity: number;
  /** daily budget over what the day's chances would cost, and elasticity of the budget to expected demand */
  readonly budgetRatio: number;
  readonly budgetDemand: number;
  /** clicks per contact; share of view-only contacts that the shop's tracker sees */
  readonly clickRate: number;
  readonly viewSeen: number;
  /** offspring per contact at susceptibility 1: own visits, searches, orders; and worth of a click's visit (own = 1) */
  readonly visitMean: number;
  readonly searchMean: number;
  readonly orderMean: number;
  readonly clickQuality: number;
  readonly kernel: Kernel;
  /** true strength against the usual one of the kind; 0 = no effect */
  readonly strength: number;
  /** recent contacts at which the next one is worth half */
  readonly halfFrequency: number;
  /** annoyance that a contact adds when recent contacts exceed the tolerance */
  readonly annoyance: number;
  readonly tolerance: number;
  /** chance that a visit that was to happen anyway enters through this channel's ad, up to so many days after it */
  readonly hijack: number;
  readonly hijackDays: number;
  /** retargeting: list after a cart instead of a visit, days on it, caps, decay of the bid, share with a cookie */
  readonly afterCart: boolean;
  readonly membershipDays: number;
  readonly capPerDay: number;
  readonly capPerEntry: number;
  readonly bidDecayDays: number;
  readonly suppressDays: number;
  readonly addressable: number;
  /** mails: opening rate; delays after a cart in days */
  readonly openRate: number;
  readonly delays: readonly number[];
  /** search, brand, affiliate: of those whom the ad served, the share lost without it; coupon's part off the price */
  readonly lostShare: number;
  readonly discount: number;
  /** price of a contact; typical one at first, then set so that spend and revenue go together */
  price: number;
}

/** One channel's contacts strengthen another's. */
export interface Synergy {
  readonly from: number;
  readonly to: number;
  readonly strength: number;
}

/** A shop, its people and its market. Days run from 0, the first day of burn-in, here; from `-burn` elsewhere. */
export interface World {
  readonly name: string;
  readonly seed: number;
  readonly days: number;
  readonly burn: number;
  readonly startS: number;
  readonly traits: readonly Trait[];
  readonly channels: readonly ChannelWorld[];
  readonly synergies: readonly Synergy[];
  /** what calibration aims at: orders per person, marketing's part of orders, spend over revenue */
  readonly targetOrders: number;
  readonly targetShare: number;
  readonly targetSpend: number;
  /** spread of interest, of online time, of susceptibility; correlation of susceptibility and interest */
  readonly interestSpread: number;
  readonly onlineSpread: number;
  readonly susceptibilitySpread: number;
  readonly susceptibilityTie: number;
  readonly activitySpread: number;
  readonly customerShare: number;
  readonly subscriberShare: number;
  /** episodes of need per person and day, length, offspring */
  readonly episodeRate: number;
  readonly episodeDays: number;
  readonly episodeVisits: number;
  readonly episodeSearches: number;
  readonly episodeOrders: number;
  readonly episodeGain: number;
  readonly backgroundVisits: number;
  /** branching among the shop's own events */
  readonly visitToVisit: number;
  readonly visitToSearch: number;
  readonly visitToCart: number;
  readonly cartToOrder: number;
  readonly cartToLaterOrder: number;
  readonly cartToVisit: number;
  readonly orderToVisit: number;
  readonly orderToOrder: number;
  readonly ownKernel: Kernel;
  readonly cartKernel: Kernel;
  readonly repeatKernel: Kernel;
  /** part of the wish to order that an order stills at first, and how fast it comes back */
  readonly satiation: number;
  readonly satiationDays: number;
  readonly annoyanceDays: number;
  readonly stockDays: number;
  /** doors: share of own visits by a search for the shop's name, clicks on ad and result of a generic search */
  readonly navigationalShare: number;
  readonly brandAdShare: number;
  readonly searchAdClick: number;
  readonly searchResultClick: number;
  readonly couponSeekers: number;
  readonly basket: number;
  readonly basketSpread: number;
  /** tracker: ids per person, loss of touches */
  readonly splitShare: number;
  readonly mainDevice: number;
  readonly lostTouches: number;
  /** per day from the burn-in's first on */
  readonly demand: Float64Array;
  readonly orderFactor: Float64Array;
  readonly priceFactor: Float64Array;
  readonly flights: Float64Array;
  readonly auctionPrice: Float64Array;
  /** of newsletters, in days (fraction = time of day), window's first day = 0 */
  readonly mailTimes: Float64Array;
  /** found by calibration */
  baseScale: number;
  effectScale: number;
  /** per channel and day: part of the day after which the budget is gone */
  cutoff: Float64Array[];
}
