/** A holdout or geo experiment's incremental revenue of one channel, for the run's range (major units). */
export interface Experiment {
  /** index in the answer's channels */
  readonly channel: number;
  readonly incrementalRevenue: number;
  /** > 0 */
  readonly standardError: number;
}

/** What one experiment did to its channel's credit; `before` and `after` are of all experiments together. */
export interface Calibration {
  readonly channel: number;
  readonly measured: number;
  readonly standardError: number;
  readonly before: number;
  readonly after: number;
}

/** The credit as a Gaussian: means, and variances that stem from κ and from each channel alone. */
export interface Belief {
  readonly value: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** change of each channel's credit per unit of κ, and κ with its standard deviation; null where κ plays no part */
  readonly kappa: { readonly value: number; readonly deviation: number; readonly slope: Float64Array } | null;
  /** normal quantile that belongs to `low` and `high` */
  readonly z: number;
}

export interface CalibratedBelief {
  /** not yet cut at 0 */
  readonly value: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly kappa: number | null;
  /** the same update for another outcome of the data (a jackknife replicate): weights held, experiments as measured */
  readonly update: (outcome: Float64Array) => Float64Array;
}

/** How much of a variance is kept: rounding can leave a hair below 0. */
const kept = (after: number, before: number): number => (before > 0 ? Math.max(0, after / before) : 1);

/**
 * Updates the credit by experiments, one after the other (Gaussian conditioning, so their order makes no difference):
 * T_c and κ are jointly normal, Var T_c = ((high − low) / 2z)² of which (slope_c · sd κ)² comes from κ. A measurement e ± s of channel c
 * moves every state x by Cov(x, T_c) / (Var T_c + s²) · (e − T_c): on T_c itself this is precision weighting, the other channels
 * follow through κ. Half-widths shrink with the standard deviations, towards symmetry as the experiment takes over.
 */
export function calibrate(belief: Belief, experiments: readonly Experiment[]): CalibratedBelief {
  const { value, low, high, kappa, z } = belief;
  const channels = value.length;
  const side = channels + 1;
  const deviation = value.map((_, c) => Math.max(0, high[c]! - low[c]!) / (2 * z));
  // A channel's share of κ's uncertainty never passes its own.
  const fromKappa = deviation.map((own, c) => (kappa === null ? 0 : Math.sign(kappa.slope[c]!) * Math.min(own, Math.abs(kappa.slope[c]!) * kappa.deviation)));
  const covariance = new Float64Array(side * side);
  for (let c = 0; c < channels; c++) {
    for (let d = 0; d < channels; d++) covariance[c * side + d] = c === d ? deviation[c]! ** 2 : fromKappa[c]! * fromKappa[d]!;
    covariance[c * side + channels] = fromKappa[c]! * (kappa?.deviation ?? 0);
    covariance[channels * side + c] = covariance[c * side + channels]!;
  }
  covariance[channels * side + channels] = (kappa?.deviation ?? 0) ** 2;

  const gains: { readonly channel: number; readonly measured: number; readonly gain: Float64Array }[] = [];
  for (const { channel, incrementalRevenue, standardError } of experiments) {
    const column = Float64Array.from({ length: side }, (_, i) => covariance[i * side + channel]!);
    const variance = column[channel]! + standardError ** 2;
    if (!(variance > 0)) continue;
    gains.push({ channel, measured: incrementalRevenue, gain: column.map((part) => part / variance) });
    for (let i = 0; i < side; i++) for (let j = 0; j < side; j++) covariance[i * side + j]! -= (column[i]! * column[j]!) / variance;
  }
  const updateState = (state: Float64Array): Float64Array => {
    for (const { channel, measured, gain } of gains) {
      const surprise = measured - state[channel]!;
      for (let i = 0; i < state.length; i++) state[i]! += gain[i]! * surprise;
    }
    return state;
  };
  const state = updateState(Float64Array.from([...value, kappa?.value ?? 0]));
  const updated = state.slice(0, channels);
  const reach = (c: number, half: number): number => {
    const shrink = Math.sqrt(kept(covariance[c * side + c]!, deviation[c]! ** 2));
    return shrink * (shrink * half + (1 - shrink) * z * deviation[c]!);
  };
  return {
    value: updated,
    low: updated.map((x, c) => x - reach(c, value[c]! - low[c]!)),
    high: updated.map((x, c) => x + reach(c, high[c]! - value[c]!)),
    kappa: kappa === null ? null : Math.max(0, state[channels]!),
    update: (outcome) => updateState(Float64Array.from(outcome)),
  };
}
