import { seededRandom, shuffle } from './random.ts';
import type { Random } from './random.ts';

/** Patterns of signs that balanced splits choose from; each is used with either sign. */
const PATTERNS = 256;

/** Receives a group's part of a split: how many of the observations, and the sum of their values. */
export type AddPart = (group: number, count: number, value: number) => void;

/** Divides counts of independent observations among an even number of random groups, reproducibly. */
export class RandomGroups {
  readonly groups: number;
  private readonly random: Random;
  /** PATTERNS rows, half of each row +1 and half −1 */
  private readonly signs: Int8Array;

  constructor(groups: number, seed: number) {
    this.groups = groups;
    this.random = seededRandom(seed);
    this.signs = new Int8Array(PATTERNS * groups);
    const order = Int32Array.from({ length: groups }, (_, g) => g);
    for (let pattern = 0; pattern < PATTERNS; pattern++) {
      shuffle(order, this.random);
      order.forEach((place, g) => (this.signs[pattern * groups + g] = place < groups / 2 ? 1 : -1));
    }
  }

  draw(): number {
    return Math.floor(this.random() * this.groups);
  }

  sign(): number {
    return this.random() < 0.5 ? -1 : 1;
  }

  /**
   * Splits `count` observations of the given mean and standard deviation. Few are drawn one by one. From one per group
   * on, each group gets its expected part ± the standard deviation of a multinomial draw, half of the groups up and
   * half down: the mean and the covariance of the multinomial exactly, no part below 0, parts that add up to the count
   * (balanced half-samples, McCarthy 1969). A fraction of an observation is a part like any other.
   */
  split(count: number, mean: number, deviation: number, add: AddPart): void {
    const { groups } = this;
    if (count < groups) {
      for (let left = count; left > 0; left--) {
        const part = Math.min(1, left);
        add(this.draw(), part, deviation === 0 ? part * mean : part * (mean + this.sign() * deviation));
      }
      return;
    }
    const spread = Math.sqrt(count * (groups - 1)) / groups;
    const counts = Math.floor(this.random() * PATTERNS) * groups;
    const countSpread = spread * this.sign();
    const values = Math.floor(this.random() * PATTERNS) * groups;
    const valueSpread = spread * deviation * this.sign();
    for (let g = 0; g < groups; g++) {
      const part = count / groups + this.signs[counts + g]! * countSpread;
      add(g, part, part * mean + this.signs[values + g]! * valueSpread);
    }
  }
}
