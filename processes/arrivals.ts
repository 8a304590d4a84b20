import { TokenBucket, type TokenLimits } from '../platform/token-bucket.ts';

/** A list of everybody who ever came would grow without end. */
const REMEMBERED = 10_000;

/**
 * How fast connections may come from one address: a bucket of tokens for each, that fills up with time. A flood of new
 * connections costs more than all that is asked on kept ones; who comes too fast is sent away before anything is read.
 */
export class Arrivals {
  readonly #limits: TokenLimits;
  /** By address, the one that came last at the end. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(limits: TokenLimits) {
    this.#limits = limits;
  }

  /** Counts one that comes now. @returns whether it is one too many */
  isTooFast(address: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(address) ?? new TokenBucket(this.#limits, nowMs);
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    const [longestGone] = this.#buckets.keys();
    if (this.#buckets.size > REMEMBERED) this.#buckets.delete(longestGone!);
    return !bucket.take(1, nowMs);
  }

  /** One that came has to come again, through no fault of its own. */
  giveBack(address: string): void {
    this.#buckets.get(address)?.giveBack(1);
  }
}
