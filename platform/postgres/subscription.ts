/** Stands in for messages that may have been missed. */
export const RESYNC: unique symbol = Symbol('resync');
/** Messages may have been missed: read what is there. */
export type Resync = typeof RESYNC;

/** A consumer this far behind gets RESYNC instead of the backlog. */
const BACKLOG_LIMIT = 1_000;
const DONE = { done: true, value: undefined } as const;

/**
 * A queue between a producer and one `for await`. Written by hand because `return()` on an async generator waits
 * behind its pending `next()`: a stream whose client left would stay open until the next message.
 */
export class Subscription<T> implements AsyncIterableIterator<T | Resync> {
  #backlog: (T | Resync)[] = [];
  #waiting: ((result: IteratorResult<T | Resync, undefined>) => void)[] = [];
  #ended = false;
  readonly #onEnd: () => void;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  push(value: T | Resync): void {
    if (this.#ended) return;
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return waiting({ done: false, value });
    // What came before a resync is covered by it.
    if (value === RESYNC || this.#backlog.length >= BACKLOG_LIMIT) this.#backlog = [RESYNC];
    else this.#backlog.push(value);
  }

  next(): Promise<IteratorResult<T | Resync, undefined>> {
    if (this.#backlog.length > 0) return Promise.resolve({ done: false, value: this.#backlog.shift()! });
    if (this.#ended) return Promise.resolve(DONE);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends every pending `next()` at once. */
  return(): Promise<IteratorResult<T | Resync, undefined>> {
    if (!this.#ended) {
      this.#ended = true;
      this.#backlog = [];
      for (const waiting of this.#waiting.splice(0)) waiting(DONE);
      this.#onEnd();
    }
    return Promise.resolve(DONE);
  }

  throw(error: unknown): Promise<IteratorResult<T | Resync, undefined>> {
    void this.return();
    return Promise.reject(error instanceof Error ? error : new Error(String(error)));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
