/** What a bucket holds at most, and what it regains. */
export interface TokenLimits {
  readonly burst: number;
  readonly perSecond: number;
}

/** A rate with a burst: tokens are taken out, and come back with time. Full at first. */
export class TokenBucket {
  readonly #limits: TokenLimits;
  #tokens: number;
  #atMs: number;

  constructor(limits: TokenLimits, nowMs: number) {
    this.#limits = limits;
    this.#tokens = limits.burst;
    this.#atMs = nowMs;
  }

  /** Takes tokens out. @returns whether there were as many; otherwise none is taken */
  take(tokens: number, nowMs: number): boolean {
    const { burst, perSecond } = this.#limits;
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, nowMs - this.#atMs) / 1000) * perSecond);
    this.#atMs = nowMs;
    if (this.#tokens < tokens) return false;
    this.#tokens -= tokens;
    return true;
  }

  /** Puts back what was taken for nothing. */
  giveBack(tokens: number): void {
    this.#tokens = Math.min(this.#limits.burst, this.#tokens + tokens);
  }
}
