import type { EventSink, SimulatedShop, Truth } from '../simulator.ts';
import { discreteChoice } from './simulator.ts';

/** Counts what comes out and hashes it. */
class CountingSink implements EventSink {
  hash = 2166136261;
  rows = 0;
  orders = 0;
  users = 0;
  readonly touches: number[];
  readonly closed: number[];
  readonly spent: number[];
  private lastS = 0;

  constructor(channels: number) {
    this.touches = Array.from({ length: channels }, () => 0);
    this.closed = Array.from({ length: channels + 1 }, () => 0);
    this.spent = Array.from({ length: channels }, () => 0);
  }

  event(timeS: number, channel: number, isOrder: boolean, revenue: number): void {
    if (timeS < this.lastS) throw new Error('events out of order');
    this.lastS = timeS;
    this.rows += 1;
    this.mix(timeS);
    this.mix(channel + (isOrder ? 100 : 0));
    this.mix(Math.round(revenue * 100));
    if (isOrder) {
      this.orders += 1;
      this.closed[channel + 1] = (this.closed[channel + 1] ?? 0) + 1;
    } else {
      this.touches[channel] = (this.touches[channel] ?? 0) + 1;
    }
  }

  endUser(userId: string): void {
    this.users += 1;
    this.lastS = 0;
    for (let n = 0; n < userId.length; n++) this.mix(userId.charCodeAt(n));
  }

  spend(day: number, channel: number, amount: number): void {
    if (!(amount >= 0)) throw new Error('spend is not a number from 0 on');
    this.spent[channel] = (this.spent[channel] ?? 0) + amount;
    this.mix(day * 64 + channel);
    this.mix(Math.round(amount * 100));
  }

  private mix(word: number): void {
    this.hash = Math.imul(this.hash ^ word, 16777619) ^ (word >>> 7);
  }
}

function assert(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}

function print(shop: SimulatedShop, truth: Truth, sink: CountingSink, seconds: number): void {
  const spent = sink.spent.reduce((sum, amount) => sum + amount, 0);
  const oneByOne = truth.switchOff.reduce((sum, { revenue }) => sum + revenue, 0);
  console.log(`\n${shop.name}: ${shop.days} days, ${shop.traits.join(' ')}`);
  console.log(
    `  ids ${percent(sink.users, shop.people)}, rows ${sink.rows}, orders ${sink.orders} ` +
      `(${(truth.orders / shop.people).toFixed(3)} per person), revenue ${truth.revenue.toFixed(0)}, ` +
      `basket ${(truth.revenue / truth.orders).toFixed(0)}, ` +
      `incremental ${percent(truth.total.revenue, truth.revenue)} ` +
      `(one by one ${percent(oneByOne, truth.revenue)}), ` +
      `marketing ${percent(spent, truth.revenue)}, ROAS ${(truth.total.revenue / spent).toFixed(2)}, ` +
      `without a click ${percent(sink.closed[0] ?? 0, sink.orders)}, ${seconds.toFixed(1)} s`,
  );
  shop.channels.forEach((channel, c) => {
    const effect = truth.switchOff[c] ?? { orders: 0, revenue: 0 };
    const spend = sink.spent[c] ?? 0;
    const roas = spend > 0 ? (effect.revenue / spend).toFixed(2) : '-';
    console.log(
      `  ${channel.name.padEnd(17)}${((sink.touches[c] ?? 0) / shop.people).toFixed(3).padStart(8)}/p` +
        ` closes ${percent(sink.closed[c + 1] ?? 0, sink.orders).padStart(7)}` +
        ` spend ${percent(spend, truth.revenue).padStart(7)}` +
        ` truth ${percent(effect.revenue, truth.revenue).padStart(7)} ${effect.orders.toFixed(0).padStart(6)} orders` +
        ` ROAS ${roas.padStart(6)}  ${channel.traits.join(' ')}`,
    );
  });
}

/** Runs one shop and asserts what must hold of it. */
function checkShop(index: number, people: number): void {
  const shop = discreteChoice.shop(index, people);
  const sink = new CountingSink(shop.channels.length);
  const from = performance.now();
  const truth = shop.runWithTruth(sink);
  const seconds = (performance.now() - from) / 1000;
  print(shop, truth, sink, seconds);
  const again = new CountingSink(shop.channels.length);
  const factual = discreteChoice.shop(index, people).run({}, again);
  assert(again.hash === sink.hash, 'two runs differ');
  assert(factual.orders === truth.orders && factual.revenue === truth.revenue, 'run({}) is not the factual outcome');
  assert(sink.orders === truth.orders, 'orders are missing among the rows');
  const paid = shop.channels.flatMap((channel, c) => (channel.paid ? [c] : []));
  assert(paid.length >= 5 && paid.length <= 9, 'number of paid channels');
  if (shop.traits.includes('nothing_works')) {
    assert(truth.total.revenue === 0 && truth.switchOff.every((effect) => effect.revenue === 0), 'nothing works');
  }
  const off = Object.fromEntries(paid.map((c) => [shop.channels[c]?.name ?? '', 0]));
  const bare = shop.run({ spend: off });
  const close = (a: number, b: number): boolean => Math.abs(a - b) < 0.02;
  assert(close(factual.revenue - bare.revenue, truth.total.revenue), 'all off is not the total');
  const tried = paid
    .toSorted((a, b) => Math.abs(truth.switchOff[b]?.revenue ?? 0) - Math.abs(truth.switchOff[a]?.revenue ?? 0))
    .slice(0, 2);
  for (const c of tried) {
    const name = shop.channels[c]?.name ?? '';
    const effect = truth.switchOff[c] ?? { orders: 0, revenue: 0 };
    const alone = shop.run({ spend: { [name]: 0 } });
    assert(close(factual.revenue - alone.revenue, effect.revenue), `${name} off is not its truth`);
    const halfRun = shop.run({ spend: { [name]: 0.5 } });
    const doubleRun = shop.run({ spend: { [name]: 2 } });
    const curve = [alone.orders, halfRun.orders, factual.orders, doubleRun.orders];
    const slack = 2 + 0.1 * Math.abs(effect.orders);
    const sign = effect.orders < 0 ? -1 : 1;
    const monotone = curve.every((orders, n) => n === 0 || sign * (orders - (curve[n - 1] ?? 0)) >= -slack);
    console.log(`  orders at 0, ½, 1, 2 times ${name}: ${curve.join(', ')}`);
    assert(monotone, `${name}: response is not monotone`);
    const held = shop.run({ holdout: { channels: [name], share: 0.5, fromDay: 0, toDay: shop.days } });
    const { arms } = held;
    assert(arms !== undefined && arms.heldOut.people + arms.others.people === people, 'arms of the holdout');
    assert(arms !== undefined && arms.heldOut.orders + arms.others.orders === held.orders, 'orders of the arms');
  }
}

const [peopleArgument, ...indexArguments] = process.argv.slice(2);
const people = Number(peopleArgument ?? 20000);
const indices =
  indexArguments.length > 0
    ? indexArguments.map(Number)
    : Array.from({ length: discreteChoice.shops }, (_, n) => n + 1);
for (const index of indices) checkShop(index, people);
console.log(`\n${indices.length} shops hold`);
