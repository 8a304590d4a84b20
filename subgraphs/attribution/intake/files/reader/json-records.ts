import { MAX_COLUMNS, MAX_ROW_BYTES } from '../reading-limits.ts';
import { NestedMembers, nestedName, nestedNames, type JsonObject, type NestedName } from './nested-members.ts';
import { emptyRow, NOT_TEXT, type RecordReader, type RowCells, type RowSink } from './record-reader.ts';
import { invalidFile, RefusedFileError } from './refused-file.ts';
import { Window } from './window.ts';

const LF = 0x0a;
const OPENING_BRACE = 0x7b;
const BOM = '\uFEFF';
const SAMPLE_BYTES = 256 * 1024;
const SAMPLE_LINES = 1_000;
/** Rows of a JSON array (interface decisions §4), and their bytes. */
const MAX_ARRAY_ROWS = 1_000;
const MAX_ARRAY_BYTES = 25 * 1024 * 1024;

/**
 * Lines of JSON, or one array of rows, as programs that export JSON write it. The keys of the first objects stand for
 * the header.
 * @throws RefusedFileError, codes `empty_file`, `unreadable_header`, `invalid_rows`
 */
export async function openJsonLines(content: AsyncIterable<Uint8Array>): Promise<RecordReader> {
  const window = new Window(content, MAX_ROW_BYTES);
  await window.fill();
  if (window.data.toString('utf8', 0, 3).startsWith(BOM)) window.position = 3;
  const sample = window.data.toString('utf8', window.position, Math.min(window.end, SAMPLE_BYTES));
  if (sample.trim() === '' && window.isLast) throw invalidFile('empty_file', 'The file is empty');
  if (sample.trimStart().startsWith('[')) return arrayInFile(window);
  const objects = sample
    .split('\n', SAMPLE_LINES)
    .map(parsedObject)
    .filter((value) => value !== undefined);
  const header = headerOf(objects);
  if (header.length === 0)
    throw invalidFile('unreadable_header', 'No line of the beginning of the file is a JSON object with columns');
  return new JsonLines(window, header);
}

/**
 * A JSON array of at most 1000 rows; a row's line is its place in the array.
 * @throws RefusedFileError `invalid_request` when it is no JSON, `validation_error` (`invalid_rows`,
 * `unreadable_header`), `payload_too_large`
 */
export async function openJsonArray(content: AsyncIterable<Uint8Array>): Promise<RecordReader> {
  const rows = parsedArray(await textInMemory(content));
  if (rows === undefined || rows.length === 0 || rows.length > MAX_ARRAY_ROWS) {
    throw invalidFile(
      'invalid_rows',
      `The body must be an array of 1 to ${MAX_ARRAY_ROWS} rows; send more of them as NDJSON or CSV`,
      { param: '' },
    );
  }
  return rowsInMemory(rows);
}

async function arrayInFile(window: Window): Promise<RecordReader> {
  const text = await textInMemory(restOf(window));
  try {
    const rows = parsedExactly(text);
    if (Array.isArray(rows)) return rowsInMemory(rows);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw invalidFile('invalid_rows', 'The file is no whole JSON array of rows. Export it again, or as NDJSON or CSV.');
}

async function* restOf(window: Window): AsyncGenerator<Uint8Array> {
  for (;;) {
    yield Buffer.from(window.data.subarray(window.position, window.end));
    window.position = window.end;
    if (window.isLast) return;
    await window.fill();
  }
}

async function textInMemory(content: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (bytes > MAX_ARRAY_BYTES)
      throw new RefusedFileError({
        type: 'payload_too_large',
        message: 'A JSON array of rows may have at most 25 MiB; send NDJSON or CSV instead',
      });
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function rowsInMemory(rows: readonly unknown[]): RecordReader {
  const objects = rows.map(objectOf);
  const header = headerOf(objects.filter((row) => row !== undefined));
  if (header.length === 0) throw invalidFile('unreadable_header', 'No row is a JSON object with columns');
  return {
    header,
    hasPlainNumbers: true,
    namesColumns: true,
    read(used, sink, names) {
      const cells = new JsonCells(names, used);
      for (const [index, row] of objects.entries()) {
        if (row !== undefined && cells.take(row)) sink.row(cells.row, index + 1);
        else sink.unreadable(index + 1, row === undefined ? 'malformed_json' : 'row_too_long');
      }
      sink.pause();
      return Promise.resolve();
    },
  };
}

class JsonLines implements RecordReader {
  readonly header: readonly string[];
  readonly hasPlainNumbers = true;
  readonly namesColumns = true;
  readonly #window: Window;

  constructor(window: Window, header: readonly string[]) {
    this.#window = window;
    this.header = header;
  }

  async read(used: ReadonlySet<number>, sink: RowSink, names: readonly string[]): Promise<void> {
    const window = this.#window;
    const cells = new JsonCells(names, used);
    for (let line = 1; ;) {
      if (!window.isFull) {
        await window.fill();
        sink.pause();
      }
      for (; window.left > 0 && window.isFull; line += 1) {
        const end = window.data.indexOf(LF, window.position);
        if (end - window.position > MAX_ROW_BYTES || (end === window.end && !window.isLast)) {
          sink.unreadable(line, 'row_too_long');
          await window.skipLine();
          continue;
        }
        this.#readLine(cells, window.position, end, line, sink);
        window.position = Math.min(end + 1, window.end);
      }
      if (window.isLast) return;
    }
  }

  #readLine(cells: JsonCells, from: number, end: number, line: number, sink: RowSink): void {
    const { data } = this.#window;
    let start = from;
    while (start < end && data[start]! <= 0x20) start += 1;
    if (start === end) return;
    // A failed parse costs far more than a glance, and a file may be full of them.
    const object = data[start] === OPENING_BRACE ? parsedObject(data.toString('utf8', start, end)) : undefined;
    if (object !== undefined && cells.take(object)) sink.row(cells.row, line);
    else sink.unreadable(line, object === undefined ? 'malformed_json' : 'row_too_long');
  }
}

/** Writes the values that are used as the text of cells. */
class JsonCells {
  readonly row: RowCells;
  readonly #bytes: Buffer;
  readonly #used: readonly { readonly place: number; readonly key: string; readonly nested: NestedName | null }[];
  readonly #members = new NestedMembers();

  constructor(header: readonly string[], used: ReadonlySet<number>) {
    // A replacement character takes three bytes where one stood.
    this.#bytes = Buffer.allocUnsafe(3 * MAX_ROW_BYTES + 64);
    this.row = { ...emptyRow(header.length), data: this.#bytes, count: header.length };
    this.#used = [...used].map((place) => ({ place, key: header[place]!, nested: nestedName(header[place]!) }));
  }

  /** @returns whether the row is short enough */
  take(object: JsonObject): boolean {
    let at = 0;
    this.#members.of(object);
    for (const { place, key, nested } of this.#used) {
      const text = Object.hasOwn(object, key)
        ? textOf(object[key])
        : nested === null
          ? ''
          : textOf(this.#members.at(nested));
      if (at + (text?.length ?? 0) > MAX_ROW_BYTES) return false;
      this.row.starts[place] = at;
      if (text !== undefined) at += this.#bytes.write(text, at);
      this.row.ends[place] = text === undefined ? NOT_TEXT : at;
    }
    return true;
  }
}

/** Undefined for an object or a list, which is no text. */
function textOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return String(value);
    case 'boolean':
      // No number: only what is asked as yes or no takes it.
      return String(value);
    default:
      return value === null || value === undefined ? '' : undefined;
  }
}

function headerOf(objects: readonly JsonObject[]): string[] {
  const names = new Set<string>();
  for (const object of objects) {
    for (const key of Object.keys(object)) names.add(key);
    if (names.size > MAX_COLUMNS)
      throw invalidFile('too_many_columns', `The rows have more than the ${MAX_COLUMNS} columns that are allowed`);
  }
  return [...names, ...nestedNames(objects, names, MAX_COLUMNS - names.size)];
}

function parsedObject(line: string): JsonObject | undefined {
  try {
    return objectOf(parsedExactly(line));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function parsedArray(text: string): readonly unknown[] | undefined {
  try {
    const value = parsedExactly(text);
    return Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new RefusedFileError({ type: 'invalid_request', message: 'The body is not valid JSON.' });
  }
}

/** Ids are often numbers of more digits than a number holds: these stay as they are written. */
function parsedExactly(text: string): unknown {
  return /\d{16}/.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text);
}

/** The third argument is of ECMA-262's JSON.parse with source text access. */
function exactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  return typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? source
    : value;
}

const objectOf = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
