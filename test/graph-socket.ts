import { createClient, type Client } from 'graphql-ws';
import WebSocket from 'ws';

type Result = {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: Record<string, unknown> }[];
};

/** What one subscription brings, as a stock graphql-ws client hears it. */
export class GraphStream<Item> {
  readonly #results: AsyncIterableIterator<Result>;

  constructor(results: AsyncIterableIterator<Result>) {
    this.#results = results;
  }

  /** The root field of the next event; undefined when the stream is over. */
  async next(): Promise<Item | undefined> {
    const { done, value } = await this.#results.next();
    if (done === true) return undefined;
    if (value.errors !== undefined) throw new Error(JSON.stringify(value.errors));
    return Object.values(value.data!)[0] as Item;
  }

  /** Events up to the first that is `wanted`, which is the last of them. */
  async until(wanted: (item: Item) => boolean): Promise<Item[]> {
    const items: Item[] = [];
    for (;;) {
      const item = await this.next();
      if (item === undefined) throw new Error(`the stream ended after ${JSON.stringify(items)}`);
      items.push(item);
      if (wanted(item)) return items;
    }
  }

  async close(): Promise<void> {
    await this.#results.return?.();
  }
}

/** A connection of a caller to the graph. */
export class GraphSocket {
  readonly #client: Client;
  /** Resolves when the connection is closed, with the code. */
  readonly closed: Promise<number>;

  constructor(root: string, key: string) {
    const closed = Promise.withResolvers<number>();
    this.closed = closed.promise;
    this.#client = createClient({
      url: `${root.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { authorization: `Bearer ${key}` },
      on: { closed: (event) => closed.resolve((event as { code: number }).code) },
    });
  }

  watch<Item>(query: string, variables: Record<string, unknown> = {}): GraphStream<Item> {
    return new GraphStream<Item>(this.#client.iterate({ query, variables }) as AsyncIterableIterator<Result>);
  }

  async close(): Promise<void> {
    await this.#client.dispose();
  }
}
