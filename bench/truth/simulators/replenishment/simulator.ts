import { Loss, OutcomeTally } from '../outcome-tally.ts';
import { channelBits, spendFactors } from '../spend-factors.ts';
import type { EventSink, Outcome, Plan, SimulatedShop, Simulator, Trait, Truth } from '../simulator.ts';
import { calibrate, scenario } from './calibrate.ts';
import { drawShop } from './draw-shop.ts';
import type { Scenario } from './gate.ts';
import { Life } from './life.ts';
import type { Channel, Levels, Shop } from './model.ts';
import { isHeldOut, Person } from './person.ts';
import { SHOPS } from './shop-plans.ts';
import { ShopView } from './shop-view.ts';

class ReplenishmentShop implements SimulatedShop {
  readonly name: string;
  readonly people: number;
  readonly days: number;
  readonly startS: number;
  readonly channels: readonly Channel[];
  readonly traits: readonly Trait[];
  private readonly shop: Shop;
  private found: Levels | null = null;

  constructor(index: number, people: number) {
    this.shop = drawShop(index);
    this.people = people;
    this.name = this.shop.name;
    this.days = this.shop.days;
    this.startS = this.shop.startS;
    this.channels = this.shop.channels;
    this.traits = this.shop.traits;
  }

  /** Found when first needed, as shops are also made to be listed. */
  private levels(): Levels {
    this.found ??= calibrate(this.shop);
    return this.found;
  }

  run(plan: Plan, sink?: EventSink): Outcome {
    const { shop } = this;
    const factors = spendFactors(this.channels, plan);
    const { holdout = null } = plan;
    const asPlanned: Scenario = { factors, withheld: null };
    const heldBack: Scenario =
      holdout === null
        ? asPlanned
        : { factors, withheld: { ...holdout, bits: channelBits(this.channels, holdout.channels) } };
    const person = new Person(shop);
    const life = new Life(shop, this.levels(), asPlanned);
    const view = sink === undefined ? null : new ShopView(shop, this.levels().prices, factors, this.people, sink);
    const tally = new OutcomeTally();
    for (let number = 1; number <= this.people; number++) {
      const isHeld = holdout !== null && isHeldOut(shop, number, holdout.share);
      person.become(number);
      view?.begin(person);
      life.live(person, isHeld ? heldBack : asPlanned, holdout, view);
      view?.end(number);
      tally.add(life, isHeld, life.inHoldout);
    }
    if (sink !== undefined) view?.bill.tell(sink);
    return tally.outcome(plan);
  }

  /** Only people whom a channel met in the window can live otherwise without it. */
  runWithTruth(sink: EventSink): Truth {
    const { shop } = this;
    const asItIs = scenario(shop, () => false);
    const allOff = scenario(shop, () => true);
    const oneOff = shop.channels.map((_, off) => scenario(shop, (c) => c === off));
    const person = new Person(shop);
    const life = new Life(shop, this.levels(), asItIs);
    const other = new Life(shop, this.levels(), asItIs);
    const view = new ShopView(shop, this.levels().prices, asItIs.factors, this.people, sink);
    const losses = shop.channels.map(() => new Loss());
    const total = new Loss();
    let orders = 0;
    let cents = 0;
    const compare = (plan: Scenario, loss: Loss): void => {
      other.live(person, plan, null, null);
      loss.add(life.orders - other.orders, life.cents - other.cents);
    };
    for (let number = 1; number <= this.people; number++) {
      person.become(number);
      view.begin(person);
      life.live(person, asItIs, null, view);
      view.end(number);
      orders += life.orders;
      cents += life.cents;
      for (let c = 0; c < oneOff.length; c++) if (((life.met >> c) & 1) === 1) compare(oneOff[c]!, losses[c]!);
      if (life.met !== 0) compare(allOff, total);
    }
    view.bill.tell(sink);
    return { orders, revenue: cents / 100, switchOff: losses.map((loss) => loss.total()), total: total.total() };
  }
}

/** People own goods that run out; advertising moves when, where and how much they buy next. */
export const replenishment: Simulator = {
  name: 'replenishment',
  mechanism:
    'People own goods that run out or wear out and buy anew, here or elsewhere; advertising hastens the purchase, ' +
    'wins it for the shop, makes the shop known or the basket bigger, and part of that is missing later.',
  shops: SHOPS,
  shop: (index, people) => new ReplenishmentShop(index, people),
};
