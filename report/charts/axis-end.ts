/** Round lengths of an axis, in powers of ten; each divides into a few round ticks. */
const STEPS = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10] as const;

/** The next round number from `value` (> 0) on. */
export function axisEnd(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * (STEPS.find((step) => step * power >= value) ?? 10);
}
