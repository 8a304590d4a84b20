import type { Person, PersonState } from './person.ts';
import type { ChannelSpec } from './shop-spec.ts';
import { AWARE, CONSIDERING, INTENDING, SATIATED } from './shop-spec.ts';
import type { World } from './world.ts';
import { LIFTS, MOST_HALO } from './world.ts';

const NEGLIGIBLE = 0.02;
const RETARGETING_DAYS = 21;

/**
 * Media's effect on the log of a transition's hazard: adstock per person (Broadbent 1979), exponential saturation
 * per channel, synergy of performance channels with brand memory (Naik & Raman 2003), and a cap that all channels
 * share, so that they cannibalise one another.
 */
export function mediaLift(world: World, person: Person, state: PersonState, kind: number): number {
  const { lift, saturation } = world;
  const stock = state.stock;
  let good = 0;
  let harm = 0;
  let memory = 0;
  for (const c of world.brands) {
    if (stock[c]! < NEGLIGIBLE) continue;
    const effect = lift[c * LIFTS + kind]!;
    const saturated = 1 - Math.exp(-stock[c]! / saturation[c]!);
    if (saturated > memory && lift[c * LIFTS]! > 0) memory = saturated;
    if (effect > 0) good += effect * saturated;
    else harm += effect * saturated;
  }
  const synergy = 1 + world.spec.synergy * memory;
  for (const c of world.others) {
    const effect = lift[c * LIFTS + kind]!;
    if (stock[c]! < NEGLIGIBLE || effect === 0) continue;
    const saturated = 1 - Math.exp(-stock[c]! / saturation[c]!);
    if (effect > 0) good += effect * saturated * synergy;
    else harm += effect * saturated;
  }
  if (good === 0 && harm === 0) return 0;
  const cap = world.spec.liftCap;
  return cap * (1 - Math.exp((-good * person.response) / cap)) + Math.max(-1.5, harm * person.response);
}

/** How much impressions make people look the shop up without any intention: 0 where the shop has no such halo. */
export function haloOf(world: World, state: PersonState): number {
  let halo = 0;
  for (const c of world.push) {
    const channel = world.spec.channels[c]!;
    if (state.stock[c]! < NEGLIGIBLE || channel.targeting === 'list' || channel.targeting === 'visitors') continue;
    if (world.lift[c * LIFTS]! > 0) halo += 1 - Math.exp(-state.stock[c]! / world.saturation[c]!);
  }
  return 1 + world.spec.haloVisits * Math.min(MOST_HALO, halo);
}

function inMarket(channel: ChannelSpec, state: number): number {
  if (state === CONSIDERING || state === INTENDING) return channel.inMarket;
  if (state === AWARE) return 1 + (channel.inMarket - 1) * 0.5;
  return state === SATIATED ? 0.9 : 1;
}

function toVisitors(world: World, state: PersonState, day: number): number {
  const since = day - state.lastVisit;
  if (since > RETARGETING_DAYS) return 0;
  const cart = state.cartUntil >= day ? 2.2 : 1;
  const bought = day - state.lastOrder < 10 ? world.spec.buyerExclusion : 1;
  return Math.exp(-since / 7) * cart * bought;
}

function toList(channel: ChannelSpec, person: Person, state: PersonState, day: number): number {
  if (channel.name === 'direct_mail') return state.customer ? 1 : 0;
  if (!state.onList) return 0;
  const recency = day - state.lastOrder < 60 ? 1.4 : state.customer ? 1 : 0.7;
  const cart = channel.name === 'email' && state.cartUntil >= day ? 3 : 1;
  return person.opens * 2 * recency * cart;
}

/**
 * Probability that a push channel meets the person today, at reach 1 times `reach`; in the form of odds, so that
 * more budget meets more people with diminishing returns.
 */
export function exposureChance(
  world: World,
  person: Person,
  state: PersonState,
  c: number,
  day: number,
  activity: number,
  reach: number,
): number {
  const channel = world.spec.channels[c]!;
  const base = channel.rate * person.habit[c]! * reach;
  if (base === 0) return 0;
  let factor = 1;
  if (channel.targeting === 'prospect') factor = inMarket(channel, state.state) * activity;
  else if (channel.targeting === 'visitors') factor = toVisitors(world, state, day) * activity;
  else if (channel.targeting === 'list') factor = toList(channel, person, state, day) * (0.6 + 0.4 * activity);
  const odds = base * factor;
  return odds / (1 + odds);
}
