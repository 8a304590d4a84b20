import { NO_CHANNEL } from '../../compute/journey-tables.ts';
import { seededRandom, shuffle } from '../../compute/numerics/random.ts';
import { fnv1a32 } from '../../subgraphs/attribution/analysis/journeys/user-hash.ts';
import { estimateRows, METHODS } from './estimate-world.ts';
import type { Estimate, Estimates, Method, Rows } from './estimate-world.ts';
import { EventColumns } from './event-columns.ts';
import type { EventSink, SimulatedShop, Trait, Truth } from './simulators/simulator.ts';

/** A channel that is judged: paid, with touches. Money in major units. */
export interface JudgedChannel {
  readonly name: string;
  readonly traits: readonly Trait[];
  readonly spend: number;
  /** what the shop would have lost without it; negative where it does harm */
  readonly truth: number;
}

/** A simulated shop and what every method said of it. Estimates follow `channels`. */
export interface ShopRecord {
  readonly name: string;
  readonly simulator: string;
  readonly traits: readonly Trait[];
  readonly people: number;
  readonly events: number;
  readonly orders: number;
  readonly revenue: number;
  /** all paid channels off, those without touches, too */
  readonly truthTotal: number;
  readonly channels: readonly JudgedChannel[];
  readonly estimates: Readonly<Record<Method, Estimate>>;
  readonly deltaR: { readonly value: number; readonly low: number; readonly high: number };
  readonly tests: Estimates['tests'];
}

/** Takes a shop's rows as columns. */
class RowColumns implements EventSink {
  readonly columns = new EventColumns();
  /** per channel, major units */
  readonly spent: number[];
  readonly touches: number[];
  readonly #encoder = new TextEncoder();

  constructor(channels: number) {
    this.spent = Array.from({ length: channels }, () => 0);
    this.touches = [...this.spent];
  }

  event(timeS: number, channel: number, isOrder: boolean, revenue: number): void {
    this.columns.event(timeS, channel < 0 ? NO_CHANNEL : channel, isOrder, revenue);
    if (channel >= 0 && !isOrder) this.touches[channel]! += 1;
  }

  endUser(userId: string): void {
    this.columns.endUser(fnv1a32(this.#encoder.encode(userId)));
  }

  spend(_day: number, channel: number, amount: number): void {
    this.spent[channel]! += amount;
  }
}

/** The rows that a shop would upload, and the truth about them. */
export function rowsOf(shop: SimulatedShop): { readonly rows: Rows; readonly truth: Truth } {
  const { told: truth, rows } = rowsAndWhatIsTold(shop, (sink) => shop.runWithTruth(sink));
  return { rows, truth };
}

/** The rows of a run of a shop, and what the run tells beside them. */
export function rowsAndWhatIsTold<Told>(
  shop: SimulatedShop,
  run: (sink: EventSink) => Told,
): { readonly rows: Rows; readonly told: Told } {
  const sink = new RowColumns(shop.channels.length);
  const told = run(sink);
  const paid = shop.channels.filter(({ paid, tracked }, c) => paid && tracked && sink.touches[c]! > 0);
  const rows: Rows = {
    name: shop.name,
    events: sink.columns.table(shop.channels.map(({ name }) => name)),
    paid: paid.map(({ name }) => name),
    startS: shop.startS,
    days: shop.days,
    spend: new Map(shop.channels.flatMap(({ name }, c) => (sink.spent[c]! > 0 ? [[name, sink.spent[c]!]] : []))),
  };
  return { rows, told };
}

/** Simulates a shop and asks every method, with its spends as they are or dealt anew among its judged channels. */
export async function recordOfShop(
  simulator: string,
  shop: SimulatedShop,
  isSpendShuffled: boolean,
): Promise<ShopRecord> {
  const { rows: asSimulated, truth } = rowsOf(shop);
  const rows = isSpendShuffled ? { ...asSimulated, spend: dealtAnew(asSimulated) } : asSimulated;
  return shopRecord(simulator, shop, rows, truth, await estimateRows(rows));
}

/** The spends of the judged channels in another order, the same one every time. */
function dealtAnew({ name, paid, spend }: Rows): ReadonlyMap<string, number> {
  const order = Int32Array.from(paid.keys());
  shuffle(order, seededRandom(fnv1a32(new TextEncoder().encode(name))));
  const dealt = paid.map((channel, c): [string, number] => [channel, spend.get(paid[order[c]!]!) ?? 0]);
  return new Map([...spend, ...dealt]);
}

function shopRecord(
  simulator: string,
  shop: SimulatedShop,
  rows: Rows,
  truth: Truth,
  estimates: Estimates,
): ShopRecord {
  const channels = rows.paid.map((name): JudgedChannel => {
    const c = shop.channels.findIndex((channel) => channel.name === name);
    const { traits } = shop.channels[c]!;
    return { name, traits, spend: rounded(rows.spend.get(name) ?? 0), truth: rounded(truth.switchOff[c]!.revenue) };
  });
  const kept = METHODS.map((method): [Method, Estimate] => {
    const { credit, low, high, identification } = estimates[method];
    const ends = low === undefined || high === undefined ? {} : { low: low.map(rounded), high: high.map(rounded) };
    return [method, { credit: credit.map(rounded), ...ends, ...(identification && { identification }) }];
  });
  return {
    name: shop.name,
    simulator,
    traits: shop.traits,
    people: shop.people,
    events: rows.events.timeS.length,
    orders: truth.orders,
    revenue: rounded(truth.revenue),
    truthTotal: rounded(truth.total.revenue),
    channels,
    estimates: Object.fromEntries(kept) as Record<Method, Estimate>,
    deltaR: {
      value: rounded(estimates.deltaR),
      low: rounded(estimates.deltaRInterval[0]),
      high: rounded(estimates.deltaRInterval[1]),
    },
    tests: estimates.tests,
  };
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
