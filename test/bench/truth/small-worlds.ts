import type { ChannelSpec, WorldSpec } from '../../../bench/truth/world-spec.ts';

/** A channel of touches at random times, without selection, effect or anything else; `changes` says otherwise. */
export const channel = (name: string, changes: Partial<ChannelSpec> = {}): ChannelSpec => ({
  name,
  paid: true,
  touchesPerUser: 1,
  interestShare: 0,
  lagDays: 0,
  targeting: 0,
  reach: 0.5,
  customersOnly: false,
  perVisit: 0,
  onAir: 1,
  effect: 0,
  halfLifeDays: 2,
  saturation: Infinity,
  boost: null,
  halo: 0,
  closing: 0,
  ...changes,
});

export const unpaid = (name: string, changes: Partial<ChannelSpec> = {}): ChannelSpec =>
  channel(name, { paid: false, interestShare: 0.5, reach: 1, closing: 1, ...changes });

/** 5,000 users in 60 days, all alike but for their spells of interest. */
export const world = (channels: readonly ChannelSpec[], changes: Partial<WorldSpec> = {}): WorldSpec => ({
  name: 'small',
  family: 'small',
  seed: 7,
  users: 5_000,
  days: 60,
  channels,
  propensitySpread: 0,
  episodes: { perUser: 0.5, riseDays: 1, decayDays: 6, strengthSpread: 0.3, propensityExponent: 0 },
  organicOrdersPerUser: 0.2,
  organicInterestShare: 0.9,
  orderLagDays: 0,
  orderSteepness: 1,
  effectOnInterest: 0,
  effectOnPropensity: 0,
  satiation: { depth: 0, days: 1 },
  knownShare: 0.4,
  announcingVisits: 0,
  closingClickShare: 0.8,
  orderValue: { median: 50, spread: 0.5 },
  weekly: 0,
  growth: 0,
  ...changes,
});
