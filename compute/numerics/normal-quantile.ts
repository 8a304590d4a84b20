/** P(Z > z) of a standard normal variable, z ≥ 0: a continued fraction where z is large, else the series of erf. */
export function upperTail(z: number): number {
  const x = z / Math.SQRT2;
  if (x < 2) {
    // erf(x) = 2/√π · e^(−x²) · Σ 2^n x^(2n+1) / (2n+1)!!  (Abramowitz & Stegun 7.1.6: all terms positive)
    let term = x;
    let sum = x;
    for (let n = 1; term > sum * 1e-18; n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 0.5 - (sum * Math.exp(-x * x)) / Math.sqrt(Math.PI);
  }
  // Abramowitz & Stegun 7.1.14, from the inside out.
  let fraction = 0;
  for (let n = 120; n >= 1; n--) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction) / 2;
}

/** Φ(z) of any z. */
export const normalBelow = (z: number): number => (z < 0 ? upperTail(-z) : 1 - upperTail(z));

/**
 * z with Φ(z) = probability, for 0 < probability < 1: bisection on the upper tail, which keeps full precision
 * far out, where 1 − Φ would cancel.
 */
export function normalQuantile(probability: number): number {
  if (!(probability > 0 && probability < 1)) throw new RangeError(`A probability lies between 0 and 1: ${probability}`);
  if (probability < 0.5) return -quantileOfTail(probability);
  return quantileOfTail(1 - probability);
}

function quantileOfTail(tail: number): number {
  let low = 0;
  let high = 40;
  for (let middle = 20; middle > low && middle < high; middle = (low + high) / 2) {
    if (upperTail(middle) > tail) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** z such that a normal variable lies within ±z standard deviations with probability `confidenceLevel`. */
export const twoSidedZ = (confidenceLevel: number): number => quantileOfTail((1 - confidenceLevel) / 2);
