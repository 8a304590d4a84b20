/**
 * Random numbers as pure functions of seed, person, day and slot: a run under another plan meets the same draws,
 * however many it makes.
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

const unit = (h: number): number => (h >>> 0) / 2 ** 32;

/** The key of something inside of what `key` stands for: a person of a seed, a person's day. */
export const keyOf = (key: number, inner: number): number => mix(Math.imul(key, 0x9e3779b1) ^ mix(inner + 0x7f4a7c15));

/** Uniform on [0, 1): the draw `slot` of a key. */
export const uniform = (key: number, slot: number): number => unit(mix(key ^ Math.imul(slot + 1, 0xc2b2ae3d)));

/** Uniform on [0, 1) of a world: `group` and `item` say what is drawn, `slot` which of its draws. */
export const uniformOf = (seed: number, group: number, item: number, slot: number): number =>
  unit(mix(keyOf(keyOf(seed, group), item) ^ Math.imul(slot + 1, 0x27d4eb2f)));

/** Standard normal of two uniform numbers (Box & Muller 1958). */
export const normalOf = (u1: number, u2: number): number =>
  Math.sqrt(-2 * Math.log(1 - u1 + 1e-12)) * Math.cos(2 * Math.PI * u2);
