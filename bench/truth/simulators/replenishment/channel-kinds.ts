import type { Effects, Habit, Role } from './model.ts';

/** Typical values of a medium, which every shop moves. */
export interface ChannelKind {
  readonly name: string;
  readonly role: Role;
  readonly habit: Habit;
  /** contacts per person in 100 days; of the roles that people don't set off themselves */
  readonly contacts: number;
  readonly lookalike: number;
  /** part of audiences bought by interest in the goods, as contacts per day of an open purchase */
  readonly inMarket: number;
  readonly viewSeen: number;
  readonly click: number;
  readonly effects: Effects;
  /** currency units: impressions per contact × price of a thousand / 1000, before what is spent on other people */
  readonly perContact: number;
  readonly perClick: number;
  readonly commission: number;
  /** of the revenue that the shop plans for, per week */
  readonly feeShare: number;
}

const NO_EFFECT: Effects = {
  recall: 0,
  fadeDays: 5,
  nudge: 0,
  awareness: 0,
  basket: 0,
  impulse: 0,
  turnAway: 0,
  halo: 0,
};
const effects = (some: Partial<Effects>): Effects => ({ ...NO_EFFECT, ...some });

const BASE: Omit<ChannelKind, 'name' | 'role' | 'habit'> = {
  contacts: 0,
  lookalike: 0,
  inMarket: 0,
  viewSeen: 0,
  click: 0,
  effects: NO_EFFECT,
  perContact: 0,
  perClick: 0,
  commission: 0,
  feeShare: 0,
};
const kind = (name: string, role: Role, habit: Habit, rest: Partial<ChannelKind>): ChannelKind => ({
  ...BASE,
  ...rest,
  name,
  role,
  habit,
});

/** Media that any shop may buy. */
export const PROSPECTING: readonly ChannelKind[] = [
  kind('meta_ads', 'prospecting', 'social', {
    contacts: 2.2,
    lookalike: 0.6,
    inMarket: 0.12,
    viewSeen: 0.25,
    click: 0.04,
    effects: effects({ recall: 0.5, fadeDays: 6, nudge: 0.024, awareness: 0.02, basket: 0.02, impulse: 0.0004 }),
    perContact: 0.022,
  }),
  kind('tiktok', 'prospecting', 'video', {
    contacts: 1.4,
    lookalike: 0.4,
    inMarket: 0.04,
    viewSeen: 0.2,
    click: 0.025,
    effects: effects({ recall: 0.35, fadeDays: 4, nudge: 0.016, awareness: 0.02, impulse: 0.0006 }),
    perContact: 0.014,
  }),
  kind('display', 'prospecting', 'web', {
    contacts: 2.6,
    lookalike: 0.3,
    inMarket: 0.15,
    viewSeen: 0.3,
    click: 0.006,
    effects: effects({ recall: 0.2, fadeDays: 5, nudge: 0.008, awareness: 0.008 }),
    perContact: 0.009,
  }),
  kind('youtube', 'prospecting', 'video', {
    contacts: 1.5,
    lookalike: 0.3,
    inMarket: 0.06,
    viewSeen: 0.35,
    click: 0.008,
    effects: effects({ recall: 0.45, fadeDays: 14, nudge: 0.008, awareness: 0.025, basket: 0.03 }),
    perContact: 0.016,
  }),
  kind('podcast', 'prospecting', 'audio', {
    contacts: 0.7,
    lookalike: 0.2,
    viewSeen: 0,
    click: 0.05,
    effects: effects({ recall: 0.5, fadeDays: 18, nudge: 0.012, awareness: 0.03 }),
    feeShare: 0.02,
  }),
  kind('influencers', 'prospecting', 'social', {
    contacts: 0.8,
    lookalike: 0.5,
    viewSeen: 0,
    click: 0.09,
    effects: effects({ recall: 0.5, fadeDays: 7, nudge: 0.03, awareness: 0.03, impulse: 0.001 }),
    feeShare: 0.025,
  }),
  kind('pinterest', 'prospecting', 'web', {
    contacts: 0.9,
    lookalike: 0.5,
    inMarket: 0.08,
    viewSeen: 0.25,
    click: 0.02,
    effects: effects({ recall: 0.35, fadeDays: 12, nudge: 0.02, awareness: 0.015, basket: 0.03 }),
    perContact: 0.011,
  }),
  kind('native_ads', 'prospecting', 'web', {
    contacts: 1.1,
    lookalike: 0.2,
    inMarket: 0.05,
    click: 0.05,
    effects: effects({ recall: 0.25, fadeDays: 4, nudge: 0.012, awareness: 0.012 }),
    perClick: 0.28,
  }),
];

/** Media that leave no touches. */
export const BROADCAST: readonly ChannelKind[] = [
  kind('tv', 'broadcast', 'out', {
    contacts: 3,
    effects: effects({ recall: 0.5, fadeDays: 15, nudge: 0.01, awareness: 0.02 }),
    feeShare: 0.05,
  }),
  kind('radio', 'broadcast', 'audio', {
    contacts: 2.5,
    effects: effects({ recall: 0.3, fadeDays: 8, nudge: 0.01, awareness: 0.01 }),
    feeShare: 0.03,
  }),
  kind('out_of_home', 'broadcast', 'out', {
    contacts: 3,
    effects: effects({ recall: 0.25, fadeDays: 12, awareness: 0.012 }),
    feeShare: 0.03,
  }),
  kind('direct_mail', 'broadcast', 'mail', {
    contacts: 0.5,
    lookalike: 1.1,
    effects: effects({ recall: 0.8, fadeDays: 14, nudge: 0.06, awareness: 0.03, basket: 0.08 }),
    perContact: 0.11,
  }),
];

/** Ads where people look for the goods. */
export const SEARCH: readonly ChannelKind[] = [
  kind('paid_search', 'search', 'web', { click: 0.3, effects: effects({ recall: 0.3, fadeDays: 3 }), perClick: 0.7 }),
  kind('shopping_ads', 'search', 'web', { click: 0.28, effects: effects({ recall: 0.3, fadeDays: 2 }), perClick: 0.4 }),
  kind('bing_search', 'search', 'web', { click: 0.25, effects: effects({ recall: 0.3, fadeDays: 3 }), perClick: 0.5 }),
  kind('price_comparison', 'comparison', 'web', {
    click: 0.3,
    effects: effects({ recall: 0.25, fadeDays: 2 }),
    perClick: 0.35,
  }),
];

/** What a visit sets off. */
export const REACTIVE: readonly ChannelKind[] = [
  kind('retargeting', 'retargeting', 'web', {
    viewSeen: 0.4,
    click: 0.05,
    effects: effects({ recall: 0.35, fadeDays: 3, nudge: 0.04, basket: 0.01 }),
    perContact: 0.05,
    perClick: 0.2,
  }),
  kind('meta_retargeting', 'retargeting', 'social', {
    viewSeen: 0.3,
    click: 0.05,
    effects: effects({ recall: 0.35, fadeDays: 3, nudge: 0.04 }),
    perContact: 0.06,
  }),
  kind('email_flows', 'flows', 'mail', {
    click: 0.18,
    effects: effects({ recall: 0.5, fadeDays: 2, nudge: 0.12, basket: 0.02 }),
    feeShare: 0.004,
  }),
];

/** Mailings by calendar; contacts are set by how often people of the list open. */
export const NEWSLETTERS: readonly ChannelKind[] = [
  kind('email', 'newsletter', 'mail', {
    click: 0.14,
    effects: effects({ recall: 0.4, fadeDays: 3, nudge: 0.05, basket: 0.03, impulse: 0.0015 }),
    feeShare: 0.008,
  }),
  kind('sms', 'newsletter', 'mail', {
    click: 0.12,
    effects: effects({ recall: 0.35, fadeDays: 1.5, nudge: 0.06, impulse: 0.0015 }),
    perContact: 0.16,
    feeShare: 0.002,
  }),
];

/** Doors of people who have decided. */
export const DOORS: readonly ChannelKind[] = [
  kind('brand_search', 'brand', 'web', { click: 1, perClick: 0.22 }),
  kind('affiliates', 'coupon', 'web', { click: 1, commission: 0.09 }),
  kind('cashback', 'coupon', 'web', { click: 1, commission: 0.07 }),
];
