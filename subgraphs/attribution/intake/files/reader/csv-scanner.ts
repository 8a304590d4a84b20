import { MAX_COLUMNS, MAX_ROW_BYTES } from '../reading-limits.ts';
import { emptyRow, type RowCells } from './record-reader.ts';

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

/**
 * How far ahead of itself the scanner may look for closing quotes, in all: what it reads twice it has earned by reading
 * on.
 */
const LOOK_AHEAD_BYTES = 4 * MAX_ROW_BYTES;

/**
 * Finds the rows of CSV in a buffer, and the cells of each: RFC 4180, with blanks around quotes and quotes inside bare
 * cells let pass. A quote that never closes costs its own line only. Looking for the close of one takes up to a
 * mebibyte, and the lines under way are then read again; a scanner that does so often looks less far, so that no file
 * is read more than three times over.
 */
export class CsvScanner {
  /** Of the row just found. */
  readonly cells: RowCells = emptyRow(MAX_COLUMNS + 1);
  /** Where the next row begins. */
  position = 0;
  /** Line ends of the row just found, its own included. */
  lines = 0;
  readonly #delimiter: number;
  /** Cells of this row in which a doubled quote stands for one. */
  readonly #escaped: number[] = [];
  #credit = LOOK_AHEAD_BYTES;
  #isMalformed = false;

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0);
  }

  /**
   * Reads the row at {@link position}. Unless `isLast`, a mebibyte at least stands in front of it; `data[end]` is a
   * line end that is not of the data, so that nothing runs past it.
   * @param isLast nothing follows: what stands at the end is a row too
   * @returns `long` when the row does not end within a mebibyte: the caller leaves out its line
   */
  next(data: Uint8Array, end: number, isLast: boolean): 'row' | 'malformed' | 'long' {
    const start = this.position;
    const horizon = Math.min(end, start + MAX_ROW_BYTES);
    this.#begin(data);
    let at = start;
    for (;;) {
      at = this.#skipBlanks(data, at);
      const cellEnd = data[at] === QUOTE ? this.#quotedCell(data, at + 1, start, horizon) : this.#bareCell(data, at);
      if (cellEnd < 0) return this.#giveUpLine(data, start, end, -cellEnd, isLast);
      if (cellEnd > horizon || (cellEnd === end && !isLast)) return 'long';
      at = cellEnd + 1;
      if (data[cellEnd] === LF) break;
    }
    this.position = Math.min(at, end);
    this.lines += 1;
    this.#credit = Math.min(LOOK_AHEAD_BYTES, this.#credit + 2 * (this.position - start));
    if (this.#isMalformed) return 'malformed';
    for (const cell of this.#escaped) this.#unescape(data, cell);
    return 'row';
  }

  #begin(data: Uint8Array): void {
    this.cells.data = data;
    this.cells.count = 0;
    this.cells.hasExcess = false;
    this.lines = 0;
    this.#escaped.length = 0;
    this.#isMalformed = false;
  }

  #skipBlanks(data: Uint8Array, from: number): number {
    let at = from;
    while (data[at] === SPACE || (data[at] === TAB && this.#delimiter !== TAB)) at += 1;
    return at;
  }

  /** @returns where the delimiter or line end behind the cell stands */
  #bareCell(data: Uint8Array, start: number): number {
    const delimiter = this.#delimiter;
    let at = start;
    while (data[at] !== delimiter && data[at] !== LF) at += 1;
    let end = at;
    if (data[at] === LF && end > start && data[end - 1] === CR) end -= 1;
    while (end > start && (data[end - 1] === SPACE || data[end - 1] === TAB)) end -= 1;
    this.#add(start, end);
    return at;
  }

  /** @returns as for a bare cell; the place, negative, up to which no quote closed the cell */
  #quotedCell(data: Uint8Array, start: number, rowStart: number, horizon: number): number {
    let isEscaped = false;
    let at = start;
    for (;;) {
      while (at < horizon && data[at] !== QUOTE) {
        if (data[at] === LF) {
          this.lines += 1;
          if (at - rowStart > this.#credit) return -at;
        }
        at += 1;
      }
      if (at >= horizon) return -at;
      if (data[at + 1] !== QUOTE || at + 1 >= horizon) break;
      isEscaped = true;
      at += 2;
    }
    if (isEscaped) this.#escaped.push(this.cells.count);
    this.#add(start, at);
    return this.#behindQuote(data, at + 1);
  }

  /** Only blanks may stand between the closing quote and what ends the cell. */
  #behindQuote(data: Uint8Array, from: number): number {
    let at = this.#skipBlanks(data, from);
    if (data[at] === CR && data[at + 1] === LF) at += 1;
    while (data[at] !== this.#delimiter && data[at] !== LF) {
      this.#isMalformed = true;
      at += 1;
    }
    return at;
  }

  #add(start: number, end: number): void {
    const { cells } = this;
    if (cells.count <= MAX_COLUMNS) {
      cells.starts[cells.count] = start;
      cells.ends[cells.count] = end;
      cells.count += 1;
    } else if (end > start) cells.hasExcess = true;
  }

  /** In place: the text only gets shorter. */
  #unescape(data: Uint8Array, cell: number): void {
    if (cell > MAX_COLUMNS) return;
    const { starts, ends } = this.cells;
    let to = starts[cell]!;
    for (let from = to; from < ends[cell]!; from += 1) {
      data[to++] = data[from]!;
      if (data[from] === QUOTE) from += 1;
    }
    ends[cell] = to;
  }

  /** The quote closes nowhere near: the line it stands in is left out, and the next one read as a row of its own. */
  #giveUpLine(data: Uint8Array, start: number, end: number, scannedTo: number, isLast: boolean): 'malformed' | 'long' {
    const lineEnd = data.indexOf(LF, start);
    if (lineEnd - start >= MAX_ROW_BYTES || (lineEnd === end && !isLast)) return 'long';
    this.position = Math.min(lineEnd + 1, end);
    this.lines = 1;
    this.#credit = Math.max(0, this.#credit - (scannedTo - start)) + 2 * (this.position - start);
    return 'malformed';
  }
}
