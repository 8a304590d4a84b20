export interface ArrivalLimits {
  /** How many may come from one address at once, after a while in which fewer came. */
  readonly burst: number;
  /** How many may come from it each second for ever. */
  readonly perSecond: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/** A list of everybody who ever came would grow without end. */
const REMEMBERED = 10_000;

/**
 * How fast connections may come from one address: a bucket of tokens for each, that fills up with time. A flood of new
 * connections costs more than all that is asked on kept ones; who comes too fast is sent away before anything is read.
 */
export class Arrivals {
  readonly #limits: ArrivalLimits;
  /** By address, the one that came last at the end. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(limits: ArrivalLimits) {
    this.#limits = limits;
  }

  /** Counts one that comes now. @returns whether it is one too many */
  isTooFast(address: string, nowMs: number): boolean {
    const { burst, perSecond } = this.#limits;
    const bucket = this.#buckets.get(address) ?? { tokens: burst, atMs: nowMs };
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    const [longestGone] = this.#buckets.keys();
    if (this.#buckets.size > REMEMBERED) this.#buckets.delete(longestGone!);
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return true;
    bucket.tokens -= 1;
    return false;
  }
}
