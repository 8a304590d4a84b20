import type { Random } from '../../compute/numerics/random.ts';

/** Exponential with the given mean. */
export const exponential = (random: Random, mean: number): number => -mean * Math.log(1 - random());

/** Standard normal by Box and Muller's transform (1958), one of the pair. */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Log-normal with mean 1. */
export const logNormalMeanOne = (random: Random, spread: number): number =>
  Math.exp(spread * normal(random) - (spread * spread) / 2);

/** Poisson by counting exponential gaps: for the small means of one user. */
export function poisson(random: Random, mean: number): number {
  if (!(mean > 0)) return 0;
  let count = 0;
  for (let reached = exponential(random, 1); reached < mean; reached += exponential(random, 1)) count++;
  return count;
}

/** Uniform between the two bounds. */
export const between = (random: Random, low: number, high: number): number => low + (high - low) * random();

/** Uniform on a logarithmic scale. */
export const logBetween = (random: Random, low: number, high: number): number => low * (high / low) ** random();

/** Index drawn in proportion to the weights; −1 where all are 0. */
export function weighted(random: Random, weights: readonly number[]): number {
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0);
  for (let i = 0; i < weights.length; i++) {
    left -= weights[i]!;
    if (left < 0) return i;
  }
  return -1;
}
