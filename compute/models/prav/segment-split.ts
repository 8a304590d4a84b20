import type { SegmentSums } from './exposure-sums.ts';
import { effectAt } from './placebo-adjustment.ts';
import type { Estimate } from './placebo-adjustment.ts';
import type { PravSegments } from './prav-result.ts';

/** A segment's own effect is used from this many exposures on; below, its touches count like the channel's. */
const FEWEST_EXPOSURES = 30;

/**
 * Under the joint estimator a segment departs from its channel's effect by its own plain effect, shrunk by n / (n +
 * this).
 */
const SHRINKAGE_EXPOSURES = 1_000;

/**
 * Splits each channel's credit over segments (campaigns, periods) by the placebo-adjusted contributions of their
 * touches; by their number where no segment contributes. Each channel's splits sum to 1. `estimate` is the plain one;
 * `jointEffect` the effects of the joint one where it replaces them.
 */
export function splitBySegment(
  { exposures, conversionsAfter, visitsAfter, touches }: SegmentSums,
  estimate: Estimate,
  jointEffect: Float64Array | null,
): PravSegments {
  const channels = estimate.lift.length;
  const count = channels === 0 ? 0 : touches.length / channels;
  const split = touches.map((n, i) => {
    const followed = exposures[i]!;
    const own = followed >= FEWEST_EXPOSURES;
    const lift = own ? conversionsAfter[i]! / followed - estimate.y0 : estimate.lift[i % channels]!;
    const pull = own ? visitsAfter[i]! / followed - estimate.v0 : estimate.pull[i % channels]!;
    const effect = effectAt(estimate.kappa, lift, pull);
    if (jointEffect === null) return Math.max(0, effect) * n;
    const c = i % channels;
    return (
      Math.max(0, jointEffect[c]! + (followed / (followed + SHRINKAGE_EXPOSURES)) * (effect - estimate.effect[c]!)) * n
    );
  });
  for (let c = 0; c < channels; c++) {
    let contributed = 0;
    let touched = 0;
    for (let i = c; i < split.length; i += channels) {
      contributed += split[i]!;
      touched += touches[i]!;
    }
    for (let i = c; i < split.length; i += channels) {
      if (contributed > 0) split[i]! /= contributed;
      else split[i] = touched === 0 ? 0 : touches[i]! / touched;
    }
  }
  return { count, touches, split };
}
