import { RecordScanner } from './record-scanner.ts';

/** Whole records of an upload, ready to be parsed by the engine. */
export interface RecordChunk {
  readonly data: Uint8Array;
  /** Line of the first record, from 1. Meaningless where `numbered`. */
  readonly firstLine: number;
  /** Each record is preceded by a cell with its line, since the lines can't be told from the record's place. */
  readonly numbered: boolean;
  /** Lines of records that the engine could not read; they are not in `data`. */
  readonly unreadable: readonly UnreadableRecord[];
  /** Says that `data` is no longer needed: its memory serves a later chunk. */
  readonly release: () => void;
}

export interface UnreadableRecord {
  readonly line: number;
  readonly code: 'malformed_row' | 'row_too_long';
}

export interface ChunkOptions {
  /** Undefined: records are lines, quotes mean nothing (NDJSON). */
  readonly delimiter: string | undefined;
  readonly firstLine: number;
  readonly chunkBytes: number;
}

const LF = 0x0a;
const QUOTE = 0x22;

/**
 * Cuts a stream into chunks of whole records. A buffer without a quote is cut at its last line end; only one with quotes is
 * walked, and only one with line ends inside cells, or with records no parser could read, is written anew.
 */
export async function* recordChunks(source: AsyncIterable<Uint8Array>, options: ChunkOptions): AsyncGenerator<RecordChunk> {
  const free: Buffer[] = [];
  let line = options.firstLine;
  let buffer: Buffer = Buffer.allocUnsafe(options.chunkBytes);
  let filled = 0;
  /** The rest of a line that was given up for its length. */
  let skipping = false;
  for await (let piece of source) {
    while (piece.length > 0) {
      if (skipping) {
        const lineEnd = piece.indexOf(LF);
        piece = lineEnd < 0 ? piece.subarray(piece.length) : piece.subarray(lineEnd + 1);
        skipping = lineEnd < 0;
        if (!skipping) line += 1;
        continue;
      }
      const taken = Math.min(piece.length, buffer.length - filled);
      buffer.set(piece.subarray(0, taken), filled);
      filled += taken;
      piece = piece.subarray(taken);
      if (filled < buffer.length) continue;
      const cut = cutChunk(buffer, line, options.delimiter, false);
      if (cut.end === 0) {
        yield { data: new Uint8Array(0), firstLine: line, numbered: false, unreadable: [{ line, code: 'row_too_long' }], release: nothingToRelease };
        filled = 0;
        skipping = true;
        continue;
      }
      // The chunk may still be on its way when the next one fills: it keeps its buffer until it is released.
      const sent = buffer;
      buffer = free.pop() ?? Buffer.allocUnsafe(options.chunkBytes);
      filled = sent.copy(buffer, 0, cut.end);
      line += cut.lines;
      yield { ...cut.chunk, release: () => free.push(sent) };
    }
  }
  // What is left may hold a line too long for the scanner's patience, so it is cut until nothing remains.
  for (let rest = buffer.subarray(0, filled); rest.length > 0; ) {
    const cut = cutChunk(rest, line, options.delimiter, true);
    line += cut.lines;
    yield { ...cut.chunk, release: nothingToRelease };
    rest = rest.subarray(cut.end);
  }
}

interface Cut {
  readonly chunk: Omit<RecordChunk, 'release'>;
  readonly end: number;
  readonly lines: number;
}

function cutChunk(data: Buffer, firstLine: number, delimiter: string | undefined, complete: boolean): Cut {
  if (delimiter === undefined || !data.includes(QUOTE)) {
    const end = complete ? data.length : data.lastIndexOf(LF) + 1;
    const whole = data.subarray(0, end);
    return { chunk: { data: whole, firstLine, numbered: false, unreadable: [] }, end, lines: countLineEnds(whole) };
  }
  const scanner = new RecordScanner(data, delimiter, complete);
  let lines = 0;
  let plain = true;
  while (scanner.next()) {
    lines += scanner.lines;
    plain &&= scanner.lines === 1 && !scanner.malformed;
  }
  const { end } = scanner;
  if (plain) return { chunk: { data: data.subarray(0, end), firstLine, numbered: false, unreadable: [] }, end, lines };
  return { chunk: numberRecords(data.subarray(0, end), firstLine, delimiter, complete), end, lines };
}

function numberRecords(data: Buffer, firstLine: number, delimiter: string, complete: boolean): Cut['chunk'] {
  const scanner = new RecordScanner(data, delimiter, complete);
  const unreadable: UnreadableRecord[] = [];
  const pieces: Uint8Array[] = [];
  let line = firstLine;
  while (scanner.next()) {
    if (scanner.malformed) unreadable.push({ line, code: 'malformed_row' });
    else pieces.push(Buffer.from(`${line}${delimiter}`), data.subarray(scanner.start, scanner.end));
    line += scanner.lines;
  }
  return { data: Buffer.concat(pieces), firstLine, numbered: true, unreadable };
}

const nothingToRelease = (): void => undefined;

function countLineEnds(data: Uint8Array): number {
  let lines = 0;
  for (let i = 0; i < data.length; i += 1) if (data[i] === LF) lines += 1;
  return lines;
}
