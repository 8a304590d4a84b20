import type { EventSink } from '../simulator.ts';
import { EventLog } from './event-log.ts';
import { Life } from './life.ts';
import { drawPerson, PersonState } from './person.ts';
import { mix, uniform } from './random.ts';
import { Tally } from './tally.ts';
import type { Scenario, World } from './world.ts';

/** people who tell those after them in the circle what they bought */
const CIRCLE = 4;
const MOST_ORDERS = 1024;

/** Days of orders in the circle, under one scenario. */
class Circle {
  readonly days = new Int16Array(MOST_ORDERS);
  count = 0;
  differs = false;

  clear(): void {
    this.count = 0;
    this.differs = false;
  }

  append(days: Int16Array, from: number, to: number): void {
    for (let i = from; i < to && this.count < MOST_ORDERS; i += 1) {
      this.days[this.count] = days[i]!;
      this.count += 1;
    }
  }
}

/** A scenario to compare with the first one, and the channels (bits) whose contacts make a second run necessary. */
export interface Branch {
  readonly scenario: Scenario;
  readonly channels: number;
}

/** Whom a holdout keeps from its channel: by a hash of person and seed. */
export interface HeldOut {
  readonly share: number;
  readonly scenario: Scenario;
}

function sameOrders(a: Int16Array, b: Int16Array, countA: number, countB: number): boolean {
  if (countA !== countB) return false;
  for (let i = 0; i < countA; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * Runs everybody under `scenario`, and under each branch those whom it can touch: contacts with its channels, or
 * word of mouth from somebody in the circle who ordered otherwise. Burn-in is common to all.
 * @returns tallies: of the scenario, then of each branch
 */
export function runEverybody(
  world: World,
  people: number,
  scenario: Scenario,
  branches: readonly Branch[],
  heldOut: HeldOut | null,
  sink: EventSink | null,
): [Tally, ...Tally[]] {
  const { spec } = world;
  const armScenario = heldOut?.scenario ?? scenario;
  const newTally = (): Tally => new Tally(spec, armScenario.heldFrom, armScenario.heldTo);
  const main = newTally();
  const tallies: [Tally, ...Tally[]] = [main, ...branches.map(newTally)];
  const circles = tallies.map(() => new Circle());
  const life = new Life(world);
  const log = sink === null ? null : new EventLog(spec, sink);
  const warm = new PersonState(world.channels);
  const factualDays = new Int16Array(256);
  const { burnInDays: start } = spec;
  for (let i = 0; i < people; i += 1) {
    if (i % CIRCLE === 0) for (const circle of circles) circle.clear();
    drawPerson(spec, i, life.person, life.state);
    const held = heldOut !== null && uniform(mix(spec.seed, 77), i) < heldOut.share;
    main.arm = held ? 0 : 1;
    main.people[main.arm]! += 1;
    life.orderCount = 0;
    life.live(0, start, null, null, null, circles[0]!.days, circles[0]!.count);
    const before = life.orderCount;
    warm.copyFrom(life.state);
    life.doors.met = 0;
    if (log !== null) log.begin(i, life.person.key);
    const ordersBefore = main.orders;
    const centsBefore = main.cents;
    const own = held && heldOut !== null ? heldOut.scenario : scenario;
    life.live(start, world.totalDays, own, main, log, circles[0]!.days, circles[0]!.count);
    if (log !== null) log.end();
    const met = life.doors.met;
    const factualCount = life.orderCount;
    if (branches.length > 0) factualDays.set(life.orderDays);
    circles[0]!.append(life.orderDays, 0, factualCount);
    for (let b = 0; b < branches.length; b += 1) {
      const circle = circles[b + 1]!;
      const tally = tallies[b + 1]!;
      if ((met & branches[b]!.channels) === 0 && !circle.differs) {
        tally.orders += main.orders - ordersBefore;
        tally.cents += main.cents - centsBefore;
        circle.append(factualDays, 0, factualCount);
        continue;
      }
      life.state.copyFrom(warm);
      life.orderCount = before;
      life.live(start, world.totalDays, branches[b]!.scenario, tally, null, circle.days, circle.count);
      circle.append(life.orderDays, 0, life.orderCount);
      if (!sameOrders(life.orderDays, factualDays, life.orderCount, factualCount)) circle.differs = true;
    }
  }
  return tallies;
}
