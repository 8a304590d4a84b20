import { Returns } from './check-returns.ts';
import { traitsSeen } from './check-traits.ts';
import { CountingSink } from './counting-sink.ts';
import { TRAITS } from '../simulator.ts';
import type { SimulatedShop, Trait, Truth } from '../simulator.ts';
import { replenishment } from './simulator.ts';

/** Of revenue: what a channel that does nothing by itself may move by the visits that it brings. */
const TRACE = 0.01;

function assert(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function print(shop: SimulatedShop, truth: Truth, sink: CountingSink, seconds: number): void {
  const spent = sum(sink.spent);
  const memory = process.memoryUsage().rss / 2 ** 20;
  console.log(`\n${shop.name}: ${shop.days} days from ${new Date(shop.startS * 1000).toISOString().slice(0, 10)}`);
  console.log(`  ${shop.traits.join(' ')}`);
  console.log(
    `  ids ${percent(sink.users, shop.people)}, touches ${sink.rows - sink.orders} ` +
      `(${sink.quantiles().join(' / ')} per id: median, 90 %, 99 %), orders ${sink.orders}, ` +
      `buyers ${percent(sink.buyers, shop.people)}, ` +
      `basket ${(truth.revenue / truth.orders).toFixed(0)}, without a click ${percent(sink.unclosed, sink.orders)}`,
  );
  console.log(
    `  revenue ${truth.revenue.toFixed(0)}, marketing brings ${percent(truth.total.revenue, truth.revenue)} ` +
      `(one by one ${percent(sum(truth.switchOff.map(({ revenue }) => revenue)), truth.revenue)}), ` +
      `costs ${percent(spent, truth.revenue)}, returns ${(truth.total.revenue / spent).toFixed(2)}; ` +
      `${seconds.toFixed(1)} s, ${memory.toFixed(0)} MB`,
  );
  shop.channels.forEach(({ name, traits }, c) => {
    const effect = truth.switchOff[c]!;
    const cost = sink.spent[c]!;
    console.log(
      `  ${name.padEnd(18)}touches ${(sink.touches[c]! / shop.people).toFixed(3)} a person, ` +
        `closes ${percent(sink.closed[c]!, sink.orders).padStart(6)}, ` +
        `brings ${String(effect.orders).padStart(5)} orders, ${percent(effect.revenue, truth.revenue).padStart(6)}, ` +
        `costs ${percent(cost, truth.revenue).padStart(6)}, returns ` +
        `${cost > 0 ? (effect.revenue / cost).toFixed(2) : '-'}  ${traits.join(' ')}`,
    );
  });
}

/** What must hold of a shop as it is. */
function checkTruth(shop: SimulatedShop, truth: Truth, sink: CountingSink): void {
  assert(sink.orders === truth.orders, `${shop.name}: rows have ${sink.orders} orders, the truth ${truth.orders}`);
  const nothing = shop.traits.includes('nothing_works');
  shop.channels.forEach(({ name, paid, tracked, traits }, c) => {
    const { revenue } = truth.switchOff[c]!;
    const share = revenue / truth.revenue;
    const what = `${shop.name} ${name}: ${percent(revenue, truth.revenue)}`;
    if (nothing || !paid) assert(revenue === 0, `${what} where nothing works`);
    if (traits.includes('nothing_works')) assert(Math.abs(share) < TRACE, `${what} of a channel that does nothing`);
    if (traits.includes('harm') && shop.people >= 20_000) assert(revenue < 0, `${what} of a channel that does harm`);
    assert(tracked || sink.touches[c] === 0, `${what}: touches of a channel that leaves none`);
    assert(!paid || sink.spent[c]! > 0, `${what}: costs nothing`);
  });
  if (nothing) assert(truth.total.revenue === 0, `${shop.name}: all channels bring something`);
}

/** Plans: none and a factor of 1 are the same, the truth is a plan's, more spend costs and reaches more, arms hold. */
function checkPlans(shop: SimulatedShop, truth: Truth, digest: number): void {
  const { channels, days, people } = shop;
  const paid = channels.map((_, c) => c).filter((c) => channels[c]!.paid);
  const asItIs = new CountingSink(channels.length);
  const outcome = shop.run({ spend: Object.fromEntries(paid.map((c) => [channels[c]!.name, 1])) }, asItIs);
  assert(asItIs.hash === digest, `${shop.name}: factors of 1 change rows`);
  assert(outcome.orders === truth.orders, `${shop.name}: factors of 1 change orders`);
  for (const c of paid) {
    const { name } = channels[c]!;
    const off = shop.run({ spend: { [name]: 0 } });
    assert(
      truth.orders - off.orders === truth.switchOff[c]!.orders,
      `${shop.name} ${name}: the plan knows another truth`,
    );
  }
  const { name } = channels[paid[0]!]!;
  const doubled = new CountingSink(channels.length);
  shop.run({ spend: { [name]: 2 } }, doubled);
  const ratio = doubled.spent[paid[0]!]! / asItIs.spent[paid[0]!]!;
  assert(ratio > 1.8 && ratio < 2.2, `${shop.name} ${name}: doubled, it costs ${ratio.toFixed(2)} times as much`);
  const plan = { holdout: { channels: [name], share: 0.3, fromDay: 14, toDay: days - 14 } };
  const { arms } = shop.run(plan);
  const again = shop.run(plan);
  assert(JSON.stringify(arms) === JSON.stringify(again.arms), `${shop.name}: arms change`);
  const heldOut = arms!.heldOut.people;
  assert(heldOut + arms!.others.people === people, `${shop.name}: arms lack people`);
  assert(Math.abs(heldOut / people - 0.3) < 2.5 / Math.sqrt(people), `${shop.name}: ${heldOut} people are held out`);
}

/** `node check.ts [people] [first] [last] [plans]` prints figures and throws where an invariant does not hold. */
function main(people: number, first: number, last: number, withPlans: boolean): void {
  const returns = new Returns();
  const shown = new Set<Trait>();
  for (let index = first; index <= last; index++) {
    const shop = replenishment.shop(index, people);
    // The pilot runs with the first plan; it is a shop's, not a run's.
    shop.run({ spend: {} });
    const started = performance.now();
    const sink = new CountingSink(shop.channels.length);
    const truth = shop.runWithTruth(sink);
    print(shop, truth, sink, (performance.now() - started) / 1000);
    checkTruth(shop, truth, sink);
    returns.add(shop, truth, sink.spent);
    const { seen, amiss } = traitsSeen(index, shop, truth);
    console.log(`  seen: ${seen.join('; ')}`);
    assert(amiss.length === 0, `${shop.name}: ${amiss.join('; ')}`);
    for (const trait of shop.traits) shown.add(trait);
    if (!withPlans) continue;
    const twin = new CountingSink(shop.channels.length);
    const twinTruth = replenishment.shop(index, people).runWithTruth(twin);
    assert(twin.hash === sink.hash, `${shop.name}: not the same twice`);
    assert(JSON.stringify(twinTruth) === JSON.stringify(truth), `${shop.name}: its truth is not the same twice`);
    checkPlans(shop, truth, sink.hash);
  }
  returns.print();
  if (first === 1 && last === replenishment.shops)
    for (const trait of TRAITS) assert(shown.has(trait), `no shop has ${trait}`);
}

const [people = '60000', first = '1', last = String(replenishment.shops), plans = ''] = process.argv.slice(2);
main(Number(people), Number(first), Number(last), plans === 'plans');
