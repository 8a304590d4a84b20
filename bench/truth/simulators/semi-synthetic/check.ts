/** Prints what an analyst looks at, and asserts what must hold: `node check.ts [people] [first] [last] [every]`. */
import { mix } from './random.ts';
import { semiSynthetic } from './simulator.ts';
import type { EventSink, SimulatedShop, Truth } from '../simulator.ts';

interface Seen {
  hash: number;
  ids: number;
  rows: number;
  orders: number;
  revenue: number;
  readonly touches: Float64Array;
  readonly closed: Float64Array;
  readonly spend: Float64Array;
  unclosed: number;
  disorder: number;
}

function collector(shop: SimulatedShop): { sink: EventSink; seen: Seen } {
  const count = shop.channels.length;
  const seen: Seen = {
    hash: 0,
    ids: 0,
    rows: 0,
    orders: 0,
    revenue: 0,
    unclosed: 0,
    disorder: 0,
    touches: new Float64Array(count),
    closed: new Float64Array(count),
    spend: new Float64Array(count),
  };
  let before = 0;
  const sink: EventSink = {
    event(timeS, channel, isOrder, revenue) {
      seen.rows += 1;
      seen.hash = mix(seen.hash ^ mix(timeS * 31 + channel * 7 + Math.round(revenue * 100)));
      if (timeS < before || timeS < shop.startS || timeS >= shop.startS + shop.days * 86_400) seen.disorder += 1;
      before = timeS;
      if (!isOrder) seen.touches[channel]! += 1;
      else {
        seen.orders += 1;
        seen.revenue += revenue;
        if (channel < 0) seen.unclosed += 1;
        else seen.closed[channel]! += 1;
      }
    },
    endUser(userId) {
      seen.ids += 1;
      before = 0;
      for (let k = 0; k < userId.length; k += 1) seen.hash = mix(seen.hash + userId.charCodeAt(k));
    },
    spend(day, channel, amount) {
      seen.spend[channel]! += amount;
      seen.hash = mix(seen.hash ^ mix(day * 97 + channel + Math.round(amount * 100)));
    },
  };
  return { sink, seen };
}

function assert(holds: boolean, what: string): void {
  if (!holds) throw new Error(`failed: ${what}`);
}

function print(shop: SimulatedShop, seen: Seen, truth: Truth, seconds: number): void {
  const spend = seen.spend.reduce((sum, s) => sum + s, 0);
  const share = (x: number): string => `${(100 * x).toFixed(1)} %`;
  console.log(`\n${shop.name}: ${shop.days} days, ${seconds.toFixed(1)} s; ${shop.traits.join(', ')}`);
  console.log(
    `  people ${shop.people}, ids seen ${seen.ids}, rows ${seen.rows}, orders ${truth.orders}, revenue ` +
      `${truth.revenue.toFixed(0)}, per order ${(truth.revenue / truth.orders).toFixed(0)}, orders per person ` +
      `${(truth.orders / shop.people).toFixed(3)}, incremental ${share(truth.total.revenue / truth.revenue)}, spend ` +
      `${share(spend / truth.revenue)}, ROAS ${(truth.total.revenue / spend).toFixed(2)}, without click ` +
      share(seen.unclosed / seen.orders),
  );
  shop.channels.forEach((channel, c) => {
    const true_ = truth.switchOff[c]!;
    const cost = seen.spend[c]!;
    console.log(
      `  ${channel.name.padEnd(18)} touches ${String(seen.touches[c]).padStart(7)}  closed ` +
        `${String(seen.closed[c]).padStart(5)}  spend ${cost.toFixed(0).padStart(7)}  true revenue ` +
        `${true_.revenue.toFixed(0).padStart(8)} ${share(true_.revenue / truth.revenue).padStart(7)}  ROAS ` +
        `${(cost > 0 ? true_.revenue / cost : 0).toFixed(2).padStart(6)}  ${channel.traits.join(', ')}`,
    );
  });
}

function check(index: number, people: number, deeply: boolean): void {
  const shop = semiSynthetic.shop(index, people);
  const first = collector(shop);
  const start = performance.now();
  const truth = shop.runWithTruth(first.sink);
  print(shop, first.seen, truth, (performance.now() - start) / 1000);
  assert(first.seen.disorder === 0, 'rows in the order of time and within the window');
  assert(first.seen.orders === truth.orders, 'every order has a row');
  const second = collector(shop);
  const outcome = shop.run({}, second.sink);
  assert(first.seen.hash === second.seen.hash, 'determinism');
  assert(outcome.revenue === truth.revenue && outcome.orders === truth.orders, 'run({}) is the factual outcome');
  if (shop.traits.includes('nothing_works')) {
    assert(truth.total.revenue === 0 && truth.switchOff.every((t) => t.revenue === 0), 'nothing works');
  }
  if (!deeply) return;
  const near = (a: number, b: number): boolean => Math.abs(a - b) < 0.005;
  shop.channels.forEach((channel, c) => {
    if (!channel.paid) return;
    const at = (factor: number): number => shop.run({ spend: { [channel.name]: factor } }).revenue;
    const [off, half, twice] = [at(0), at(0.5), at(2)];
    assert(near(truth.revenue - off, truth.switchOff[c]!.revenue), `${channel.name} at 0 equals the truth`);
    console.log(
      `  ${channel.name}: revenue at 0, ½, 1, 2 less that at 0: 0 ${(half - off).toFixed(0)} ` +
        `${(truth.revenue - off).toFixed(0)} ${(twice - off).toFixed(0)}`,
    );
    const slack = 0.004 * truth.revenue;
    const gain = truth.revenue - off;
    if (gain > 3 * slack) {
      assert(half > off - slack && truth.revenue > half - slack && twice > truth.revenue - slack, 'monotone response');
    }
  });
  const channel = shop.channels.find((c) => c.paid)!.name;
  const held = shop.run({ holdout: { channels: [channel], share: 0.5, fromDay: 10, toDay: shop.days - 5 } });
  const none = shop.run({ holdout: { channels: [channel], share: 0, fromDay: 10, toDay: shop.days - 5 } });
  assert(none.revenue === truth.revenue, 'a holdout of nobody changes nothing');
  console.log(`  holdout of ${channel}: ${JSON.stringify(held.arms)}`);
}

const [people = 20_000, from = 1, to = semiSynthetic.shops, every = 8] = process.argv.slice(2).map(Number);
for (let index = from; index <= to; index += 1) check(index, people, index % every === 1 % every);
console.log('\nall checks hold');
