import { highestDemand } from './immigrants.ts';
import type { ChannelWorld, World } from './world.ts';

/** Which channel does what in a shop, looked up once. */
export interface Roles {
  /** served by chances over people's online time */
  readonly seen: readonly number[];
  readonly searches: readonly number[];
  readonly lists: readonly number[];
  readonly cartMails: readonly number[];
  /** whose ads may be the door of a visit that was to happen */
  readonly doors: readonly number[];
  readonly newsletter: number;
  /** shows an ad to those who search for the shop's name */
  readonly navigational: number;
  readonly affiliate: number;
  readonly unpaid: readonly number[];
  readonly unpaidTotal: number;
  readonly highestDemand: number;
  readonly highestOrderFactor: number;
  /** per channel, what strengthens it */
  readonly synergies: readonly { readonly from: number; readonly strength: number }[][];
}

/** Indices of the unpaid doors that every shop has. */
export const DIRECT = 0;
export const ORGANIC_SEARCH = 1;

export function rolesOf(world: World): Roles {
  const indices = (wanted: (channel: ChannelWorld) => boolean): number[] =>
    world.channels.map((_, c) => c).filter((c) => wanted(world.channels[c] as ChannelWorld));
  const first = (wanted: (channel: ChannelWorld) => boolean): number => indices(wanted)[0] ?? -1;
  const brand = first((channel) => channel.kind === 'brand');
  const unpaid = indices((channel) => channel.kind === 'unpaid');
  return {
    seen: indices((channel) => channel.kind === 'prospecting' || channel.kind === 'broadcast'),
    searches: indices((channel) => channel.kind === 'search'),
    lists: indices((channel) => channel.kind === 'retargeting'),
    cartMails: indices((channel) => channel.kind === 'cartMail'),
    doors: indices((channel) => channel.hijack > 0),
    newsletter: first((channel) => channel.kind === 'newsletter'),
    navigational: brand >= 0 ? brand : first((channel) => channel.traits.includes('navigational_clicks')),
    affiliate: first((channel) => channel.kind === 'affiliate'),
    unpaid,
    unpaidTotal: unpaid.reduce((sum, c) => sum + (world.channels[c] as ChannelWorld).share, 0),
    highestDemand: highestDemand(world),
    highestOrderFactor: world.orderFactor.reduce((a, b) => Math.max(a, b), 0),
    synergies: world.channels.map((_, c) => world.synergies.filter((pair) => pair.to === c)),
  };
}
