/** What an event stream says: an event, or nothing more than how to come back. */
export interface StreamBlock {
  /** To come back with; the last one that was said. */
  readonly lastEventId: string;
  /** Null where the block only moves the id on. */
  readonly event: { readonly type: string; readonly data: string } | null;
}

const LINE_END = /\r\n|\n|\r/;

/**
 * Parses `text/event-stream` (WHATWG HTML §9.2.6), and tells what an EventSource keeps to itself: ids without an event.
 */
export class EventStreamParser {
  /** How long the server wants its clients to wait before they come back. */
  retryMs: number | null = null;
  #rest = '';
  #lastEventId: string;
  #type = '';
  #data: string[] = [];

  constructor(lastEventId = '') {
    this.#lastEventId = lastEventId;
  }

  /** The blocks that are complete with this piece of text. */
  push(text: string): StreamBlock[] {
    this.#rest += text;
    const blocks: StreamBlock[] = [];
    for (;;) {
      const end = LINE_END.exec(this.#rest);
      // Half of a line break may be still to come.
      if (end === null || (end[0] === '\r' && end.index === this.#rest.length - 1)) return blocks;
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      if (line !== '') this.#takeField(line);
      else blocks.push(this.#block());
    }
  }

  #takeField(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#type = value;
    else if (name === 'id' && !value.includes('\0')) this.#lastEventId = value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
  }

  #block(): StreamBlock {
    const event =
      this.#data.length === 0
        ? null
        : { type: this.#type === '' ? 'message' : this.#type, data: this.#data.join('\n') };
    this.#type = '';
    this.#data = [];
    return { lastEventId: this.#lastEventId, event };
  }
}
