import type { EventSink, SimulatedShop, Truth } from '../simulator.ts';
import { consumerStates } from './simulator.ts';

/** Counts what a shop would see, and a hash of all of it. */
class Counter implements EventSink {
  hash = 2166136261;
  rows = 0;
  users = 0;
  orders = 0;
  revenue = 0;
  noClick = 0;
  readonly touches: number[];
  readonly closed: number[];
  readonly cost: number[];
  private readonly shop: SimulatedShop;
  private last = 0;
  private pending = 0;

  constructor(shop: SimulatedShop) {
    this.shop = shop;
    this.touches = shop.channels.map(() => 0);
    this.closed = shop.channels.map(() => 0);
    this.cost = shop.channels.map(() => 0);
  }

  event(timeS: number, channel: number, isOrder: boolean, revenue: number): void {
    const second = timeS - this.shop.startS;
    if (!Number.isInteger(timeS) || second < 0 || second >= this.shop.days * 86400) fail(this.shop, 'time');
    if (this.pending > 0 && timeS < this.last) fail(this.shop, 'order of time');
    if (!isOrder && (channel < 0 || revenue !== 0)) fail(this.shop, 'touch without a channel');
    this.last = timeS;
    this.pending += 1;
    this.rows += 1;
    this.mix(timeS);
    this.mix(channel);
    this.mix(Math.round(revenue * 100));
    if (!isOrder) this.touches[channel]! += 1;
    else {
      this.orders += 1;
      this.revenue += revenue;
      if (channel >= 0) this.closed[channel]! += 1;
      else this.noClick += 1;
    }
  }

  endUser(userId: string): void {
    for (let i = 0; i < userId.length; i += 1) this.mix(userId.charCodeAt(i));
    this.users += 1;
    this.pending = 0;
  }

  spend(day: number, channel: number, amount: number): void {
    this.mix(day);
    this.mix(Math.round(amount * 100));
    this.cost[channel]! += amount;
  }

  private mix(value: number): void {
    this.hash = Math.imul(this.hash ^ value, 16777619);
  }
}

function fail(shop: SimulatedShop, what: string): never {
  throw new Error(`${shop.name}: ${what}`);
}

function near(a: number, b: number): boolean {
  return Math.abs(a - b) < 0.005;
}

function print(shop: SimulatedShop, counter: Counter, truth: Truth, seconds: number): void {
  const touches = counter.touches.reduce((sum, count) => sum + count, 0);
  const cost = counter.cost.reduce((sum, amount) => sum + amount, 0);
  const percent = (part: number): string => `${((100 * part) / truth.revenue).toFixed(1)}%`;
  console.log(
    `\n${shop.name} ${shop.days}d users ${counter.users} rows ${counter.rows}` +
      ` (${(touches / counter.users).toFixed(1)} touches/user)` +
      ` orders ${truth.orders} (${(truth.orders / shop.people).toFixed(3)}/person)` +
      ` revenue ${truth.revenue.toFixed(0)} incremental ${percent(truth.total.revenue)} spend ${percent(cost)}` +
      ` roas ${(truth.total.revenue / cost).toFixed(2)}` +
      ` no click ${((100 * counter.noClick) / counter.orders).toFixed(0)}% ${seconds.toFixed(1)}s` +
      `\n  ${shop.traits.join(' ')}`,
  );
  shop.channels.forEach((channel, c) => {
    const gain = truth.switchOff[c]!.revenue;
    const roas = counter.cost[c]! > 0 ? (gain / counter.cost[c]!).toFixed(2) : '-';
    console.log(
      `  ${channel.name.padEnd(17)} touches ${String(counter.touches[c]).padStart(7)}` +
        ` closed ${String(counter.closed[c]).padStart(5)} spend ${counter.cost[c]!.toFixed(0).padStart(7)}` +
        ` truth ${gain.toFixed(0).padStart(8)} (${percent(gain).padStart(6)}) roas ${roas}`,
    );
  });
}

/** More spend on everything brings more, save for noise of single orders, where nothing does harm. */
function checkResponse(shop: SimulatedShop, truth: Truth): void {
  if (shop.traits.includes('harm') || shop.traits.includes('nothing_works')) return;
  const at = (factor: number): number => {
    const spend: Record<string, number> = {};
    for (const channel of shop.channels) if (channel.paid) spend[channel.name] = factor;
    return shop.run({ spend }).revenue;
  };
  const revenue = [truth.revenue - truth.total.revenue, at(0.5), truth.revenue, at(1.6)];
  const slack = 0.012 * truth.revenue;
  for (let i = 1; i < revenue.length; i += 1) {
    if (revenue[i]! < revenue[i - 1]! - slack) fail(shop, `response isn't monotone: ${revenue.join(' ')}`);
  }
  console.log(`  response at 0, 0.5, 1, 1.6: ${revenue.map((value) => (value / truth.revenue).toFixed(3)).join(' ')}`);
}

function checkHoldout(shop: SimulatedShop, c: number): void {
  const outcome = shop.run({ holdout: { channels: [shop.channels[c]!.name], share: 0.4, fromDay: 10, toDay: 40 } });
  const arms = outcome.arms;
  if (arms === undefined) fail(shop, 'no arms');
  if (arms.heldOut.people + arms.others.people !== shop.people) fail(shop, 'people of arms');
}

function checkShop(index: number, people: number, full: boolean): void {
  const shop = consumerStates.shop(index, people);
  const counter = new Counter(shop);
  const begin = performance.now();
  const truth = shop.runWithTruth(counter);
  print(shop, counter, truth, (performance.now() - begin) / 1000);
  if (counter.orders !== truth.orders || Math.abs(counter.revenue - truth.revenue) > 1) fail(shop, 'orders in rows');
  const again = new Counter(shop);
  const outcome = consumerStates.shop(index, people).run({}, again);
  if (again.hash !== counter.hash) fail(shop, 'not deterministic');
  if (outcome.orders !== truth.orders || !near(outcome.revenue, truth.revenue)) fail(shop, 'run({})');
  const parts = [...truth.switchOff, truth.total];
  if (shop.traits.includes('nothing_works') && parts.some((part) => part.orders !== 0 || part.revenue !== 0)) {
    fail(shop, 'something works');
  }
  shop.channels.forEach((channel, c) => {
    if (!channel.paid || (!full && c !== index % 4)) return;
    const without = shop.run({ spend: { [channel.name]: 0 } });
    if (!near(truth.revenue - without.revenue, truth.switchOff[c]!.revenue)) fail(shop, `truth of ${channel.name}`);
  });
  checkHoldout(shop, 0);
  checkResponse(shop, truth);
}

const [people = '20000', from = '1', to = String(consumerStates.shops), full = ''] = process.argv.slice(2);
for (let index = Number(from); index <= Number(to); index += 1) checkShop(index, Number(people), full === 'full');
console.log('\nall checks hold');
