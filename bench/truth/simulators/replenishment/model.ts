import type { SimulatedChannel, Trait } from '../simulator.ts';

/** How a channel meets people. */
export type Role =
  /** bought at auction or by the placement, at people's leisure */
  | 'prospecting'
  /** like prospecting, but no device tells of it: television, radio, posters, print */
  | 'broadcast'
  /** ads beside the results of a search for the goods */
  | 'search'
  /** offers on a site that compares prices */
  | 'comparison'
  /** ads to people who have visited */
  | 'retargeting'
  /** mails set off by a visit, or by the date at which a customer's goods should run out */
  | 'flows'
  /** mailings by calendar to a list */
  | 'newsletter'
  /** the ad above the results of a search for the shop's name */
  | 'brand'
  /** coupon and cashback sites, visited by those who have decided */
  | 'coupon'
  | 'unpaid';

/** What the habit of a person is that a channel lives on. */
export const HABITS = ['social', 'video', 'web', 'audio', 'mail', 'out'] as const;
export type Habit = (typeof HABITS)[number];

/** How a channel is paid for; nothing of it is known to the draws of effects. */
export interface Deal {
  /** of each contact: impressions times their price, including those on people whom the shop never sees */
  readonly perContact: number;
  readonly perClick: number;
  /** part of the revenue of the orders that the channel closes */
  readonly commission: number;
  /** per week in which the channel runs: fees, retainers, salaries, tools */
  readonly weeklyFee: number;
}

/** What one contact does. */
export interface Effects {
  /** on the log odds of choosing the shop, by a full memory of the channel */
  readonly recall: number;
  /** days until the memory has faded to 1 / e */
  readonly fadeDays: number;
  /** chance to begin a purchase at once, where stock is at an end */
  readonly nudge: number;
  /** chance that somebody who did not know the shop does from now on */
  readonly awareness: number;
  /** relative gain of the basket's value, by a full memory */
  readonly basket: number;
  /** chance of an order without need */
  readonly impulse: number;
  /** chance to turn away from the shop for weeks */
  readonly turnAway: number;
  /** chance of an unpaid visit within days, which buys no more */
  readonly halo: number;
}

export interface Channel extends SimulatedChannel {
  readonly role: Role;
  readonly habit: number;
  /** of the reach curve f / (f + k) in the factor f on spend: the smaller, the nearer to everybody who can be met */
  readonly k: number;
  /** contacts per person and day if everybody who can be met is, before habits: prospecting and broadcast */
  readonly perDay: number;
  /** how far audiences lean to people who are likely to buy */
  readonly lookalike: number;
  /** contacts per day of an open purchase to people whom an in-market audience has found */
  readonly inMarket: number;
  /** chance that a contact leaves a touch without a click */
  readonly viewSeen: number;
  readonly click: number;
  readonly effects: Effects;
  /** whose fresh memory makes this one's recall stronger; -1 = none */
  readonly partner: number;
  readonly synergy: number;
  /** of searchers who would click the ad: they click the free result in its absence */
  readonly substitution: number;
  /** of buyers at a door: they are lost without it */
  readonly leak: number;
  /** price cut that the door gives */
  readonly discount: number;
  /** retargeting and flows: contacts after a visit at most */
  readonly contacts: number;
  /** days between them, or between mailings of a newsletter */
  readonly delayDays: number;
  /** retargeting that goes on after an order */
  readonly keepsOn: boolean;
  /** part of what the channel causes that the shop does not record */
  readonly lost: number;
  /** quantiles of the day of a contact, counted from the burn-in's first day */
  readonly dayQuantiles: Int16Array;
  /** 1 where a weekly fee is due, per week of the window */
  readonly weeksOn: readonly number[];
  readonly deal: Deal;
}

/** A kind of goods that people of the market own, and that runs out or wears out. */
export interface Good {
  /** part of people who use it */
  readonly users: number;
  /** between two purchases, median person; the spread is of the logarithm */
  readonly cycleDays: number;
  readonly cycleSpread: number;
  /** time from need to choice, mean */
  readonly deliberationDays: number;
  readonly price: number;
  readonly priceSpread: number;
  /** part of users who come by dates alone (gifts): no stock, so a purchase brings no later one nearer or farther */
  readonly isGift: boolean;
}

/** A time in which people like to buy: a price cut of the shop, or a peak that all shops have. */
export interface Peak {
  readonly fromDay: number;
  readonly toDay: number;
  /** the shop's price cut; 0 = none */
  readonly depth: number;
  /** days that people wait for it, and by which they buy ahead for it */
  readonly pull: number;
  /** part of deal-prone people who heed it */
  readonly heed: number;
  readonly isMarketWide: boolean;
}

export interface Shop {
  readonly name: string;
  readonly seed: number;
  readonly days: number;
  readonly startS: number;
  readonly traits: readonly Trait[];
  readonly channels: readonly Channel[];
  readonly goods: readonly Good[];
  readonly peaks: readonly Peak[];
  /** index of the market's demand per day, burn-in included; mean 1 */
  readonly demand: Float64Array;
  readonly worksAtAll: boolean;
  /** what the pilot aims at: orders, the part of revenue that advertising brings, and the part that it costs */
  readonly aim: { readonly ordersPerPerson: number; readonly incremental: number; readonly marketing: number };
  /** planned per person of the market and week */
  readonly weeklyRevenue: number;
  /** of people at the start */
  readonly known: number;
  readonly customers: number;
  readonly tasteSpread: number;
  readonly loyalty: number;
  /** on the log odds, by a price cut of 100 % */
  readonly priceSensitivity: number;
  /** an order that somebody outside of the sample places on a buyer's word */
  readonly wordOfMouth: number;
  readonly couponSeekers: number;
  readonly brandSearchers: number;
  /** idle visits by those who know the shop */
  readonly visitsPerDay: number;
  readonly opensMail: number;
  /** buyers who get the shop's mail from then on */
  readonly joinsList: number;
  readonly severalIds: number;
  readonly refusesTracking: number;
}

/** What the pilot sets: the log odds of choosing the shop, the scale of what advertising does, and that of its cost. */
export interface Levels {
  readonly base: number;
  readonly effects: number;
  /** on all that media cost, alike for all channels: how large the shop's budget is */
  readonly prices: number;
}

/** People live unseen for as long before the window; whole weeks. */
export const BURN_IN_DAYS = 63;
