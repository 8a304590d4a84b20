import type { Trait } from '../simulator.ts';

/**
 * How a channel meets people: `broadcast` by media habits, `retargeting` after visits, `list` the shop's own customers,
 * `search_ad` while they search the category, the two doors when they have decided for the shop.
 */
export type ChannelKind = 'broadcast' | 'retargeting' | 'list' | 'search_ad' | 'brand_door' | 'coupon_door' | 'unpaid';

/** One channel's parameters. */
export interface ChannelModel {
  readonly name: string;
  readonly kind: ChannelKind;
  readonly tracked: boolean;
  readonly traits: readonly Trait[];
  /** broadcast, retargeting: contacts per person and day; list: share of mails read; others: share of searches met */
  readonly reach: number;
  /** part of the people who use the medium at all */
  readonly audienceShare: number;
  /** sd of the log of media habits */
  readonly habitSd: number;
  /** correlation of habits with the rate of needs, and with the taste for the shop (lookalike targeting) */
  readonly needTargeting: number;
  readonly brandTargeting: number;
  /** factor on contacts while a person is in the market (platforms sell in-market audiences) */
  readonly inMarketBoost: number;
  /** part of the contacts that are clicked */
  readonly clickRate: number;
  /** chance that somebody who goes to the shop anyway takes a contact of the last days as the door */
  readonly doorUse: number;
  /** whether contacts without a click are touches in the shop's files */
  readonly viewsSeen: boolean;
  /** chance that a contact makes the person look at the shop by another door */
  readonly haloVisitRate: number;
  /** on the logit of consideration, at full stock, and what a day leaves of the stock */
  readonly awareness: number;
  readonly slowRetention: number;
  /** on the utility of the shop, at full stock, and what a day leaves of the stock */
  readonly utility: number;
  readonly freshRetention: number;
  /** relative rise of the need's hazard, at full fresh stock */
  readonly needStimulus: number;
  /** chance that a click puts the shop into the consideration set */
  readonly considerGain: number;
  /** chance that somebody who would have clicked the absent ad clicks the organic result */
  readonly organicSubstitution: number;
  /** price cut of a coupon */
  readonly discount: number;
  /** half-saturation k of reach m(x) = x (1 + k) / (x + k) in spend x relative to the usual */
  readonly halfSaturation: number;
  /** exponent of demand in the daily budget */
  readonly followsDemand: number;
  /** part of the weeks on air; 1 = always on */
  readonly onAir: number;
  /** weight in the sharing out of the marketing budget; 0 where a commission is paid */
  readonly spendWeight: number;
  /** part of the order's revenue that a coupon site gets */
  readonly commission: number;
}

/** A competing shop. */
export interface RivalModel {
  readonly considerationLogit: number;
  readonly intercept: number;
  readonly price: number;
  readonly promotionShare: number;
}

/** One of the shop's goods; prices relative to the reference price. */
export interface GoodModel {
  readonly quality: number;
  readonly price: number;
}

/** All parameters of a shop and its market. */
export interface ShopModel {
  readonly name: string;
  readonly seed: number;
  readonly traits: readonly Trait[];
  readonly channels: readonly ChannelModel[];
  readonly days: number;
  readonly burnInDays: number;
  readonly startS: number;
  readonly referencePrice: number;
  readonly basketSd: number;
  /** what the pilot run aims at */
  readonly ordersPerPerson: number;
  /** marketing's part of revenue, where it isn't found from `totalRoas` */
  readonly marketingShare: number;
  /** return that the whole marketing makes, about; 0 where `marketingShare` is used */
  readonly totalRoas: number;
  readonly needIntervalDays: number;
  readonly needShape: number;
  readonly needSd: number;
  readonly seasonAmplitude: number;
  readonly seasonPhase: number;
  readonly demandShockSd: number;
  readonly lifeEventRate: number;
  readonly lifeEventFactor: number;
  readonly searchDays: number;
  readonly researchRate: number;
  readonly categorySearch: number;
  readonly organicClick: number;
  /** chance that a look at the shop by an organic result puts it into the set */
  readonly visitGain: number;
  readonly considerationLogit: number;
  readonly inertiaConsideration: number;
  readonly inertiaUtility: number;
  readonly intercept: number;
  readonly brandSd: number;
  readonly priceSensitivity: number;
  readonly priceSd: number;
  readonly responseSd: number;
  readonly nestScale: number;
  readonly noneUtility: number;
  readonly goods: readonly GoodModel[];
  readonly rivals: readonly RivalModel[];
  readonly stockOutRate: number;
  readonly promotionCount: number;
  readonly promotionPull: number;
  readonly synergy: number;
  /** channels whose stocks reinforce each other; -1 = none */
  readonly synergyPair: readonly [number, number];
  /** rise of the click rate of search results among people who are aware of the shop */
  readonly recognitionBoost: number;
  readonly searchDoor: number;
  readonly brandLeak: number;
  readonly couponSeekers: number;
  readonly browseRate: number;
  /** searches of the category per day without a need behind them */
  readonly idleSearchRate: number;
  readonly followerShare: number;
  readonly optInRate: number;
  readonly mailsPerWeek: number;
  readonly severalIdsShare: number;
  readonly lostShare: number;
}
