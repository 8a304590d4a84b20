/**
 * Counter-based random numbers: each is a pure function of a key and a counter, so that a counterfactual run meets
 * the same draws (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
 */

/** 32-bit mix of a key and a counter (finaliser by Wellons' hash prospector, "lowbias32"). */
export function mix(key: number, counter: number): number {
  let h = key ^ Math.imul((counter + 0x9e3779b9) | 0, 0x85ebca6b);
  h ^= h >>> 16;
  h = Math.imul(h, 0x7feb352d);
  h ^= h >>> 15;
  h = Math.imul(h, 0x846ca68b);
  h ^= h >>> 16;
  return h;
}

/** Uniform on (0, 1). */
export function uniform(key: number, counter: number): number {
  return ((mix(key, counter) >>> 0) + 0.5) / 4294967296;
}

/** Standard normal (Box & Muller); takes the counters 2n and 2n + 1. */
export function normal(key: number, n: number): number {
  const radius = Math.sqrt(-2 * Math.log(uniform(key, 2 * n)));
  return radius * Math.cos(2 * Math.PI * uniform(key, 2 * n + 1));
}

/** Log-normal with mean 1, so that heterogeneity leaves population means as they are. */
export function lognormal(key: number, n: number, sigma: number): number {
  return Math.exp(sigma * normal(key, n) - (sigma * sigma) / 2);
}

/** From low to high. */
export type Range = readonly [number, number];

/** A stream of draws for a shop's parameters; persons and days use the functions above. */
export class Draws {
  private readonly key: number;
  private counter = 0;

  constructor(seed: number, purpose: number) {
    this.key = mix(mix(0x51ed270b, seed), purpose);
  }

  next(): number {
    this.counter += 1;
    return uniform(this.key, this.counter);
  }

  range(range: Range): number {
    return range[0] + (range[1] - range[0]) * this.next();
  }

  /** Uniform on the log scale: for factors and rates. */
  logRange(range: Range): number {
    return range[0] * Math.pow(range[1] / range[0], this.next());
  }

  whole(range: Range): number {
    return Math.min(range[1], Math.floor(range[0] + (range[1] - range[0] + 1) * this.next()));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  gaussian(): number {
    const radius = Math.sqrt(-2 * Math.log(this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }
}
