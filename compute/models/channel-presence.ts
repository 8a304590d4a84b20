import type { PathTable } from '../journey-tables.ts';
import type { Checkpoint } from '../outcome.ts';
import { sumPresence } from './presence-sums.ts';

/**
 * Correlations of the regression that dominance analysis and relative weights explain: one observation per journey,
 * x = presence of each channel, y = 1 for a conversion (or its revenue), 0 for a null.
 */
export interface PresenceCorrelations {
  /** channels whose presence varies, m of them */
  readonly varying: Int32Array;
  /** m × m correlations of presence, row-major */
  readonly between: Float64Array;
  /** correlations with the conversion and with the revenue per conversion; all 0 where the outcome does not vary */
  readonly withConversion: Float64Array;
  readonly withValue: Float64Array;
}

/** Σ (y − mean)² of the revenue per conversion, in two passes: one pass would cancel where all orders cost the same. */
function valueSpread({ offsets, conversions, value, nulls }: PathTable): { total: number; squares: number; spread: number } {
  let journeys = 0;
  let total = 0;
  for (let p = 0; p < conversions.length; p++) {
    if (offsets[p] === offsets[p + 1]) continue;
    journeys += conversions[p]! + nulls[p]!;
    if (conversions[p]! > 0) total += value[p]!;
  }
  const mean = total / journeys;
  let squares = 0;
  let spread = 0;
  for (let p = 0; p < conversions.length; p++) {
    if (offsets[p] === offsets[p + 1]) continue;
    spread += nulls[p]! * mean * mean;
    if (conversions[p] === 0) continue;
    const perConversion = value[p]! / conversions[p]!;
    squares += conversions[p]! * perConversion * perConversion;
    spread += conversions[p]! * (perConversion - mean) ** 2;
  }
  return { total, squares, spread };
}

/** Correlations among the presence of channels in journeys, and of each with conversion; over distinct paths, weighted by their counts. */
export function presenceCorrelations(table: PathTable, totals: { readonly conversions: number; readonly nulls: number }, checkpoint: Checkpoint): PresenceCorrelations {
  const size = table.channels.length;
  const journeys = totals.conversions + totals.nulls;
  const sums = sumPresence(table, checkpoint);
  const present = Float64Array.from({ length: size }, (_, i) => sums.pairs[i * size + i]!);
  const varying = Int32Array.from(present.keys()).filter((i) => present[i]! > 0 && present[i]! < journeys);
  const m = varying.length;
  // Numerators and deviations are kept in counts × journeys: exact integers for every realistic count.
  const deviation = Float64Array.from(varying, (i) => Math.sqrt(present[i]!) * Math.sqrt(journeys - present[i]!));
  const between = new Float64Array(m * m);
  for (let a = 0; a < m; a++) {
    between[a * m + a] = 1;
    for (let b = a + 1; b < m; b++) {
      const covariance = sums.pairs[varying[a]! * size + varying[b]!]! * journeys - present[varying[a]!]! * present[varying[b]!]!;
      const correlation = covariance / deviation[a]! / deviation[b]!;
      between[a * m + b] = correlation;
      between[b * m + a] = correlation;
    }
  }
  const outcomeDeviation = Math.sqrt(totals.conversions) * Math.sqrt(totals.nulls);
  const { total, squares, spread } = valueSpread(table);
  const valueDeviation = spread > squares * 1e-20 ? Math.sqrt(spread) * Math.sqrt(journeys) : 0;
  const correlate = (where: Float64Array, all: number, deviationOfY: number): Float64Array =>
    Float64Array.from(varying, (i, a) => (deviationOfY === 0 ? 0 : (where[i]! * journeys - present[i]! * all) / deviation[a]! / deviationOfY));
  return {
    varying,
    between,
    withConversion: correlate(sums.conversions, totals.conversions, outcomeDeviation),
    withValue: correlate(sums.value, total, valueDeviation),
  };
}
