const DONE = { done: true, value: undefined } as const;

/** A source that tells once it is over, by itself or because nobody listens any more. Telling twice must be no harm. */
export function tellingEnd<T>(source: AsyncIterator<T>, over: () => void): AsyncIterator<T, undefined> {
  return {
    async next() {
      try {
        const { done, value } = await source.next();
        if (done !== true) return { done: false, value };
        over();
        return DONE;
      } catch (reason) {
        over();
        throw reason;
      }
    },
    async return() {
      over();
      await source.return?.();
      return DONE;
    },
  };
}

interface Waiting<Out> {
  resolve(result: IteratorResult<Out, undefined>): void;
  reject(reason: unknown): void;
}

/**
 * A stream of events, each passed through `present`. Written by hand because `return()` on an async generator waits
 * behind its pending `next()`: here it takes effect at once, whatever the source does.
 */
export class EventStream<In, Out> implements AsyncIterableIterator<Out> {
  readonly #source: AsyncIterator<In>;
  readonly #present: (event: In) => Promise<Out> | Out;
  /** What a break of the source becomes: a last event, or an error by throwing one. */
  readonly #presentBreak: (reason: unknown) => Promise<Out> | Out;
  #waiting: Waiting<Out> | undefined;
  #ended = false;

  constructor(
    source: AsyncIterator<In>,
    present: (event: In) => Promise<Out> | Out,
    presentBreak: (reason: unknown) => Promise<Out> | Out,
  ) {
    this.#source = source;
    this.#present = present;
    this.#presentBreak = presentBreak;
  }

  next(): Promise<IteratorResult<Out, undefined>> {
    if (this.#ended) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#pull().then(resolve, reject);
    });
  }

  async #pull(): Promise<IteratorResult<Out, undefined>> {
    try {
      const { done, value } = await this.#source.next();
      if (done !== true) return { done: false, value: await this.#present(value) };
      this.#ended = true;
      return DONE;
    } catch (reason) {
      if (this.#ended) return DONE;
      this.#ended = true;
      // A source that broke is over, but an event that could not be presented leaves its source running.
      this.#source.return?.().catch(() => undefined);
      return { done: false, value: await this.#presentBreak(reason) };
    }
  }

  async return(): Promise<IteratorResult<Out, undefined>> {
    this.#ended = true;
    this.#waiting?.resolve(DONE);
    await this.#source.return?.();
    return DONE;
  }

  async throw(reason: unknown): Promise<IteratorResult<Out, undefined>> {
    await this.return();
    throw reason;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
