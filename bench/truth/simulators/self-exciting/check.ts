import type { EventSink, SimulatedShop, Truth } from '../simulator.ts';
import { selfExciting } from './simulator.ts';

/** Counts what a shop emits, and hashes it. */
class Tally implements EventSink {
  hash = 0;
  users = 0;
  rows = 0;
  readonly touches: number[];
  readonly closes: number[];
  readonly spent: number[];
  direct = 0;
  revenue = 0;
  private last = 0;
  private readonly shop: SimulatedShop;

  constructor(shop: SimulatedShop) {
    this.shop = shop;
    this.touches = shop.channels.map(() => 0);
    this.closes = shop.channels.map(() => 0);
    this.spent = shop.channels.map(() => 0);
  }

  event(timeS: number, channel: number, isOrder: boolean, revenue: number): void {
    const inWindow = timeS >= this.shop.startS && timeS < this.shop.startS + 86_400 * this.shop.days;
    assert(inWindow && timeS >= this.last && Number.isInteger(timeS), 'times in order and in the window');
    assert(isOrder ? revenue > 0 : channel >= 0 && revenue === 0, 'rows are touches or orders');
    this.last = timeS;
    this.rows++;
    this.revenue += revenue;
    if (!isOrder) this.touches[channel] = (this.touches[channel] as number) + 1;
    else if (channel < 0) this.direct++;
    else this.closes[channel] = (this.closes[channel] as number) + 1;
    this.mix(timeS);
    this.mix(channel + (isOrder ? 100 : 0));
    this.mix(Math.round(revenue * 100));
  }

  endUser(userId: string): void {
    this.users++;
    this.last = 0;
    for (let i = 0; i < userId.length; i++) this.mix(userId.charCodeAt(i));
  }

  spend(_day: number, channel: number, amount: number): void {
    this.spent[channel] = (this.spent[channel] as number) + amount;
    this.mix(Math.round(amount * 100));
  }

  private mix(value: number): void {
    this.hash = Math.imul(this.hash ^ value, 0x01000193) ^ (this.hash >>> 15);
  }
}

function assert(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

function print(shop: SimulatedShop, tally: Tally, truth: Truth, seconds: number): void {
  const { rows, users } = tally;
  const spent = tally.spent.reduce((a, b) => a + b, 0);
  console.log(
    `${shop.name} ${shop.days}d ids ${users} rows ${rows} (${(rows / users).toFixed(1)}/id) orders ${truth.orders} ` +
      `(${(truth.orders / shop.people).toFixed(3)}/person) revenue ${truth.revenue.toFixed(0)} ` +
      `incremental ${((100 * truth.total.revenue) / truth.revenue).toFixed(1)}% ` +
      `spend ${((100 * spent) / truth.revenue).toFixed(1)}% ROAS ${(truth.total.revenue / spent).toFixed(2)} ` +
      `no click ${((100 * tally.direct) / truth.orders).toFixed(0)}% ${seconds.toFixed(1)} s  ${shop.traits.join(' ')}`,
  );
  shop.channels.forEach((channel, c) => {
    const own = truth.switchOff[c] as { orders: number; revenue: number };
    const amount = tally.spent[c] as number;
    console.log(
      `   ${channel.name.padEnd(19)} touches ${String(tally.touches[c]).padStart(7)} closes ` +
        `${String(tally.closes[c]).padStart(5)} spend ${amount.toFixed(0).padStart(7)} true ` +
        `${own.revenue.toFixed(0).padStart(7)} (${((100 * own.revenue) / truth.revenue).toFixed(1)}%) ` +
        `ROAS ${amount > 0 ? (own.revenue / amount).toFixed(2) : '-'} ${channel.traits.join(' ')}`,
    );
  });
}

/** Runs of other plans must agree with the truth, and more spend must not sell less. */
function checkPlans(shop: SimulatedShop, truth: Truth, thorough: boolean): void {
  const nothing = shop.traits.includes('nothing_works');
  const factual = shop.run({});
  assert(factual.orders === truth.orders && factual.revenue === truth.revenue, 'run({}) is the world as it is');
  shop.channels.forEach((channel, c) => {
    const own = truth.switchOff[c] as { orders: number; revenue: number };
    if (!channel.paid) return assert(own.orders === 0 && own.revenue === 0, 'unpaid channels have no truth');
    if (nothing) assert(own.orders === 0 && own.revenue === 0, `${channel.name} does nothing`);
    if (channel.traits.includes('harm')) assert(own.revenue < 0, `${channel.name} does harm`);
    if (!thorough) return;
    const off = shop.run({ spend: { [channel.name]: 0 } });
    const gap = Math.abs(truth.revenue - off.revenue - own.revenue);
    assert(off.orders === truth.orders - own.orders && gap < 0.01, `${channel.name} off`);
  });
  assert(!nothing || truth.total.orders === 0, 'nothing works');
  if (!thorough) return;
  const paid = shop.channels.filter((channel) => channel.paid).map((channel) => channel.name);
  const at = (factor: number) => shop.run({ spend: Object.fromEntries(paid.map((name) => [name, factor])) });
  const steps = [0, 0.5, 1, 1.5, 2].map((factor) => at(factor).orders);
  console.log(`   orders at spend 0 0.5 1 1.5 2: ${steps.join(' ')}`);
  assert(steps[0] === truth.orders - truth.total.orders, 'all paid off');
  const slack = 0.01 * truth.orders;
  const rises = steps.every((orders, i) => i === 0 || orders >= (steps[i - 1] as number) - slack);
  assert(rises || shop.traits.includes('harm'), 'more spend does not sell less');
  const held = shop.run({ holdout: { channels: [paid[0] as string], share: 0.3, fromDay: 10, toDay: shop.days } });
  const { heldOut, others } = held.arms as NonNullable<typeof held.arms>;
  assert(Math.abs(heldOut.people / shop.people - 0.3) < 0.02, 'holdout share');
  const perHead = (arm: typeof heldOut): string => (arm.orders / arm.people).toFixed(4);
  console.log(`   ${paid[0]} held out ${perHead(heldOut)} others ${perHead(others)}`);
}

const [people = '20000', first = '1', last = String(selfExciting.shops), depth = 'thorough'] = process.argv.slice(2);
for (let index = Number(first); index <= Number(last); index++) {
  const started = performance.now();
  const shop = selfExciting.shop(index, Number(people));
  const tally = new Tally(shop);
  const truth = shop.runWithTruth(tally);
  print(shop, tally, truth, (performance.now() - started) / 1000);
  assert(Math.abs(tally.revenue - truth.revenue) < 0.5, 'rows hold all revenue');
  const again = new Tally(shop);
  selfExciting.shop(index, Number(people)).run({}, again);
  assert(again.hash === tally.hash, 'the same twice');
  checkPlans(shop, truth, depth === 'thorough');
}
