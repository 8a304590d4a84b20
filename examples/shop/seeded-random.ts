/**
 * Finaliser of a 32-bit hash: every bit of the input moves every bit of the output
 * (constants: C. Wellons, "Prospecting for Hash Functions", 2018, the `lowbias32` family).
 */
function scramble(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}

/** A seed for one of many independent streams: shopper 17 of seed 1 draws the same whatever shopper 16 did. */
export function deriveSeed(seed: number, index: number): number {
  return scramble(scramble(seed) ^ Math.imul(index + 1, 0x9e3779b9));
}

/**
 * A number in (0, 1) that depends on its keys alone. Two runs of a life that differ in one channel
 * read the same number for the same day: common random numbers, whatever happened before.
 */
export function uniformAt(seed: number, day: number, purpose: number): number {
  return (scramble(seed ^ Math.imul(day * 16 + purpose + 1, 0x85ebca6b)) + 0.5) / 4_294_967_296;
}

/** A sequence of draws. */
export interface RandomStream {
  /** In (0, 1). */
  uniform(): number;
  normal(): number;
  /** Mean `mean`; exact (Knuth's product of uniforms), for small means. */
  poisson(mean: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** A Weyl sequence behind the finaliser above (the SplitMix construction, Steele et al. 2014, on 32 bits). */
export function randomStream(seed: number): RandomStream {
  let state = seed | 0;
  const uniform = (): number => {
    state = (state + 0x9e3779b9) | 0;
    return (scramble(state) + 0.5) / 4_294_967_296;
  };
  return {
    uniform,
    normal: () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
    poisson(mean) {
      const limit = Math.exp(-mean);
      let count = 0;
      for (let product = uniform(); product > limit; product *= uniform()) count += 1;
      return count;
    },
    chance: (probability) => uniform() < probability,
    pick: (items) => items[Math.floor(uniform() * items.length)]!,
  };
}
