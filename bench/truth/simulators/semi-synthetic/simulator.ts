import { calibrated } from './calibrate.ts';
import { SHOPS } from './draw-shop.ts';
import { Tracker } from './emission.ts';
import { Journey } from './journey.ts';
import { Person } from './person.ts';
import { PersonRecord } from './record.ts';
import { compilePlan } from './world.ts';
import type { World } from './world.ts';
import type { EventSink, Outcome, Plan, SimulatedShop, Simulator, Truth } from '../simulator.ts';

function giveSpend(world: World, record: PersonRecord, sink: EventSink): void {
  const { spec, span } = world;
  for (let day = 0; day < spec.days; day += 1) {
    spec.channels.forEach((channel, c) => {
      if (channel.kind === 'unpaid') return;
      sink.spend(day, c, Math.round(100 * record.spend[c * span + spec.burnIn + day]!) / 100);
    });
  }
}

function runPlan(world: World, people: number, plan: Plan, sink?: EventSink): Outcome {
  const compiled = compilePlan(world.spec, plan);
  const record = new PersonRecord(world.spec.channels.length, world.span);
  record.keepsRows = sink !== undefined;
  const person = new Person(world);
  const journey = new Journey(world, person, compiled, record);
  const tracker = sink ? new Tracker(world, sink) : undefined;
  const arms = [0, 1].map(() => ({ people: 0, orders: 0, cents: 0 }));
  let orders = 0;
  let cents = 0;
  for (let n = 0; n < people; n += 1) {
    journey.run(n);
    orders += record.orders;
    cents += record.cents;
    const arm = arms[person.heldOut ? 0 : 1]!;
    arm.people += 1;
    arm.orders += record.armOrders;
    arm.cents += record.armCents;
    tracker?.emit(record, person.key, n);
  }
  if (sink) giveSpend(world, record, sink);
  const outcome = { orders, revenue: cents / 100 };
  if (!plan.holdout) return outcome;
  const [heldOut, others] = arms.map((a) => ({ people: a.people, orders: a.orders, revenue: a.cents / 100 }));
  return { ...outcome, arms: { heldOut: heldOut!, others: others! } };
}

/** People as they are, then once more, per channel, those whom it met: nobody else's draws change. */
function runWithTruth(world: World, people: number, sink: EventSink): Truth {
  const { spec, span } = world;
  const record = new PersonRecord(spec.channels.length, span);
  record.keepsRows = true;
  const person = new Person(world);
  const asIs = new Journey(world, person, compilePlan(spec, {}), record);
  const tracker = new Tracker(world, sink);
  const met = new Int32Array(people);
  const ordersOf = new Int32Array(people);
  const centsOf = new Float64Array(people);
  let orders = 0;
  let cents = 0;
  for (let n = 0; n < people; n += 1) {
    asIs.run(n);
    met[n] = record.met;
    orders += ordersOf[n] = record.orders;
    cents += centsOf[n] = record.cents;
    tracker.emit(record, person.key, n);
  }
  giveSpend(world, record, sink);
  const without = (off: readonly string[], mask: number): { orders: number; revenue: number } => {
    if (mask === 0) return { orders: 0, revenue: 0 };
    const plan = compilePlan(spec, { spend: Object.fromEntries(off.map((name) => [name, 0])) });
    const other = new PersonRecord(spec.channels.length, span);
    const journey = new Journey(world, new Person(world), plan, other);
    let lostOrders = 0;
    let lostCents = 0;
    for (let n = 0; n < people; n += 1) {
      if ((met[n]! & mask) === 0) continue;
      journey.run(n);
      lostOrders += ordersOf[n]! - other.orders;
      lostCents += centsOf[n]! - other.cents;
    }
    return { orders: lostOrders, revenue: lostCents / 100 };
  };
  const isPaid = spec.channels.map((c) => c.kind !== 'unpaid');
  const switchOff = spec.channels.map((c, k) => without([c.name], isPaid[k] ? 1 << k : 0));
  const paid = spec.channels.filter((_, k) => isPaid[k]).map((c) => c.name);
  const mask = isPaid.reduce((bits, is, k) => bits | (is ? 1 << k : 0), 0);
  return { orders, revenue: cents / 100, switchOff, total: without(paid, mask) };
}

function shop(index: number, people: number): SimulatedShop {
  const world = calibrated(index);
  const { spec, startS } = world;
  return {
    name: `semi-synthetic_${index}`,
    people,
    days: spec.days,
    startS,
    channels: spec.channels.map(({ name, kind, traits }) => ({
      name,
      paid: kind !== 'unpaid',
      tracked: kind !== 'broadcast',
      traits,
    })),
    traits: spec.traits,
    run: (plan, sink) => runPlan(world, people, plan, sink),
    runWithTruth: (sink) => runWithTruth(world, people, sink),
  };
}

/** Real purchase histories with planted effects of advertising: see README.md. */
export const semiSynthetic: Simulator = {
  name: 'semi-synthetic',
  mechanism:
    'Real purchase histories, resampled by person, are purchases in a category; visits and memory of ads ' +
    'decide which of them this shop gets, and clicks add some on impulse.',
  shops: SHOPS,
  shop,
};
