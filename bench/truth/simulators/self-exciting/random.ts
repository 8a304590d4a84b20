/**
 * Counter-based random numbers: every draw is a pure function of a key and a purpose. An event's key is a hash of its
 * parent's key, so that offspring keep their draws whatever else happens to the person (common random numbers).
 */

const GOLDEN = 0x9e3779b1;
const LINEAGE = 0x85ebca77;

/** 32-bit finalizer with full avalanche (C. Wellons' lowbias32). */
export function mix(value: number): number {
  let h = value | 0;
  h ^= h >>> 16;
  h = Math.imul(h, 0x7feb352d);
  h ^= h >>> 15;
  h = Math.imul(h, 0x846ca68b);
  h ^= h >>> 16;
  return h | 0;
}

/** Key of the `slot`-th thing that hangs on `key`. */
export function childKey(key: number, slot: number): number {
  return mix((key ^ 0x5bd1e995) + Math.imul(slot + 1, LINEAGE));
}

/** Uniform on (0, 1), for one purpose of one key. */
export function uniform(key: number, purpose: number): number {
  return ((mix(key + Math.imul(purpose, GOLDEN)) >>> 0) + 0.5) * 2.3283064365386963e-10;
}

/** Standard normal (Box & Muller 1958). */
export function normal(key: number, purpose: number): number {
  const radius = Math.sqrt(-2 * Math.log(uniform(key, purpose)));
  return radius * Math.cos(2 * Math.PI * uniform(key, purpose + 5003));
}

/** Nearly normal, from the four bytes of one hash: cheap where a day's noise is all that is wanted. */
export function roughNormal(key: number, purpose: number): number {
  const h = mix(key + Math.imul(purpose, GOLDEN));
  return ((h & 255) + ((h >>> 8) & 255) + ((h >>> 16) & 255) + (h >>> 24) - 510) / 147.8;
}

/** Poisson count by inversion: with the same `u` it never falls when `mean` rises. */
export function poisson(u: number, mean: number): number {
  if (u < 1 - mean) return 0;
  let term = Math.exp(-mean);
  let cumulative = term;
  let count = 0;
  while (u > cumulative && count < 30) {
    count++;
    term *= mean / count;
    cumulative += term;
  }
  return count;
}

/** Decay of an excitation over time since the parent. */
export interface Kernel {
  /** false: exponential with mean `scale`; true: Lomax power law with scale `scale` and tail exponent `shape` */
  readonly power: boolean;
  readonly scale: number;
  readonly shape: number;
}

/** Effects older than this are nil. */
export const LONGEST_EFFECT_DAYS = 60;

/** Delay in days by inversion of the kernel's distribution (exponential, or Lomax as in Ogata's power laws). */
export function delay(u: number, kernel: Kernel): number {
  if (!kernel.power) return -Math.log(u) * kernel.scale;
  return kernel.scale * (Math.pow(u, -1 / kernel.shape) - 1);
}

/** Draws parameters one after the other from a seed. */
export class ParameterSource {
  private readonly seed: number;
  private count = 0;

  constructor(seed: number) {
    this.seed = mix(seed);
  }

  /** Uniform on [low, high). */
  between(low: number, high: number): number {
    return low + (high - low) * uniform(this.seed, ++this.count);
  }

  /** Log-uniform on [low, high). */
  ratio(low: number, high: number): number {
    return low * Math.pow(high / low, uniform(this.seed, ++this.count));
  }

  integer(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  chance(probability: number): boolean {
    return uniform(this.seed, ++this.count) < probability;
  }

  normal(): number {
    this.count += 2;
    return normal(this.seed, this.count);
  }

  pick<T>(from: readonly T[]): T {
    const at = this.integer(0, from.length - 1);
    return from[Math.min(at, from.length - 1)] as T;
  }
}
