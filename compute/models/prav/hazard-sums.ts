import { NO_CHANNEL } from '../../journey-tables.ts';
import type { EventTable } from '../../journey-tables.ts';
import type { Checkpoint } from '../../outcome.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';
import { estimationEnd } from './exposure-sums.ts';
import { hazardDesign, momentWeight, WINDOW_ENDS } from './hazard-design.ts';
import type { HazardDesign } from './hazard-design.ts';

const USERS_PER_CHECK = 512;

/**
 * Normal equations of two additive hazards (Aalen 1989; Lin & Ying 1994), per cell of users, row-major: x(t) counts the
 * user's touches whose window holds t, and w(t) is the weight of the moment (hazard-design); `gram` = ∫ w·x·xᵀ dt in
 * days (a pair stands once, in either order), `orders` and `visits` = Σ w·x at conversions and at unpaid visits.
 */
export interface HazardSums {
  readonly cells: number;
  readonly design: HazardDesign;
  readonly gram: Float64Array;
  readonly orders: Float64Array;
  readonly visits: Float64Array;
  /** cells × channels: touches, each counting the part of its horizon that lies in the requested range */
  readonly touches: Float64Array;
}

function longestUser(userStart: Uint32Array): number {
  let longest = 0;
  for (let user = 1; user < userStart.length; user++)
    longest = Math.max(longest, userStart[user]! - userStart[user - 1]!);
  return longest;
}

/**
 * One pass over the sorted events: six sorted streams per user (window starts and ends, conversions, visits) are
 * merged. A pair of columns is added to `gram` when one of the two changes, for all the time since either did: a change
 * costs as much as there are columns at the time, not pairs of them, however many touches of one user overlap.
 */
export function sumHazards(table: EventTable, options: RunOptions, cells: number, checkpoint: Checkpoint): HazardSums {
  const { userStart, userHash, timeS, channel, conversion } = table;
  const { isBaseline, horizonS, gapS, rangeStartS } = options;
  const channels = table.channels.length;
  const design = hazardDesign(channels, options);
  const { columns, columnOf } = design;
  const gram = new Float64Array(cells * columns * columns);
  const orders = new Float64Array(cells * columns);
  const visits = new Float64Array(cells * columns);
  const touches = new Float64Array(cells * channels);

  const end = estimationEnd(options);
  const rangeEnd = Math.min(options.rangeEndS, options.observedUntilS);
  const [firstEnd, halfEnd] = [WINDOW_ENDS[0] * horizonS, WINDOW_ENDS[1] * horizonS];
  const longest = longestUser(userStart) + 1;
  const weightOf = Float64Array.from({ length: longest }, (_, touches) => momentWeight(touches));
  const touchTime = new Float64Array(longest);
  const touchColumn = new Uint16Array(longest);
  const visitTime = new Float64Array(longest);
  const orderTime = new Float64Array(longest);
  // The columns with windows that hold the present moment (the constant first), how many, when that changed last, and
  // where each column stands; 0 = nowhere.
  const active = new Uint16Array(columns);
  const level = new Float64Array(columns);
  const since = new Float64Array(columns);
  const place = new Uint16Array(columns);
  /**
   * Adds the pairs of the column at `at` and those at 0 … `last`. `elapsed`: weighted days of the user, as in `since`.
   */
  const addPairs = (gramRow: number, at: number, last: number, elapsed: number): void => {
    const row = gramRow + active[at]! * columns;
    const here = level[at]!;
    const from = since[at]!;
    for (let q = 0; q <= last; q++) {
      const start = since[q]! > from ? since[q]! : from;
      gram[row + active[q]!]! += here * level[q]! * (elapsed - start);
    }
  };
  const users = userHash.length;

  for (let user = 0; user < users; user++) {
    if (user % USERS_PER_CHECK === 0) checkpoint(user / users);
    const begin = userStart[user]!;
    const stop = userStart[user + 1]!;
    const first = begin < stop ? timeS[begin]! : Infinity;
    if (first >= end) continue;
    const cell = userHash[user]! % cells;
    const row = cell * channels;
    let touched = 0;
    let visited = 0;
    let ordered = 0;
    for (let i = begin; i < stop; i++) {
      const t = timeS[i]!;
      if (t > end) break;
      const x = channel[i]!;
      if (conversion[i] === 1) orderTime[ordered++] = t;
      else if (x !== NO_CHANNEL) {
        touchTime[touched] = t;
        touchColumn[touched++] = columnOf[x]!;
        touches[row + x]! += Math.max(0, Math.min(t + horizonS, rangeEnd) - Math.max(t, rangeStartS)) / horizonS;
        if (isBaseline[x] === 1) visitTime[visited++] = t;
      }
    }
    touchTime[touched] = Infinity;
    visitTime[visited] = Infinity;
    orderTime[ordered] = Infinity;

    // The merge. A window (a, b] holds neither its start nor what comes after its end: outcomes of one instant come
    // first.
    const gramRow = cell * columns * columns;
    const crossRow = cell * columns;
    active[0] = 0;
    level[0] = 1;
    since[0] = 0;
    let elapsed = 0;
    let size = 1;
    let now = first;
    let [starts, firstEnds, halfEnds, ends, ordersSeen, visitsSeen] = [0, 0, 0, 0, 0, 0];
    let start = touchTime[0]!;
    let finish = start + horizonS;
    let firstStop = touchTime[0]! + firstEnd;
    let halfStop = touchTime[0]! + halfEnd;
    let order = orderTime[0]! - gapS;
    let visit = visitTime[0]! - gapS;
    for (;;) {
      // Touches whose horizon has begun and not ended.
      const weight = weightOf[starts - ends]!;
      const next = Math.min(start, firstStop, halfStop, finish, order, visit);
      const until = next < end ? next : end;
      if (until > now) {
        elapsed += (weight * (until - now)) / DAY_S;
        now = until;
      }
      if (next >= end) break;
      let up = -1;
      let down = -1;
      if (order === next) {
        if (next >= first) for (let p = 0; p < size; p++) orders[crossRow + active[p]!]! += weight * level[p]!;
        order = orderTime[++ordersSeen]! - gapS;
        continue;
      } else if (visit === next) {
        if (next >= first) for (let p = 0; p < size; p++) visits[crossRow + active[p]!]! += weight * level[p]!;
        visit = visitTime[++visitsSeen]! - gapS;
        continue;
      } else if (finish === next) {
        down = touchColumn[ends]! + 2;
        finish = touchTime[++ends]! + horizonS;
      } else if (halfStop === next) {
        down = touchColumn[halfEnds]! + 1;
        up = down + 1;
        halfStop = touchTime[++halfEnds]! + halfEnd;
      } else if (firstStop === next) {
        down = touchColumn[firstEnds]!;
        up = down + 1;
        firstStop = touchTime[++firstEnds]! + firstEnd;
      } else {
        up = touchColumn[starts]!;
        start = touchTime[++starts]!;
      }
      if (up >= 0) {
        const at = place[up]!;
        if (at !== 0) {
          addPairs(gramRow, at, size - 1, elapsed);
          level[at]! += 1;
          since[at] = elapsed;
        } else {
          place[up] = size;
          active[size] = up;
          since[size] = elapsed;
          level[size++] = 1;
        }
      }
      if (down >= 0) {
        const at = place[down]!;
        addPairs(gramRow, at, size - 1, elapsed);
        since[at] = elapsed;
        if (level[at]! > 1) level[at]! -= 1;
        else {
          place[down] = 0;
          size--;
          if (at < size) {
            active[at] = active[size]!;
            level[at] = level[size]!;
            since[at] = since[size]!;
            place[active[at]!] = at;
          }
        }
      }
    }
    for (let p = 0; p < size; p++) {
      addPairs(gramRow, p, p, elapsed);
      place[active[p]!] = 0;
    }
  }
  return { cells, design, gram, orders, visits, touches };
}

/**
 * Adds up cells to fewer: cell mod `modulus`, a divisor of the number of cells. `throwIfCancelled` ends a task that was
 * cancelled.
 */
export function regroupHazards(sums: HazardSums, modulus: number, throwIfCancelled: () => void): HazardSums {
  const fold = (rows: Float64Array): Float64Array => {
    const width = rows.length / sums.cells;
    const folded = new Float64Array(width * modulus);
    for (let cell = 0; cell < sums.cells; cell++) {
      throwIfCancelled();
      const [from, into] = [cell * width, (cell % modulus) * width];
      for (let i = 0; i < width; i++) folded[into + i]! += rows[from + i]!;
    }
    return folded;
  };
  return {
    cells: modulus,
    design: sums.design,
    gram: fold(sums.gram),
    orders: fold(sums.orders),
    visits: fold(sums.visits),
    touches: fold(sums.touches),
  };
}
