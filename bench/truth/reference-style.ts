import type { Random } from '../../compute/numerics/random.ts';
import { between, logBetween } from './variates.ts';
import type { ChannelSpec, WorldSpec } from './world-spec.ts';

/**
 * Touches per user in 90 days, selection, relative effect, closing clicks: after the event sample that the model tests
 * use.
 */
const CHANNELS: readonly (readonly [
  name: string,
  touches: number,
  interestShare: number,
  perVisit: number,
  potency: readonly [low: number, high: number],
  closing: number,
])[] = [
  ['affiliate', 0.127, 0.3, 0, [0, 1], 0.07],
  ['brand_search', 0.16, 0.6, 0, [0.2, 2], 0.47],
  ['direct', 0.36, 0.28, 0, [0, 0], 0.41],
  ['display', 1.58, 0.025, 0, [0.2, 1], 0],
  ['email', 0.6, 0.08, 0, [0.3, 1.5], 0],
  ['organic', 0.6, 0.24, 0, [0, 0], 0],
  ['paid_search', 0.37, 0.42, 0, [0.8, 4], 0.05],
  ['retargeting', 0.9, 0.04, 0.42, [0.2, 1.5], 0],
  ['social', 1.26, 0.025, 0, [0.3, 1.5], 0],
  ['video', 1.05, 0.03, 0, [0.4, 2], 0],
];
const LAG_DAYS: Readonly<Record<string, number>> = { affiliate: 3, brand_search: 2, direct: 1, paid_search: 0.5 };
const DAYS = 90;

/** Many users with few touches each and rare orders, in the proportions of the reference sample. */
export function referenceStyle(random: Random): WorldSpec {
  const organicOrdersPerUser = between(random, 0.03, 0.042);
  const drafts = CHANNELS.map(([channel, touches, interestShare, perVisit, potency, closing]): ChannelSpec => {
    const paid = channel !== 'direct' && channel !== 'organic';
    return {
      name: channel,
      paid,
      touchesPerUser: touches * logBetween(random, 0.8, 1.25),
      interestShare: Math.min(0.95, interestShare * logBetween(random, 0.8, 1.25)),
      lagDays: LAG_DAYS[channel] ?? 0,
      targeting: between(random, 0, 0.5),
      reach: between(random, 0.7, 1),
      customersOnly: channel === 'email',
      perVisit: perVisit * logBetween(random, 0.8, 1.25),
      onAir: 1,
      effect: paid ? between(random, ...potency) : 0,
      halfLifeDays: between(random, 1, 7),
      saturation: logBetween(random, 2, 10),
      boost: channel === 'retargeting' ? { by: 'video', without: 0.7, with: 1.5 } : null,
      halo: 0,
      closing,
    };
  });
  const potency = drafts.reduce((sum, channel) => sum + channel.effect * channel.touchesPerUser, 0);
  return {
    name: '',
    family: '',
    seed: 0,
    users: 150_000,
    days: DAYS,
    channels: drafts.map((channel) => ({ ...channel, effect: (channel.effect * organicOrdersPerUser) / potency })),
    propensitySpread: between(random, 0.4, 0.8),
    episodes: {
      perUser: between(random, 0.18, 0.32),
      riseDays: between(random, 1, 3),
      decayDays: between(random, 4, 8),
      strengthSpread: between(random, 0.6, 1),
      propensityExponent: 1,
    },
    organicOrdersPerUser,
    organicInterestShare: between(random, 0.9, 0.98),
    effectOnInterest: between(random, 0, 0.4),
    effectOnPropensity: between(random, 0, 0.6),
    orderLagDays: between(random, 1, 3),
    orderSteepness: between(random, 1, 1.5),
    satiation: { depth: between(random, 0.3, 0.9), days: between(random, 7, 20) },
    knownShare: between(random, 0.25, 0.4),
    announcingVisits: 0,
    closingClickShare: 0.83,
    orderValue: { median: 54, spread: 0.47 },
    weekly: 0,
    growth: 0,
  };
}
