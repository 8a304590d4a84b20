import { FOR, uniform } from './random.ts';
import type { Person } from './person.ts';
import type { CompiledPlan, World } from './world.ts';

export const VIEW = 0;
export const CLICK = 1;
export const VISIT = 2;
export const FREE_SEARCH = 3;
export const OCCASION = 4;
export const SENDING = 5;
/** e-mail that was opened, or an exposure without a row of its own */
export type EventKind = 0 | 1 | 2 | 3 | 4 | 5;

const DAY_S = 86_400;
const MOST = 256;

/** The events of one person's day, in the order of time. */
export class DayEvents {
  count = 0;
  readonly time = new Float64Array(MOST);
  readonly kind = new Uint8Array(MOST);
  readonly subject = new Int32Array(MOST);

  add(time: number, kind: EventKind, subject: number): void {
    if (this.count >= MOST) return;
    let at = this.count;
    for (; at > 0 && this.time[at - 1]! > time; at -= 1) {
      this.time[at] = this.time[at - 1]!;
      this.kind[at] = this.kind[at - 1]!;
      this.subject[at] = this.subject[at - 1]!;
    }
    this.time[at] = time;
    this.kind[at] = kind;
    this.subject[at] = subject;
    this.count += 1;
  }
}

/** What a person's own past tells the platforms. */
export interface Past {
  lastVisit: number;
  lastCart: number;
  lastOrder: number;
  isCustomer: boolean;
}

/** Whether a channel may meet the person on a day: its reach, its spend, the holdout. */
export function isActive(world: World, person: Person, plan: CompiledPlan, channel: number, day: number): boolean {
  const bit = day < world.spec.burnIn ? 1 : 2;
  if ((person.within[channel]! & bit) === 0) return false;
  if (bit === 2 && plan.spend[channel] === 0) return false;
  const { holdout } = plan;
  if (holdout === undefined || !person.heldOut || ((holdout.bits >> channel) & 1) === 0) return true;
  return day < holdout.from || day >= holdout.to;
}

function timeOfDay(key: number, slot: number): number {
  return DAY_S * (0.29 + 0.7 * uniform(key, FOR.exposureTime, slot) ** 0.8);
}

/**
 * Search: somebody looks for the product, more so when a purchase is near. The ad takes the click; without it a part
 * still comes by the unpaid result (substitution: Blake, Nosko & Tadelis 2015, Econometrica 83).
 */
function search(world: World, person: Person, plan: CompiledPlan, c: number, day: number, events: DayEvents): void {
  if (person.within[c] === 0) return;
  const channel = world.spec.channels[c]!;
  const slot = c * 1024 + day;
  const rate = person.ownRate[c]! * (0.03 + channel.following * 0.25 * Math.min(1.5, person.need[day]!));
  const planned = rate * world.pressure[c]![day]!;
  const bought = planned * (day < world.spec.burnIn ? 1 : plan.frequency[c]!);
  const u = uniform(person.key, FOR.exposure, slot);
  if (u >= Math.max(planned, bought) / (1 + Math.max(planned, bought))) return;
  const paid = isActive(world, person, plan, c, day) && u < bought / (1 + bought);
  const time = day * DAY_S + timeOfDay(person.key, slot);
  if (paid) events.add(time, CLICK, c);
  else if (u < planned / (1 + planned) && uniform(person.key, FOR.substitute, slot) < channel.substitution) {
    events.add(time, FREE_SEARCH, slot);
  }
}

function email(
  world: World,
  person: Person,
  plan: CompiledPlan,
  past: Past,
  c: number,
  day: number,
  events: DayEvents,
): void {
  const channel = world.spec.channels[c]!;
  if (!past.isCustomer || !isActive(world, person, plan, c, day)) return;
  const slot = c * 1024 + day;
  const mailing = uniform(world.spec.seed, 700 + c, day) < (channel.rate / 7) * Math.min(2, world.pressure[c]![day]!);
  // a reminder the day after a cart was left
  const reminder = past.lastCart > past.lastOrder && Math.floor(past.lastCart / DAY_S) === day - 1;
  if (!mailing && !reminder) return;
  const part = day < world.spec.burnIn ? 1 : Math.min(1, plan.frequency[c]!);
  if (uniform(person.key, FOR.frequency, 4096 + slot) >= part) return;
  const time = day * DAY_S + DAY_S * (0.3 + 0.1 * uniform(world.spec.seed, 750 + c, day));
  events.add(time, SENDING, c);
  const interest = 1 + 0.5 * Math.min(1.2, person.need[day]!);
  if (uniform(person.key, FOR.exposure, slot) >= person.openRate * interest * (reminder ? 1.4 : 1)) return;
  const read = Math.min((day + 1) * DAY_S - 60, time + 400 + 30_000 * uniform(person.key, FOR.exposureTime, slot) ** 2);
  const clicked = uniform(person.key, FOR.click, slot) < channel.clickRate * interest * 2;
  events.add(read, clicked ? CLICK : VIEW, c);
}

/** Adds the exposures of a day, from what was known at its beginning. */
export function expose(
  world: World,
  person: Person,
  plan: CompiledPlan,
  past: Past,
  day: number,
  events: DayEvents,
): void {
  const { channels, burnIn } = world.spec;
  for (let c = 0; c < channels.length; c += 1) {
    const channel = channels[c]!;
    if (channel.kind === 'unpaid' || channel.kind === 'door') continue;
    if (channel.kind === 'intent') {
      search(world, person, plan, c, day, events);
      continue;
    }
    if (channel.kind === 'email') {
      email(world, person, plan, past, c, day, events);
      continue;
    }
    if (!isActive(world, person, plan, c, day)) continue;
    const slot = c * 1024 + day;
    const near = Math.min(1.5, person.need[day]!);
    let rate = person.ownRate[c]! * world.pressure[c]![day]! * (day < burnIn ? 1 : plan.frequency[c]!);
    if (channel.kind === 'retargeting') {
      const since = day - past.lastVisit / DAY_S;
      if (since > 30) continue;
      // half of the people who have just ordered are taken off the list
      const ordered = day - past.lastOrder / DAY_S < 7;
      if (ordered && uniform(person.key, FOR.exclude, Math.floor(past.lastOrder / DAY_S)) < 0.5) continue;
      rate *= Math.exp(-Math.max(0, since) / 6) * (past.lastCart > past.lastOrder && since < 10 ? 2 : 1);
    } else rate *= 1 + channel.following * near;
    if (uniform(person.key, FOR.exposure, slot) >= rate / (1 + rate)) continue;
    const clicked = uniform(person.key, FOR.click, slot) < channel.clickRate * (1 + near);
    events.add(day * DAY_S + timeOfDay(person.key, slot), clicked ? CLICK : VIEW, c);
  }
}
