import { DAY_S } from '../../../../compute/run-options.ts';
import { WORLD_START_S } from '../../simulate-world.ts';
import type { WorldSpec } from '../../world-spec.ts';
import { uniformOf } from '../consideration/random.ts';
import { Loss, OutcomeTally } from '../outcome-tally.ts';
import type {
  EventSink,
  Outcome,
  Plan,
  SimulatedChannel,
  SimulatedShop,
  Simulator,
  Trait,
  Truth,
} from '../simulator.ts';
import { channelBits, spendFactors } from '../spend-factors.ts';
import { MOST_SPEND, PlannedLife } from './planned-life.ts';
import type { Scenario } from './planned-life.ts';
import { pricesOf } from './prices.ts';
import { shopWorlds, traitsOfChannel, traitsOfShop } from './shops.ts';

const SHOPS = 24;
const HOLDOUT_GROUP = -9;
const PRICE_GROUP = -8;

/** Worlds whose effects are scaled already: that takes a pilot simulation. */
const scaled = new Map<number, WorldSpec>();

function specOf(index: number): WorldSpec {
  const world = shopWorlds()[index - 1];
  if (world === undefined) throw new RangeError(`There is no shop ${index}.`);
  const spec = scaled.get(index) ?? world.spec();
  scaled.set(index, spec);
  return spec;
}

/** Tells a sink what happens, and adds up what the touches cost. */
class Till {
  private readonly spec: WorldSpec;
  private readonly prices: readonly number[];
  private readonly clicks: Uint32Array;

  constructor(spec: WorldSpec) {
    this.spec = spec;
    this.prices = pricesOf(spec, uniformOf(spec.seed, PRICE_GROUP, 0, 0));
    this.clicks = new Uint32Array(spec.channels.length * spec.days);
  }

  tellPerson(person: number, life: PlannedLife, sink: EventSink): void {
    let isSeen = false;
    for (const { timeDays, channel, isOrder, cents } of life.events()) {
      sink.event(WORLD_START_S + Math.floor(timeDays * DAY_S), channel, isOrder, isOrder ? cents / 100 : 0);
      if (channel >= 0) this.clicks[channel * this.spec.days + Math.floor(timeDays)]! += 1;
      isSeen = true;
    }
    if (isSeen) sink.endUser(`u${person}`);
  }

  tellSpend(sink: EventSink): void {
    const { channels, days } = this.spec;
    for (let day = 0; day < days; day++) {
      channels.forEach(({ paid }, c) => {
        if (paid) sink.spend(day, c, Math.round(100 * this.clicks[c * days + day]! * this.prices[c]!) / 100);
      });
    }
  }
}

class CandidateHistoriesShop implements SimulatedShop {
  readonly name: string;
  readonly people: number;
  readonly days: number;
  readonly startS = WORLD_START_S;
  readonly channels: readonly SimulatedChannel[];
  readonly traits: readonly Trait[];
  private readonly spec: WorldSpec;

  constructor(index: number, people: number) {
    this.spec = specOf(index);
    this.name = `candidate-histories_${index}`;
    this.people = people;
    this.days = this.spec.days;
    this.traits = traitsOfShop(this.spec);
    this.channels = this.spec.channels.map((channel) => ({
      name: channel.name,
      paid: channel.paid,
      tracked: true,
      traits: traitsOfChannel(channel),
    }));
  }

  run(plan: Plan, sink?: EventSink): Outcome {
    const { holdout } = plan;
    const asPlanned: Scenario = { factors: spendFactors(this.channels, plan, MOST_SPEND), withheld: null };
    const heldBack: Scenario =
      holdout === undefined
        ? asPlanned
        : { ...asPlanned, withheld: { ...holdout, bits: channelBits(this.channels, holdout.channels) } };
    const life = new PlannedLife(this.spec);
    const till = new Till(this.spec);
    const tally = new OutcomeTally();
    for (let person = 0; person < this.people; person++) {
      const isHeldOut = holdout !== undefined && uniformOf(this.spec.seed, HOLDOUT_GROUP, person, 0) < holdout.share;
      life.next(isHeldOut ? heldBack : asPlanned);
      life.live(0);
      const whole = { orders: 0, cents: 0 };
      const inHoldout = { orders: 0, cents: 0 };
      for (const { timeDays, isOrder, cents } of life.events()) {
        if (!isOrder) continue;
        whole.orders++;
        whole.cents += cents;
        if (holdout === undefined || timeDays < holdout.fromDay || timeDays >= holdout.toDay) continue;
        inHoldout.orders++;
        inHoldout.cents += cents;
      }
      tally.add(whole, isHeldOut, inHoldout);
      if (sink !== undefined) till.tellPerson(person, life, sink);
    }
    if (sink !== undefined) till.tellSpend(sink);
    return tally.outcome(plan);
  }

  /** Only people whom a channel met can live otherwise without it. */
  runWithTruth(sink: EventSink): Truth {
    const paid = this.channels.flatMap((channel, c) => (channel.paid ? [c] : []));
    const allPaid = paid.reduce((bits, c) => bits | (1 << c), 0);
    const asItIs: Scenario = { factors: spendFactors(this.channels, {}), withheld: null };
    const life = new PlannedLife(this.spec);
    const till = new Till(this.spec);
    const losses = this.channels.map(() => new Loss());
    const total = new Loss();
    let orders = 0;
    let cents = 0;
    const centsOf = (revenue: number): number => Math.round(100 * revenue);
    for (let person = 0; person < this.people; person++) {
      life.next(asItIs);
      const met = life.live(0) & allPaid;
      till.tellPerson(person, life, sink);
      const factual = { ...life.outcome };
      orders += factual.orders;
      cents += centsOf(factual.revenue);
      if (met === 0) continue;
      const compare = (off: number, loss: Loss): void => {
        life.live(off);
        loss.add(factual.orders - life.outcome.orders, centsOf(factual.revenue) - centsOf(life.outcome.revenue));
      };
      for (const c of paid) if (((met >> c) & 1) === 1) compare(1 << c, losses[c]!);
      compare(allPaid, total);
    }
    till.tellSpend(sink);
    return { orders, revenue: cents / 100, switchOff: losses.map((loss) => loss.total()), total: total.total() };
  }
}

/** The worlds by which estimators were tuned and reported on before others' shops judged them. */
export const candidateHistories: Simulator = {
  name: 'candidate-histories',
  mechanism:
    'Spells of interest bring touches, visits and orders alike; each paid touch may set off visits and further ' +
    'orders of its own, which vanish with it: a branching process over candidates that are drawn once.',
  shops: SHOPS,
  shop: (index, people) => new CandidateHistoriesShop(index, people),
};
