import { deviationOf, meanOf, medianOf } from './accuracy.ts';
import { barsOf, claimedTotal, errorsOf, intervalsOf, works } from './summary.ts';
import type { Bar, ErrorSummary, IntervalSummary } from './summary.ts';
import type { WorldRecord } from './world-record.ts';

/** The causal model on the same worlds at one number of customers. */
export interface SizeSummary {
  readonly users: number;
  /** those in which something works, and the median of their orders */
  readonly worlds: number;
  readonly orders: number;
  readonly errors: ErrorSummary;
  /** of the mean absolute error of the total, over the worlds */
  readonly totalErrorSe: number;
  readonly markovShareError: number;
  readonly lastClickShareError: number;
  readonly intervals: IntervalSummary;
  /** the part of channels without effect, in all worlds, that is called significant; null where there are none */
  readonly falsePositives: number | null;
  /** where nothing works, as a part of revenue; null without such worlds */
  readonly claimed: number | null;
  readonly bars: readonly Bar[];
}

/**
 * The worlds of `smaller` at their own sizes and, from `judged`, at full size; smallest first. A world is known by its
 * seed.
 */
export function worldsBySize(
  judged: readonly WorldRecord[],
  smaller: readonly WorldRecord[],
): readonly (readonly WorldRecord[])[] {
  const seeds = new Set(smaller.map(({ seed }) => seed));
  const same = [...smaller, ...judged.filter(({ seed }) => seeds.has(seed))];
  return [...Map.groupBy(same, ({ users }) => users)].toSorted(([a], [b]) => a - b).map(([, some]) => some);
}

export function summaryOfSize(records: readonly WorldRecord[]): SizeSummary {
  const working = records.filter(works);
  const idle = records.filter((record) => !works(record));
  const errors = errorsOf(working, 'causal');
  const absolute = working.map((world) => Math.abs(claimedTotal(world, 'causal') / world.truthTotal - 1));
  return {
    users: records[0]!.users,
    worlds: working.length,
    orders: medianOf(working.map(({ conversions }) => conversions)),
    errors,
    totalErrorSe: deviationOf(absolute) / Math.sqrt(absolute.length),
    markovShareError: errorsOf(working, 'markov_1').shareError,
    lastClickShareError: errorsOf(working, 'last_click').shareError,
    intervals: intervalsOf(working, 'causal'),
    falsePositives: intervalsOf(records, 'causal').falsePositives,
    claimed: idle.length === 0 ? null : meanOf(idle.map((world) => claimedTotal(world, 'causal') / world.revenue)),
    bars: barsOf(records),
  };
}

const percent = (value: number | null): string => (value === null ? '–' : `${(100 * value).toFixed(1)} %`);
const customers = ({ users }: SizeSummary): string => users.toLocaleString('en');

/** Rows of the table: a size each. */
export const sizeRows = (sizes: readonly SizeSummary[]): string[][] =>
  sizes.map((size) => [
    customers(size),
    Math.round(size.orders).toLocaleString('en'),
    `${percent(size.errors.totalError)} ± ${(100 * size.totalErrorSe).toFixed(1)}`,
    percent(size.errors.totalBias),
    size.errors.shareError.toFixed(3),
    size.markovShareError.toFixed(3),
    percent(size.intervals.coverage),
    percent(size.intervals.width),
    percent(size.intervals.power),
    percent(size.falsePositives),
    percent(size.claimed),
    `${size.bars.filter(({ met }) => met).length} of ${size.bars.length}`,
  ]);
export const SIZE_COLUMNS = [
  'customers',
  'orders, median',
  'error of the total',
  'signed',
  'share error',
  'Markov 1',
  'coverage',
  'mean width',
  'power',
  'significant without effect',
  'claimed where nothing works',
  'bars met',
] as const;

/** What the table says, in words that follow from it. */
export function sizeFindings(sizes: readonly SizeSummary[]): string {
  const [least, most] = [sizes[0]!, sizes.at(-1)!];
  const part = (of: (size: SizeSummary) => number): string => (of(most) / of(least)).toFixed(2);
  const behind = sizes.filter((size) => size.errors.shareError >= size.markovShareError);
  const missed = sizes.map(
    (size) =>
      `${customers(size)}: ${
        size.bars
          .filter(({ met }) => !met)
          .map(({ name }) => name.split(/[:,]/)[0]!)
          .join(', ') || 'none'
      }`,
  );
  return [
    `From ${customers(least)} to ${customers(most)} customers the error of the total comes to ` +
      `${part(({ errors }) => errors.totalError)} of what it was, where noise alone would come to ` +
      `${Math.sqrt(least.users / most.users).toFixed(2)}: more customers shrink the noise and leave the rest, ` +
      `which an experiment can settle.`,
    `The share error comes to ${part(({ errors }) => errors.shareError)}, that of Markov to ` +
      `${part(({ markovShareError }) => markovShareError)}.`,
    behind.length === 0
      ? 'At every size the causal model divides the credit better than Markov.'
      : `Markov divides better with ${behind.map(customers).join(', ')} customers.`,
    `Bars missed on these worlds, by customers: ${missed.join('; ')}.`,
  ].join(' ');
}
