import { Day } from './contacts.ts';
import { Person, State, drawPerson, startState } from './person.ts';
import { runPerson } from './person-run.ts';
import type { Tally } from './purchase.ts';
import { Recorder } from './recorder.ts';
import { reachUnder } from './world.ts';
import type { World } from './world.ts';

const PILOT_PEOPLE = 3000;
const PILOT_FIRST = 50000000; // indices that no shop's people have

/** What a channel's unit costs: a contact, a click, a part of an order, or a person and day on usual budget. */
export interface Prices {
  readonly unit: Float64Array;
}

interface PilotResult {
  readonly orders: number;
  readonly cents: number;
  readonly activity: Float64Array;
}

function pilotRun(world: World, reach: Float64Array): PilotResult {
  const { shop, table, calendar } = world;
  const person = new Person(table.count);
  const state = new State(table.count);
  const day = new Day();
  const recorder = new Recorder(world, null);
  const tally: Tally = { orders: 0, cents: 0, armFrom: 0, armTo: 0, armOrders: 0, armCents: 0 };
  for (let n = 0; n < PILOT_PEOPLE; n++) {
    drawPerson(world, PILOT_FIRST + n, person);
    startState(world, person, state);
    recorder.begin(person);
    runPerson(world, person, state, 0, shop.burnInDays, world.usualReach, null, day, null, tally);
    runPerson(world, person, state, shop.burnInDays, calendar.total, reach, null, day, recorder, tally);
  }
  const activity = new Float64Array(table.count);
  recorder.activity.forEach((amount, slot) => {
    const c = Math.floor(slot / shop.days);
    activity[c] = (activity[c] ?? 0) + amount;
  });
  return { orders: tally.orders, cents: tally.cents, activity };
}

/**
 * A run of a few thousand other people, for two things that a shop is described by rather than made of: orders per
 * person (the interval of needs is scaled to it) and what marketing costs relative to revenue (prices follow).
 */
export function settle(world: World): Prices {
  const { shop, table } = world;
  let result = pilotRun(world, world.usualReach);
  for (let round = 0; round < 3; round++) {
    const ratio = Math.max(0.2, result.orders / PILOT_PEOPLE / shop.ordersPerPerson);
    world.needInterval *= ratio ** 1.1;
    result = pilotRun(world, world.usualReach);
  }
  const revenue = result.cents / 100;
  let share = shop.marketingShare;
  if (shop.totalRoas > 0) {
    const off = Object.fromEntries(shop.channels.map((channel) => [channel.name, 0]));
    const without = pilotRun(world, reachUnder(shop, world.calendar, off));
    const incremental = (result.cents - without.cents) / result.cents;
    share = Math.min(0.5, Math.max(0.06, incremental / shop.totalRoas));
  }
  const unit = new Float64Array(table.count);
  let fixed = 0;
  let weights = 0;
  shop.channels.forEach((channel, c) => {
    weights += channel.spendWeight;
    if (channel.kind !== 'coupon_door') return;
    unit[c] = channel.commission;
    fixed += (unit[c] ?? 0) * (result.activity[c] ?? 0);
  });
  const budget = Math.max(0.6 * share * revenue, share * revenue - fixed);
  shop.channels.forEach((channel, c) => {
    if (channel.spendWeight === 0) return;
    const amount = (budget * channel.spendWeight) / weights;
    const base = channel.kind === 'broadcast' ? PILOT_PEOPLE * shop.days : Math.max(20, result.activity[c] ?? 0);
    unit[c] = amount / base;
  });
  return { unit };
}
