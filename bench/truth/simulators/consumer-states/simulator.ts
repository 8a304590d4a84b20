import type { EventSink, Outcome, Plan, SimulatedChannel, SimulatedShop, Simulator, Truth } from '../simulator.ts';
import { calibrate } from './calibrate.ts';
import { drawShop, SHOPS } from './draw-shop.ts';
import { runEverybody } from './engine.ts';
import type { HeldOut } from './engine.ts';
import type { Scales, ShopSpec } from './shop-spec.ts';
import { spendOf } from './spending.ts';
import type { Tally } from './tally.ts';
import { scenarioOf, worldOf } from './world.ts';
import type { Scenario, World } from './world.ts';

const scalesOf = new Map<number, Scales>();

function emitSpend(world: World, scenario: Scenario, tally: Tally, people: number, sink: EventSink): void {
  for (let day = 0; day < world.spec.days; day += 1) {
    world.spec.channels.forEach((channel, c) => {
      if (!channel.paid) return;
      sink.spend(day, c, Math.round(spendOf(world, scenario, tally, people, c, day) * 100) / 100);
    });
  }
}

/** One shop: persons who move among states, seen by the shop through its tracker alone. */
class ConsumerStatesShop implements SimulatedShop {
  readonly name: string;
  readonly people: number;
  readonly days: number;
  readonly startS: number;
  readonly channels: readonly SimulatedChannel[];
  readonly traits: SimulatedShop['traits'];
  private readonly spec: ShopSpec;
  private readonly world: World;

  constructor(index: number, people: number) {
    this.spec = drawShop(index);
    const scales = scalesOf.get(index) ?? calibrate(this.spec);
    scalesOf.set(index, scales);
    this.world = worldOf(this.spec, scales);
    this.name = this.spec.name;
    this.people = people;
    this.days = this.spec.days;
    this.startS = this.spec.startS;
    this.traits = this.spec.traits;
    this.channels = this.spec.channels.map(({ name, paid, tracked, traits }) => ({ name, paid, tracked, traits }));
  }

  run(plan: Plan, sink?: EventSink): Outcome {
    const factors = this.factorsOf(plan);
    const scenario = scenarioOf(this.world, factors);
    let heldOut: HeldOut | null = null;
    if (plan.holdout !== undefined) {
      const { channels, share, fromDay, toDay } = plan.holdout;
      const heldChannels = channels.reduce((bits, name) => bits | (1 << this.indexOf(name)), 0);
      const held = { heldChannels, heldFrom: fromDay, heldTo: toDay };
      heldOut = { share, scenario: { ...scenario, ...held } };
    }
    const [tally] = runEverybody(this.world, this.people, scenario, [], heldOut, sink ?? null);
    if (sink !== undefined) emitSpend(this.world, scenario, tally, this.people, sink);
    const outcome = { orders: tally.orders, revenue: tally.cents / 100 };
    if (heldOut === null) return outcome;
    const arm = (index: number): { people: number; orders: number; revenue: number } => ({
      people: tally.people[index]!,
      orders: tally.armOrders[index]!,
      revenue: tally.armCents[index]! / 100,
    });
    return { ...outcome, arms: { heldOut: arm(0), others: arm(1) } };
  }

  runWithTruth(sink: EventSink): Truth {
    const { world } = this;
    const asItIs = scenarioOf(world, new Map());
    const paid = this.channels.map((_, c) => c).filter((c) => this.channels[c]!.paid);
    const sets = [...paid.map((c) => [c]), paid];
    const branches = sets.map((set) => ({
      scenario: scenarioOf(world, new Map(set.map((c) => [c, 0]))),
      channels: set.reduce((bits, c) => bits | (1 << c), 0),
    }));
    const [main, ...others] = runEverybody(world, this.people, asItIs, branches, null, sink);
    emitSpend(world, asItIs, main, this.people, sink);
    const lessOf = (tally: Tally): { orders: number; revenue: number } => ({
      orders: main.orders - tally.orders,
      revenue: (main.cents - tally.cents) / 100,
    });
    return {
      orders: main.orders,
      revenue: main.cents / 100,
      switchOff: this.channels.map((_, c) => (paid.includes(c) ? lessOf(others[paid.indexOf(c)]!) : ZERO)),
      total: lessOf(others[paid.length]!),
    };
  }

  private indexOf(channel: string): number {
    const index = this.channels.findIndex(({ name }) => name === channel);
    if (index < 0) throw new RangeError(`${this.name} has no channel ${channel}`);
    return index;
  }

  /** Unpaid channels have no spend that a factor could change. */
  private factorsOf(plan: Plan): Map<number, number> {
    const factors = new Map<number, number>();
    for (const [channel, factor] of Object.entries(plan.spend ?? {})) {
      if (!(factor >= 0)) throw new RangeError(`factor on spend of ${channel} must be 0 or more: ${factor}`);
      const index = this.indexOf(channel);
      if (this.channels[index]!.paid) factors.set(index, factor);
    }
    return factors;
  }
}

const ZERO = { orders: 0, revenue: 0 };

/** Persons who move daily among states of need, consideration, intention, satiation and lapse. */
export const consumerStates: Simulator = {
  name: 'consumer-states',
  mechanism:
    'People move daily among dormant, aware, considering, intending, satiated and lapsed; media stocks, prices, ' +
    'loyalty and word of mouth shift the odds, and visits, searches, orders and most touches follow from the state.',
  shops: SHOPS,
  shop: (index, people) => {
    if (!Number.isInteger(index) || index < 1 || index > SHOPS) throw new RangeError(`no shop ${index}`);
    return new ConsumerStatesShop(index, people);
  },
};
