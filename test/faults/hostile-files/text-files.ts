import type { Random } from '../../../compute/numerics/random.ts';
import { below, oneOf } from './byte-mutations.ts';

/** A file whose rows are known: each is stored or told of as rejected. */
export interface TextFile {
  readonly text: string;
  readonly rows: number;
}

type Row = Readonly<Record<string, unknown>>;

const ROWS = 30;
const TIMES = Array.from({ length: ROWS }, (_, row) => new Date(Date.UTC(2025, 5, 1, row)).toISOString());

/** One good row of each kind of table, by number. */
const TABLES: readonly ((row: number) => Row)[] = [
  (row) => ({ user_id: `u${row % 7}`, timestamp: TIMES[row], channel: 'email', campaign: 'spring', cost: '0.40' }),
  (row) => ({
    user_id: `u${row % 7}`,
    timestamp: TIMES[row],
    channel: 'email',
    conversion: row % 5 === 4 ? '1' : '0',
    revenue: row % 5 === 4 ? '49.90' : '',
  }),
  (row) => ({ order_id: `o${row}`, user_id: `u${row % 7}`, timestamp: TIMES[row], revenue: '49.90', currency: 'USD' }),
  (row) => ({
    date: TIMES[row]!.slice(0, 10),
    channel: `c${row}`,
    campaign: 'spring',
    spend: '12.50',
    impressions: '900',
    clicks: '12',
  }),
  (row) => ({ path: `email > meta_ads > c${row}`, conversions: '3', revenue: '99.00', nulls: '4' }),
];

/** What stands in a cell where somebody means ill, or has a bad exporter. */
const HOSTILE_CELLS: readonly unknown[] = [
  '',
  ' ',
  '"',
  '""',
  '"open',
  'a"b',
  'a,b',
  'a\nb',
  'a\r\nb',
  '\\',
  '\\"',
  '\0',
  'a\0b',
  '\ufeff',
  '\u2028',
  '\u200b',
  '💥'.repeat(50),
  '=1+1',
  '@SUM(A1)',
  "'",
  '`',
  '{nosuch:String}',
  "x input('",
  '$(id)',
  '%00',
  '../../etc/passwd',
  '<script>',
  "'; DROP TABLE x; --",
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '-Infinity',
  'true',
  '-0',
  '1e999',
  '1e-999',
  '0x10',
  '9'.repeat(400),
  '99999999999999',
  '1.234.567',
  '12.345.678.901',
  '1..5',
  '1,5',
  '--1',
  '+',
  '.',
  '-',
  '1e',
  '１２',
  '0000-00-00',
  '2026-05-00',
  '2026-00-10',
  '2026-02-30',
  '9999-12-31',
  '1900-01-01',
  '2299-01-01T00:00:00Z',
  '-271821-04-20',
  '99999999999999999999',
  '2025-06-01T25:00:00Z',
  '2025-06-01T10:00:00+99:99',
  'x'.repeat(100_000),
  ' > ',
  ' > '.repeat(500),
  'a > > b',
];
/** What only JSON can hold. */
const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1e308,
  -1e308,
  2 ** 53,
  1.5,
  [],
  [1],
  [[['a']]],
  {},
  { toString: 1 },
  { valueOf: 1, toString: null },
  { length: -1 },
  { constructor: { prototype: {} } },
  JSON.parse('{"then":1}') as unknown,
  { toJSON: 'x' },
  JSON.parse('{"__proto__":{"polluted":1}}') as unknown,
  ...HOSTILE_CELLS,
];
export const HOSTILE_NAMES: readonly string[] = [
  '__proto__',
  'toString',
  'constructor',
  'hasOwnProperty',
  'valueOf',
  "x input('",
  '{nosuch:String}',
  '{user_id:String}',
  '`',
  '"',
  "'",
  '\\',
  "a' OR '1'='1",
  'a`b',
  'a"b',
  'a\nb',
  '💥',
  ' ',
  '*',
  'x'.repeat(10_000),
  'user_id)',
  '/*',
  '--',
  ';',
  '\u202e',
  '_line',
  '_raw',
  'rowNumberInAllBlocks()',
  'line',
];

const quoted = (cell: unknown): string => `"${String(cell).replaceAll('"', '""')}"`;
const plain = (cell: unknown): string => (/["\r\n,;\t]/.test(String(cell)) ? quoted(cell) : String(cell));

function rowsOf(random: Random): Row[] {
  const table = oneOf(TABLES, random);
  return Array.from({ length: ROWS }, (_, row) => table(row));
}

/** One to six cells are hostile; or, seldom, the name of a column. */
function withHostileCells(rows: readonly Row[], values: readonly unknown[], random: Random): Row[] {
  const changed = rows.map((row) => ({ ...row }) as Record<string, unknown>);
  const names = Object.keys(rows[0]!);
  for (let left = 1 + below(6, random); left > 0; left -= 1) {
    const row = oneOf(changed, random);
    row[oneOf(names, random)] = oneOf(values, random);
  }
  return changed;
}

/** A good table as CSV, in one of the ways in which programs write it. */
export function goodCsv(random: Random): TextFile {
  return csvOf(rowsOf(random), random);
}

/** A CSV file by the rules, with hostile cells in it. */
export function hostileCsv(random: Random): TextFile {
  return csvOf(withHostileCells(rowsOf(random), HOSTILE_CELLS, random), random);
}

function csvOf(rows: readonly Row[], random: Random): TextFile {
  const end = oneOf(['\n', '\n', '\r\n'], random);
  const cell = oneOf([plain, quoted], random);
  const names = Object.keys(rows[0]!);
  const lines = [names.join(','), ...rows.map((row) => names.map((name) => cell(row[name])).join(','))];
  return {
    text: `${oneOf(['', '', '\ufeff'], random)}${lines.join(end)}${oneOf(['', end], random)}`,
    rows: rows.length,
  };
}

export function goodRows(random: Random): readonly Row[] {
  return rowsOf(random);
}

/** Rows as JSON holds them: nothing in them is too much for it, however little it means. */
export function hostileRows(random: Random): readonly Row[] {
  const rows = withHostileCells(rowsOf(random), HOSTILE_VALUES, random);
  if (random() < 0.3) {
    const name = oneOf(HOSTILE_NAMES, random);
    for (const row of rows)
      Object.defineProperty(row, name, { value: oneOf(HOSTILE_VALUES, random), enumerable: true, configurable: true });
  }
  return rows;
}

export function ndjsonOf(rows: readonly Row[]): TextFile {
  return { text: rows.map((row) => JSON.stringify(row)).join('\n'), rows: rows.length };
}

const HEADER = 'user_id,timestamp,channel\n';
const GOOD_LINE = 'u1,2025-06-01T10:00:00Z,email\n';
const MIB = 2 ** 20;
/** Leaves a quote open that the next line does not close: its own first one stands inside of a cell. */
export const QUOTE_LINE = 'a","\n';

/** CSV files that are hostile as a whole, by what they are; `factor` makes the large ones smaller. */
export function csvShapes(factor = 1): Readonly<Record<string, () => string>> {
  const times = (count: number): number => Math.max(1, Math.round(count * factor));
  return {
    'a quote at the end of each line that never closes': () => HEADER + QUOTE_LINE.repeat(times(80_000)),
    'a quote inside each line': () => HEADER + 'a"b,\n'.repeat(times(80_000)),
    'a quote at the start of each line that never closes': () => HEADER + '"b,\n'.repeat(times(80_000)),
    'a quote before each comma': () => HEADER + '",\n'.repeat(times(120_000)),
    'one quote, then good lines': () => `${HEADER}u1,"${GOOD_LINE.repeat(times(100_000))}`,
    'doubled quotes without end': () => `${HEADER}"${'""'.repeat(times(2 * MIB))}`,
    'a cell of a hundred megabytes': () => `${HEADER}u1,2025-06-01T10:00:00Z,${'x'.repeat(times(100_000_000))}\n`,
    'a million columns': () => `${HEADER.trim()}${',c'.repeat(times(1_000_000))}\n${GOOD_LINE}`,
    'a million cells in a line': () => HEADER + GOOD_LINE.trim() + ',x'.repeat(times(1_000_000)),
    'a million commas': () => HEADER + ','.repeat(times(1_000_000)),
    'a million empty lines': () => HEADER + '\n'.repeat(times(1_000_000)) + GOOD_LINE,
    'a million carriage returns': () => HEADER + '\r'.repeat(times(1_000_000)),
    'twelve million unreadable lines': () => HEADER + 'x\n'.repeat(times(12_000_000)),
    'a million lines of NUL': () => HEADER + '\0\n'.repeat(times(1_000_000)),
    'a backslash before each line end': () => HEADER + 'a\\\n'.repeat(times(300_000)),
    'spaces without end': () => HEADER + ' '.repeat(times(20 * MIB)),
  };
}

/** NDJSON files that are hostile as a whole. */
export function ndjsonShapes(factor = 1): Readonly<Record<string, () => string>> {
  const times = (count: number): number => Math.max(1, Math.round(count * factor));
  const good = '{"user_id":"u1","timestamp":"2025-06-01T10:00:00Z","channel":"email"}\n';
  return {
    'brackets without end': () => '['.repeat(times(2 * MIB)),
    'objects in objects': () => '{"a":'.repeat(times(200_000)),
    'closed brackets, a hundred thousand deep': () =>
      `{"user_id":${'['.repeat(times(100_000))}${']'.repeat(times(100_000))}}\n${good}`,
    'a text of a hundred megabytes': () => `{"user_id":"${'x'.repeat(times(100_000_000))}"}\n`,
    'a text that never closes': () => `{"user_id":"${good.repeat(times(50_000))}`,
    'a number of ten million digits': () =>
      `{"user_id":"u1","timestamp":"2025-06-01T10:00:00Z","channel":"email","cost":${'9'.repeat(times(10_000_000))}}\n`,
    'a member a hundred thousand times': () =>
      `{${'"user_id":"u1",'.repeat(times(100_000))}"channel":"email"}\n${good}`,
    'a million members': () =>
      `{${Array.from({ length: times(1_000_000) }, (_, member) => `"m${member}":1`).join(',')}}\n${good}`,
    'a million empty lines': () => '\n'.repeat(times(1_000_000)) + good,
    'twelve million unreadable lines': () => good + 'x\n'.repeat(times(12_000_000)),
    'lines that are no objects': () => good + '1\nnull\n[]\n"x"\ntrue\n[{}]\n{}\n'.repeat(times(50_000)),
    'escapes without end': () => `{"user_id":"${'\\u0000'.repeat(times(1_000_000))}"}\n${good}`,
    'backslashes without end': () => `{"user_id":"${'\\\\'.repeat(times(2 * MIB))}`,
    'commas without end': () => `{"user_id":"u1"${','.repeat(times(2 * MIB))}}\n`,
  };
}
