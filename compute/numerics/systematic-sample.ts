import type { Random } from './random.ts';

/**
 * Draws from a stream of counts with probability proportional to the count, one in `step` observations (systematic
 * sampling; Madow 1949). Counts of `step` and more are always drawn.
 */
export class SystematicSample {
  private readonly step: number;
  private passed: number;

  constructor(step: number, random: Random) {
    this.step = step;
    this.passed = random() * step;
  }

  /**
   * What a single observation of this count stands for so that Σ weight² estimates Σ count: 0 = not drawn, 1 = all of
   * them were.
   */
  weightOf(count: number): number {
    if (count === 0) return 0;
    if (this.step <= 1 || count >= this.step) return 1;
    this.passed += count;
    if (this.passed < this.step) return 0;
    this.passed -= this.step;
    return Math.sqrt(this.step);
  }
}
