import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Json } from './house.ts';

/** An event of an analysis' stream. */
export interface StreamEvent {
  readonly id: number;
  readonly event: string;
  readonly data: Json;
}

/** A stream that is read while it comes: what was said so far, and when it ended. */
export class ProgressStream {
  readonly events: StreamEvent[] = [];
  text = '';
  /** Rejects when the connection broke. */
  readonly ended: Promise<void>;
  readonly #waiting = new Set<() => void>();
  #isOver = false;

  constructor(response: Response) {
    if (response.status !== 200) throw new Error(`the stream was answered with ${response.status}`);
    const parser = createParser({ onEvent: (message) => this.events.push(parsed(message)) });
    this.ended = this.#read(response, parser);
    const over = (): void => {
      this.#isOver = true;
      this.#wake();
    };
    this.ended.then(over, over);
  }

  /** The first event, past or future, that is like this. @throws Error when the stream ends before */
  async next(name: string, isWanted: (event: StreamEvent) => boolean = () => true): Promise<StreamEvent> {
    for (;;) {
      const found = this.events.find((event) => event.event === name && isWanted(event));
      if (found !== undefined) return found;
      if (this.#isOver) throw new Error(`the stream ended without ${name}: ${this.text.slice(-500)}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Resolves when so many events have come, or the stream has ended. */
  async upTo(count: number): Promise<void> {
    while (this.events.length < count && !this.#isOver)
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  async #read(response: Response, parser: ReturnType<typeof createParser>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const piece = decoder.decode(chunk, { stream: true });
      this.text += piece;
      parser.feed(piece);
      this.#wake();
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

function parsed({ id, event, data }: EventSourceMessage): StreamEvent {
  return { id: Number(id), event: event ?? '', data: JSON.parse(data) as Json };
}
