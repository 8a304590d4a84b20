import { twoSidedZ } from '../../numerics/normal-quantile.ts';
import { sumOf } from '../credits.ts';
import { calibrate, cutAtZero, fitInto } from './calibration.ts';
import type { Experiment } from './calibration.ts';
import type { CausalResult } from './causal-result.ts';
import type { ChannelIdentification } from './channel-identification.ts';
import { MECHANISM_ERROR } from './incremental-credit.ts';
import type { CreditSetting, IncrementalCredit } from './incremental-credit.ts';
import { RETURN_DEVIATION, USUAL_RETURN } from './spend-prior.ts';

/**
 * The credit after the experiments: cut at the revenue that marketing can have caused, and at 0 where the interval does
 * not lie below it.
 */
export interface Settled {
  readonly conversions: number;
  readonly value: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly replicates: Float64Array;
  readonly ends: readonly Float64Array[];
  readonly kappa: CausalResult['kappa'];
  /** `point` where experiments know more of a channel than the rows do */
  readonly identification: readonly (ChannelIdentification | null)[];
}

/** What the rows know of the channels, and what they cost. */
export interface Known {
  readonly identification: readonly (ChannelIdentification | null)[];
  /** per channel, major units; 0 where unknown */
  readonly spend: Float64Array;
}

/**
 * The credit with what experiments measured. Of a channel that the rows say nothing of, the belief before its
 * experiment is what such spend usually brings, or nothing, give or take what an unknown mechanism could make.
 */
export function withExperiments(
  rows: IncrementalCredit,
  experiments: readonly Experiment[],
  known: Known,
  setting: CreditSetting,
): Settled {
  const { confidenceLevel, mostRevenue, mostConversions, channels } = setting;
  const { identification } = known;
  const credit = withPriors(rows, experiments, known, setting);
  const point = credit.value;
  const estimated = credit.kappa?.value ?? null;
  if (experiments.length === 0) {
    const { conversions, low, high, replicates, ends } = credit;
    return {
      conversions,
      value: point,
      low,
      high,
      replicates,
      ends,
      kappa: estimated === null ? null : { estimated, calibrated: estimated },
      identification,
    };
  }
  const belief = {
    value: point,
    low: credit.low.map((end, c) => Math.min(end, point[c]!)),
    high: credit.high.map((end, c) => Math.max(end, point[c]!)),
    kappa: credit.kappa,
    z: twoSidedZ(confidenceLevel),
  };
  const calibrated = calibrate(belief, experiments);
  const settled = identification.map((each, c): ChannelIdentification | null =>
    each !== null && experiments.some(({ channels: group }) => group.includes(c)) && knowsMore(belief, calibrated, c)
      ? { status: 'point', reasons: [] }
      : each,
  );
  // What is unknown after its experiment, too, is claimed no figure for.
  const isKnown = (c: number): boolean => settled[c]?.status !== 'none';
  if (!experiments.every(({ channels: group }) => group.every(isKnown))) {
    const telling = experiments
      .map((each) => ({ ...each, channels: each.channels.filter(isKnown) }))
      .filter(({ channels: group }) => group.length > 0);
    return withExperiments(rows, telling, known, setting);
  }
  const isHarmful = (c: number): boolean => calibrated.high[c]! < 0;
  const cut = (values: Float64Array): Float64Array =>
    fitInto(
      cutAtZero(values, calibrated.variance, experiments, isHarmful),
      calibrated.variance,
      mostRevenue,
      isHarmful,
    );
  const value = cut(calibrated.value);
  const [before, total] = [sumOf(point), sumOf(value)];
  const replicates = new Float64Array(credit.replicates.length);
  for (let g = 0; g < credit.groups; g++)
    replicates.set(cut(calibrated.update(credit.replicates.subarray(g * channels, (g + 1) * channels))), g * channels);
  const orderValue = credit.conversions > 0 ? before / credit.conversions : mostRevenue / mostConversions;
  return {
    conversions: orderValue > 0 ? Math.min(Math.max(0, total) / orderValue, mostConversions) : 0,
    value,
    low: calibrated.low,
    high: calibrated.high,
    replicates,
    ends: credit.ends.map((end) => cut(calibrated.update(end))),
    kappa: estimated === null || calibrated.kappa === null ? null : { estimated, calibrated: calibrated.kappa },
    identification: settled,
  };
}

/** Whether the experiments have more weight than what was believed before: at least half of the variance is gone. */
function knowsMore(
  { low, high, z }: { readonly low: Float64Array; readonly high: Float64Array; readonly z: number },
  { variance }: { readonly variance: Float64Array },
  c: number,
): boolean {
  return variance[c]! <= ((high[c]! - low[c]!) / (2 * z)) ** 2 / 2;
}

function withPriors(
  credit: IncrementalCredit,
  experiments: readonly Experiment[],
  { identification, spend }: Known,
  { confidenceLevel, mostRevenue, channels }: CreditSetting,
): IncrementalCredit {
  const unknown = new Set(
    experiments.flatMap(({ channels: group }) => group).filter((c) => identification[c]?.status === 'none'),
  );
  if (unknown.size === 0) return credit;
  const z = twoSidedZ(confidenceLevel);
  const prior = spend.map((amount) => USUAL_RETURN * amount);
  const reach = spend.map((amount) => z * Math.max(RETURN_DEVIATION * amount, MECHANISM_ERROR * mostRevenue));
  const filled = (rows: Float64Array, by: (c: number) => number): Float64Array =>
    rows.map((amount, i) => (unknown.has(i % channels) ? by(i % channels) : amount));
  const value = filled(credit.value, (c) => prior[c]!);
  const before = sumOf(credit.value);
  return {
    ...credit,
    value,
    conversions: before > 0 ? Math.max(0, (credit.conversions * sumOf(value)) / before) : 0,
    low: filled(credit.low, (c) => prior[c]! - reach[c]!),
    high: filled(credit.high, (c) => prior[c]! + reach[c]!),
    replicates: filled(credit.replicates, (c) => prior[c]!),
    ends: credit.ends.map((end) => filled(end, (c) => prior[c]!)),
  };
}
