import { gzipSync } from 'node:zlib';
import type { Random } from '../../compute/numerics/random.ts';
import { multipartOf } from '../../test/faults/hostile-files/containers.ts';
import { sizedParquet, unfoldingParquet } from '../../test/faults/hostile-files/parquet-files.ts';
import { QUOTE_LINE } from '../../test/faults/hostile-files/text-files.ts';

/** Files of one shape and any size. */
export interface FileShape {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** @param size of what has to be read, in bytes, about */
  readonly file: (size: number) => Buffer;
}

const CSV = { 'content-type': 'text/csv' };
const NDJSON = { 'content-type': 'application/x-ndjson' };
const PARQUET = { 'content-type': 'application/vnd.apache.parquet' };
const HEADER = 'user_id,timestamp,channel\n';
const LINE = 'u1,2025-06-01T10:00:00Z,email\n';
const OBJECT = '{"user_id":"u1","timestamp":"2025-06-01T10:00:00Z","channel":"email"}\n';

function repeated(name: string, headers: FileShape['headers'], unit: string, before = '', after = ''): FileShape {
  const bytes = Buffer.byteLength(unit);
  return {
    name,
    headers,
    file: (size) => Buffer.from(before + unit.repeat(Math.max(1, Math.floor(size / bytes))) + after),
  };
}

const csv = (name: string, unit: string, before = HEADER, after = ''): FileShape =>
  repeated(`CSV: ${name}`, CSV, unit, before, after);
const ndjson = (name: string, unit: string, before = '', after = ''): FileShape =>
  repeated(`NDJSON: ${name}`, NDJSON, unit, before, after);

/** What has been seen to take long, or looks as if it might. */
export const FILE_SHAPES: readonly FileShape[] = [
  csv('good lines', LINE),
  csv('a quote at the end of each line that never closes', QUOTE_LINE),
  csv('a quote inside each line', 'a"b,\n'),
  csv('a quote at the start of each line that never closes', '"b,\n'),
  csv('a quote before each comma', '",\n'),
  csv('three quotes a line', '"""\n'),
  csv('one quote, then good lines', LINE, `${HEADER}u1,"`),
  csv('one quote, then quotes', '""', `${HEADER}"`),
  csv('a quote, a line, a quote', `"${LINE}"`),
  csv('quoted line ends', '"a\nb",2025-06-01T10:00:00Z,email\n'),
  csv('one long cell', 'x'),
  csv('one long quoted cell', 'x', `${HEADER}"`, '"\n'),
  csv('spaces', ' '),
  csv('commas', ','),
  csv('columns', ',c', HEADER.trim(), `\n${LINE}`),
  csv('empty lines', '\n'),
  csv('carriage returns', '\r'),
  csv('unreadable lines', 'x\n'),
  csv('lines of NUL', '\0\n'),
  csv('backslashes before line ends', '\\\n'),
  csv('too many cells a line', 'a,b,c,d,e,f,g,h\n'),
  ndjson('good lines', OBJECT),
  ndjson('lines that are no JSON', 'x\n'),
  ndjson('empty lines', '\n'),
  ndjson('brackets', '['),
  ndjson('objects in objects', '{"a":'),
  ndjson('a text that never closes', OBJECT, '{"user_id":"'),
  ndjson('one long text', 'x', '{"user_id":"', '"}\n'),
  ndjson('escapes', '\\u0041', '{"user_id":"', '"}\n'),
  ndjson('one long number', '9', '{"user_id":"u1","cost":', '}\n'),
  ndjson('one member over and over', '"user_id":"u1",', '{', '"channel":"email"}\n'),
  ndjson('quotes', '"'),
  ndjson('small objects', '{}\n'),
  {
    name: 'NDJSON: members',
    headers: NDJSON,
    file: (size) =>
      Buffer.from(
        `{${Array.from({ length: size / 12 }, (_, member) => `"m${String(member).padStart(7, '0')}":1`).join(',')}}\n`,
      ),
  },
  {
    name: 'gzip: members',
    headers: { ...CSV, 'content-encoding': 'gzip' },
    file: (size) => Buffer.concat([gzipSync(HEADER), ...Array.from({ length: size / 50 }, () => gzipSync(LINE))]),
  },
  {
    name: 'gzip: empty members',
    headers: { ...CSV, 'content-encoding': 'gzip' },
    file: (size) => Buffer.concat([...Array.from({ length: size / 20 }, () => gzipSync('')), gzipSync(HEADER + LINE)]),
  },
  {
    name: 'multipart: a file of almost boundaries',
    headers: { 'content-type': multipartOf(Buffer.alloc(0), 'text/csv').contentType },
    file: (size) => multipartOf(Buffer.from('\r\n--liftgraph-hostil'.repeat(size / 20)), 'text/csv').body,
  },
  { name: 'Parquet: rows', headers: PARQUET, file: (size) => sizedParquet({ rows: size / 20 }) },
  { name: 'Parquet: columns', headers: PARQUET, file: (size) => sizedParquet({ rows: 10, columns: size / 300 }) },
  {
    name: 'Parquet: row groups',
    headers: PARQUET,
    file: (size) => sizedParquet({ rows: size / 700, rowGroupSize: 1 }),
  },
  { name: 'Parquet: pages', headers: PARQUET, file: (size) => unfoldingParquet(10, size / 90) },
  { name: 'Parquet: one long text', headers: PARQUET, file: (size) => unfoldingParquet(1, 1, size) },
];

const TOKENS = [
  '"',
  '"',
  '""',
  ',',
  ',',
  ';',
  '\t',
  '\n',
  '\n',
  '\r\n',
  '\r',
  '\\',
  "'",
  ' ',
  'a',
  '0',
  '\0',
  '\ufeff',
  'ü',
  '{',
  '}',
  '[',
  ']',
  ':',
  '{"user_id":"',
  'u1,2025-06-01',
  '|',
];
const MOST_TOKENS = 6;

/** A short pattern over and over, behind a header that makes it a CSV file or behind nothing. */
export function randomShape(random: Random): FileShape {
  const tokens = (most: number): string =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => TOKENS[Math.floor(random() * TOKENS.length)]!).join(
      '',
    );
  const [before, unit, after] = [tokens(2), tokens(MOST_TOKENS) || '"', tokens(2)];
  const isCsv = random() < 0.7;
  const [start, middle, end] = [before, unit, after].map((text) => JSON.stringify(text));
  const name = `${isCsv ? 'CSV' : 'NDJSON'}: ${start} ${middle}… ${end}`;
  return repeated(name, isCsv ? CSV : NDJSON, unit, (isCsv ? HEADER : '') + before, after);
}
