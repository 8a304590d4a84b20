import { DAY_S } from '../../compute/run-options.ts';
import type { AnalysisFigures } from '../../subgraphs/attribution/analysis/attributions/figures.ts';
import { designsOfFigures } from '../../subgraphs/attribution/analysis/designs/designs-of-figures.ts';
import { proRate, type RangeExperiment } from '../../subgraphs/attribution/analysis/experiments/range-experiments.ts';
import { analysisOf, type Rows } from './estimate-world.ts';
import { rowsAndWhatIsTold, rowsOf } from './shop-record.ts';
import type { Outcome, SimulatedShop } from './simulators/simulator.ts';

/** What one suggested holdout of all channels did to what a shop's analysis says of its total. Major units. */
export interface HoldoutRecord {
  readonly name: string;
  readonly simulator: string;
  readonly revenue: number;
  /** all paid channels off, in the world without a test, and in the one with it */
  readonly truth: number;
  readonly truthTested: number;
  /** credited to all channels without the test, and with it */
  readonly before: number;
  readonly after: number;
  /** what the design asked for, as far as the shop's days reach */
  readonly share: number;
  readonly days: number;
  readonly promisedError: number;
  /** of the whole shop in the days of the test: as measured, and as it truly was */
  readonly measured: number;
  readonly trueEffect: number;
  /** spend that leaves no touches, which no holdout reaches */
  readonly hasUntracked: boolean;
}

const dayOf = (timeS: number): string => new Date(timeS * 1000).toISOString().slice(0, 10);

/** Null where nothing can be held out. */
export async function holdoutRecord(simulator: string, shop: SimulatedShop): Promise<HoldoutRecord | null> {
  const { rows, truth } = rowsOf(shop);
  const { figures } = await analysisOf(rows);
  const range = { start: dayOf(shop.startS), end: dayOf(shop.startS + (shop.days - 1) * DAY_S) };
  const design = designsOfFigures(figures, range, 0.8).designs.find(({ channels }) => channels.length > 1);
  if (design === undefined) return null;
  const { channels, shareHeldOut: share, durationDays, expectedStandardError } = design;
  // The shop ends with its window: a longer test is cut to it.
  const days = Math.min(durationDays, shop.days);
  const holdout = { channels, share, fromDay: shop.days - days, toDay: shop.days };
  const tested = rowsAndWhatIsTold(shop, (sink) => shop.run({ holdout }, sink));
  const measured = differenceOfArms(tested.told, shop.people);
  const fromEverybody = shop.run({ holdout: { ...holdout, share: 1 } });
  const inDays = revenueFrom(rows, shop.startS + holdout.fromDay * DAY_S);
  const promisedError = expectedStandardError * Math.sqrt(days / durationDays);
  // What the channels added to the shop as it was: nothing to those who were held out.
  const effect = { incrementalRevenue: (1 - share) * measured, standardError: (1 - share) * promisedError };
  const experiment: RangeExperiment = {
    measured: {
      id: 'exp_1',
      channels,
      method: 'holdout',
      period: { start: dayOf(shop.startS + holdout.fromDay * DAY_S), end: range.end },
      ...effect,
    },
    basis: 'touches',
    inRange: proRate(effect, touchesOf(tested.rows, channels, shop.startS + holdout.fromDay * DAY_S)),
  };
  const calibrated = await analysisOf(tested.rows, [experiment]);
  const untouched = truth.revenue - truth.total.revenue;
  return {
    name: shop.name,
    simulator,
    revenue: truth.revenue,
    truth: truth.total.revenue,
    truthTested: tested.told.revenue - untouched,
    before: creditOf(figures),
    after: creditOf(calibrated.figures),
    share,
    days,
    promisedError,
    measured,
    trueEffect: inDays - fromEverybody.arms!.heldOut.revenue,
    hasUntracked: shop.channels.some(({ paid, tracked }) => paid && !tracked),
  };
}

/** Both arms scaled to the whole shop. */
function differenceOfArms({ arms }: Outcome, people: number): number {
  const { heldOut, others } = arms!;
  return people * (others.revenue / others.people - heldOut.revenue / heldOut.people);
}

function creditOf({ channels }: AnalysisFigures): number {
  return channels.reduce((sum, each) => sum + (each.isBaseline ? 0 : each.attributedRevenueCents / 100), 0);
}

function revenueFrom({ events: { timeS, conversion, value } }: Rows, fromS: number): number {
  let order = 0;
  let revenue = 0;
  for (let i = 0; i < timeS.length; i++) {
    if (conversion[i] !== 1) continue;
    const amount = value[order++]!;
    if (timeS[i]! >= fromS) revenue += amount;
  }
  return revenue;
}

/** Touches of some channels in the whole window and in the days of the test, which end with it. */
function touchesOf({ events }: Rows, channels: readonly string[], fromS: number) {
  const wanted = Uint8Array.from(events.channels, (name) => (channels.includes(name) ? 1 : 0));
  let [period, range] = [0, 0];
  for (let i = 0; i < events.timeS.length; i++) {
    if (events.conversion[i] === 1 || wanted[events.channel[i]!] !== 1) continue;
    range += 1;
    if (events.timeS[i]! >= fromS) period += 1;
  }
  return { period, range, both: period };
}
