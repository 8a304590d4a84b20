import { createHash } from 'node:crypto';
import type { EventSink, Outcome, SimulatedShop, Truth } from '../../../../bench/truth/simulators/simulator.ts';

const DAY_S = 86_400;
/** Of revenue: what people who take another door may move where nothing works. */
const NOTHING = 0.005;

/** Looks for faults in a shop's rows, and takes their fingerprint. */
class RowInspection implements EventSink {
  readonly faults = new Set<string>();
  readonly #shop: SimulatedShop;
  readonly #hash = createHash('sha256');
  readonly #users = new Set<string>();
  readonly #spent = new Set<string>();
  #lastS = -Infinity;
  #events = 0;

  constructor(shop: SimulatedShop) {
    this.#shop = shop;
  }

  event(timeS: number, channel: number, isOrder: boolean, revenue: number): void {
    const { startS, days, channels } = this.#shop;
    this.#hash.update(`e${timeS},${channel},${isOrder},${revenue};`);
    if (!Number.isInteger(timeS) || timeS < startS || timeS >= startS + days * DAY_S)
      this.faults.add(`a row at ${timeS} s, out of the window`);
    if (timeS < this.#lastS) this.faults.add('rows of a person are out of the order of time');
    if (channels[channel] === undefined && !(isOrder && channel === -1))
      this.faults.add(`there is no channel ${channel}`);
    if (!isOrder && channels[channel]?.tracked === false) this.faults.add('a touch of a channel that leaves none');
    if (isOrder ? !(revenue > 0) || !isMoney(revenue) : revenue !== 0)
      this.faults.add(`revenue ${revenue} of ${isOrder ? 'an order' : 'a touch'}`);
    this.#lastS = timeS;
    this.#events++;
  }

  endUser(userId: string): void {
    this.#hash.update(`u${userId};`);
    if (this.#events === 0) this.faults.add(`user ${userId} has no rows`);
    if (this.#users.has(userId)) this.faults.add(`user ${userId} came before`);
    this.#users.add(userId);
    this.#lastS = -Infinity;
    this.#events = 0;
  }

  spend(day: number, channel: number, amount: number): void {
    this.#hash.update(`s${day},${channel},${amount};`);
    const cell = `${day},${channel}`;
    if (!Number.isInteger(day) || day < 0 || day >= this.#shop.days || !this.#shop.channels[channel]?.paid)
      this.faults.add(`spend of no paid channel and day: ${cell}`);
    if (!(amount >= 0) || !isMoney(amount)) this.faults.add(`spend of ${amount}`);
    if (this.#spent.has(cell)) this.faults.add(`spend of ${cell} came twice`);
    this.#spent.add(cell);
  }

  /** Once all rows came. */
  digest(): string {
    if (this.#events > 0) this.faults.add('rows at the end belong to nobody');
    if (this.#users.size === 0) this.faults.add('there are no rows');
    return this.#hash.digest('hex');
  }
}

const isMoney = (value: number): boolean => Math.abs(value * 100 - Math.round(value * 100)) < 1e-6;

/** What is wrong with a simulated shop, in words; empty where nothing is. `make` gives it anew each time. */
export function faultsOf(make: () => SimulatedShop): string[] {
  const shop = make();
  const rows = new RowInspection(shop);
  const truth = shop.runWithTruth(rows);
  const again = make();
  const rowsAgain = new RowInspection(again);
  const truthAgain = again.runWithTruth(rowsAgain);
  const rowsPlanned = new RowInspection(again);
  const asItIs = again.run({}, rowsPlanned);
  const digest = rows.digest();
  const faults = new Set([...rows.faults, ...rowsPlanned.faults]);
  if (rowsAgain.digest() !== digest || JSON.stringify(truthAgain) !== JSON.stringify(truth))
    faults.add('the shop is not the same twice');
  if (rowsPlanned.digest() !== digest) faults.add('run({}) gives other rows than runWithTruth');
  const factual = { orders: truth.orders, revenue: truth.revenue };
  if (differ(asItIs, factual)) faults.add(`run({}) is ${told(asItIs)}, the truth's outcome ${told(factual)}`);
  for (const fault of [...faultsOfTruth(shop, truth), ...faultsOfPlans(shop, truth)]) faults.add(fault);
  return [...faults];
}

function faultsOfTruth({ channels, traits }: SimulatedShop, { revenue, switchOff, total }: Truth): string[] {
  const parts = channels.map(({ name, paid }, c) => ({ name, paid, lost: switchOff[c]! }));
  return [
    ...(total.orders <= 0 && !traits.includes('nothing_works') ? ['advertising brings nothing'] : []),
    ...parts
      .filter(({ paid, lost }) => !paid && (lost.orders !== 0 || lost.revenue !== 0))
      .map(({ name }) => `${name} is unpaid and has a truth`),
    ...[...parts, { name: 'all', lost: total }]
      .filter(({ lost }) => traits.includes('nothing_works') && Math.abs(lost.revenue) > NOTHING * revenue)
      .map(({ name, lost }) => `${name} brings ${told(lost)} though nothing works`),
  ];
}

/** What plans bring, against the truth: without the channel that brings most, without any, and under a holdout. */
function faultsOfPlans(shop: SimulatedShop, truth: Truth): string[] {
  const faults: string[] = [];
  const paid = shop.channels.flatMap((channel, c) =>
    channel.paid ? [{ name: channel.name, lost: truth.switchOff[c]! }] : [],
  );
  const most = paid.toSorted((a, b) => b.lost.revenue - a.lost.revenue)[0]!;
  const without = (name: string, channels: readonly { name: string }[], lost: Outcome): void => {
    const { orders, revenue } = shop.run({ spend: Object.fromEntries(channels.map((channel) => [channel.name, 0])) });
    const found = { orders: truth.orders - orders, revenue: truth.revenue - revenue };
    if (differ(found, lost)) faults.push(`without ${name}: truth ${told(lost)}, by the plan ${told(found)}`);
  };
  without(most.name, [most], most.lost);
  without('any', paid, truth.total);
  const everybody = shop.run({ holdout: { channels: [most.name], share: 1, fromDay: 0, toDay: shop.days } });
  const heldBack = { orders: truth.orders - everybody.orders, revenue: truth.revenue - everybody.revenue };
  if (differ(heldBack, most.lost))
    faults.push(`${most.name} withheld from everybody: truth ${told(most.lost)}, by the plan ${told(heldBack)}`);
  const all = paid.map(({ name }) => name);
  const ofAll = shop.run({ holdout: { channels: all, share: 1, fromDay: 0, toDay: shop.days } });
  const heldBackOfAll = { orders: truth.orders - ofAll.orders, revenue: truth.revenue - ofAll.revenue };
  if (differ(heldBackOfAll, truth.total))
    faults.push(`all withheld from everybody: truth ${told(truth.total)}, by the plan ${told(heldBackOfAll)}`);
  const { arms } = shop.run({ holdout: { channels: [most.name], share: 0.5, fromDay: 7, toDay: shop.days - 7 } });
  const people = (arms?.heldOut.people ?? 0) + (arms?.others.people ?? 0);
  if (people !== shop.people) faults.push(`arms of a holdout have ${people} people of ${shop.people}`);
  return faults;
}

/** Sums of money differ by rounding alone. */
const differ = (a: Outcome, b: Outcome): boolean => a.orders !== b.orders || Math.abs(a.revenue - b.revenue) > 0.005;
const told = ({ orders, revenue }: Outcome): string => `${orders} orders of ${revenue.toFixed(2)}`;
