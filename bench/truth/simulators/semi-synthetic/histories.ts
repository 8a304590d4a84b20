import { readFileSync } from 'node:fs';

/** Real purchase histories of real people: see README.md for origin and licence. */
export interface Histories {
  readonly people: number;
  /** first[p] … first[p + 1] − 1 are the purchases of person p, in the order of time */
  readonly first: Int32Array;
  /** minutes since the file's first day, midnight */
  readonly minute: Int32Array;
  /** relative to the median purchase, capped */
  readonly value: Float64Array;
  /** minutes of the day of all purchases, sorted: their empirical distribution */
  readonly minuteOfDay: Int32Array;
  /** gaps of half a day to 14 days between purchases of one person, in days, sorted */
  readonly shortGaps: Float64Array;
  /** purchases per day of the file, smoothed over a week, mean 1 */
  readonly season: Float64Array;
}

/** Midnight of the file's first day moved to a later year with the same days of the week: 2021-12-01. */
export const FIRST_DAY_S = Date.UTC(2021, 11, 1) / 1000;
export const DAYS_OF_FILE = 374;
/** Times wrap around after whole weeks. */
export const WRAP_DAYS = 378;
const MOST_VALUE = 12;

let loaded: Histories | undefined;

function seasonOf(minute: Int32Array): Float64Array {
  const perDay = new Float64Array(DAYS_OF_FILE);
  for (const m of minute) {
    const day = Math.floor(m / 1440);
    if (day < DAYS_OF_FILE) perDay[day]! += DAYS_OF_FILE / minute.length;
  }
  return perDay.map((_, day) => {
    let sum = 0;
    // the file ends in the middle of a week and the shop rests over new year: blend towards the mean
    for (let k = -7; k < 7; k += 1) sum += perDay[Math.min(DAYS_OF_FILE - 8, Math.max(7, day + k))] ?? 1;
    return 0.15 + 0.85 * (sum / 14);
  });
}

/** Reads the file once. */
export function histories(): Histories {
  if (loaded) return loaded;
  const text = readFileSync(new URL('./data/histories.txt', import.meta.url), 'utf8');
  const lines = text.trim().split('\n');
  const first = new Int32Array(lines.length + 1);
  const minutes: number[] = [];
  const values: number[] = [];
  const gaps: number[] = [];
  lines.forEach((line, person) => {
    const fields = line.split(' ');
    let at = 0;
    for (let k = 0; k < fields.length; k += 2) {
      const gap = parseInt(fields[k] ?? '0', 36);
      at += gap;
      if (k > 0 && gap >= 720 && gap <= 14 * 1440) gaps.push(gap / 1440);
      minutes.push(at);
      values.push(parseInt(fields[k + 1] ?? '1', 36));
    }
    first[person + 1] = minutes.length;
  });
  const median = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 1;
  const minute = Int32Array.from(minutes);
  loaded = {
    people: lines.length,
    first,
    minute,
    value: Float64Array.from(values, (v) => Math.min(MOST_VALUE, v / median)),
    minuteOfDay: minute.map((m) => m % 1440).toSorted(),
    shortGaps: Float64Array.from(gaps).toSorted(),
    season: seasonOf(minute),
  };
  return loaded;
}

/** Quantile of a sorted sample. */
export function quantile(sorted: Int32Array | Float64Array, p: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? 0;
}
