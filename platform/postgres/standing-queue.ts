/** As many as can still be answered in time, all of them. */
export const LONGEST = 256;
/** What a busy pool has waiting, and nothing more: the work of a few hundredths of a second. */
const SHORT = 32;
/** How long a queue is longer than that before it is one that does not go away, and shorter before it has gone. */
const BURST_MS = 500;

export interface StandingQueueOptions {
  readonly nowMs: () => number;
  /** Hears when the queue begins to stand and when it no longer does, and how many were sent away until then. */
  readonly turned: (isStanding: boolean, refused: number) => void;
}

/**
 * Tells a burst, which a queue is for, from more work than can be done, where a long queue only makes everybody wait: a
 * queue that stands is cut down to a short one. Whoever is let in is then answered soon, and whoever is not hears so at
 * once (controlled delay: Nichols & Jacobson 2012; in front of servers: Maurer 2015, "Fail at Scale").
 */
export class StandingQueue {
  readonly #options: StandingQueueOptions;
  #isStanding = false;
  /** When the queue was last seen as what it is taken for. */
  #confirmedMs: number;
  #refused = 0;

  constructor(options: StandingQueueOptions) {
    this.#options = options;
    this.#confirmedMs = options.nowMs();
  }

  /** Whether whoever arrives now, and finds so many before him, has to be sent away; asked at every arrival. */
  isTooLong(length: number): boolean {
    const isLong = length >= SHORT;
    const nowMs = this.#options.nowMs();
    if (isLong !== this.#isStanding && nowMs - this.#confirmedMs > BURST_MS) this.#turn(isLong);
    if (isLong === this.#isStanding) this.#confirmedMs = nowMs;
    const isTooLong = length >= LONGEST || (isLong && this.#isStanding);
    if (isTooLong) this.#refused += 1;
    return isTooLong;
  }

  #turn(isStanding: boolean): void {
    this.#isStanding = isStanding;
    this.#options.turned(isStanding, this.#refused);
    this.#refused = 0;
  }
}
