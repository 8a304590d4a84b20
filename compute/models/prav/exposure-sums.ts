import { NO_CHANNEL } from '../../journey-tables.ts';
import type { EventTable } from '../../journey-tables.ts';
import type { Checkpoint } from '../../outcome.ts';
import type { RunOptions } from '../../run-options.ts';

/** Sums over the exposures of a set of users; arrays have one entry per channel. */
export interface ExposureSums {
  /** exposures with full follow-up, the conversions and the unpaid visits that followed them */
  readonly exposures: Float64Array;
  readonly conversionsAfter: Float64Array;
  readonly visitsAfter: Float64Array;
  /** touches in the requested range */
  readonly touches: Float64Array;
  /** the scalars below, by `Scalar` */
  readonly scalars: Float64Array;
}

/** Entries of `scalars`. Times in seconds. */
export const Scalar = {
  /** person-time at risk, and its parts within reach of a later conversion or visit */
  personTime: 0,
  conversionTime: 1,
  visitTime: 2,
  /** of the whole estimation window */
  conversions: 3,
  revenue: 4,
  /** of the requested range */
  rangeConversions: 5,
  rangeRevenue: 6,
  /** of those, with a touch within the lookback and since the previous conversion: what marketing can have caused */
  touchedConversions: 7,
  touchedRevenue: 8,
} as const;
const SCALARS = 9;

/** Sums over the exposures of each segment and channel, segments × K, row-major. */
export type SegmentSums = Omit<ExposureSums, 'scalars'>;

/**
 * Sums per cell of users (cell = hash mod cells), row-major; and per segment of each segmentation that is asked for.
 */
export interface CellSums {
  readonly cells: number;
  readonly channels: number;
  readonly exposures: Float64Array;
  readonly conversionsAfter: Float64Array;
  readonly visitsAfter: Float64Array;
  readonly touches: Float64Array;
  readonly scalars: Float64Array;
  readonly segments: readonly SegmentSums[];
}

/** A segmentation of the events: by period, by campaign, … */
export interface Segments {
  /** per event; an index ≥ count belongs to no segment */
  readonly of: Uint16Array | Uint32Array;
  readonly count: number;
}

const USERS_PER_CHECK = 512;

/** The estimation window ends where its last touches have been followed for the whole horizon. */
export const estimationEnd = ({ observedUntilS, rangeEndS, horizonS }: RunOptions): number =>
  Math.min(observedUntilS, rangeEndS + horizonS);

function longestUser(userStart: Uint32Array): number {
  let longest = 0;
  for (let user = 1; user < userStart.length; user++)
    longest = Math.max(longest, userStart[user]! - userStart[user - 1]!);
  return longest;
}

/** Length of the overlap of [from, to] with [low, high]. */
const overlap = (from: number, to: number, low: number, high: number): number =>
  Math.max(0, Math.min(to, high) - Math.max(from, low));

/**
 * Steps 1 and 2 of PRAV in one pass over the sorted events: for each exposure, the user's conversions in (t, t + H] and
 * unpaid visits in (t + g, t + g + w], by two moving windows; person-time within reach of conversions and visits,
 * exactly.
 */
export function sumExposures(
  table: EventTable,
  options: RunOptions,
  cells: number,
  segmentations: readonly Segments[],
  checkpoint: Checkpoint,
): CellSums {
  const { userStart, userHash, timeS, channel, conversion, value } = table;
  const { rangeStartS, rangeEndS, lookbackS, horizonS, gapS, placeboWindowS, isBaseline } = options;
  const channels = table.channels.length;
  const end = estimationEnd(options);
  const lastExposure = end - horizonS;
  const matrix = (rows: number): Float64Array => new Float64Array(rows * channels);
  const exposures = matrix(cells);
  const conversionsAfter = matrix(cells);
  const visitsAfter = matrix(cells);
  const touches = matrix(cells);
  const scalars = new Float64Array(cells * SCALARS);
  const segments = segmentations.map(({ count }) => ({
    exposures: matrix(count),
    conversionsAfter: matrix(count),
    visitsAfter: matrix(count),
    touches: matrix(count),
  }));
  const longest = longestUser(userStart);
  const conversionTimes = new Float64Array(longest);
  const visitTimes = new Float64Array(longest);
  const users = userHash.length;
  let valueIndex = 0;

  for (let user = 0; user < users; user++) {
    if (user % USERS_PER_CHECK === 0) checkpoint(user / users);
    const begin = userStart[user]!;
    const stop = userStart[user + 1]!;
    if (begin === stop) continue;
    const cell = userHash[user]! % cells;
    const row = cell * channels;
    const scalar = cell * SCALARS;
    const first = timeS[begin]!;
    const atRisk = first < lastExposure;
    if (atRisk) scalars[scalar + Scalar.personTime]! += lastExposure - first;

    let conversions = 0;
    let visits = 0;
    let lastTouch = -Infinity;
    for (let i = begin; i < stop; i++) {
      const t = timeS[i]!;
      if (conversion[i] === 1) {
        const revenue = value[valueIndex++]!;
        const touched = channel[i] !== NO_CHANNEL || lastTouch >= t - lookbackS;
        lastTouch = -Infinity;
        if (t > end) continue;
        scalars[scalar + Scalar.conversions]! += 1;
        scalars[scalar + Scalar.revenue]! += revenue;
        if (t >= rangeStartS && t < rangeEndS) {
          scalars[scalar + Scalar.rangeConversions]! += 1;
          scalars[scalar + Scalar.rangeRevenue]! += revenue;
          if (touched) {
            scalars[scalar + Scalar.touchedConversions]! += 1;
            scalars[scalar + Scalar.touchedRevenue]! += revenue;
          }
        }
        conversionTimes[conversions++] = t;
        if (atRisk) scalars[scalar + Scalar.conversionTime]! += overlap(t - horizonS, t, first, lastExposure);
        continue;
      }
      lastTouch = t;
      if (t <= end && isBaseline[channel[i]!] === 1) {
        visitTimes[visits++] = t;
        if (atRisk)
          scalars[scalar + Scalar.visitTime]! += overlap(t - gapS - placeboWindowS, t - gapS, first, lastExposure);
      }
    }

    let conversionsFrom = 0;
    let conversionsTo = 0;
    let visitsFrom = 0;
    let visitsTo = 0;
    for (let i = begin; i < stop; i++) {
      const x = channel[i]!;
      if (conversion[i] === 1 || x === NO_CHANNEL) continue;
      const t = timeS[i]!;
      if (t >= rangeStartS && t < rangeEndS) {
        touches[row + x]! += 1;
        for (let s = 0; s < segments.length; s++) {
          const segment = segmentations[s]!.of[i]!;
          if (segment < segmentations[s]!.count) segments[s]!.touches[segment * channels + x]! += 1;
        }
      }
      if (t > lastExposure) continue;
      while (conversionsFrom < conversions && conversionTimes[conversionsFrom]! <= t) conversionsFrom++;
      while (conversionsTo < conversions && conversionTimes[conversionsTo]! <= t + horizonS) conversionsTo++;
      while (visitsFrom < visits && visitTimes[visitsFrom]! <= t + gapS) visitsFrom++;
      while (visitsTo < visits && visitTimes[visitsTo]! <= t + gapS + placeboWindowS) visitsTo++;
      exposures[row + x]! += 1;
      conversionsAfter[row + x]! += conversionsTo - conversionsFrom;
      visitsAfter[row + x]! += visitsTo - visitsFrom;
      for (let s = 0; s < segments.length; s++) {
        const segment = segmentations[s]!.of[i]!;
        if (segment >= segmentations[s]!.count) continue;
        const sums = segments[s]!;
        sums.exposures[segment * channels + x]! += 1;
        sums.conversionsAfter[segment * channels + x]! += conversionsTo - conversionsFrom;
        sums.visitsAfter[segment * channels + x]! += visitsTo - visitsFrom;
      }
    }
  }
  return { cells, channels, exposures, conversionsAfter, visitsAfter, touches, scalars, segments };
}

/** Adds up cells to fewer: cell mod `modulus`, a divisor of the number of cells. */
export function regroup(sums: CellSums, modulus: number): CellSums {
  const fold = (rows: Float64Array): Float64Array => {
    const width = rows.length / sums.cells;
    const folded = new Float64Array(modulus * width);
    for (let i = 0; i < rows.length; i++) folded[i % folded.length]! += rows[i]!;
    return folded;
  };
  return {
    ...sums,
    cells: modulus,
    exposures: fold(sums.exposures),
    conversionsAfter: fold(sums.conversionsAfter),
    visitsAfter: fold(sums.visitsAfter),
    touches: fold(sums.touches),
    scalars: fold(sums.scalars),
  };
}

/** Adds up the cells that `belongs` selects. */
export function sumOfCells(sums: CellSums, belongs: (cell: number) => boolean): ExposureSums {
  const add = (rows: Float64Array, width: number): Float64Array => {
    const total = new Float64Array(width);
    for (let cell = 0; cell < sums.cells; cell++) {
      if (belongs(cell)) for (let i = 0; i < width; i++) total[i]! += rows[cell * width + i]!;
    }
    return total;
  };
  return {
    exposures: add(sums.exposures, sums.channels),
    conversionsAfter: add(sums.conversionsAfter, sums.channels),
    visitsAfter: add(sums.visitsAfter, sums.channels),
    touches: add(sums.touches, sums.channels),
    scalars: add(sums.scalars, SCALARS),
  };
}
