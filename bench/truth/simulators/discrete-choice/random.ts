/**
 * Counter-based random numbers: pure functions of a key and a counter, so that a counterfactual run meets the same
 * draws. The mixer is the finaliser of MurmurHash3 over a Weyl sequence (SplitMix: Steele, Lea and Flood 2014;
 * counter-based generators: Salmon, Moraes, Dror and Shaw 2011).
 */
const WEYL = 0x9e3779b1;
const INVERSE_2_32 = 1 / 4294967296;

/** Mixes the bits of a 32-bit word, one to one. */
export function mix(word: number): number {
  let h = word | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** The key of a branch (a person, a day, a need) below another key. */
export function branch(key: number, counter: number): number {
  return mix((key + Math.imul(counter + 1, WEYL)) | 0);
}

/** A uniform number in (0, 1), never 0 or 1. */
export function uniform(key: number, counter: number): number {
  return ((mix((key + Math.imul(counter + 1, WEYL)) | 0) >>> 0) + 0.5) * INVERSE_2_32;
}

/** A standard normal number (Box and Muller 1958), from two uniforms of its own branch. */
export function normal(key: number, counter: number): number {
  const own = branch(key, counter);
  return Math.sqrt(-2 * Math.log(uniform(own, 1))) * Math.cos(2 * Math.PI * uniform(own, 2));
}

/** A standard Gumbel number: the taste shock of a logit model. */
export function gumbel(key: number, counter: number): number {
  return -Math.log(-Math.log(uniform(key, counter)));
}

/** A stream for drawing parameters one after another; not for anything that a counterfactual run meets. */
export class Stream {
  private readonly key: number;
  private counter = 0;

  constructor(seed: number, purpose: number) {
    this.key = branch(mix(seed), purpose);
  }

  /** uniform between two bounds */
  between(low: number, high: number): number {
    this.counter += 1;
    return low + (high - low) * uniform(this.key, this.counter);
  }

  /** log-uniform between two positive bounds */
  logBetween(low: number, high: number): number {
    return Math.exp(this.between(Math.log(low), Math.log(high)));
  }

  /** a whole number between two bounds, both included */
  whole(low: number, high: number): number {
    return Math.min(high, Math.floor(this.between(low, high + 1)));
  }

  /** true with the probability given */
  chance(probability: number): boolean {
    return this.between(0, 1) < probability;
  }

  /** standard normal */
  gaussian(): number {
    this.counter += 1;
    return normal(this.key, this.counter);
  }
}
