/** An interval of probability 1 − ALPHA is what the models publish. */
export const ALPHA = 0.05;

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
export const meanOf = (values: readonly number[]): number => sumOf(values) / values.length;
export const medianOf = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
};
/** Of the worlds as a sample (n − 1). */
export const deviationOf = (values: readonly number[]): number => {
  const mean = meanOf(values);
  return Math.sqrt(sumOf(values.map((value) => (value - mean) ** 2)) / (values.length - 1));
};

/** Non-negative parts, normalised; zeros where there are none. */
export function sharesOf(credit: readonly number[]): number[] {
  const positive = credit.map((part) => Math.max(0, part));
  const whole = sumOf(positive);
  return positive.map((part) => (whole > 0 ? part / whole : 0));
}

/** Total variation between two divisions of 1: the part that stands at the wrong channel, 0 … 1. */
export const totalVariation = (shares: readonly number[], truth: readonly number[]): number =>
  sumOf(shares.map((share, c) => Math.abs(share - truth[c]!))) / 2;

/**
 * Interval score of a central 1 − ALPHA interval (Gneiting and Raftery 2007, section 6.2): its width, and 2/ALPHA times
 * the distance by which it misses. Smaller is better; only honest intervals minimise it.
 */
export const intervalScore = (low: number, high: number, truth: number): number =>
  high - low + (2 / ALPHA) * (Math.max(0, low - truth) + Math.max(0, truth - high));

/** Wilson's score interval (1927) of a proportion at 0.95. */
export function wilson(hits: number, trials: number): readonly [low: number, high: number] {
  const z = 1.959964;
  const p = hits / trials;
  const centre = p + z ** 2 / (2 * trials);
  const reach = z * Math.sqrt((p * (1 - p)) / trials + z ** 2 / (4 * trials ** 2));
  return [(centre - reach) / (1 + z ** 2 / trials), (centre + reach) / (1 + z ** 2 / trials)];
}
