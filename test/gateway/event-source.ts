interface ToyEvent {
  readonly sequence: number;
  readonly bookId: string;
}

type Settle = { resolve(result: IteratorResult<ToyEvent, undefined>): void; reject(reason: unknown): void };

/** Streams of events under the test's control; counts those that are open. */
export class EventSource {
  readonly #streams = new Set<{ topic: string; backlog: ToyEvent[]; waiting: Settle[] }>();

  get open(): number {
    return this.#streams.size;
  }

  publish(topic: string, ...events: ToyEvent[]): void {
    for (const stream of this.#streams) {
      if (stream.topic !== topic) continue;
      for (const value of events) {
        const waiting = stream.waiting.shift();
        if (waiting === undefined) stream.backlog.push(value);
        else waiting.resolve({ done: false, value });
      }
    }
  }

  /** Ends every stream, as a source that has nothing more to say. */
  end(): void {
    for (const stream of this.#streams)
      for (const waiting of stream.waiting.splice(0)) waiting.resolve({ done: true, value: undefined });
    this.#streams.clear();
  }

  /** Breaks every stream with whatever is thrown. */
  lose(reason: unknown): void {
    for (const stream of this.#streams) for (const waiting of stream.waiting.splice(0)) waiting.reject(reason);
    this.#streams.clear();
  }

  subscribe(topic: string): AsyncIterableIterator<ToyEvent> {
    const stream = { topic, backlog: [] as ToyEvent[], waiting: [] as Settle[] };
    const streams = this.#streams;
    streams.add(stream);
    return {
      next: () =>
        new Promise((resolve, reject) => {
          const value = stream.backlog.shift();
          if (value !== undefined) resolve({ done: false, value });
          else if (streams.has(stream)) stream.waiting.push({ resolve, reject });
          else resolve({ done: true, value: undefined });
        }),
      return: async () => {
        streams.delete(stream);
        for (const waiting of stream.waiting.splice(0)) waiting.resolve({ done: true, value: undefined });
        return { done: true, value: undefined };
      },
      throw: async (reason) => {
        streams.delete(stream);
        throw reason;
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}
