/** What an interval and identification allow to be said of what a channel, or all of them, brought against its cost. */
export const VERDICTS = ['pays', 'adds', 'loses', 'harms', 'open', 'unmeasured', 'unjudged'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Ends of an interval at confidence `level`. Money in major units. */
export interface Interval {
  readonly lower: number;
  readonly upper: number;
  /** In (0, 1). */
  readonly level: number;
}

/** What a verdict is drawn from, and nothing else. */
export interface Ground {
  /** Revenue of the range that pays for its spend, major units; 0 where no spend is recorded. */
  readonly breakEven: number;
  /** Of the incremental revenue. */
  readonly interval: Interval | null;
  /** Whether the rows say anything of the effect: its identification is not `none`. */
  readonly isMeasurable: boolean;
  /** Whether the intervals of the result are of effects, and hold them as often as they say. */
  readonly isJudged: boolean;
  /** Whether the rows are good enough for any answer. */
  readonly isSound: boolean;
}

/**
 * The one rule by which everything that is said of a channel is drawn:
 * - `harms`: the whole interval lies below 0;
 * - `loses`: its upper end is below break-even;
 * - `pays`: its lower end is above break-even;
 * - `adds`: its lower end is above 0, and no spend is recorded to hold it against;
 * - `unmeasured`: the rows say nothing of the effect;
 * - `unjudged`: the result measures no effects, or with intervals that are too narrow to judge by;
 * - `open`: none of these can be told.
 */
export function verdictOf({ breakEven, interval, isMeasurable, isJudged, isSound }: Ground): Verdict {
  if (!isJudged) return 'unjudged';
  if (!isMeasurable) return 'unmeasured';
  if (!isSound || interval === null) return 'open';
  const { lower, upper } = interval;
  if (upper < 0) return 'harms';
  if (breakEven > 0) return upper < breakEven ? 'loses' : lower > breakEven ? 'pays' : 'open';
  return lower > 0 ? 'adds' : 'open';
}

/** What a verdict is called in a table. */
export const VERDICT_NAMES: Readonly<Record<Verdict, string>> = {
  pays: 'earns more than it costs',
  adds: 'adds revenue',
  loses: 'below break-even',
  harms: 'takes revenue away',
  open: 'can’t be told',
  unmeasured: 'not measurable',
  unjudged: 'not judged',
};
