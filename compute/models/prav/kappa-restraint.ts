import { jackknifeError } from '../../numerics/jackknife.ts';
import { KAPPA_ERROR } from './identification.ts';

/** Where nothing works, the spread of the channels about one common κ is 1 on average and hardly ever this. */
const CHANCE_SPREAD = 2;
/** The two readings of κ must differ by this many standard errors to speak against it. */
const DOUBT_ERRORS = 3;
/** The common κ is looked for between these multiples of that of the placebos. */
const COMMON_FROM = 0.2;
const COMMON_TO = 2.5;
const COMMON_STEP = 0.02;
/** κ is never lowered below this part of itself. */
const LEAST = 0.1;
/** Halvings of the interval that holds the best κ: to the last bit of a double. */
const HALVINGS = 52;

/** What the paid channels' touches together show on a set of users. Entries are channels; 0 for baseline channels. */
export interface PaidTotals {
  readonly kappa: number;
  /** by how much κ is smaller without the first days after a visit; 0 where it cannot be told */
  readonly doubt: number;
  /** conversions: touches × lift, and unpaid visits: touches × pull */
  readonly lift: Float64Array;
  readonly pull: Float64Array;
}

/** One channel's totals, with the jackknife variances of its lift and pull and their covariance. */
interface Channel {
  readonly lift: number;
  readonly pull: number;
  readonly liftVariance: number;
  readonly pullVariance: number;
  readonly covariance: number;
}

function covarianceOf(a: readonly number[], b: readonly number[]): number {
  const groups = a.length;
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / groups;
  const [meanA, meanB] = [mean(a), mean(b)];
  return ((groups - 1) / groups) * a.reduce((sum, value, g) => sum + (value - meanA) * (b[g]! - meanB), 0);
}

function channelsOf(all: PaidTotals, parts: readonly PaidTotals[]): Channel[] {
  return Array.from(all.lift.keys(), (c) => {
    const lifts = parts.map(({ lift }) => lift[c]!);
    const pulls = parts.map(({ pull }) => pull[c]!);
    return {
      lift: all.lift[c]!,
      pull: all.pull[c]!,
      liftVariance: covarianceOf(lifts, lifts),
      pullVariance: covarianceOf(pulls, pulls),
      covariance: covarianceOf(lifts, pulls),
    };
  }).filter(({ liftVariance }) => liftVariance > 0);
}

/** Sampling variance of the effect at a given κ. */
const effectVariance = ({ liftVariance, covariance, pullVariance }: Channel, kappa: number): number =>
  Math.max(liftVariance * 1e-12, liftVariance - 2 * kappa * covariance + kappa ** 2 * pullVariance);

/**
 * How far the channels are from all having no effect, 0 to 1: 1 − 2 / spread, where the spread is what is left of their
 * mean squared effect, in standard errors, at the one κ that explains most (Cochran's Q over its degrees of freedom;
 * the positive part as in James & Stein 1961).
 */
function differenceOf(channels: readonly Channel[], kappa: number): number {
  if (channels.length < 2) return 0;
  let spread = Infinity;
  for (let multiple = COMMON_FROM; multiple <= COMMON_TO; multiple += COMMON_STEP) {
    const common = multiple * kappa;
    const squares = channels.reduce(
      (sum, channel) =>
        sum +
        (channel.lift - common * channel.pull) ** 2 /
          (effectVariance(channel, common) + (KAPPA_ERROR * common * channel.pull) ** 2),
      0,
    );
    spread = Math.min(spread, squares / (channels.length - 1));
  }
  return Math.max(0, 1 - CHANCE_SPREAD / spread);
}

/** How far the two readings of κ differ by more than chance, 0 to 1: 1 − (3 errors / doubt)², the positive part. */
function disagreementOf({ doubt }: PaidTotals, parts: readonly PaidTotals[]): number {
  if (!(doubt > 0)) return 0;
  const error = jackknifeError(
    Float64Array.from(parts, (part) => part.doubt),
    parts.length,
  );
  return Math.max(0, 1 - ((DOUBT_ERRORS * error) / doubt) ** 2);
}

/**
 * The part of the placebos' κ, 0.1 to 1, that the paid channels bear. Advertising does not keep people from buying: a κ
 * at which channels fall below 0 is too large. The best κ has the least sum of squares, in standard errors, of its
 * distance to the placebos' κ (sampling, KAPPA_ERROR, and `doubt`) and of the effects below 0. The latter count squared
 * up to one standard error and linearly beyond, so that no channel decides alone (Huber 1964); and they count as far as
 * the channels differ from each other by more than chance, so that where nothing works noise below 0 is left alone, or
 * as far as the two readings of κ do, which no lack of effects explains. `parts` are the totals on all users but one
 * group each, scaled up.
 */
export function restraintOf(all: PaidTotals, parts: readonly PaidTotals[]): number {
  const { kappa, doubt } = all;
  if (!(kappa > 0) || parts.length < 2) return 1;
  const channels = channelsOf(all, parts);
  const weight = Math.max(differenceOf(channels, kappa), disagreementOf(all, parts));
  if (weight === 0) return 1;
  const placeboVariance =
    jackknifeError(
      Float64Array.from(parts, (part) => part.kappa),
      parts.length,
    ) **
      2 +
    (KAPPA_ERROR * kappa) ** 2 +
    Math.max(0, doubt) ** 2;
  const held = channels.map((channel) => ({ ...channel, error: Math.sqrt(effectVariance(channel, kappa)) }));
  // Half the derivative of the sum by κ; it rises, for the sum is convex.
  const slope = (at: number): number =>
    (at - kappa) / placeboVariance -
    weight *
      held.reduce(
        (sum, { lift, pull, error }) => sum + (pull / error) * Math.max(-1, Math.min(0, (lift - at * pull) / error)),
        0,
      );
  let [low, high] = [LEAST * kappa, kappa];
  if (slope(low) >= 0) return LEAST;
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (low + high) / 2;
    if (slope(middle) < 0) low = middle;
    else high = middle;
  }
  return high / kappa;
}
