import { seededRandom } from '../../compute/numerics/random.ts';
import type { Random } from '../../compute/numerics/random.ts';
import { PAID_ARCHETYPES, UNPAID_ARCHETYPES } from './channel-archetypes.ts';
import type { Archetype, Range } from './channel-archetypes.ts';
import { referenceStyle } from './reference-style.ts';
import { between, logBetween } from './variates.ts';
import { withoutEffects } from './world-spec.ts';
import type { ChannelSpec, WorldSpec } from './world-spec.ts';

export const FAMILIES = [
  'plain',
  'strong_selection',
  'halo',
  'order_effects',
  'long_stock',
  'short_stock',
  'announced_orders',
  'placebo_ideal',
  'reference_style',
  'nothing_works',
] as const;
export type Family = (typeof FAMILIES)[number];

/** Ranges that differ between the worlds of the report and those for tuning. */
export interface Taste {
  readonly users: Range;
  readonly days: Range;
  readonly propensitySpread: Range;
  readonly episodesPerUser: Range;
  readonly episodeDecayDays: Range;
  readonly organicOrdersPerUser: Range;
  /** of all orders, those that advertising sets off */
  readonly incrementalShare: Range;
  readonly effectOnInterest: Range;
  readonly satiation: Range;
  readonly closingClickShare: Range;
  /** factor on the archetypes' touches per user */
  readonly touches: Range;
  /** part of the paid channels of an average world that have no effect */
  readonly nullShare: number;
}

const ARCHETYPE_DAYS = 90;
const ALWAYS_THERE = 5;

/** A world before its effects are scaled until advertising brings `incrementalShare` of the orders. */
export interface WorldDraft {
  readonly spec: WorldSpec;
  readonly incrementalShare: number;
}

/**
 * The world `index` of a family, without a name: drawn from the taste's ranges by a seed of its own, never from
 * results.
 */
export function draftOf(family: Family, index: number, seed: number, taste: Taste): WorldDraft {
  if (family === 'nothing_works') {
    // In turn: under moderate selection, under strong selection, in the style of the reference.
    const selection = (['plain', 'strong_selection', 'reference_style'] as const)[(index - 1) % 3]!;
    return { spec: { ...withoutEffects(draftOf(selection, index, seed, taste).spec), family }, incrementalShare: 0 };
  }
  const random = seededRandom(seed);
  const incrementalShare = between(random, ...taste.incrementalShare);
  const spec = family === 'reference_style' ? referenceStyle(random) : SHAPE[family](plain(random, taste), random);
  return { spec: { ...spec, family, seed }, incrementalShare };
}

function plain(random: Random, taste: Taste): WorldSpec {
  const from = ([low, high]: Range): number => between(random, low, high);
  const days = Math.round(from(taste.days));
  const scale = (days / ARCHETYPE_DAYS) * from(taste.touches);
  const names = Object.keys(PAID_ARCHETYPES);
  const others = names
    .slice(ALWAYS_THERE)
    .map((name) => ({ name, place: random() }))
    .toSorted((a, b) => a.place - b.place);
  const chosen = [
    ...names.slice(0, ALWAYS_THERE),
    ...others.slice(0, 1 + Math.floor(random() * 5)).map(({ name }) => name),
  ].toSorted();
  const paid = chosen.map((channel) => channelOf(channel, PAID_ARCHETYPES[channel]!, true, scale, random));
  const unpaid = Object.entries(UNPAID_ARCHETYPES).map(([channel, archetype]) =>
    channelOf(channel, archetype, false, scale, random),
  );
  const organicOrdersPerUser = from(taste.organicOrdersPerUser);
  return {
    name: '',
    family: '',
    seed: 0,
    users: Math.round(logBetween(random, ...taste.users) / 1000) * 1000,
    days,
    channels: [...perTouch(silenced(paid, taste.nullShare, random), unpaid, organicOrdersPerUser), ...unpaid],
    propensitySpread: from(taste.propensitySpread),
    episodes: {
      perUser: (from(taste.episodesPerUser) * days) / ARCHETYPE_DAYS,
      riseDays: from([0.5, 3]),
      decayDays: from(taste.episodeDecayDays),
      strengthSpread: from([0.3, 0.9]),
      propensityExponent: from([0, 1]),
    },
    organicOrdersPerUser,
    organicInterestShare: from([0.6, 0.95]),
    effectOnInterest: from(taste.effectOnInterest),
    effectOnPropensity: from([0, 0.8]),
    orderLagDays: from([0, 4]),
    orderSteepness: from([1, 2]),
    satiation: { depth: from(taste.satiation), days: from([5, 20]) },
    knownShare: from([0.25, 0.6]),
    announcingVisits: 0,
    closingClickShare: from(taste.closingClickShare),
    orderValue: { median: logBetween(random, 25, 150), spread: from([0.3, 0.8]) },
    weekly: from([0, 0.3]),
    growth: from([-0.2, 0.4]),
  };
}

function channelOf(name: string, archetype: Archetype, paid: boolean, scale: number, random: Random): ChannelSpec {
  const from = ([low, high]: Range): number => between(random, low, high);
  return {
    name,
    paid,
    touchesPerUser: from(archetype.touches) * scale,
    interestShare: from(archetype.interestShare),
    lagDays: from(archetype.lagDays),
    targeting: from(archetype.targeting),
    reach: from(archetype.reach),
    customersOnly: archetype.customersOnly,
    perVisit: from(archetype.perVisit),
    onAir: paid && random() < 0.3 ? between(random, 0.35, 0.8) : 1,
    effect: from(archetype.potency),
    halfLifeDays: from(archetype.halfLifeDays),
    saturation: random() < 0.3 ? Infinity : logBetween(random, 1, 8),
    boost: null,
    halo: 0,
    closing: from(archetype.closing),
  };
}

/** Takes the effect from some channels, and leaves at least three at work. */
function silenced(channels: readonly ChannelSpec[], share: number, random: Random): ChannelSpec[] {
  const most = channels.length - 3;
  let silent = 0;
  return channels.map((channel) => (random() < share && silent++ < most ? { ...channel, effect: 0 } : channel));
}

/** Turns relative potencies into effects, at first such that fresh touches together set off `ordersPerUser` orders. */
function perTouch(paid: readonly ChannelSpec[], unpaid: readonly ChannelSpec[], ordersPerUser: number): ChannelSpec[] {
  const visits = unpaid.reduce((sum, { touchesPerUser }) => sum + touchesPerUser, 0);
  const potency = paid.reduce(
    (sum, channel) => sum + channel.effect * (channel.touchesPerUser + channel.perVisit * visits),
    0,
  );
  return paid.map((channel) => ({ ...channel, effect: (channel.effect * ordersPerUser) / potency }));
}

type Shape = (world: WorldSpec, random: Random) => WorldSpec;
const reshaped = (world: WorldSpec, change: (channel: ChannelSpec) => Partial<ChannelSpec>): WorldSpec => ({
  ...world,
  channels: world.channels.map((channel) => ({ ...channel, ...change(channel) })),
});
const isWorking = ({ paid, effect }: ChannelSpec): boolean => paid && effect > 0;

/** What makes each family differ from a plain world. */
const SHAPE: Readonly<Record<Exclude<Family, 'reference_style' | 'nothing_works'>, Shape>> = {
  plain: (world) => world,
  // Few people are in the market, they account for nearly all demand, and advertising finds them.
  strong_selection: (world, random) => {
    const followed = reshaped(world, (channel) => ({
      interestShare: Math.min(
        0.97,
        channel.interestShare * between(random, 1.2, 1.6) + (channel.paid ? between(random, 0.05, 0.25) : 0),
      ),
      targeting: channel.paid ? channel.targeting + between(random, 0.3, 0.9) : channel.targeting,
    }));
    return {
      ...followed,
      organicInterestShare: between(random, 0.85, 0.98),
      episodes: {
        ...world.episodes,
        perUser: world.episodes.perUser * between(random, 0.35, 0.6),
        strengthSpread: between(random, 0.7, 1.1),
        propensityExponent: 1,
      },
    };
  },
  // Awareness channels also bring people to the site on their own: unpaid visits are no pure placebos.
  halo: (world, random) =>
    reshaped(world, (channel) =>
      isWorking(channel) && channel.interestShare < 0.2 ? { halo: between(random, 0.2, 1.2) } : {},
    ),
  // One channel, retargeting where it works, mainly reaches those who saw the widest awareness channel before, and
  // others in part; or they strengthen each other.
  order_effects: (world, random) => {
    const byReach = world.channels
      .filter(isWorking)
      .toSorted((a, b) => b.touchesPerUser * (1 - b.interestShare) - a.touchesPerUser * (1 - a.interestShare));
    const [first, second, third] = byReach.filter(({ name }) => name !== 'retargeting');
    const dependent = byReach.find(({ name }) => name === 'retargeting') ?? third ?? second!;
    const synergy = random() < 0.4;
    return reshaped(world, (channel) => {
      if (channel.name === dependent.name)
        return {
          boost: { by: first!.name, without: synergy ? 1 : between(random, 0, 0.2), with: between(random, 2, 4) },
        };
      if (!isWorking(channel) || channel === first || channel === second || random() >= 0.4) return {};
      return {
        boost: { by: second!.name, without: synergy ? 1 : between(random, 0.2, 0.6), with: between(random, 1.5, 3) },
      };
    });
  },
  long_stock: (world, random) => reshaped(world, ({ paid }) => (paid ? { halfLifeDays: between(random, 7, 16) } : {})),
  short_stock: (world, random) =>
    reshaped(world, ({ paid }) => (paid ? { halfLifeDays: between(random, 0.2, 1.2) } : {})),
  // People come to the site, unpaid, in the days before they order: visits foretell orders that advertising caused,
  // too.
  announced_orders: (world, random) => ({ ...world, announcingVisits: between(random, 0.05, 0.3) }),
  // One latent interest drives demand, visits and advertising alike, and nothing else does, as PRAV assumes.
  placebo_ideal: (world) => ({
    ...reshaped(world, () => ({
      lagDays: 0,
      targeting: 0,
      customersOnly: false,
      saturation: Infinity,
      reach: 1,
      onAir: 1,
    })),
    propensitySpread: 0,
    effectOnInterest: 0,
    orderLagDays: 0,
    orderSteepness: 1,
    satiation: { depth: 0, days: 1 },
    weekly: 0,
    growth: 0,
  }),
};
