/**
 * Counter-based random numbers: each is a pure function of key, purpose and slot, so that a run under another plan
 * meets the same draws (common random numbers).
 */

/** Finaliser of a 32-bit integer hash (lowbias32 of C. Wellons). */
export function mix(h: number): number {
  h ^= h >>> 16;
  h = Math.imul(h, 0x21f0aaad);
  h ^= h >>> 15;
  h = Math.imul(h, 0x735a2d97);
  return h ^ (h >>> 15);
}

/** Key of one person (or shop) under a seed. */
export function keyOf(seed: number, n: number): number {
  return mix(mix(seed + Math.imul(n + 1, 0x9e3779b1)) ^ Math.imul(n + 1, 0x85ebca6b));
}

/** Uniform on (0, 1). */
export function uniform(key: number, purpose: number, slot: number): number {
  const h = mix(mix(key + Math.imul(purpose + 1, 0x9e3779b1)) ^ Math.imul(slot + 1, 0x85ebca6b));
  return ((h >>> 0) + 0.5) / 4294967296;
}

/** Standard normal (Box and Muller). */
export function normal(key: number, purpose: number, slot: number): number {
  const radius = Math.sqrt(-2 * Math.log(uniform(key, purpose, 2 * slot)));
  return radius * Math.cos(2 * Math.PI * uniform(key, purpose, 2 * slot + 1));
}

/** Logistic function. */
export function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** What a number is drawn for: no two kinds of draw share a stream. */
export const FOR = {
  history: 0,
  shift: 1,
  jitter: 2,
  propensity: 3,
  customer: 4,
  optIn: 5,
  openRate: 6,
  habit: 7,
  reach: 8,
  frequency: 9,
  exposure: 10,
  exposureTime: 11,
  click: 12,
  halo: 13,
  haloTime: 14,
  impulse: 15,
  browse: 16,
  consider: 17,
  visitDoor: 18,
  orderDoor: 19,
  win: 20,
  lose: 21,
  satisfied: 22,
  cart: 23,
  after: 24,
  promotion: 25,
  substitute: 26,
  value: 27,
  holdout: 28,
  device: 29,
  loss: 30,
  reset: 31,
  exclude: 32,
} as const;
