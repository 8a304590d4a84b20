import { CLICK, DayEvents, FREE_SEARCH, OCCASION, SENDING, VIEW, VISIT, expose, isActive } from './exposures.ts';
import { FOR, mix, uniform } from './random.ts';
import { Stocks } from './stocks.ts';
import type { Past } from './exposures.ts';
import type { Person } from './person.ts';
import type { PersonRecord } from './record.ts';
import type { CompiledPlan, World } from './world.ts';

const DAY_S = 86_400;
const LONG_AGO = -1e9;
const MOST_PENDING = 128;
const SESSION_S = 2700;

/** Walks one person after another through burn-in and window. */
export class Journey implements Past {
  lastVisit = LONG_AGO;
  lastCart = LONG_AGO;
  lastOrder = LONG_AGO;
  isCustomer = false;
  private ordersSoFar = 0;
  private satisfiedUntil = LONG_AGO;
  private sessionStart = LONG_AGO;
  private sessionDoor = -1;
  private readonly stocks: Stocks;
  private readonly events = new DayEvents();
  private readonly pendingDay = new Int32Array(MOST_PENDING);
  private readonly pendingSlot = new Int32Array(MOST_PENDING);
  private pending = 0;
  private readonly lastSeen: Float64Array;
  private readonly directIndex: number;
  private readonly searchIndex: number;

  private readonly world: World;
  private readonly person: Person;
  private readonly plan: CompiledPlan;
  private readonly record: PersonRecord;

  constructor(world: World, person: Person, plan: CompiledPlan, record: PersonRecord) {
    this.world = world;
    this.person = person;
    this.plan = plan;
    this.record = record;
    const { channels } = world.spec;
    this.stocks = new Stocks(world);
    this.lastSeen = new Float64Array(channels.length);
    this.directIndex = channels.findIndex((c) => c.name === 'direct');
    this.searchIndex = channels.findIndex((c) => c.name === 'organic_search');
  }

  /** Runs one person under the plan; the outcome is in the record. */
  run(number: number): void {
    const { world, person, events } = this;
    this.record.startPerson();
    person.become(number, this.plan);
    this.lastVisit = this.lastCart = this.lastOrder = this.satisfiedUntil = this.sessionStart = LONG_AGO;
    this.sessionDoor = -1;
    this.isCustomer = person.isCustomer && person.optIn < 0.75;
    this.ordersSoFar = 0;
    this.pending = 0;
    this.stocks.clear();
    this.lastSeen.fill(LONG_AGO);
    let nextVisit = 0;
    let nextOccasion = 0;
    for (let day = 0; day < world.span; day += 1) {
      events.count = 0;
      expose(world, person, this.plan, this, day, events);
      const end = (day + 1) * DAY_S;
      for (; nextVisit < person.visits && person.visitTime[nextVisit]! < end; nextVisit += 1) {
        events.add(person.visitTime[nextVisit]!, VISIT, person.visitId[nextVisit]!);
      }
      for (; nextOccasion < person.occasions && person.occasionTime[nextOccasion]! < end; nextOccasion += 1) {
        events.add(person.occasionTime[nextOccasion]!, OCCASION, nextOccasion);
      }
      if (this.pending > 0) this.addPending(day);
      for (let k = 0; k < events.count; k += 1) this.happen(events.kind[k]!, events.time[k]!, events.subject[k]!, day);
    }
  }

  private addPending(day: number): void {
    for (let k = this.pending - 1; k >= 0; k -= 1) {
      if (this.pendingDay[k] !== day) continue;
      const slot = this.pendingSlot[k]!;
      const u = uniform(this.person.key, FOR.haloTime, slot + 1_000_000);
      this.events.add(day * DAY_S + DAY_S * (0.3 + 0.68 * u), VISIT, slot);
      this.pending -= 1;
      this.pendingDay[k] = this.pendingDay[this.pending]!;
      this.pendingSlot[k] = this.pendingSlot[this.pending]!;
    }
  }

  private visitLater(day: number, slot: number): void {
    if (day >= this.world.span || this.pending >= MOST_PENDING) return;
    this.pendingDay[this.pending] = day;
    this.pendingSlot[this.pending] = slot;
    this.pending += 1;
  }

  private happen(kind: number, time: number, subject: number, day: number): void {
    if (kind === VIEW || kind === CLICK) this.meet(subject, kind === CLICK, time, day);
    else if (kind === SENDING) this.pay(subject, day, 1);
    else if (kind === OCCASION) this.decide(subject, time, day);
    else if (kind === FREE_SEARCH) {
      // the visitor who would have clicked on the ad: as interested as that one
      const { clickQuality } = this.world.spec.channels[subject >> 10]!;
      this.visit(time, clickQuality, subject + 600_000, this.searchIndex, day);
    } else this.visit(time, 1, subject, this.door(subject, FOR.visitDoor, time, day, false, false), day);
  }

  private pay(channel: number, day: number, units: number): void {
    const cost = day < this.world.spec.burnIn ? 1 : this.plan.cost[channel]!;
    this.record.charge(channel, day, units * cost * this.world.unitPrice[channel]!);
  }

  /** An exposure adds to the channel's stock; a click is a visit and may end in an order on impulse. */
  private meet(c: number, clicked: boolean, time: number, day: number): void {
    const { world, person, record } = this;
    const channel = world.spec.channels[c]!;
    const slot = c * 1024 + day;
    if (day >= world.spec.burnIn) record.met |= 1 << c;
    if (channel.pricing === 'view' || (clicked && channel.pricing === 'click')) this.pay(c, day, 1);
    this.stocks.add(c, clicked ? 1 : channel.viewWeight, time);
    this.lastSeen[c] = time;
    if (uniform(person.key, FOR.halo, slot) < channel.halo) {
      const lag = 1 + Math.floor(-2 * Math.log(uniform(person.key, FOR.haloTime, slot)));
      this.visitLater(day + lag, 100_000 + slot);
    }
    if (!clicked) {
      if (channel.viewsTracked) this.row(time, c, 0, day);
      return;
    }
    const eager = world.effectScale * channel.impulse * Math.exp(0.5 * person.taste) * (1 + 3 * world.cut[day]!);
    const buys = eager > 0 && uniform(person.key, FOR.impulse, slot) < Math.min(0.25, eager);
    this.visit(time, channel.clickQuality, 200_000 + slot, c, day, true);
    if (!buys) return;
    const later = 240 + 1300 * uniform(person.key, FOR.impulse, 500_000 + slot);
    this.order(Math.min((day + 1) * DAY_S - 1, time + later), person.impulseValue(slot), c, 200_000 + slot, day);
    this.satisfiedUntil = time + 30 * DAY_S;
  }

  private visit(time: number, quality: number, slot: number, door: number, day: number, isMet = false): void {
    const channel = this.world.spec.channels[door]!;
    if (channel.kind !== 'unpaid' && !isMet) {
      if (day >= this.world.spec.burnIn) this.record.met |= 1 << door;
      if (channel.pricing === 'click') this.pay(door, day, 1);
      this.stocks.add(door, 1, time);
    }
    this.sessionStart = time;
    this.sessionDoor = door;
    this.row(time, door, 0, day);
    if (quality > 0) this.stocks.addVisit(quality, time);
    this.lastVisit = time;
    if (uniform(this.person.key, FOR.cart, slot) < this.world.spec.cartShare) this.lastCart = time;
  }

  /**
   * The way in, by an exponential race (the first of independent clocks wins), so that without a channel the same
   * draws decide between the others. `shadow`: the door that the person would take if every one were open.
   */
  private door(slot: number, purpose: number, time: number, day: number, isOrder: boolean, shadow: boolean): number {
    const { world, person, plan } = this;
    const { channels } = world.spec;
    let best = -1;
    let soonest = Infinity;
    for (let c = 0; c < channels.length; c += 1) {
      const channel = channels[c]!;
      let weight = isOrder ? channel.orderDoor : channel.visitDoor;
      if (weight === 0) continue;
      if (channel.kind === 'email' || channel.kind === 'retargeting') {
        if (time - this.lastSeen[c]! > 2 * DAY_S) continue;
        weight *= 2;
      }
      if (channel.kind !== 'unpaid') {
        if (!shadow && !isActive(world, person, plan, c, day)) continue;
        if (!shadow && day >= world.spec.burnIn) weight *= Math.min(1.5, plan.frequency[c]!);
        weight *= Math.min(1.5, world.pressure[c]![day]!);
      }
      const clock = -Math.log(uniform(person.key, purpose, mix(slot * 16 + c))) / (weight * person.habit[c]!);
      if (clock < soonest) {
        soonest = clock;
        best = c;
      }
    }
    return best;
  }

  /** A real purchase in the category: does it go to this shop? */
  private decide(n: number, time: number, day: number): void {
    const { world, person } = this;
    const { spec } = world;
    const id = person.occasionId[n]!;
    if (time < this.satisfiedUntil && uniform(person.key, FOR.satisfied, id) < spec.pullForward) return;
    const promotion = world.cut[day]! > 0 ? spec.promotionLift : 0;
    const loyalty = spec.loyaltyLift * Math.min(2, this.ordersSoFar);
    const odds =
      person.logOdds + promotion + loyalty + spec.visitLift * this.stocks.visits(time) + this.stocks.effect(time);
    if (uniform(person.key, FOR.win, id) >= 1 / (1 + Math.exp(-odds))) return;
    let door = this.sessionDoor;
    if (time - this.sessionStart >= SESSION_S) {
      door = this.door(id, FOR.orderDoor, time, day, true, false);
      const usual = this.door(id, FOR.orderDoor, time, day, true, true);
      const isLess = this.plan.spend[usual]! < 1 || !isActive(world, person, this.plan, usual, day);
      const isCut = usual !== door && isLess;
      if (isCut && uniform(person.key, FOR.lose, id) < spec.channels[usual]!.lossWithout) return;
    }
    this.order(time, person.occasionValue[n]!, door, id, day);
  }

  private order(time: number, value: number, door: number, id: number, day: number): void {
    const { world, person, record } = this;
    const { spec } = world;
    const channel = spec.channels[door]!;
    const price = value ** spec.valuePower * spec.orderValue * (1 - world.cut[day]!) * (1 - channel.discount);
    const cents = Math.max(100, Math.round(100 * price));
    this.ordersSoFar += 1;
    this.lastOrder = time;
    this.lastVisit = Math.max(this.lastVisit, time);
    if (!this.isCustomer) this.isCustomer = uniform(person.key, FOR.optIn, 1 + id) < 0.6;
    for (let k = 0; k < 2; k += 1) {
      if (uniform(person.key, FOR.after, 4 * id + k) < 0.4) {
        this.visitLater(day + 1 + Math.floor(4 * uniform(person.key, FOR.after, 4 * id + 2 + k)), 800_000 + 2 * id + k);
      }
    }
    const inSession = time - this.sessionStart < SESSION_S;
    if (channel.pricing === 'commission' && channel.kind === 'door') this.pay(door, day, cents / 100);
    else if (channel.pricing === 'click' && channel.kind !== 'unpaid' && !inSession) this.pay(door, day, 1);
    if (day < spec.burnIn) return;
    if (channel.kind !== 'unpaid') record.met |= 1 << door;
    record.orders += 1;
    record.cents += cents;
    const { holdout } = this.plan;
    if (holdout && day >= holdout.from && day < holdout.to) {
      record.armOrders += 1;
      record.armCents += cents;
    }
    // the click that closes an order is in the order's row, not in one of its own
    if (inSession && door !== this.directIndex) record.withdraw(this.sessionStart, door);
    this.sessionStart = LONG_AGO;
    this.row(time, door === this.directIndex ? -1 : door, cents, day);
  }

  private row(time: number, channel: number, cents: number, day: number): void {
    if (day >= this.world.spec.burnIn) this.record.row(time, channel, cents);
  }
}
