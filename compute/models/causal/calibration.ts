import { divide, sumOf } from '../credits.ts';

/** A holdout or geo experiment's incremental revenue, for the run's range (major units). */
export interface Experiment {
  /** indices in the answer's channels: what was kept away together, and measured as one sum */
  readonly channels: readonly number[];
  readonly incrementalRevenue: number;
  /** > 0 */
  readonly standardError: number;
}

/** What one experiment did to the credit of its channels; `before` and `after` are of all experiments together. */
export interface Calibration {
  readonly channels: readonly number[];
  readonly measured: number;
  readonly standardError: number;
  readonly before: number;
  readonly after: number;
}

/** The credit as a Gaussian: means, and variances that stem from κ and from each channel alone. */
export interface Belief {
  readonly value: Float64Array;
  /** low ≤ value ≤ high; `low` may have been cut at 0 */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** change of each channel's credit per unit of κ, and κ with its standard deviation; null where κ plays no part */
  readonly kappa: { readonly value: number; readonly deviation: number; readonly slope: Float64Array } | null;
  /** normal quantile that belongs to `low` and `high` */
  readonly z: number;
}

/** Credit per channel after experiments moved it, with its interval. */
export interface CalibratedBelief {
  /** not yet cut at 0 */
  readonly value: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** of each channel's credit, after the experiments */
  readonly variance: Float64Array;
  readonly kappa: number | null;
  /** the same update for another outcome of the data (a jackknife replicate): weights held, experiments as measured */
  readonly update: (outcome: Float64Array) => Float64Array;
}

/** Sums of floating-point credits may pass their bound by this part of it. */
const ROUNDING = 1e-12;

/**
 * The part of κ's variance that all channels have in common. The rest is each channel's own: how far unpaid visits and
 * demand go together differs between the people whom different channels reach. Fixed once on simulated worlds that the
 * truth report does not use (docs/decisions/011), by the likelihood of their errors.
 */
const SHARED_KAPPA = 0.5;

/**
 * The low end as it was before it was cut at 0, which would hide how far the interval reaches: there the side that was
 * not cut speaks for both.
 */
const uncutLow = (value: number, low: number, high: number): number =>
  low > 0 ? low : Math.min(low, 2 * value - high);

/** Σ over the channels of an experiment. */
export const sumOver = (group: readonly number[], amount: (channel: number) => number): number =>
  group.reduce((sum, channel) => sum + amount(channel), 0);

/** How much of a variance is kept: rounding can leave a hair below 0. */
const kept = (after: number, before: number): number => (before > 0 ? Math.max(0, after / before) : 1);

/**
 * Updates the credit by experiments, one after the other (Gaussian conditioning, so their order makes no difference).
 * The state is κ and, of every channel, T_c = base_c + slope_c·(κ + η_c) + δ_c, with κ, η_c and δ_c independent: of
 * what κ leaves open, SHARED_KAPPA is common to all channels, and the rest is the channel's own η_c; δ_c is what the
 * interval holds beyond κ (sampling, kernel, halo). Var T_c is ((high − low) / 2z)² whatever the split. A measurement e
 * ± s of channel c moves every state x by Cov(x, T_c) / (Var T_c + s²) · (e − T_c): on T_c itself this is precision
 * weighting, κ moves only as far as its share of Var T_c justifies, and the other channels follow through it. One of
 * several channels does the same with their sum in the place of T_c.
 * Half-widths shrink with the standard deviations, towards symmetry as the experiment takes over.
 */
export function calibrate(belief: Belief, experiments: readonly Experiment[]): CalibratedBelief {
  const { value, low, high, kappa, z } = belief;
  const channels = value.length;
  const side = channels + 1;
  const uncut = value.map((x, c) => uncutLow(x, low[c]!, high[c]!));
  const deviation = value.map((_, c) => Math.max(0, high[c]! - low[c]!) / (2 * z));
  const kappaDeviation = Math.sqrt(SHARED_KAPPA) * (kappa?.deviation ?? 0);
  // A channel's share of κ's uncertainty never passes its own.
  const fromKappa = deviation.map((own, c) => {
    const slope = kappa?.slope[c] ?? 0;
    return Math.sign(slope) * Math.sqrt(SHARED_KAPPA) * Math.min(own, Math.abs(slope) * (kappa?.deviation ?? 0));
  });
  const covariance = new Float64Array(side * side);
  for (let c = 0; c < channels; c++) {
    for (let d = 0; d < channels; d++)
      covariance[c * side + d] = c === d ? deviation[c]! ** 2 : fromKappa[c]! * fromKappa[d]!;
    covariance[c * side + channels] = fromKappa[c]! * kappaDeviation;
    covariance[channels * side + c] = covariance[c * side + channels]!;
  }
  covariance[channels * side + channels] = kappaDeviation ** 2;

  const gains: (Pick<Experiment, 'channels'> & { readonly measured: number; readonly gain: Float64Array })[] = [];
  for (const { channels: group, incrementalRevenue, standardError } of experiments) {
    const column = Float64Array.from({ length: side }, (_, i) => sumOver(group, (c) => covariance[i * side + c]!));
    const believed = sumOver(group, (c) => column[c]!);
    const variance = believed + standardError ** 2;
    // A measurement that weighs less than a rounding error says nothing, nor does one of what is known already.
    if (!(believed > Number.EPSILON * variance)) continue;
    gains.push({ channels: group, measured: incrementalRevenue, gain: column.map((part) => part / variance) });
    for (let i = 0; i < side; i++)
      for (let j = 0; j < side; j++) covariance[i * side + j]! -= (column[i]! * column[j]!) / variance;
  }
  const updateState = (state: Float64Array): Float64Array => {
    for (const { channels: group, measured, gain } of gains) {
      const surprise = measured - sumOver(group, (c) => state[c]!);
      for (let i = 0; i < state.length; i++) state[i]! += gain[i]! * surprise;
    }
    return state;
  };
  const variance = deviation.map((_, c) => Math.max(0, covariance[c * side + c]!));
  const state = updateState(Float64Array.from([...value, kappa?.value ?? 0]));
  const updated = state.slice(0, channels);
  // As changes of the old ends, so that an experiment that says nothing leaves them as they are, to the bit.
  const narrowed = (c: number, half: number): number => {
    const shrink = Math.sqrt(kept(variance[c]!, deviation[c]! ** 2));
    return half - shrink * (shrink * half + (1 - shrink) * z * deviation[c]!);
  };
  const upper = updated.map((x, c) => high[c]! + (x - value[c]!) - narrowed(c, high[c]! - value[c]!));
  return {
    value: updated,
    low: updated.map((x, c) => {
      const end = uncut[c]! + (x - value[c]!) + narrowed(c, value[c]! - uncut[c]!);
      // An end that was cut stays there, unless all of the interval has gone below.
      return upper[c]! < 0 ? end : Math.max(Math.min(0, low[c]!), end);
    }),
    high: upper,
    variance,
    kappa: kappa === null ? null : Math.max(0, state[channels]!),
    update: (outcome) => updateState(Float64Array.from(outcome)),
  };
}

/**
 * The credit cut at 0 but for harmful channels, without a change to what experiments said of several channels together:
 * what the cut gives to some of them, the others lose, in proportion to the variance that is left to them.
 */
export function cutAtZero(
  credit: Float64Array,
  variance: Float64Array,
  experiments: readonly Pick<Experiment, 'channels'>[],
  isHarmful: (c: number) => boolean = () => false,
): Float64Array {
  const cut = credit.map((part, c) => (isHarmful(c) ? part : Math.max(0, part)));
  for (const { channels: group } of experiments) {
    if (group.length === 1) continue;
    const of = (values: Float64Array): Float64Array => Float64Array.from(group, (c) => values[c]!);
    const harm = sumOver(group, (c) => Math.min(0, cut[c]!));
    const isHarm = (place: number): boolean => isHarmful(group[place]!);
    const fitted = fitInto(of(cut), of(variance), Math.max(0, sumOf(of(credit)) - harm), isHarm);
    for (const [place, c] of group.entries()) cut[c] = fitted[place]!;
  }
  return cut;
}

/**
 * The credit cut at 0 and fitted into `most`: channels give way to the excess in proportion to the variance that is
 * left to them (Gaussian conditioning on the sum, their covariances left aside), so that one that was measured keeps
 * its place. None falls below 0 but those that are harmful, which stay where they are and make no room for others.
 */
export function fitInto(
  credit: Float64Array,
  variance: Float64Array,
  most: number,
  isHarmful: (c: number) => boolean = () => false,
): Float64Array {
  const harm = credit.map((part, c) => (isHarmful(c) ? Math.min(0, part) : 0));
  const fitted = fitPositive(
    credit.map((part) => Math.max(0, part)),
    variance,
    most,
  );
  return fitted.map((part, c) => part + harm[c]!);
}

function fitPositive(fitted: Float64Array, variance: Float64Array, most: number): Float64Array {
  for (let round = 0; round < fitted.length; round++) {
    const excess = sumOf(fitted) - most;
    if (!(excess > ROUNDING * most)) return fitted;
    const yielding = fitted.map((part, c) => (part > 0 ? variance[c]! : 0));
    const whole = sumOf(yielding);
    if (!(whole > 0)) break;
    for (let c = 0; c < fitted.length; c++) fitted[c] = Math.max(0, fitted[c]! - (excess * yielding[c]!) / whole);
  }
  return sumOf(fitted) > most * (1 + ROUNDING) ? divide(fitted, most) : fitted;
}
