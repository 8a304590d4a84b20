import type { ArmTotals, EventSink, Outcome, Plan, SimulatedChannel, SimulatedShop, Truth } from '../simulator.ts';
import { reachAt } from './calendar.ts';
import { Day } from './contacts.ts';
import type { ShopModel } from './model.ts';
import { Person, State, drawPerson, startState } from './person.ts';
import { runPerson } from './person-run.ts';
import { settle } from './pilot.ts';
import type { Prices } from './pilot.ts';
import type { Tally } from './purchase.ts';
import { branch, uniform } from './random.ts';
import { Recorder } from './recorder.ts';
import { buildWorld, reachUnder } from './world.ts';
import type { World } from './world.ts';

interface Settled {
  readonly world: World;
  readonly prices: Prices;
}

function emptyTally(): Tally {
  return { orders: 0, cents: 0, armFrom: 0, armTo: 0, armOrders: 0, armCents: 0 };
}

/** Spend per day: broadcast by its budget, the others by what was met or clicked, at prices that rise with demand. */
function emitSpend(
  settled: Settled,
  people: number,
  recorder: Recorder,
  factors: Plan['spend'],
  sink: EventSink,
): void {
  const { world, prices } = settled;
  const { shop, calendar } = world;
  for (let day = 0; day < shop.days; day++) {
    const at = shop.burnInDays + day;
    shop.channels.forEach((channel, c) => {
      if (channel.kind === 'unpaid') return;
      const factor = factors?.[channel.name] ?? 1;
      const slot = c * calendar.total + at;
      const unit = (prices.unit[c] ?? 0) * (channel.kind === 'coupon_door' ? 1 : (calendar.priceNoise[slot] ?? 1));
      let amount = 0;
      if (channel.kind === 'broadcast') {
        amount = unit * people * (calendar.budget[slot] ?? 0) * factor;
      } else if (factor > 0) {
        const usual = calendar.budget[slot] ?? 0;
        const reached = reachAt(usual * factor, channel.halfSaturation) / reachAt(usual, channel.halfSaturation);
        const dearer = channel.kind === 'coupon_door' ? 1 : factor / reached;
        amount = unit * (recorder.activity[c * shop.days + day] ?? 0) * dearer;
      }
      sink.spend(day, c, Math.round(amount * 100) / 100);
    });
  }
}

function runPlan(settled: Settled, people: number, plan: Plan, sink: EventSink | undefined): Outcome {
  const { world } = settled;
  const { shop, table, calendar } = world;
  const burnIn = shop.burnInDays;
  const reach = reachUnder(shop, calendar, plan.spend);
  const { holdout } = plan;
  const held = (holdout?.channels ?? []).map((name) => {
    const c = shop.channels.findIndex((channel) => channel.name === name);
    if (c < 0) throw new Error(`no channel ${name}`);
    return c;
  });
  const heldReach = reach.slice();
  for (const c of held) heldReach.fill(0, c * calendar.total, (c + 1) * calendar.total);
  const person = new Person(table.count);
  const state = new State(table.count);
  const day = new Day();
  const recorder = sink === undefined ? null : new Recorder(world, sink);
  const tally = emptyTally();
  tally.armFrom = burnIn + Math.max(0, holdout?.fromDay ?? 0);
  tally.armTo = burnIn + Math.min(shop.days, holdout?.toDay ?? 0);
  const heldKey = branch(shop.seed, 71 + (held[0] ?? 0));
  const inArm = { people: 0, orders: 0, cents: 0 };
  const outside = { people: 0, orders: 0, cents: 0 };
  for (let index = 0; index < people; index++) {
    drawPerson(world, index, person);
    startState(world, person, state);
    const out = holdout !== undefined && uniform(branch(heldKey, index), 1) < holdout.share;
    tally.armOrders = 0;
    tally.armCents = 0;
    recorder?.begin(person);
    runPerson(world, person, state, 0, burnIn, world.usualReach, null, day, null, tally);
    runPerson(world, person, state, burnIn, calendar.total, reach, out ? heldReach : null, day, recorder, tally);
    recorder?.end(person);
    const arm = out ? inArm : outside;
    arm.people += 1;
    arm.orders += tally.armOrders;
    arm.cents += tally.armCents;
  }
  if (sink !== undefined && recorder !== null) emitSpend(settled, people, recorder, plan.spend, sink);
  const outcome = { orders: tally.orders, revenue: tally.cents / 100 };
  if (holdout === undefined) return outcome;
  const totals = (arm: typeof inArm): ArmTotals => ({
    people: arm.people,
    orders: arm.orders,
    revenue: arm.cents / 100,
  });
  return { ...outcome, arms: { heldOut: totals(inArm), others: totals(outside) } };
}

function runTruth(settled: Settled, people: number, sink: EventSink): Truth {
  const { world } = settled;
  const { shop, table, calendar } = world;
  const burnIn = shop.burnInDays;
  const paid = shop.channels.map((channel) => channel.kind !== 'unpaid');
  const reaches = shop.channels.map((channel, c) =>
    paid[c] === true ? reachUnder(shop, calendar, { [channel.name]: 0 }) : world.usualReach,
  );
  const allOff = reachUnder(shop, calendar, Object.fromEntries(shop.channels.map((channel) => [channel.name, 0])));
  const person = new Person(table.count);
  const state = new State(table.count);
  const warm = new State(table.count);
  const day = new Day();
  const recorder = new Recorder(world, sink);
  const tally = emptyTally();
  const other = emptyTally();
  const lostOrders = new Float64Array(table.count + 1);
  const lostCents = new Float64Array(table.count + 1);
  for (let index = 0; index < people; index++) {
    drawPerson(world, index, person);
    startState(world, person, warm);
    runPerson(world, person, warm, 0, burnIn, world.usualReach, null, day, null, tally);
    state.copyFrom(warm);
    recorder.begin(person);
    const ordersBefore = tally.orders;
    const centsBefore = tally.cents;
    runPerson(world, person, state, burnIn, calendar.total, world.usualReach, null, day, recorder, tally);
    recorder.end(person);
    const { reached } = state;
    if (reached === 0) continue;
    for (let c = 0; c <= table.count; c++) {
      const all = c === table.count;
      if (!all && (reached & (1 << c)) === 0) continue;
      state.copyFrom(warm);
      other.orders = 0;
      other.cents = 0;
      const without = all ? allOff : (reaches[c] ?? allOff);
      runPerson(world, person, state, burnIn, calendar.total, without, null, day, null, other);
      lostOrders[c] = (lostOrders[c] ?? 0) + tally.orders - ordersBefore - other.orders;
      lostCents[c] = (lostCents[c] ?? 0) + tally.cents - centsBefore - other.cents;
    }
  }
  emitSpend(settled, people, recorder, {}, sink);
  const lost = (c: number): { orders: number; revenue: number } => ({
    orders: lostOrders[c] ?? 0,
    revenue: (lostCents[c] ?? 0) / 100,
  });
  return {
    orders: tally.orders,
    revenue: tally.cents / 100,
    switchOff: shop.channels.map((_, c) => lost(c)),
    total: lost(table.count),
  };
}

/** A shop of the simulator, from its parameters; the pilot run waits for the first use. */
export function simulatedShop(shop: ShopModel, people: number): SimulatedShop {
  let settled: Settled | null = null;
  const ready = (): Settled => {
    if (settled === null) {
      const world = buildWorld(shop);
      settled = { world, prices: settle(world) };
    }
    return settled;
  };
  const channels: SimulatedChannel[] = shop.channels.map((channel) => ({
    name: channel.name,
    paid: channel.kind !== 'unpaid',
    tracked: channel.tracked,
    traits: channel.traits,
  }));
  return {
    name: shop.name,
    people,
    days: shop.days,
    startS: shop.startS,
    channels,
    traits: shop.traits,
    run: (plan, sink) => runPlan(ready(), people, plan, sink),
    runWithTruth: (sink) => runTruth(ready(), people, sink),
  };
}
