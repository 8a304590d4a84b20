import { parse } from 'csv-parse/sync';
import { ProblemError } from '../../../schema/problems.ts';
import { DELIMITERS } from '../../../schema/value-lists.ts';
import type { Delimiter } from '../data-sources/data-source.ts';
import { RecordScanner } from './record-scanner.ts';

/** What the first bytes of an upload tell. */
export interface UploadHead {
  readonly header: readonly string[];
  /** Undefined for JSON. */
  readonly delimiter: Delimiter | undefined;
  /** Bytes of the header, to be left out of the rows; 0 for JSON. */
  readonly headerBytes: number;
  /** Line of the first row, from 1. */
  readonly firstLine: number;
  /** The first rows, as the file has them. */
  readonly sample: readonly (readonly string[])[];
}

const MAX_COLUMNS = 1_000;
const SAMPLE_RECORDS = 1_000;
const PARSE_OPTIONS = { trim: true, relax_quotes: true, relax_column_count: true, skip_records_with_error: true };
const BOM = '\uFEFF';
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Reads the header of a CSV file and detects its delimiter: the one that splits the header into the most columns.
 * @param start the first bytes: the whole file or a good part of it
 * @throws ProblemError `validation_error`, codes `empty_file`, `unsupported_encoding`, `unsupported_line_ends`, `too_many_columns`, `unreadable_header`
 */
export function readCsvHead(start: Buffer, wanted: Delimiter | 'auto'): UploadHead {
  if ((start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff)) {
    throw invalid('unsupported_encoding', 'The file is UTF-16; save it as UTF-8');
  }
  const skipped = blankStart(start);
  if (skipped.bytes === start.length) throw invalid('empty_file', 'The file is empty');
  const rest = start.subarray(skipped.bytes);
  if (!rest.includes(LINE_FEED) && rest.includes(CARRIAGE_RETURN)) throw invalid('unsupported_line_ends', 'The lines of the file end in CR alone; save it with LF or CRLF');
  if (firstLineOf(rest).includes(0)) throw invalid('unsupported_encoding', 'The first line of the file holds NUL bytes, as UTF-16 does; save it as UTF-8');
  const candidates = wanted === 'auto' ? DELIMITERS : [wanted];
  const [best] = candidates.map((delimiter) => headerWith(rest, delimiter)).toSorted((a, b) => b.names.length - a.names.length);
  const { delimiter, names, bytes, lines } = best!;
  if (names.length === 0) throw invalid('unreadable_header', 'The first line of the file cannot be read as a header');
  if (names.length > MAX_COLUMNS) throw invalid('too_many_columns', `The header has ${names.length} columns; ${MAX_COLUMNS} are allowed`);
  const headerBytes = skipped.bytes + bytes;
  return { header: names, delimiter, headerBytes, firstLine: 1 + skipped.lines + lines, sample: sampleOf(start.subarray(headerBytes), delimiter) };
}

function firstLineOf(bytes: Buffer): Buffer {
  const end = bytes.indexOf(LINE_FEED);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

/** The keys of the first objects of an NDJSON file stand for its header. */
export function readJsonHead(start: Buffer): UploadHead {
  const rows: Record<string, unknown>[] = [];
  for (const line of start.toString().replace(BOM, '').split('\n', SAMPLE_RECORDS)) {
    const value = parsedObject(line);
    if (value !== undefined) rows.push(value);
  }
  const header = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (start.toString('utf8', 0, 1024).trim() === '') throw invalid('empty_file', 'The file is empty');
  if (header.length === 0 || header.length > MAX_COLUMNS) throw invalid('unreadable_header', 'No line of the beginning of the file is a JSON object with columns');
  const sample = rows.map((row) => header.map((key) => (row[key] === undefined || row[key] === null ? '' : String(row[key]))));
  return { header, delimiter: undefined, headerBytes: start.toString('utf8', 0, 3).startsWith(BOM) ? 3 : 0, firstLine: 1, sample };
}

const invalid = (code: string, message: string): ProblemError => new ProblemError('validation_error', message, { code, param: '/content' });

/** Byte order mark and blank lines ahead of the header. */
function blankStart(start: Buffer): { bytes: number; lines: number } {
  let bytes = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf ? 3 : 0;
  let lines = 0;
  for (; bytes < start.length && (start[bytes] === 0x0a || start[bytes] === 0x0d); bytes += 1) if (start[bytes] === 0x0a) lines += 1;
  return { bytes, lines };
}

function headerWith(start: Buffer, delimiter: Delimiter): { delimiter: Delimiter; names: string[]; bytes: number; lines: number } {
  const scanner = new RecordScanner(start, delimiter, true);
  scanner.next();
  const text = start.toString('utf8', 0, scanner.end);
  const [names = []] = parse(text, { ...PARSE_OPTIONS, delimiter }) as string[][];
  return { delimiter, names, bytes: scanner.end, lines: scanner.lines };
}

function sampleOf(rows: Buffer, delimiter: Delimiter): string[][] {
  // The last record of the sample may be cut off; it says nothing about the file.
  return parse(rows.subarray(0, rows.lastIndexOf(0x0a) + 1 || rows.length), { ...PARSE_OPTIONS, delimiter, to: SAMPLE_RECORDS }) as string[][];
}

function parsedObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
