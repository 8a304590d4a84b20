import type { PresenceCorrelations } from '../channel-presence.ts';
import { dot } from '../../numerics/dot.ts';
import { seededRandom, shuffle } from '../../numerics/random.ts';
import type { Checkpoint } from '../../outcome.ts';
import { COLLINEAR } from './exact-dominance.ts';
import type { DominanceWeights } from './exact-dominance.ts';

/** How many pairs of orderings are drawn: as many as the multiply-adds reach for, at m³/3 a pair, within bounds. */
interface Pairs {
  readonly budget: number;
  readonly fewest: number;
  readonly most: number;
}

/** About a second, and two with 500 channels. */
export const PAIRS: Pairs = { budget: 1.5e9, fewest: 50, most: 5_000 };
/** For the credit alone, which is asked for several times in a row, on the same orderings each time. */
export const PAIRS_FOR_CREDIT: Pairs = { budget: 3e8, fewest: 5, most: 5_000 };
/** For one replicate of a jackknife: the change of a weight varies little from ordering to ordering. */
const PAIRS_NEAR: Pairs = { budget: 1e7, fewest: 4, most: 100 };

function pairsOf({ budget, fewest, most }: Pairs, channels: number): number {
  return Math.max(fewest, Math.min(most, Math.floor(budget / (channels ** 3 / 3))));
}

/** Adds each channel's R² gain in this order: a Cholesky factorisation of the permuted correlations, row by row. */
function addGains(
  { between, withConversion, withValue }: PresenceCorrelations,
  order: Int32Array,
  scratch: Scratch,
  gains: Gains,
): void {
  const m = order.length;
  const { factor, c, v } = scratch;
  for (let a = 0; a < m; a++) {
    const x = order[a]!;
    const row = a * m;
    let variance = 1;
    let cHere = withConversion[x]!;
    let vHere = withValue[x]!;
    for (let b = 0; b < a; b++) {
      const other = b * m;
      const sum = between[x * m + order[b]!]! - dot(factor, row, factor, other, b);
      const entry = factor[other + b] === 0 ? 0 : sum / factor[other + b]!;
      factor[row + b] = entry;
      variance -= entry * entry;
      cHere -= entry * c[b]!;
      vHere -= entry * v[b]!;
    }
    const deviation = variance <= COLLINEAR ? 0 : Math.sqrt(variance);
    factor[row + a] = deviation;
    c[a] = deviation === 0 ? 0 : cHere / deviation;
    v[a] = deviation === 0 ? 0 : vHere / deviation;
    gains.conversion[x]! += c[a]! * c[a]!;
    gains.value[x]! += v[a]! * v[a]!;
  }
}

interface Scratch {
  readonly factor: Float64Array;
  readonly c: Float64Array;
  readonly v: Float64Array;
}
interface Gains {
  readonly conversion: Float64Array;
  readonly value: Float64Array;
}

/** Running mean and spread (Welford 1962) of the pairs' mean gains. */
class Running {
  readonly mean: Float64Array;
  private readonly squares: Float64Array;
  private count = 0;

  constructor(size: number) {
    this.mean = new Float64Array(size);
    this.squares = new Float64Array(size);
  }

  /** Takes in half of each sum (two orderings) and clears it. */
  takeHalves(sums: Float64Array): void {
    this.count++;
    for (let i = 0; i < sums.length; i++) {
      const pairMean = sums[i]! / 2;
      const delta = pairMean - this.mean[i]!;
      this.mean[i]! += delta / this.count;
      this.squares[i]! += delta * (pairMean - this.mean[i]!);
      sums[i] = 0;
    }
  }

  error(): Float64Array {
    return this.squares.map((squares) => Math.sqrt(squares / (this.count - 1) / this.count));
  }
}

/**
 * General dominance for many channels: mean R² gain over random orderings, each with its reverse
 * (antithetic permutation sampling; Castro, Gómez & Tejada 2009; Mitchell et al. 2022). Weights sum to R² exactly;
 * the standard error is that of the mean of the pairs.
 */
export function sampledDominance(
  correlations: PresenceCorrelations,
  seed: number,
  checkpoint: Checkpoint,
  wanted = PAIRS,
): DominanceWeights {
  const m = correlations.varying.length;
  const pairs = pairsOf(wanted, m);
  const random = seededRandom(seed);
  const order = Int32Array.from({ length: m }, (_, i) => i);
  const scratch: Scratch = { factor: new Float64Array(m * m), c: new Float64Array(m), v: new Float64Array(m) };
  const gains: Gains = { conversion: new Float64Array(m), value: new Float64Array(m) };
  const conversion = new Running(m);
  const value = new Running(m);
  for (let pair = 0; pair < pairs; pair++) {
    checkpoint(pair / pairs);
    shuffle(order, random);
    addGains(correlations, order, scratch, gains);
    order.reverse();
    addGains(correlations, order, scratch, gains);
    conversion.takeHalves(gains.conversion);
    value.takeHalves(gains.value);
  }
  return {
    conversion: conversion.mean,
    value: value.mean,
    conversionError: conversion.error(),
    valueError: value.error(),
    evaluations: 2 * pairs,
  };
}

/**
 * Weights of correlations near the given ones: the known weights plus the mean change of R² gains over the same few
 * random orderings (common random numbers; Glasserman 2003, 4.1–4.3).
 */
export function dominanceNear(
  correlations: PresenceCorrelations,
  known: Pick<DominanceWeights, 'conversion' | 'value'>,
  seed: number,
): (near: PresenceCorrelations) => Gains {
  const m = correlations.varying.length;
  const pairs = pairsOf(PAIRS_NEAR, m);
  const random = seededRandom(seed);
  const orders = Array.from({ length: pairs }, () => {
    const order = Int32Array.from({ length: m }, (_, i) => i);
    shuffle(order, random);
    return [order, order.toReversed()];
  }).flat();
  const scratch: Scratch = { factor: new Float64Array(m * m), c: new Float64Array(m), v: new Float64Array(m) };
  const meanGains = (of: PresenceCorrelations): Gains => {
    const gains: Gains = { conversion: new Float64Array(m), value: new Float64Array(m) };
    for (const order of orders) addGains(of, order, scratch, gains);
    return {
      conversion: gains.conversion.map((sum) => sum / orders.length),
      value: gains.value.map((sum) => sum / orders.length),
    };
  };
  const before = meanGains(correlations);
  return (near) => {
    const after = meanGains(near);
    const moved = (from: Float64Array, to: Float64Array, weight: Float64Array): Float64Array =>
      weight.map((each, i) => Math.max(0, each + to[i]! - from[i]!));
    return {
      conversion: moved(before.conversion, after.conversion, known.conversion),
      value: moved(before.value, after.value, known.value),
    };
  };
}
