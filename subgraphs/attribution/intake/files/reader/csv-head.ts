import { MAX_COLUMNS } from '../reading-limits.ts';
import { CsvScanner } from './csv-scanner.ts';
import { findHeader, MOST_ROWS_ABOVE, type RecognisesHeader } from './header-search.ts';
import { invalidFile } from './refused-file.ts';
import type { Window } from './window.ts';

/** What may stand between cells; `auto` tells it from the header. */
export type Delimiter = ',' | ';' | '\t' | '|';
const DELIMITERS: readonly Delimiter[] = [',', ';', '\t', '|'];

/** The header of a CSV file. */
export interface CsvHead {
  readonly names: readonly string[];
  readonly delimiter: Delimiter;
  /** Line of the first row, from 1. */
  readonly firstLine: number;
}

const LF = 0x0a;
const CR = 0x0d;
/** Some of those below the header, too: they tell where it stands if nothing else does. */
const ROWS_LOOKED_AT = MOST_ROWS_ABOVE + 20;

/**
 * Finds the header, and leaves the window behind it. Titles and comments may stand above it: of the ways to part the
 * first lines, and of those lines, the one counts whose names are recognised best; where none is, the delimiter that
 * makes most columns.
 * @throws RefusedFileError, codes `empty_file`, `unsupported_encoding`, `unsupported_line_ends`, `too_many_columns`,
 * `unreadable_header`
 */
export async function readCsvHead(
  window: Window,
  wanted: Delimiter | 'auto',
  recognises: RecognisesHeader,
): Promise<CsvHead> {
  if (!window.isFull) await window.fill();
  const start = window.data.subarray(0, window.end);
  window.position = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf ? 3 : 0;
  const blankLines = await skipBlankLines(window);
  if (window.left === 0) throw invalidFile('empty_file', 'The file is empty');
  refuseOtherText(window.data.subarray(window.position, window.end));

  const delimiters = wanted === 'auto' ? DELIMITERS : [wanted];
  const [best] = delimiters
    .map((delimiter) => headerWith(window, delimiter, recognises))
    .toSorted((a, b) => b.certainty - a.certainty || b.names.length - a.names.length);
  if (best === undefined || best.names.length === 0)
    throw invalidFile('unreadable_header', 'The first line of the file cannot be read as a header');
  if (best.names.length > MAX_COLUMNS)
    throw invalidFile('too_many_columns', `The header has more than the ${MAX_COLUMNS} columns that are allowed`);
  window.position = best.end;
  return { names: best.names, delimiter: best.delimiter, firstLine: 1 + blankLines + best.lines };
}

/** Blank lines ahead of the header. @returns how many */
async function skipBlankLines(window: Window): Promise<number> {
  let lines = 0;
  for (;;) {
    while (window.left > 0 && (window.data[window.position] === LF || window.data[window.position] === CR)) {
      if (window.data[window.position] === LF) lines += 1;
      window.position += 1;
    }
    if (window.isFull) return lines;
    await window.fill();
  }
}

function refuseOtherText(rest: Buffer): void {
  const lineEnd = rest.indexOf(LF);
  if (lineEnd < 0 && rest.includes(CR))
    throw invalidFile('unsupported_line_ends', 'The lines of the file end in CR alone; save it with LF or CRLF');
  if (rest.subarray(0, lineEnd < 0 ? rest.length : lineEnd).includes(0)) {
    throw invalidFile(
      'unsupported_encoding',
      'The first line of the file holds NUL characters, as no text does; save it as UTF-8',
    );
  }
}

interface FoundHeader {
  readonly delimiter: Delimiter;
  readonly names: readonly string[];
  readonly certainty: number;
  /** Where the rows begin, and how many lines stand ahead of them. */
  readonly end: number;
  readonly lines: number;
}

function headerWith(window: Window, delimiter: Delimiter, recognises: RecognisesHeader): FoundHeader {
  const scanner = new CsvScanner(delimiter);
  // Scanning takes doubled quotes out of the text: the next delimiter must find it as it was.
  const data = Buffer.from(window.data.subarray(0, window.end + 1));
  scanner.position = window.position;
  const rows: { names: string[]; end: number; lines: number }[] = [];
  let lines = 0;
  while (rows.length < ROWS_LOOKED_AT && scanner.position < window.end) {
    const found = scanner.next(data, window.end, window.isLast);
    // A line that cannot be read is none of the header; behind one that is too long there is none.
    if (found === 'long') break;
    lines += scanner.lines;
    const { starts, ends, count } = scanner.cells;
    const names =
      found === 'row'
        ? Array.from({ length: count }, (_, cell) => data.toString('utf8', starts[cell], ends[cell]))
        : [];
    rows.push({ names, end: scanner.position, lines });
  }
  const { at, names, certainty } = findHeader(
    rows.map((row) => row.names),
    recognises,
  );
  const { end, lines: above } = rows[at] ?? { end: window.position, lines: 0 };
  return { delimiter, certainty, names, end, lines: above };
}
