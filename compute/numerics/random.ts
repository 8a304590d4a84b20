/** Uniform numbers in [0, 1). */
export type Random = () => number;

/** sfc32 (Chris Doty-Humphrey's Small Fast Counting generator), seeded by one 32-bit number through splitmix32. */
export function seededRandom(seed: number): Random {
  let mixed = seed | 0;
  const next = (): number => {
    mixed = (mixed + 0x9e3779b9) | 0;
    let z = mixed ^ (mixed >>> 16);
    z = Math.imul(z, 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) | 0;
  };
  let a = next();
  let b = next();
  let c = next();
  let counter = 1;
  return () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  };
}

/** Fisher–Yates, in place. */
export function shuffle(items: Int32Array, random: Random): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const held = items[i]!;
    items[i] = items[j]!;
    items[j] = held;
  }
}
