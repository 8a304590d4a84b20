const DONE = { done: true, value: undefined } as const;

interface Waiting<Event> {
  resolve(result: IteratorResult<Event, undefined>): void;
  reject(reason: unknown): void;
}

/** A reader this far behind has left, or never will catch up. */
const BACKLOG_LIMIT = 1_000;

/**
 * Turns events that are pushed into a stream that is pulled. Overflowing breaks it rather than losing events in
 * silence.
 */
export class EventQueue<Event> implements AsyncIterableIterator<Event> {
  readonly #onReturn: () => void;
  #backlog: Event[] = [];
  #waiting: Waiting<Event>[] = [];
  #end: { readonly reason?: unknown } | undefined;

  /** @param onReturn tells the producer that nobody listens any more */
  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  push(event: Event): void {
    if (this.#end !== undefined) return;
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return waiting.resolve({ done: false, value: event });
    this.#backlog.push(event);
    if (this.#backlog.length <= BACKLOG_LIMIT) return;
    this.#backlog = [];
    this.fail(new Error(`the reader of a stream fell ${BACKLOG_LIMIT} events behind`));
    this.#onReturn();
  }

  /** Ends the stream behind what was pushed. */
  end(): void {
    if (this.#end !== undefined) return;
    this.#end = {};
    for (const waiting of this.#waiting.splice(0)) waiting.resolve(DONE);
  }

  /** Breaks the stream behind what was pushed. */
  fail(reason: unknown): void {
    if (this.#end !== undefined) return;
    const waiting = this.#waiting.shift();
    this.#end = waiting === undefined ? { reason } : {};
    waiting?.reject(reason);
    for (const later of this.#waiting.splice(0)) later.resolve(DONE);
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    const event = this.#backlog.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#end === undefined) return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
    const end = this.#end;
    this.#end = {};
    return 'reason' in end ? Promise.reject(end.reason as Error) : Promise.resolve(DONE);
  }

  return(): Promise<IteratorResult<Event, undefined>> {
    const wasOpen = this.#end === undefined;
    this.#backlog = [];
    this.end();
    this.#end = {};
    if (wasOpen) this.#onReturn();
    return Promise.resolve(DONE);
  }

  async throw(reason: unknown): Promise<IteratorResult<Event, undefined>> {
    await this.return();
    throw reason;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
