import type { Trait } from '../simulator.ts';
import { reportWorlds, tuningWorlds } from '../../worlds.ts';
import type { NamedWorld } from '../../worlds.ts';
import type { Family } from '../../world-families.ts';
import type { ChannelSpec, WorldSpec } from '../../world-spec.ts';

/** Of the report's worlds, so that each family is there, and three in which nothing works under unlike selection. */
const OF_THE_REPORT: readonly string[] = [
  'plain_1',
  'strong_selection_1',
  'strong_selection_2',
  'halo_1',
  'order_effects_1',
  'long_stock_1',
  'short_stock_1',
  'announced_orders_1',
  'placebo_ideal_1',
  'reference_style_1',
  'nothing_works_1',
  'nothing_works_2',
  'nothing_works_3',
];

/** The worlds behind the shops, in the order of their index: those for tuning come first. */
export function shopWorlds(): NamedWorld[] {
  const report = new Map(reportWorlds().map((world) => [world.name, world]));
  return [...tuningWorlds(), ...OF_THE_REPORT.map((name) => report.get(name)!)];
}

const OF_FAMILY: Readonly<Partial<Record<Family, Trait>>> = {
  nothing_works: 'nothing_works',
  halo: 'halo_visits',
  order_effects: 'synergy',
  long_stock: 'long_horizon',
  short_stock: 'short_horizon',
};
/** Orders per person, caused ones not counted. */
const SPARSE = 0.04;

export function traitsOfShop(spec: WorldSpec): Trait[] {
  const ofChannels = spec.channels.flatMap(traitsOfChannel).filter((trait) => trait !== 'nothing_works');
  const ofFamily = OF_FAMILY[spec.family as Family];
  const sparse = spec.organicOrdersPerUser < SPARSE ? (['sparse_orders'] as const) : [];
  return [...new Set([...(ofFamily === undefined ? [] : [ofFamily]), ...sparse, ...ofChannels])];
}

/** A channel mostly clicked by people who are about to order anyway. */
const isNavigational = ({ interestShare, closing }: ChannelSpec): boolean => interestShare > 0.5 && closing > 0.15;

export function traitsOfChannel(channel: ChannelSpec): Trait[] {
  if (!channel.paid) return [];
  return [
    ...(channel.effect === 0 ? (['nothing_works'] as const) : []),
    ...(channel.boost !== null && channel.effect > 0 ? (['synergy'] as const) : []),
    ...(channel.perVisit > 0 ? (['reactive_targeting'] as const) : []),
    ...(isNavigational(channel) ? (['navigational_clicks'] as const) : []),
    ...(channel.halo > 0 && channel.effect > 0 ? (['halo_visits'] as const) : []),
  ];
}
