import type { PathTable } from '../journey-tables.ts';
import { PresenceTotal } from './presence-sums.ts';
import type { PresenceSums } from './presence-sums.ts';

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

/**
 * √Σ (y − mean)² of the revenue per conversion, 0 where it does not vary. Around the known mean, not from sums of
 * squares, which would cancel where all orders cost the same.
 */
export function valueDeviation({ offsets, conversions, value }: PathTable, { totals }: PresenceSums): number {
  const mean = totals[PresenceTotal.value]! / totals[PresenceTotal.journeys]!;
  let squares = 0;
  let spread = totals[PresenceTotal.nulls]! * mean * mean;
  for (let p = 0; p < conversions.length; p++) {
    if (conversions[p] === 0 || offsets[p] === offsets[p + 1]) continue;
    const perConversion = value[p]! / conversions[p]!;
    squares += conversions[p]! * perConversion * perConversion;
    spread += conversions[p]! * (perConversion - mean) ** 2;
  }
  return spread > squares * 1e-20 ? Math.sqrt(spread) : 0;
}

/** Channels that are in some journeys but not in all. */
export function varyingChannels({ pairs, totals }: PresenceSums, channels: number): Int32Array {
  const present = Float64Array.from({ length: channels }, (_, i) => pairs[i * channels + i]!);
  return Int32Array.from(present.keys()).filter(
    (i) => present[i]! > 0 && present[i]! < totals[PresenceTotal.journeys]!,
  );
}

/**
 * Correlations among the presence of the `varying` channels, and of each with the outcomes. `deviationOfValue`: √Σ (y −
 * mean)² of the revenue. A channel that does not vary in these sums correlates with nothing.
 */
export function presenceCorrelations(
  sums: PresenceSums,
  channels: number,
  varying: Int32Array,
  deviationOfValue: number,
): PresenceCorrelations {
  const journeys = sums.totals[PresenceTotal.journeys]!;
  const conversions = sums.totals[PresenceTotal.conversions]!;
  const nulls = sums.totals[PresenceTotal.nulls]!;
  const m = varying.length;
  const present = Float64Array.from(varying, (i) => sums.pairs[i * channels + i]!);
  // Numerators and deviations are kept in counts × journeys: exact integers for every realistic count.
  const deviation = present.map((count) => Math.sqrt(count) * Math.sqrt(Math.max(0, journeys - count)));
  const over = (covariance: number, spread: number): number => (spread === 0 ? 0 : covariance / spread);
  const between = new Float64Array(m * m);
  for (let a = 0; a < m; a++) {
    between[a * m + a] = 1;
    for (let b = a + 1; b < m; b++) {
      const covariance = sums.pairs[varying[a]! * channels + varying[b]!]! * journeys - present[a]! * present[b]!;
      const correlation = over(over(covariance, deviation[a]!), deviation[b]!);
      between[a * m + b] = correlation;
      between[b * m + a] = correlation;
    }
  }
  const correlate = (where: Float64Array, all: number, deviationOfY: number): Float64Array =>
    Float64Array.from(varying, (i, a) =>
      over(over(where[i]! * journeys - present[a]! * all, deviation[a]!), deviationOfY),
    );
  return {
    varying,
    between,
    withConversion: correlate(sums.conversions, conversions, Math.sqrt(conversions) * Math.sqrt(Math.max(0, nulls))),
    withValue: correlate(sums.value, sums.totals[PresenceTotal.value]!, deviationOfValue * Math.sqrt(journeys)),
  };
}
