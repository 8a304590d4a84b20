import type { Person, PersonState } from './person.ts';
import { uniform } from './random.ts';
import type { ChannelSpec } from './shop-spec.ts';
import { CONSIDERING, INTENDING } from './shop-spec.ts';
import type { Scenario, World } from './world.ts';

const U_DOOR = 40;
const U_LEAK = 41;
const U_FALLBACK = 42;
const U_PRESENCE = 64;

/** The visit didn't take place: the person went to another shop. */
export const LOST = -2;

const NAVIGATIONAL_SHARE: readonly number[] = [0.75, 0.3, 0.35, 0.65, 0.9, 0.7];

/** How likely a person takes each door, were it there: navigation (knows the shop) and search for a kind of goods. */
function doorWeight(channel: ChannelSpec, world: World, person: Person, state: PersonState): number {
  const known = Math.min(0.95, NAVIGATIONAL_SHARE[state.state]! + 0.35 * state.loyalty);
  const category = 1 - known;
  const nav = world.spec.navigational;
  switch (channel.name) {
    case 'direct':
      return known * (0.24 + 0.38 * state.loyalty);
    case 'organic_search':
      return known * 0.2 + category * 0.35;
    case 'organic_social':
      return category * 0.12 + 0.02;
    case 'organic_referral':
      return category * 0.1 + 0.02;
    case 'brand_search':
      return known * 0.2 * nav;
    case 'paid_search':
      return category * 0.45 + known * 0.03;
    case 'shopping':
      return category * 0.35 + (state.state === CONSIDERING ? 0.05 : 0);
    case 'affiliate':
      return state.state >= CONSIDERING && state.state <= INTENDING ? 0.08 * nav : 0.01;
    case 'coupon_site':
      return state.state === INTENDING ? 0.3 * person.dealProne * nav : 0;
    default:
      return 0;
  }
}

/** Chooses the doors of visits of people's own accord; a paid door that isn't there leaves the visit to another. */
export class DoorChoice {
  private readonly world: World;
  private readonly weights: Float64Array;
  /** paid doors that were met or would have been: bits by channel */
  met = 0;

  constructor(world: World) {
    this.world = world;
    this.weights = new Float64Array(world.channels);
  }

  /** @returns channel of the door, or LOST */
  choose(person: Person, state: PersonState, t: number, dayKey: number, scenario: Scenario | null): number {
    const { world, weights } = this;
    const channels = world.spec.channels;
    const day = t - world.spec.burnInDays;
    for (const c of world.doors) weights[c] = doorWeight(channels[c]!, world, person, state);
    for (const c of world.push) {
      const since = day - state.lastExposure[c]!;
      weights[c] = since <= 2 ? channels[c]!.divert / (1 + since) : 0;
    }
    const first = this.pick(uniform(dayKey, U_DOOR));
    if (this.present(first, t, dayKey, scenario)) return first;
    if (uniform(dayKey, U_LEAK) < channels[first]!.leak) return LOST;
    weights[first] = 0;
    const second = this.pick(uniform(dayKey, U_FALLBACK));
    if (this.present(second, t, dayKey, scenario)) return second;
    return world.direct;
  }

  private pick(u: number): number {
    const { weights } = this;
    let sum = 0;
    for (let c = 0; c < weights.length; c += 1) sum += weights[c]!;
    let rest = u * sum;
    for (let c = weights.length - 1; c >= 0; c -= 1) {
      rest -= weights[c]!;
      if (rest < 0) return c;
    }
    return this.world.direct;
  }

  private present(c: number, t: number, dayKey: number, scenario: Scenario | null): boolean {
    const channel = this.world.spec.channels[c]!;
    if (!channel.paid || !channel.door) return true;
    const day = t - this.world.spec.burnInDays;
    let factor = 1;
    if (scenario !== null) {
      this.met |= 1 << c;
      factor = scenario.reach[c]!;
      if (((scenario.heldChannels >> c) & 1) === 1 && day >= scenario.heldFrom && day < scenario.heldTo) factor = 0;
    }
    const budget = this.world.calendar.reach[c * this.world.totalDays + t]! * factor;
    const presence = 1 - Math.pow(1 - channel.rate, budget);
    return uniform(dayKey, U_PRESENCE + c) < presence;
  }
}
