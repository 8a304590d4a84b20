import type { EventSink, Outcome, Plan, SimulatedChannel, SimulatedShop, Simulator, Truth } from '../simulator.ts';
import { calibrate } from './calibrate.ts';
import { drawShop, SHOPS } from './draw-shop.ts';
import { Engine } from './engine.ts';
import type { Market } from './market.ts';
import { compilePlan } from './plan.ts';
import { Arrivals, runUntil } from './process.ts';
import { Rows } from './rows.ts';
import type { World } from './world.ts';

class SelfExcitingShop implements SimulatedShop {
  readonly name: string;
  readonly people: number;
  readonly days: number;
  readonly startS: number;
  readonly channels: readonly SimulatedChannel[];
  readonly traits: SimulatedShop['traits'];
  private readonly world: World;
  private market: Market | undefined = undefined;

  constructor(index: number, people: number) {
    const world = drawShop(index);
    this.world = world;
    this.name = world.name;
    this.people = people;
    this.days = world.days;
    this.startS = world.startS;
    this.traits = world.traits;
    this.channels = world.channels.map(({ name, kind, tracked, traits }) => ({
      name,
      paid: kind !== 'unpaid',
      tracked,
      traits,
    }));
  }

  run(plan: Plan, sink?: EventSink): Outcome {
    const engine = new Engine(this.world, compilePlan(this.world, plan, this.readyMarket()));
    const ledger = this.startLedger(engine, sink);
    const arrivals = new Arrivals(engine);
    const arms = [0, 1].map(() => ({ people: 0, orders: 0, cents: 0 }));
    let orders = 0;
    let cents = 0;
    for (let i = 0; i < this.people; i++) {
      this.runPerson(engine, arrivals, i, sink);
      orders += engine.orders;
      cents += engine.cents;
      const arm = arms[engine.heldOut ? 0 : 1] as { people: number; orders: number; cents: number };
      arm.people++;
      arm.orders += engine.armOrders;
      arm.cents += engine.armCents;
    }
    this.emitSpend(ledger, sink);
    if (plan.holdout === undefined) return { orders, revenue: cents / 100 };
    const [heldOut, others] = arms.map((arm) => ({
      people: arm.people,
      orders: arm.orders,
      revenue: arm.cents / 100,
    })) as [NonNullable<Outcome['arms']>['heldOut'], NonNullable<Outcome['arms']>['others']];
    return { orders, revenue: cents / 100, arms: { heldOut, others } };
  }

  runWithTruth(sink: EventSink): Truth {
    const { world } = this;
    const engine = new Engine(world, compilePlan(world, {}, this.readyMarket()));
    const ledger = this.startLedger(engine, sink);
    const arrivals = new Arrivals(engine);
    const { rows } = engine;
    const count = world.channels.length;
    const allPaid = this.channels.reduce((bits, channel, c) => (channel.paid ? bits | (1 << c) : bits), 0);
    const lostOrders = new Float64Array(count + 1);
    const lostCents = new Float64Array(count + 1);
    let orders = 0;
    let cents = 0;
    for (let i = 0; i < this.people; i++) {
      engine.rows = rows;
      engine.spend = ledger;
      this.runPerson(engine, arrivals, i, sink);
      const factual = { orders: engine.orders, cents: engine.cents, met: engine.met };
      orders += factual.orders;
      cents += factual.cents;
      if (factual.met === 0) continue;
      // only people whom a channel met can come out otherwise without it
      engine.rows = undefined;
      engine.spend = undefined;
      for (let c = 0; c <= count; c++) {
        const off = c === count ? allPaid : 1 << c;
        if ((factual.met & off) === 0) continue;
        engine.restore(off);
        runUntil(engine, world.days);
        lostOrders[c] = (lostOrders[c] as number) + factual.orders - engine.orders;
        lostCents[c] = (lostCents[c] as number) + factual.cents - engine.cents;
      }
    }
    this.emitSpend(ledger, sink);
    const lost = (c: number): { orders: number; revenue: number } => ({
      orders: lostOrders[c] as number,
      revenue: (lostCents[c] as number) / 100,
    });
    return { orders, revenue: cents / 100, switchOff: world.channels.map((_, c) => lost(c)), total: lost(count) };
  }

  /** A shop is calibrated when it is first run: drawing it stays cheap. */
  private readyMarket(): Market {
    this.market ??= calibrate(this.world);
    return this.market;
  }

  private startLedger(engine: Engine, sink: EventSink | undefined): Float64Array {
    const ledger = new Float64Array(this.channels.length * this.days);
    if (sink === undefined) return ledger;
    engine.rows = new Rows(this.world);
    engine.spend = ledger;
    return ledger;
  }

  private runPerson(engine: Engine, arrivals: Arrivals, index: number, sink: EventSink | undefined): void {
    engine.rows?.clear();
    engine.begin(index);
    arrivals.queueAll();
    runUntil(engine, 0);
    engine.save();
    runUntil(engine, this.days);
    if (sink !== undefined) engine.rows?.emit(index, sink);
  }

  private emitSpend(ledger: Float64Array, sink: EventSink | undefined): void {
    if (sink === undefined) return;
    for (let day = 0; day < this.days; day++) {
      this.channels.forEach((channel, c) => {
        if (channel.paid) sink.spend(day, c, Math.round((ledger[c * this.days + day] as number) * 100) / 100);
      });
    }
  }
}

/** Mutually exciting point processes per person, with ads that go to those who show interest. */
export const selfExciting: Simulator = {
  name: 'self-exciting',
  mechanism:
    'Visits, searches, carts, orders and ad contacts of a person excite later ones by decaying kernels, and ads go ' +
    'mostly to those who have just shown interest.',
  shops: SHOPS,
  shop(index: number, people: number): SimulatedShop {
    return new SelfExcitingShop(index, people);
  },
};
