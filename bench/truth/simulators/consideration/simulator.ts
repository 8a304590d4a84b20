import { Loss, OutcomeTally } from '../outcome-tally.ts';
import { channelBits, spendFactors } from '../spend-factors.ts';
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
import { Diary } from './diary.ts';
import { Life } from './life.ts';
import type { Scenario } from './life.ts';
import { uniformOf } from './random.ts';
import { CHANNELS, DAYS, drawWorld, PAID_COUNT, START_S } from './world.ts';
import type { Setting, World } from './world.ts';

const SHOPS = 24;
const NOTHING_WORKS: ReadonlySet<number> = new Set([4, 10, 16, 22]);
const NO_CONFOUNDING: ReadonlySet<number> = new Set([3, 9, 15, 21]);
const HALO: ReadonlySet<number> = new Set([5, 11, 17, 23]);

/** What is drawn for a person's place in a holdout, and for what a touch cost. */
const HOLDOUT_GROUP = -9;
const COST_SLOT = 9;

function settingOf(index: number): Setting {
  return {
    seed: index,
    effects: NOTHING_WORKS.has(index) ? 0 : 1,
    confounding: NO_CONFOUNDING.has(index) ? 0 : 1,
    halo: HALO.has(index) ? 1 : 0,
  };
}

function traitsOf({ effects, confounding, halo }: Setting): Trait[] {
  return [
    ...(effects === 0 ? (['nothing_works'] as const) : []),
    ...(confounding === 0 ? [] : (['reactive_targeting', 'navigational_clicks'] as const)),
    ...(halo === 0 ? [] : (['halo_visits'] as const)),
  ];
}

function channelOf(world: World, name: string, c: number): SimulatedChannel {
  const { confounding, halo } = world.setting;
  const traits: Trait[] = [];
  const paid = c < PAID_COUNT;
  if (paid && world.lift[c] === 0 && world.entry[c] === 0) traits.push('nothing_works');
  if (name === 'retargeting' && confounding > 0) traits.push('reactive_targeting');
  if ((name === 'brand_search' || name === 'affiliate') && confounding > 0) traits.push('navigational_clicks');
  if (['video', 'display', 'social'].includes(name) && halo > 0) traits.push('halo_visits');
  return { name, paid, tracked: true, traits };
}

/** What the touches cost per channel and day, major units. */
class Costs {
  private readonly world: World;
  private readonly spent = new Float64Array(PAID_COUNT * DAYS);

  constructor(world: World) {
    this.world = world;
  }

  add(person: number, timeS: number, channel: number): void {
    const { setting, cost } = this.world;
    const noise = 0.6 + 0.8 * uniformOf(setting.seed, person, timeS, COST_SLOT);
    this.spent[channel * DAYS + Math.floor(timeS / 86_400)]! += cost[channel]! * noise;
  }

  tell(sink: EventSink): void {
    for (let day = 0; day < DAYS; day++) {
      for (let c = 0; c < PAID_COUNT; c++) sink.spend(day, c, Math.round(100 * this.spent[c * DAYS + day]!) / 100);
    }
  }
}

function tellPerson(person: number, diary: Diary, costs: Costs, sink: EventSink): void {
  for (let i = 0; i < diary.count; i++) {
    const timeS = Math.floor(diary.timeS[i]!);
    const channel = diary.channel[i]!;
    const cents = diary.cents[i]!;
    if (channel >= 0 && channel < PAID_COUNT) costs.add(person, timeS, channel);
    sink.event(START_S + timeS, channel, cents >= 0, Math.max(0, cents) / 100);
  }
  if (diary.count > 0) sink.endUser(`u${person + 1}`);
}

class ConsiderationShop implements SimulatedShop {
  readonly name: string;
  readonly people: number;
  readonly days = DAYS;
  readonly startS = START_S;
  readonly channels: readonly SimulatedChannel[];
  readonly traits: readonly Trait[];
  private readonly world: World;

  constructor(index: number, people: number) {
    const setting = settingOf(index);
    this.name = `consideration_${index}`;
    this.people = people;
    this.traits = traitsOf(setting);
    this.world = drawWorld(setting);
    this.channels = CHANNELS.map((name, c) => channelOf(this.world, name, c));
  }

  run(plan: Plan, sink?: EventSink): Outcome {
    const factors = spendFactors(this.channels, plan);
    const { holdout = null } = plan;
    const asPlanned: Scenario = { factors, withheld: null };
    const heldBack: Scenario | null =
      holdout === null
        ? null
        : { factors, withheld: { ...holdout, bits: channelBits(this.channels, holdout.channels) } };
    const life = new Life(this.world);
    const diary = new Diary();
    const costs = new Costs(this.world);
    const tally = new OutcomeTally();
    for (let person = 0; person < this.people; person++) {
      const isHeldOut =
        holdout !== null && uniformOf(this.world.setting.seed, HOLDOUT_GROUP, person, 0) < holdout.share;
      diary.clear();
      life.live(person, (isHeldOut ? heldBack : null) ?? asPlanned, holdout, diary);
      tally.add(life, isHeldOut, life.inHoldout);
      if (sink !== undefined) tellPerson(person, diary, costs, sink);
    }
    if (sink !== undefined) costs.tell(sink);
    return tally.outcome(plan);
  }

  /** Only people whom a channel met can live otherwise without it. */
  runWithTruth(sink: EventSink): Truth {
    const without = (isOff: (c: number) => boolean): Scenario => ({
      factors: Float64Array.from(CHANNELS, (_, c) => (isOff(c) ? 0 : 1)),
      withheld: null,
    });
    const asItIs = without(() => false);
    const allOff = without((c) => c < PAID_COUNT);
    const oneOff = CHANNELS.slice(0, PAID_COUNT).map((_, off) => without((c) => c === off));
    const life = new Life(this.world);
    const other = new Life(this.world);
    const diary = new Diary();
    const costs = new Costs(this.world);
    const losses = CHANNELS.map(() => new Loss());
    const total = new Loss();
    let orders = 0;
    let cents = 0;
    for (let person = 0; person < this.people; person++) {
      diary.clear();
      life.live(person, asItIs, null, diary);
      orders += life.orders;
      cents += life.cents;
      tellPerson(person, diary, costs, sink);
      const compare = (scenario: Scenario, loss: Loss): void => {
        other.live(person, scenario, null, null);
        loss.add(life.orders - other.orders, life.cents - other.cents);
      };
      oneOff.forEach((scenario, c) => {
        if (((life.met >> c) & 1) === 1) compare(scenario, losses[c]!);
      });
      if (life.met !== 0) compare(allOff, total);
    }
    costs.tell(sink);
    return { orders, revenue: cents / 100, switchOff: losses.map((loss) => loss.total()), total: total.total() };
  }
}

/** People who begin to look around, decide and buy, or lose interest: advertising helps at each step. */
export const consideration: Simulator = {
  name: 'consideration',
  mechanism:
    'People move daily between out of the market, looking around and decided; stocks of advertising help them into ' +
    'the market and raise the hazard of an order, while most touches follow the state that they are in.',
  shops: SHOPS,
  shop: (index, people) => new ConsiderationShop(index, people),
};
