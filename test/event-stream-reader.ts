import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** What one connection to an event stream brings, as an EventSource of a browser reads it. */
export class EventStreamReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly #events: EventSourceMessage[] = [];
  #text = '';
  readonly #parser = createParser({ onEvent: (event) => this.#events.push(event) });

  constructor(response: Response) {
    this.#reader = response.body!.getReader();
  }

  /** The id that a client would come back with: also of blocks that dispatch no event. */
  get lastEventId(): string | undefined {
    return [...this.#text.matchAll(/^id: (.*)$(?=[^]*?\n\n)/gm)].at(-1)?.[1];
  }

  /** Waits for as many events as are named; fewer when the stream ended. */
  async take(count: number): Promise<EventSourceMessage[]> {
    while (this.#events.length < count && (await this.#read()));
    return this.#events.splice(0, count);
  }

  /** Waits until the stream has said where it begins. */
  async begun(): Promise<string> {
    while (this.lastEventId === undefined && (await this.#read()));
    if (this.lastEventId === undefined) throw new Error('the stream ended without an id');
    return this.lastEventId;
  }

  /** Reads to the end of the stream. */
  async ended(): Promise<void> {
    while (await this.#read());
  }

  async close(): Promise<void> {
    await this.#reader.cancel();
  }

  async #read(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    const text = this.#decoder.decode(value, { stream: true });
    this.#text += text;
    this.#parser.feed(text);
    return !done;
  }
}
