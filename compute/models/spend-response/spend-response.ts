import { cholesky, solveCholesky } from '../../numerics/cholesky.ts';
import { twoSidedZ, upperTail } from '../../numerics/normal-quantile.ts';

/** Days of a shop in their order, none left out. Money in major units. */
export interface SpendDays {
  readonly revenue: Float64Array;
  /** of the channel that is asked about */
  readonly spend: Float64Array;
  /** of all other channels */
  readonly otherSpend: Float64Array;
}

/** What revenue did when the channel's spend moved. Major units, for the range. */
export interface SpendResponse {
  readonly incrementalRevenue: number;
  readonly low: number;
  readonly high: number;
  /** that spend changes nothing, two-sided, corrected for the carry-overs that were tried (Bonferroni) */
  readonly pValue: number;
}

/** One entry per channel that was asked about; null where nothing can be said. */
export interface SpendResponses {
  readonly ok: true;
  readonly responses: readonly (SpendResponse | null)[];
}

/** Eight weeks: fewer days say nothing of days of the week, let alone of spend. */
export const FEWEST_DAYS = 56;
/** Part of yesterday's effect that is left today (geometric ad-stock: Broadbent 1979); the best fit is taken. */
const CARRY_OVERS = [0, 0.5, 0.8] as const;
/** Slow waves of demand that are taken out: this many sine and cosine pairs over the days. */
const WAVES = 2;
/** Errors of days this near are taken as correlated (Newey & West 1987). */
const ERROR_LAG_DAYS = 7;
/** Spend of the coming days must not foretell revenue: then budgets follow demand, and nothing can be said. */
const LEAD_DAYS = 7;
const MOST_LEAD_ERRORS = 2;

const WEEK = 7;
/** Spend that trend, waves, weekdays and other spend foretell to 98 % has no movement of its own to learn from. */
const LEAST_OWN_MOVEMENT = 0.02;

interface Fit {
  readonly coefficient: number;
  readonly error: number;
  readonly residuals: number;
}

/**
 * Regression of daily revenue on the channel's carried-over spend, days of the week, trend, slow waves, and other
 * spend; errors robust to correlated days (Newey & West 1987). null where there are too few days, spend hardly moves
 * apart from the rest, or the spend of coming days foretells revenue as well.
 */
export function spendResponse(days: SpendDays, confidenceLevel: number): SpendResponse | null {
  const { revenue, spend } = days;
  if (revenue.length < FEWEST_DAYS) return null;
  let best: { readonly fit: Fit; readonly carried: Float64Array } | null = null;
  for (const carryOver of CARRY_OVERS) {
    const carried = carriedOver(spend, carryOver);
    const fit = fitLast(columnsOf(days, carried), days);
    if (fit !== null && (best === null || fit.residuals < best.fit.residuals)) best = { fit, carried };
  }
  if (best === null) return null;
  const lead = fitLast([...columnsOf(days, best.carried), comingSpend(spend)], days);
  if (lead === null || Math.abs(lead.coefficient) > MOST_LEAD_ERRORS * lead.error) return null;
  const { coefficient, error } = best.fit;
  const exposure = best.carried.reduce((sum, each) => sum + each, 0);
  const reach = twoSidedZ(confidenceLevel) * error * exposure;
  return {
    incrementalRevenue: coefficient * exposure,
    low: coefficient * exposure - reach,
    high: coefficient * exposure + reach,
    pValue: Math.min(1, 2 * CARRY_OVERS.length * upperTail(Math.abs(coefficient) / error)),
  };
}

function carriedOver(spend: Float64Array, carryOver: number): Float64Array {
  const carried = new Float64Array(spend.length);
  for (let day = 0; day < spend.length; day++) carried[day] = spend[day]! + carryOver * (carried[day - 1] ?? 0);
  return carried;
}

/** Mean over the coming week; the last days look at what is left of it. */
function comingSpend(spend: Float64Array): Float64Array {
  return spend.map((_, day) => {
    const coming = spend.subarray(day + 1, day + 1 + LEAD_DAYS);
    return coming.length === 0 ? spend[day]! : coming.reduce((sum, each) => sum + each, 0) / coming.length;
  });
}

/** Everything that is held constant, and the carried-over spend in the end. */
function columnsOf({ revenue, otherSpend }: SpendDays, carried: Float64Array): Float64Array[] {
  const days = revenue.length;
  const column = (of: (day: number) => number): Float64Array => Float64Array.from({ length: days }, (_, d) => of(d));
  return [
    column(() => 1),
    column((day) => day / days),
    ...Array.from({ length: WEEK - 1 }, (_, weekday) => column((day) => Number(day % WEEK === weekday))),
    ...Array.from({ length: WAVES }, (_, wave) => [
      column((day) => Math.sin((2 * Math.PI * (wave + 1) * day) / days)),
      column((day) => Math.cos((2 * Math.PI * (wave + 1) * day) / days)),
    ]).flat(),
    ...(otherSpend.some((amount) => amount > 0) ? [otherSpend] : []),
    carried,
  ];
}

/** Least squares; the coefficient of the last column with its robust error. null where a column adds nothing. */
function fitLast(columns: readonly Float64Array[], { revenue }: SpendDays): Fit | null {
  const size = columns.length;
  const last = size - 1;
  const days = Array.from(revenue.keys());
  // On one scale, so that the factorisation sees dependence and not units.
  const scaled = columns.map((column) => {
    const norm = Math.sqrt(days.reduce((sum, day) => sum + column[day]! ** 2, 0));
    return { norm, values: column.map((each) => (norm > 0 ? each / norm : 0)) };
  });
  const gram = new Float64Array(size * size);
  for (let i = 0; i < size; i++)
    for (let j = 0; j <= i; j++)
      gram[i * size + j] = days.reduce((sum, day) => sum + scaled[i]!.values[day]! * scaled[j]!.values[day]!, 0);
  const factor = cholesky(gram, size);
  // The last pivot is the part of the spend that the other columns leave unexplained.
  if (factor === null || factor.lower[last * size + last]! ** 2 < LEAST_OWN_MOVEMENT) return null;
  const cross = Float64Array.from(scaled, ({ values }) =>
    days.reduce((sum, day) => sum + values[day]! * revenue[day]!, 0),
  );
  const coefficients = solveCholesky(factor, cross);
  const residual = (day: number): number =>
    revenue[day]! - scaled.reduce((sum, { values }, i) => sum + coefficients[i]! * values[day]!, 0);
  const residuals = days.map(residual);
  const inverseRow = solveCholesky(
    factor,
    Float64Array.from(columns, (_, i) => Number(i === last)),
  );
  // What each day adds to the last coefficient.
  const influence = days.map(
    (day, n) => residuals[n]! * scaled.reduce((sum, { values }, i) => sum + inverseRow[i]! * values[day]!, 0),
  );
  const squares = residuals.reduce((sum, each) => sum + each ** 2, 0);
  const freedom = days.length - size;
  let correlated = 0;
  for (let lag = 0; lag <= ERROR_LAG_DAYS; lag++) {
    const weight = (lag === 0 ? 1 : 2) * (1 - lag / (ERROR_LAG_DAYS + 1));
    for (let n = lag; n < influence.length; n++) correlated += weight * influence[n]! * influence[n - lag]!;
  }
  const { norm } = scaled[last]!;
  // On so few days the robust error is often too small: the plain one is the least that is believed.
  const variance = Math.max((correlated * days.length) / freedom, inverseRow[last]! * (squares / freedom));
  return { coefficient: coefficients[last]! / norm, error: Math.sqrt(variance) / norm, residuals: squares };
}
