import { sumOf } from '../credits.ts';
import { cholesky, solveCholesky } from '../../numerics/cholesky.ts';
import type { AdStock } from './ad-stock.ts';
import { Scalar } from './exposure-sums.ts';
import type { ExposureSums } from './exposure-sums.ts';
import { EARLY_WINDOWS, WINDOW_ENDS } from './hazard-design.ts';
import type { HazardDesign } from './hazard-design.ts';
import type { HazardSums } from './hazard-sums.ts';
import { effectAt, incrementalAt, revenueOf } from './placebo-adjustment.ts';
import type { Estimate, Setting } from './placebo-adjustment.ts';

/** Keeps the normal equations solvable where channels always occur together: they share their effect. */
const RIDGE = 1e-9;
/**
 * All of what lies below 0 is taken off what lies above: the total is the sum of the signed effects, which noise leaves
 * unbiased.
 */
export const NEGATIVE_OFFSET = 1;

/** What the regressions of one set of users say. */
export interface HazardEvidence {
  readonly design: HazardDesign;
  readonly touches: Float64Array;
  /** null where the regressions have no solution */
  readonly perTouch: PerTouch | null;
}

/** Normal equations of one set of users. */
interface NormalEquations {
  readonly design: HazardDesign;
  readonly gram: Float64Array;
  readonly orders: Float64Array;
  readonly visits: Float64Array;
}

/** Conversions and unpaid visits per touch that each column adds within its window. */
interface PerTouch {
  readonly orders: Float64Array;
  readonly visits: Float64Array;
}

/** κ by its two sources; null where a source has nothing to say. */
export interface KappaSources {
  /** all windows after placebo touches */
  readonly whole: number | null;
  /** without the first window, the days right after the visit */
  readonly late: number | null;
}

/** What was settled once on all users, and is held fixed on parts of them. */
export interface Correction {
  /** unpaid visits that a touch of each channel brings by itself */
  readonly halo: Float64Array;
  /** the part, 0.1 to 1, of κ that the paid channels bear (kappa-restraint) */
  readonly restraint: number;
  /** null: effects within the horizon alone */
  readonly stock: AdStock | null;
}

/** The estimate on large samples, and what its κ rests on. */
export interface JointEstimate extends Estimate {
  readonly sources: KappaSources;
  /** touches per channel, each counting the part of its effect that falls into the range */
  readonly touches: Float64Array;
}

/**
 * Adds up the cells that `belongs` selects, and solves their regressions. `throwIfCancelled` ends a task that was
 * cancelled.
 */
export function evidenceOfCells(
  sums: HazardSums,
  belongs: (cell: number) => boolean,
  throwIfCancelled: () => void,
): HazardEvidence {
  const { columns } = sums.design;
  const add = (rows: Float64Array): Float64Array => {
    const into = new Float64Array(rows.length / sums.cells);
    for (let cell = 0; cell < sums.cells; cell++) {
      throwIfCancelled();
      if (belongs(cell)) for (let i = 0; i < into.length; i++) into[i]! += rows[cell * into.length + i]!;
    }
    return into;
  };
  const gram = add(sums.gram);
  for (let p = 0; p < columns; p++) {
    for (let q = 0; q < p; q++) {
      const pair = gram[p * columns + q]! + gram[q * columns + p]!;
      gram[p * columns + q] = pair;
      gram[q * columns + p] = pair;
    }
  }
  const { design } = sums;
  const equations = { design, gram, orders: add(sums.orders), visits: add(sums.visits) };
  return { design, touches: add(sums.touches), perTouch: solveHazards(equations, throwIfCancelled) };
}

/** Least squares, all columns at once; 0 for columns without touches. */
function solveHazards(
  { gram, orders, visits, design: { columns, windowDays } }: NormalEquations,
  throwIfCancelled: () => void,
): PerTouch | null {
  const kept = Array.from({ length: columns }, (_, j) => j).filter((j) => gram[j * columns + j]! > 0);
  const size = kept.length;
  const matrix = new Float64Array(size * size);
  kept.forEach((p, row) =>
    kept.forEach(
      (q, column) => (matrix[row * size + column] = gram[p * columns + q]! * (row === column ? 1 + RIDGE : 1)),
    ),
  );
  const factored = size === 0 ? null : cholesky(matrix, size, throwIfCancelled);
  if (factored === null) return null;
  const solve = (cross: Float64Array): Float64Array => {
    const solution = solveCholesky(
      factored,
      Float64Array.from(kept, (j) => cross[j]!),
    );
    const perTouch = new Float64Array(columns);
    kept.forEach((j, row) => (perTouch[j] = solution[row]! * windowDays[j]!));
    return perTouch;
  };
  return { orders: solve(orders), visits: solve(visits) };
}

/** A channel's windows among the columns. */
const windowsOf = (column: Float64Array, c: number, { columnOf }: HazardDesign): Float64Array =>
  column.subarray(columnOf[c]!, columnOf[c]! + WINDOW_ENDS.length);

/**
 * Conversions that all paid touches set off in each half of the horizon, at a given κ; null where the halves cannot be
 * told apart.
 */
export function effectsByHalf(
  hazard: HazardEvidence,
  { halo, kappa }: { readonly halo: Float64Array; readonly kappa: number },
  isBaseline: Uint8Array,
): { readonly early: number; readonly late: number } | null {
  const { perTouch } = hazard;
  if (perTouch === null) return null;
  const halves = { early: 0, late: 0 };
  isBaseline.forEach((baseline, c) => {
    if (baseline === 1) return;
    const [lift, pull] = [windowsOf(perTouch.orders, c, hazard.design), windowsOf(perTouch.visits, c, hazard.design)];
    halves.early +=
      hazard.touches[c]! *
      effectAt(kappa, sumOf(lift.subarray(0, EARLY_WINDOWS)), sumOf(pull.subarray(0, EARLY_WINDOWS)) - halo[c]!);
    halves.late +=
      hazard.touches[c]! * effectAt(kappa, sumOf(lift.subarray(EARLY_WINDOWS)), sumOf(pull.subarray(EARLY_WINDOWS)));
  });
  return halves;
}

/**
 * κ over the whole horizon: conversions over unpaid visits, added up over the placebo channels. Null where they show no
 * pull.
 */
function wholeKappa(
  lift: Float64Array,
  pull: Float64Array,
  weight: Float64Array,
  isBaseline: Uint8Array,
): number | null {
  let conversions = 0;
  let visits = 0;
  for (let b = 0; b < isBaseline.length; b++) {
    if (isBaseline[b] !== 1) continue;
    conversions += weight[b]! * lift[b]!;
    visits += weight[b]! * pull[b]!;
  }
  return visits > 0 ? Math.max(0, conversions / visits) : null;
}

/**
 * κ without the first window: least squares through the origin over the placebo channels' later windows that pull
 * visits at all.
 */
function lateKappa(
  perTouch: PerTouch,
  { columnOf, windowDays }: HazardDesign,
  weight: Float64Array,
  isBaseline: Uint8Array,
): number | null {
  let product = 0;
  let square = 0;
  for (let b = 0; b < isBaseline.length; b++) {
    if (isBaseline[b] !== 1) continue;
    for (let w = 1; w < WINDOW_ENDS.length; w++) {
      const j = columnOf[b]! + w;
      const visits = perTouch.visits[j]!;
      if (visits <= 0) continue;
      product += (weight[b]! * perTouch.orders[j]! * visits) / windowDays[j]!;
      square += (weight[b]! * visits * visits) / windowDays[j]!;
    }
  }
  return square > 0 ? Math.max(0, product / square) : null;
}

/**
 * Steps 3 to 5 of PRAV for samples that are large enough to tell overlapping touches apart. Conversions and unpaid
 * visits of all person-time are regressed on the touches in reach (hazard-sums): lift D and pull S are what a touch of
 * the channel itself adds, its neighbours' held fixed. κ is read from the placebo channels' windows, all of them; what
 * it is without the first one tells how far to trust it: customers whom advertising persuaded announce their order by a
 * visit in the days before it, which makes the first window speak for more than selection. `restraint` is the part of
 * it that the paid channels bear. `halo` (visits that the touches themselves brought) is no sign of selection and is
 * taken off the pull. `stock` carries effects on beyond the horizon, and counts touches by the part of their effect
 * that falls into the range. null where there is no conversion or no κ to be had.
 */
export function adjustJointly(
  exposure: ExposureSums,
  hazard: HazardEvidence,
  correction: Correction,
  setting: Setting,
): JointEstimate | null {
  const { isBaseline, scale, fallbackKappa } = setting;
  const { halo, restraint, stock } = correction;
  const { design, perTouch } = hazard;
  const personTime = exposure.scalars[Scalar.personTime]!;
  const orders = exposure.scalars[Scalar.conversions]!;
  if (perTouch === null || orders === 0 || personTime === 0) return null;
  const ofChannel = (column: Float64Array, c: number): number => sumOf(windowsOf(column, c, design));
  const liftWithin = exposure.exposures.map((_, c) => ofChannel(perTouch.orders, c));
  const pullWithin = exposure.exposures.map((_, c) => {
    const visits = ofChannel(perTouch.visits, c);
    return visits - Math.min(halo[c]!, Math.max(0, visits));
  });
  const sources = {
    whole: wholeKappa(liftWithin, pullWithin, exposure.exposures, isBaseline),
    late: lateKappa(perTouch, design, exposure.exposures, isBaseline),
  };
  const ofPlacebos = sources.whole ?? sources.late;
  const kappa = ofPlacebos === null ? fallbackKappa : restraint * ofPlacebos;
  if (kappa === null) return null;
  const averageOrderValue = Math.max(0, exposure.scalars[Scalar.revenue]! / orders);
  const touches = hazard.touches.map((n, c) => n * (stock?.reach[c] ?? 1));
  const beyond = (column: Float64Array): Float64Array =>
    column.map((within, c) => within * (isBaseline[c] === 1 ? 1 : (stock?.beyond ?? 1)));
  const lift = beyond(liftWithin);
  const pull = beyond(pullWithin);
  const effect = lift.map((d, c) => (isBaseline[c] === 1 ? 0 : d - kappa * Math.max(0, pull[c]!)));
  const incrementalConversions = incrementalAt(
    kappa,
    { ...exposure, touches },
    { lift, pull },
    setting,
    NEGATIVE_OFFSET,
  );
  return {
    y0: exposure.scalars[Scalar.conversionTime]! / personTime,
    v0: exposure.scalars[Scalar.visitTime]! / personTime,
    kappa,
    sources,
    touches,
    averageOrderValue,
    lift,
    pull,
    effect,
    signedRevenue: effect.map((tau, c) => tau * touches[c]! * scale * averageOrderValue),
    incrementalConversions,
    incrementalRevenue: revenueOf(incrementalConversions, averageOrderValue, exposure, scale),
  };
}
