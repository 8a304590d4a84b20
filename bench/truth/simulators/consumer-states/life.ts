import { DoorChoice, LOST } from './doors.ts';
import { exposureChance, haloOf, mediaLift } from './media.ts';
import { Person, PersonState } from './person.ts';
import { lognormal, mix, uniform } from './random.ts';
import { CONSIDERING, INTENDING, SATIATED } from './shop-spec.ts';
import { moveOn } from './transitions.ts';
import type { Tally } from './tally.ts';
import type { EventLog } from './event-log.ts';
import type { Scenario, World } from './world.ts';

/* purposes of a day's draws; exposures, clicks and times of channels take 128 and up */
const U_ACTIVITY = 1;
const U_MOVE = 2;
const U_VISIT = 3;
const U_TIME = 4;
const U_BUY = 5;
const U_CART = 6;
const U_PHONE = 7;
const U_LIST = 8;
const U_SATIATION = 9;
const U_ADVERSE = 10;
const EXPOSURE = 128;
const CLICK = 160;
const TIME = 192;
const INDUCED = 224;

const CLICK_OF_STATE: readonly number[] = [1, 1.3, 2, 3, 0.7, 0.8];
const CLICK_WEIGHT = 1.5;
const HEARD_RETENTION = 0.93;
const CART_DAYS = 7;

/** Runs one person through days: states, exposures, visits and orders. */
export class Life {
  readonly person: Person;
  readonly state: PersonState;
  readonly doors: DoorChoice;
  /** days of this person's orders since `beginOrders` */
  readonly orderDays = new Int16Array(256);
  orderCount = 0;
  private readonly world: World;
  private readonly later: Int8Array;
  private log: EventLog | null = null;
  private tally: Tally | null = null;

  constructor(world: World) {
    this.world = world;
    this.person = new Person(world.channels);
    this.state = new PersonState(world.channels);
    this.doors = new DoorChoice(world);
    this.later = new Int8Array(world.channels);
  }

  /** @param friends days on which earlier members of the person's circle ordered */
  live(
    from: number,
    to: number,
    scenario: Scenario | null,
    tally: Tally | null,
    log: EventLog | null,
    friends: Int16Array,
    friendCount: number,
  ): void {
    this.tally = tally;
    this.log = log;
    for (let t = from; t < to; t += 1) {
      this.decay();
      for (let i = 0; i < friendCount; i += 1) if (friends[i] === t - 1) this.state.heard += 1;
      this.day(t, scenario);
    }
  }

  private decay(): void {
    const { stock } = this.state;
    const { retention } = this.world;
    for (let c = 0; c < stock.length; c += 1) stock[c]! *= retention[c]!;
    this.state.heard *= HEARD_RETENTION;
  }

  private day(t: number, scenario: Scenario | null): void {
    const { world, person, state } = this;
    const { spec, calendar } = world;
    const key = mix(person.key, 4096 + t);
    const day = t - spec.burnInDays;
    const uActivity = uniform(key, U_ACTIVITY);
    const activity = uActivity < 0.5 ? 0.35 : uActivity < 0.83 ? 1 : 2.9;
    moveOn(world, person, state, t, uniform(key, U_MOVE), uniform(key, U_SATIATION));
    const loyal = 0.7 + 0.8 * state.loyalty;
    const rate = spec.visitRate[state.state]! * activity * loyal * (0.7 + 0.3 * calendar.demand[t]!);
    const uVisit = uniform(key, U_VISIT);
    const mayVisit = uVisit < rate * world.mostHalo;
    const visits = mayVisit && uVisit < 1 - Math.exp(-rate);
    const browses = mayVisit && !visits && spec.haloVisits > 0 && uVisit < 1 - Math.exp(-rate * haloOf(world, state));
    const visitTime = uniform(key, U_TIME);
    let laterCount = 0;
    for (const c of world.push) {
      let factor = 1;
      if (scenario !== null) {
        factor = scenario.reach[c]!;
        if (((scenario.heldChannels >> c) & 1) === 1 && day >= scenario.heldFrom && day < scenario.heldTo) factor = 0;
      }
      const reach = calendar.reach[c * world.totalDays + t]! * factor;
      const chance = exposureChance(world, person, state, c, day, activity, reach);
      if (chance === 0 || uniform(key, EXPOSURE + c) >= chance) continue;
      if (scenario !== null) this.doors.met |= 1 << c;
      if (this.tally !== null) this.tally.exposure(c, day);
      const time = uniform(key, TIME + c);
      if (visits && time > visitTime) {
        this.later[laterCount] = c;
        laterCount += 1;
      } else {
        state.stock[c]! += 1;
        state.lastExposure[c] = day;
      }
      this.afterExposure(c, t, key, time);
    }
    if (visits || browses) this.visit(t, key, scenario, visitTime, visits);
    for (let i = 0; i < laterCount; i += 1) {
      state.stock[this.later[i]!]! += 1;
      state.lastExposure[this.later[i]!] = day;
    }
  }

  /** A click outside visits of own accord, or a mere impression. */
  private afterExposure(c: number, t: number, key: number, time: number): void {
    const { world, state } = this;
    const channel = world.spec.channels[c]!;
    const clicked = channel.click > 0 && uniform(key, CLICK + c) < channel.click * CLICK_OF_STATE[state.state]!;
    const day = t - world.spec.burnInDays;
    if (!clicked) {
      if (channel.viewsSeen && this.log !== null) this.log.touch(day, time, c);
      return;
    }
    state.lastVisit = day;
    state.stock[c]! += CLICK_WEIGHT;
    const ready = state.state === INTENDING || state.state === CONSIDERING;
    if (ready && channel.induce > 0 && uniform(key, INDUCED + c) < channel.induce * this.buyChance(t)) {
      this.order(t, key, c, time);
      return;
    }
    if (this.log !== null) this.log.touch(day, time, c);
  }

  private buyChance(t: number): number {
    const { world, person, state } = this;
    const impulse = state.state === INTENDING ? 1 : world.spec.impulse;
    const base = world.spec.buyHazard * world.scales.buy * impulse;
    const media = Math.exp(mediaLift(world, person, state, 3));
    const when = world.calendar.priceEffect[t]! * (0.5 + 0.5 * world.calendar.demand[t]!);
    return 1 - Math.exp(-base * media * when * (0.6 + 0.9 * state.loyalty));
  }

  private visit(t: number, key: number, scenario: Scenario | null, time: number, earnest: boolean): void {
    const { world, person, state } = this;
    const day = t - world.spec.burnInDays;
    const door = this.doors.choose(person, state, t, key, scenario);
    if (door === LOST) return;
    const channel = world.spec.channels[door]!;
    if (channel.paid && channel.door) {
      state.stock[door]! += 1;
      if (this.tally !== null) this.tally.exposure(door, day);
    }
    const ready = state.state === INTENDING || state.state === CONSIDERING;
    if (earnest && ready && uniform(key, U_BUY) < this.buyChance(t)) {
      this.order(t, key, door, time);
      return;
    }
    state.lastVisit = day;
    const cart = state.state === INTENDING ? 0.3 : state.state === CONSIDERING ? 0.08 : 0;
    if (uniform(key, U_CART) < cart) state.cartUntil = day + CART_DAYS;
    if (this.log !== null) this.log.touch(day, time, door);
  }

  private order(t: number, key: number, door: number, time: number): void {
    const { world, person, state } = this;
    const { spec, calendar } = world;
    const day = t - spec.burnInDays;
    const channel = spec.channels[door]!;
    const noise = lognormal(person.key, 3000 + state.ordinal, spec.basketSigma * 0.8);
    const price = person.basket * noise * (1 - calendar.cut[t]!) * (1 - channel.discount);
    const cents = Math.max(100, Math.round(price * 100));
    state.ordinal += 1;
    state.state = SATIATED;
    state.satiatedUntil = day + person.cycle * (0.35 + 0.5 * uniform(key, U_SATIATION)) * (1 + calendar.cut[t]!);
    state.lastVisit = day;
    state.lastOrder = day;
    state.cartUntil = -999;
    state.customer = true;
    if (uniform(key, U_LIST) < 0.5) state.onList = true;
    const disappointed = uniform(key, U_ADVERSE) < 0.08;
    state.loyalty = disappointed ? state.loyalty * 0.5 : state.loyalty + 0.15 * (1 - state.loyalty);
    if (this.orderCount < this.orderDays.length) {
      this.orderDays[this.orderCount] = t;
      this.orderCount += 1;
    }
    if (this.tally !== null) this.tally.order(day, cents, door);
    if (this.log !== null) this.log.order(day, time, door, cents, uniform(key, U_PHONE) < spec.phoneOrders);
  }
}
