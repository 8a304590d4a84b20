import type { EventTable } from '../../journey-tables.ts';
import type { Checkpoint } from '../../outcome.ts';
import { DAY_S, type RunOptions } from '../../run-options.ts';

/** Days that a test may last: whole weeks, so that every day of the week counts alike. */
export const TEST_DAYS = [14, 28, 56, 84] as const;
/** A range tells of tests up to so many times its own length. */
const MOST_STRETCH = 4;
/** Users between two looks at whether the run was cancelled. */
const USERS_PER_LOOK = 50_000;

/** What a user holdout of some days would stand on. */
export interface HoldoutWindow {
  readonly days: number;
  /** Σ over people of the square of what each orders in so many days; major units, squared */
  readonly revenueSquares: number;
}

export interface HoldoutWindows {
  readonly ok: true;
  /** one per length that the range can tell of, shortest first */
  readonly windows: readonly HoldoutWindow[];
}

/**
 * Σ rᵢ² for tests of each length, rᵢ being what a person orders in its days: the mean over windows of that length that
 * lie side by side in the range, counted back from its end. Longer ones than the range are extrapolated by the power
 * that its halves show, between 1 (orders come independently) and 2 (the same people order again and again).
 * One pass, linear in events.
 */
export function holdoutWindows(
  events: EventTable,
  { rangeStartS, rangeEndS }: Pick<RunOptions, 'rangeStartS' | 'rangeEndS'>,
  checkpoint: Checkpoint,
): HoldoutWindows {
  const rangeDays = Math.round((rangeEndS - rangeStartS) / DAY_S);
  const fitting = TEST_DAYS.filter((days) => days <= rangeDays);
  const isStretched = fitting.length < TEST_DAYS.length && rangeDays >= 2;
  const halfDays = Math.floor(rangeDays / 2);
  const lengths = [...fitting, ...(isStretched ? [halfDays, rangeDays] : [])];
  const squares = squaresOf(events, rangeStartS, rangeEndS, lengths, checkpoint);
  const windows = fitting.map((days, place): HoldoutWindow => ({ days, revenueSquares: squares[place]! }));
  if (!isStretched) return { ok: true, windows };
  const [half, whole] = [squares[fitting.length]!, squares[fitting.length + 1]!];
  const power = half > 0 ? Math.log(whole / half) / Math.log(rangeDays / halfDays) : 1;
  const growth = Math.min(2, Math.max(1, power));
  const stretched = TEST_DAYS.filter((days) => days > rangeDays && days <= MOST_STRETCH * rangeDays);
  return {
    ok: true,
    windows: [...windows, ...stretched.map((days) => ({ days, revenueSquares: whole * (days / rangeDays) ** growth }))],
  };
}

/** Per length in days, the mean over its windows of Σ rᵢ². */
function squaresOf(
  { userStart, timeS, conversion, value }: EventTable,
  rangeStartS: number,
  rangeEndS: number,
  lengths: readonly number[],
  checkpoint: Checkpoint,
): Float64Array {
  const lengthS = lengths.map((days) => days * DAY_S);
  const counts = lengthS.map((length) => Math.floor((rangeEndS - rangeStartS) / length));
  const sums = new Float64Array(lengths.length);
  const current = new Int32Array(lengths.length);
  const revenue = new Float64Array(lengths.length);
  const users = userStart.length - 1;
  let order = 0;
  for (let user = 0; user < users; user++) {
    if (user % USERS_PER_LOOK === 0) checkpoint(user / users);
    let hasOrdered = false;
    for (let i = userStart[user]!; i < userStart[user + 1]!; i++) {
      if (conversion[i] !== 1) continue;
      const amount = value[order++]!;
      const beforeEndS = rangeEndS - timeS[i]!;
      if (beforeEndS <= 0 || timeS[i]! < rangeStartS) continue;
      hasOrdered = true;
      for (let l = 0; l < lengths.length; l++) {
        // Windows are [end − length, end): the moment of an end belongs to the next one.
        const window = Math.ceil(beforeEndS / lengthS[l]!) - 1;
        if (window !== current[l]!) {
          sums[l]! += revenue[l]! ** 2;
          revenue[l] = 0;
          current[l] = window;
        }
        if (window < counts[l]!) revenue[l]! += amount;
      }
    }
    if (!hasOrdered) continue;
    for (let l = 0; l < lengths.length; l++) sums[l]! += revenue[l]! ** 2;
    revenue.fill(0);
    current.fill(0);
  }
  return sums.map((sum, l) => (counts[l]! > 0 ? sum / counts[l]! : 0));
}
