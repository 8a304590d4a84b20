const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

/** A quoted cell that never closes would swallow the rest of the file: beyond this the record's first line alone is given up. */
const MAX_RECORD_BYTES = 1024 * 1024;

// Where the scanner stands within a record: RFC 4180, with the engine's tolerances (blanks around quotes, quotes inside bare cells).
const CELL_START = 0;
const BARE = 1;
const QUOTED = 2;
const QUOTE_IN_QUOTED = 3;

/** Walks the records of a buffer of CSV, aware of quotes. Allocates nothing per record. */
export class RecordScanner {
  /** Of the record just found: `data[start .. end)`, its line end included. */
  start = 0;
  end = 0;
  /** Line ends within it, its own included. */
  lines = 0;
  /** No parser could read it: something stands behind a closing quote, or a quote does not close. */
  malformed = false;
  readonly #data: Uint8Array;
  readonly #delimiter: number;
  readonly #complete: boolean;

  /** @param complete nothing follows: what is left at the end is a record too */
  constructor(data: Uint8Array, delimiter: string, complete: boolean) {
    this.#data = data;
    this.#delimiter = delimiter.charCodeAt(0);
    this.#complete = complete;
  }

  /** Finds the next record; false when the data ends before one does. */
  next(): boolean {
    const data = this.#data;
    const delimiter = this.#delimiter;
    const blanks = delimiter !== TAB;
    const start = this.end;
    this.start = start;
    this.lines = 0;
    this.malformed = false;
    let state = CELL_START;
    for (let position = start; position < data.length; position += 1) {
      const byte = data[position]!;
      if (state === QUOTED) {
        if (byte === QUOTE) state = QUOTE_IN_QUOTED;
        else if (byte === LF) {
          this.lines += 1;
          if (position - start > MAX_RECORD_BYTES) return this.#giveUpFirstLine();
        }
      } else if (byte === LF) {
        this.lines += 1;
        this.end = position + 1;
        return true;
      } else if (byte === delimiter) state = CELL_START;
      else if (state === CELL_START) {
        if (byte === QUOTE) state = QUOTED;
        else if (!blanks || (byte !== SPACE && byte !== TAB)) state = BARE;
      } else if (state === QUOTE_IN_QUOTED) {
        if (byte === QUOTE) state = QUOTED;
        else if (byte === CR ? data[position + 1] !== LF : !blanks || (byte !== SPACE && byte !== TAB)) {
          this.malformed = true;
          state = BARE;
        }
      }
    }
    return this.#atEnd(state);
  }

  #atEnd(state: number): boolean {
    const left = this.#data.length - this.start;
    if (state === QUOTED && left > (this.#complete ? 0 : MAX_RECORD_BYTES)) return this.#giveUpFirstLine();
    if (!this.#complete || left === 0) return false;
    this.lines += 1;
    this.end = this.#data.length;
    return true;
  }

  #giveUpFirstLine(): boolean {
    const lineEnd = this.#data.indexOf(LF, this.start);
    if (lineEnd < 0 && !this.#complete) return false;
    this.malformed = true;
    this.lines = 1;
    this.end = lineEnd < 0 ? this.#data.length : lineEnd + 1;
    return true;
  }
}
