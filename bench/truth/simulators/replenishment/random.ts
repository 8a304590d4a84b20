/**
 * Two sources of chance. A `Stream` draws what is fixed before a life begins; keyed draws are pure functions of what
 * they are for (an occasion, a contact), so that lives under different plans meet the same ones.
 */

/** The last step of MurmurHash3 (Appleby 2011). */
function mix(h: number): number {
  let mixed = h;
  mixed ^= mixed >>> 16;
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** The key of something inside of what `key` stands for, such as a person's third occasion. */
export const keyOf = (key: number, inner: number): number => mix(Math.imul(key, 0x9e3779b1) ^ mix(inner + 0x51ed270b));

/** Uniform on [0, 1): the draw `slot` of a key. */
export const uniform = (key: number, slot: number): number =>
  (mix(key ^ Math.imul(slot + 1, 0xc2b2ae3d)) >>> 0) / 2 ** 32;

/** Exponential with mean 1. */
export const exponential = (key: number, slot: number): number => -Math.log(1 - uniform(key, slot));

/** Gamma with shape 2 and mean 1; takes `slot` and the one after it. */
export const gamma2 = (key: number, slot: number): number => (exponential(key, slot) + exponential(key, slot + 1)) / 2;

/** Standard normal (Box & Muller 1958); takes `slot` and the one after it. */
export const normal = (key: number, slot: number): number =>
  Math.sqrt(-2 * Math.log(1 - uniform(key, slot))) * Math.cos(2 * Math.PI * uniform(key, slot + 1));

const TAIL = 1.8;

/** One draw after another: sfc32 by Chris Doty-Humphrey (PractRand). */
export class Stream {
  private a = 0;
  private b = 0;
  private c = 0;
  private counter = 1;

  constructor(key: number) {
    this.restart(key);
  }

  restart(key: number): void {
    this.a = key | 0;
    this.b = mix(key ^ 0x2545f491);
    this.c = mix(key + 0x6c078965);
    this.counter = 1;
    for (let n = 0; n < 6; n++) this.next();
  }

  /** Uniform on [0, 1). */
  next(): number {
    const sum = (((this.a + this.b) | 0) + this.counter++) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  between(least: number, most: number): number {
    return least + (most - least) * this.next();
  }

  /** Evenly spread on the logarithm. */
  scaleBetween(least: number, most: number): number {
    return least * Math.exp(Math.log(most / least) * this.next());
  }

  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }

  /** Log-normal with median 1, without the tails in which a single draw decides all. */
  jitter(spread: number): number {
    return Math.exp(spread * Math.max(-TAIL, Math.min(TAIL, this.normal())));
  }

  /** A random bit pattern, to key further draws with. */
  key(): number {
    return (this.next() * 2 ** 32) | 0;
  }

  isTrue(chance: number): boolean {
    return this.next() < chance;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)]!;
  }

  /** For small means: by counting steps of the product of uniforms; above 30 by a rounded normal. */
  poisson(mean: number): number {
    if (mean <= 0) return 0;
    if (mean > 30) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.normal()));
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = this.next(); product > limit; product *= this.next()) count++;
    return count;
  }
}
