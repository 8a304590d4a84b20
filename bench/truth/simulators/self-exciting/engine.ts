import { contactCost, dayIndex } from './auction.ts';
import type { CostHistogram } from './market.ts';
import { DRAW, Person } from './person.ts';
import type { CompiledPlan } from './plan.ts';
import { EventQueue } from './queue.ts';
import { childKey, delay, LONGEST_EFFECT_DAYS, poisson, uniform, type Kernel } from './random.ts';
import { rolesOf, type Roles } from './roles.ts';
import type { Rows } from './rows.ts';
import type { ChannelWorld, World } from './world.ts';

/** Numbers of a person's state: first the person's own, then so many per channel. */
export const STATE = { lastOrder: 0, annoyance: 1, annoyedAt: 2, mailing: 3, customer: 4, channels: 5 } as const;
export const CHANNEL_STATE = {
  lastContact: 0,
  stock: 1,
  stockAt: 2,
  member: 3,
  since: 4,
  listDay: 5,
  capDay: 6,
  dayCount: 7,
  entryCount: 8,
  size: 9,
} as const;

const LONG_AGO = -1e6;

/** Even those who are fed up come back at times: wishes fall by a factor of exp(-0.8) at most. */
const MOST_ANNOYED = 0.8;

/** One person's point process at a time: queue, state and what has come of it. */
export class Engine {
  readonly world: World;
  readonly roles: Roles;
  readonly person: Person;
  readonly queue = new EventQueue(256);
  readonly state: Float64Array;
  private readonly saved: Float64Array;
  plan: CompiledPlan;
  /** bits of channels that are off in this run of the person, from day 0 */
  off = 0;
  /** bits of channels that met the person in the window */
  met = 0;
  orders = 0;
  cents = 0;
  armOrders = 0;
  armCents = 0;
  heldOut = false;
  private savedCounts: [number, number, number, number] = [0, 0, 0, 0];
  /** where rows and spend go; undefined in counterfactual runs */
  rows: Rows | undefined = undefined;
  spend: Float64Array | undefined = undefined;
  costs: readonly (CostHistogram | undefined)[] | undefined = undefined;

  constructor(world: World, plan: CompiledPlan) {
    this.world = world;
    this.plan = plan;
    this.roles = rolesOf(world);
    this.person = new Person(world);
    this.state = new Float64Array(STATE.channels + CHANNEL_STATE.size * world.channels.length);
    this.saved = new Float64Array(this.state.length);
  }

  begin(index: number): void {
    this.person.draw(index);
    this.queue.size = 0;
    this.off = this.plan.off;
    this.met = 0;
    this.orders = this.cents = this.armOrders = this.armCents = 0;
    this.state.fill(0);
    this.state[STATE.lastOrder] = LONG_AGO;
    this.state[STATE.customer] = this.person.customer ? 1 : 0;
    for (let at = STATE.channels; at < this.state.length; at += CHANNEL_STATE.size) {
      for (let i = 0; i <= CHANNEL_STATE.capDay; i++) if (i !== CHANNEL_STATE.stock) this.state[at + i] = LONG_AGO;
    }
    const { holdChannels, holdShare } = this.plan;
    this.heldOut = holdChannels !== 0 && uniform(this.person.key, DRAW.holdout) < holdShare;
  }

  /** Keeps the person as of now, to run the window again from here. */
  save(): void {
    this.queue.save();
    this.saved.set(this.state);
    this.savedCounts = [this.orders, this.cents, this.armOrders, this.armCents];
  }

  restore(off: number): void {
    this.queue.restore();
    this.state.set(this.saved);
    [this.orders, this.cents, this.armOrders, this.armCents] = this.savedCounts;
    this.off = off;
  }

  get(c: number, field: number): number {
    return this.state[STATE.channels + c * CHANNEL_STATE.size + field] as number;
  }

  set(c: number, field: number, value: number): void {
    this.state[STATE.channels + c * CHANNEL_STATE.size + field] = value;
  }

  /** Whether the channel may meet this person at this time at all. */
  served(c: number, time: number): boolean {
    if (time < 0) return true;
    if (((this.off >> c) & 1) === 1) return false;
    const { plan } = this;
    return !(this.heldOut && ((plan.holdChannels >> c) & 1) === 1 && time >= plan.holdFrom && time < plan.holdTo);
  }

  /** Part of its chances that the channel wins at this time. */
  reach(c: number, time: number): number {
    return (time < 0 ? this.plan.reachBefore[c] : this.plan.reach[c]) as number;
  }

  /** A contact is made: it is paid for, and the person is one to run again for the truth. */
  pay(c: number, time: number, key: number): void {
    if (this.costs !== undefined) this.costs[c]?.add(time, contactCost(this.world, time, key));
    if (time < 0) return;
    this.met |= 1 << c;
    if (this.spend === undefined) return;
    const channel = this.world.channels[c] as ChannelWorld;
    const atAuction = channel.kind === 'prospecting' || channel.kind === 'retargeting' || channel.kind === 'search';
    const cost = atAuction ? contactCost(this.world, time, key) : 1;
    const at = c * this.world.days + Math.floor(time);
    const scaled = cost * channel.price * (this.plan.spendScale[c] as number);
    this.spend[at] = (this.spend[at] as number) + scaled;
  }

  /** Recent contacts, discounted. */
  stock(c: number, time: number): number {
    const stock = this.get(c, CHANNEL_STATE.stock);
    if (stock === 0) return 0;
    return stock * Math.exp((this.get(c, CHANNEL_STATE.stockAt) - time) / this.world.stockDays);
  }

  annoy(time: number, amount: number): void {
    this.state[STATE.annoyance] = Math.min(MOST_ANNOYED, this.annoyance(time) + amount);
    this.state[STATE.annoyedAt] = time;
  }

  annoyance(time: number): number {
    const level = this.state[STATE.annoyance] as number;
    if (level === 0) return 0;
    return level * Math.exp(((this.state[STATE.annoyedAt] as number) - time) / this.world.annoyanceDays);
  }

  /** Factor on the wish to order: price cuts, stilled by a recent order, inhibited by annoyance. */
  orderFactor(time: number): number {
    const { world } = this;
    const since = time - (this.state[STATE.lastOrder] as number);
    const stilled = since < 20 * world.satiationDays ? world.satiation * Math.exp(-since / world.satiationDays) : 0;
    return (world.orderFactor[dayIndex(world, time)] as number) * (1 - stilled) * Math.exp(-this.annoyance(time));
  }

  /** Offspring of an event: Poisson many, each after its own delay, at hours at which the person is online. */
  spawn(kind: number, time: number, key: number, slot: number, mean: number, kernel: Kernel): void {
    if (mean <= 0) return;
    const count = poisson(uniform(key, DRAW.offspring + slot), Math.min(mean, 4));
    for (let k = 0; k < count; k++) {
      const child = childKey(key, 40 * slot + k);
      const after = delay(uniform(child, DRAW.time), kernel);
      if (after > LONGEST_EFFECT_DAYS) continue;
      let at = time + after;
      if (after > 0.3) {
        const online = this.person.onDay(Math.floor(at), uniform(child, DRAW.hour));
        if (online > time) at = online;
      }
      if (at < this.world.days) this.queue.push(at, kind, child, 0);
    }
  }
}
