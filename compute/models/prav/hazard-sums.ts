import type { EventTable } from '../../journey-tables.ts';
import type { Checkpoint } from '../../outcome.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';
import { estimationEnd } from './exposure-sums.ts';
import { hazardDesign, momentWeight, WINDOW_ENDS } from './hazard-design.ts';
import type { HazardDesign } from './hazard-design.ts';
import { OpenWindows } from './open-windows.ts';
import { UserStreams } from './user-streams.ts';

const USERS_PER_CHECK = 512;

/**
 * Normal equations of two additive hazards (Aalen 1989; Lin & Ying 1994), per cell of users, row-major: x(t) counts the user's touches
 * whose window holds t, and w(t) is the weight of the moment (hazard-design); `gram` = ∫ w·x·xᵀ dt in days (a pair stands once, in either
 * order), `orders` and `visits` = Σ w·x at conversions and at unpaid visits.
 */
export interface HazardSums {
  readonly cells: number;
  readonly design: HazardDesign;
  readonly gram: Float64Array;
  readonly orders: Float64Array;
  readonly visits: Float64Array;
  /** cells × channels: touches with a whole placebo window on both sides in sight, and unpaid visits after and before them */
  readonly flanked: Float64Array;
  readonly visitsAfter: Float64Array;
  readonly visitsBefore: Float64Array;
  /** cells × channels: touches, each counting the part of its horizon that lies in the requested range */
  readonly touches: Float64Array;
  /** per cell: unpaid visits and user-days in sight */
  readonly visitCount: Float64Array;
  readonly userDays: Float64Array;
}

/** Start of the data: the first event of any user. */
function earliest({ userStart, timeS }: EventTable): number {
  let start = Infinity;
  for (let user = 0; user + 1 < userStart.length; user++) if (userStart[user]! < userStart[user + 1]!) start = Math.min(start, timeS[userStart[user]!]!);
  return start;
}

/** One pass over the sorted events. */
export function sumHazards(table: EventTable, options: RunOptions, cells: number, checkpoint: Checkpoint): HazardSums {
  const pass = new HazardPass(table, options, cells);
  const users = table.userHash.length;
  for (let user = 0; user < users; user++) {
    if (user % USERS_PER_CHECK === 0) checkpoint(user / users);
    pass.addUser(user);
  }
  return pass.sums;
}

function emptySums(cells: number, channels: number, design: HazardDesign): HazardSums {
  const { columns } = design;
  const perChannel = (): Float64Array => new Float64Array(cells * channels);
  return {
    cells,
    design,
    gram: new Float64Array(cells * columns * columns),
    orders: new Float64Array(cells * columns),
    visits: new Float64Array(cells * columns),
    flanked: perChannel(),
    visitsAfter: perChannel(),
    visitsBefore: perChannel(),
    touches: perChannel(),
    visitCount: new Float64Array(cells),
    userDays: new Float64Array(cells),
  };
}

/** Adds the users one by one; what is needed for each of them in turn is made once. */
class HazardPass {
  readonly sums: HazardSums;
  readonly #table: EventTable;
  readonly #options: RunOptions;
  readonly #dataStartS: number;
  readonly #endS: number;
  readonly #streams: UserStreams;
  readonly #windows: OpenWindows;
  /** By the number of touches whose horizon holds the moment. */
  readonly #weightOf: Float64Array;

  constructor(table: EventTable, options: RunOptions, cells: number) {
    const channels = table.channels.length;
    this.sums = emptySums(cells, channels, hazardDesign(channels, options));
    this.#table = table;
    this.#options = options;
    this.#dataStartS = earliest(table);
    this.#endS = estimationEnd(options);
    this.#streams = new UserStreams(table, options.isBaseline, this.#endS);
    this.#windows = new OpenWindows(this.sums.design.columns);
    this.#weightOf = Float64Array.from({ length: this.#streams.touchTimeS.length }, (_, touches) => momentWeight(touches));
  }

  addUser(user: number): void {
    const { userStart, userHash, timeS } = this.#table;
    const begin = userStart[user]!;
    const firstS = begin < userStart[user + 1]! ? timeS[begin]! : Infinity;
    if (firstS >= this.#endS) return;
    const cell = userHash[user]! % this.sums.cells;
    this.#streams.read(user);
    this.sums.visitCount[cell]! += this.#streams.visits;
    this.sums.userDays[cell]! += (this.#endS - this.#dataStartS) / DAY_S;
    this.#countTouches(cell);
    this.#integrate(cell, firstS);
  }

  /** Each touch, and the unpaid visits on either side of it. */
  #countTouches(cell: number): void {
    const { touches, flanked, visitsBefore, visitsAfter } = this.sums;
    const { horizonS, gapS, placeboWindowS, rangeStartS, rangeEndS, observedUntilS } = this.#options;
    const { touchTimeS, touchChannel, visitTimeS, touches: count } = this.#streams;
    const rangeEnd = Math.min(rangeEndS, observedUntilS);
    const [flankedFromS, flankedUntilS] = [this.#dataStartS + gapS + placeboWindowS, this.#endS - gapS - placeboWindowS];
    const row = cell * this.#table.channels.length;
    let [beforeFrom, beforeTo, afterFrom, afterTo] = [0, 0, 0, 0];
    for (let i = 0; i < count; i++) {
      const t = touchTimeS[i]!;
      const at = row + touchChannel[i]!;
      touches[at]! += Math.max(0, Math.min(t + horizonS, rangeEnd) - Math.max(t, rangeStartS)) / horizonS;
      if (t < flankedFromS || t > flankedUntilS) continue;
      while (visitTimeS[beforeFrom]! < t - gapS - placeboWindowS) beforeFrom++;
      while (visitTimeS[beforeTo]! < t - gapS) beforeTo++;
      while (visitTimeS[afterFrom]! <= t + gapS) afterFrom++;
      while (visitTimeS[afterTo]! <= t + gapS + placeboWindowS) afterTo++;
      flanked[at]! += 1;
      visitsBefore[at]! += beforeTo - beforeFrom;
      visitsAfter[at]! += afterTo - afterFrom;
    }
  }

  /**
   * Merges six streams: starts of windows, their ends (three each), orders and visits. A window (a, b] holds neither its start nor what
   * comes after its end: outcomes of one instant come first.
   */
  #integrate(cell: number, firstS: number): void {
    const { gram, orders, visits, design: { columns, columnOf } } = this.sums;
    const { horizonS, gapS } = this.#options;
    const { touchTimeS, touchChannel, visitTimeS, orderTimeS } = this.#streams;
    const windows = this.#windows;
    const endS = this.#endS;
    const weightOf = this.#weightOf;
    const [firstEnd, halfEnd] = [WINDOW_ENDS[0] * horizonS, WINDOW_ENDS[1] * horizonS];
    const gramRow = cell * columns * columns;
    const crossRow = cell * columns;
    let now = firstS;
    let [starts, firstEnds, halfEnds, ends, ordersSeen, visitsSeen] = [0, 0, 0, 0, 0, 0];
    let start = touchTimeS[0]!;
    let finish = start + horizonS;
    let firstStop = start + firstEnd;
    let halfStop = start + halfEnd;
    let order = orderTimeS[0]! - gapS;
    let visit = visitTimeS[0]! - gapS;
    for (;;) {
      // Touches whose horizon has begun and not ended.
      const weight = weightOf[starts - ends]!;
      const next = Math.min(start, firstStop, halfStop, finish, order, visit);
      const until = next < endS ? next : endS;
      if (until > now) {
        windows.addProducts(gram, gramRow, (weight * (until - now)) / DAY_S);
        now = until;
      }
      if (next >= endS) break;
      // Column 0, the constant, stands for none.
      let opened = 0;
      let closed = 0;
      if (order === next) {
        if (next >= firstS) windows.addLevels(orders, crossRow, weight);
        order = orderTimeS[++ordersSeen]! - gapS;
      } else if (visit === next) {
        if (next >= firstS) windows.addLevels(visits, crossRow, weight);
        visit = visitTimeS[++visitsSeen]! - gapS;
      } else if (finish === next) {
        closed = columnOf[touchChannel[ends]!]! + 2;
        finish = touchTimeS[++ends]! + horizonS;
      } else if (halfStop === next) {
        closed = columnOf[touchChannel[halfEnds]!]! + 1;
        opened = closed + 1;
        halfStop = touchTimeS[++halfEnds]! + halfEnd;
      } else if (firstStop === next) {
        closed = columnOf[touchChannel[firstEnds]!]!;
        opened = closed + 1;
        firstStop = touchTimeS[++firstEnds]! + firstEnd;
      } else {
        opened = columnOf[touchChannel[starts]!]!;
        start = touchTimeS[++starts]!;
      }
      if (opened !== 0) windows.open(opened);
      if (closed !== 0) windows.close(closed);
    }
    windows.clear();
  }
}

/** Adds up cells to fewer: cell mod `modulus`, a divisor of the number of cells. `throwIfCancelled` ends a task that was cancelled. */
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
    flanked: fold(sums.flanked),
    visitsAfter: fold(sums.visitsAfter),
    visitsBefore: fold(sums.visitsBefore),
    touches: fold(sums.touches),
    visitCount: fold(sums.visitCount),
    userDays: fold(sums.userDays),
  };
}
