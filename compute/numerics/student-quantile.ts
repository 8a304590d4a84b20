import { twoSidedZ } from './normal-quantile.ts';

/**
 * t such that Student's distribution lies within ±t with probability `confidenceLevel`, by the expansion in 1/ν of
 * Abramowitz & Stegun 26.7.5: right to 3 decimals from 9 degrees of freedom on.
 */
export function twoSidedT(confidenceLevel: number, degreesOfFreedom: number): number {
  const z = twoSidedZ(confidenceLevel);
  const v = degreesOfFreedom;
  const [z3, z5, z7, z9] = [z ** 3, z ** 5, z ** 7, z ** 9];
  return (
    z +
    (z3 + z) / (4 * v) +
    (5 * z5 + 16 * z3 + 3 * z) / (96 * v ** 2) +
    (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v ** 3) +
    (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92_160 * v ** 4)
  );
}
