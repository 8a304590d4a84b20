import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { openCsv } from '../../../../../../subgraphs/attribution/intake/files/reader/csv-records.ts';
import type { RowCells, RowSink } from '../../../../../../subgraphs/attribution/intake/files/reader/record-reader.ts';
import { sized } from '../../../../../run-length.ts';

const DELIMITERS = [',', ';', '\t', '|'] as const;
const MIB = 1024 * 1024;

async function* pieces(data: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < data.length; start += size) yield Buffer.from(data.subarray(start, start + size));
}

interface Found {
  readonly header: readonly string[];
  readonly rows: { line: number; cells: string[] }[];
  readonly unreadable: { line: number; code: string }[];
}

async function readAll(
  content: string | Buffer,
  delimiter: (typeof DELIMITERS)[number] = ',',
  pieceBytes = 65_536,
): Promise<Found> {
  const reader = await openCsv(pieces(Buffer.from(content), pieceBytes), delimiter, () => 0);
  const found: Found = { header: reader.header, rows: [], unreadable: [] };
  const sink: RowSink = {
    row: ({ data, starts, ends, count }: RowCells, line) =>
      void found.rows.push({
        line,
        cells: Array.from({ length: count }, (_, cell) =>
          Buffer.from(data.subarray(starts[cell], ends[cell])).toString(),
        ),
      }),
    unreadable: (line, code) => void found.unreadable.push({ line, code }),
    pause: () => Promise.resolve(),
  };
  await reader.read(new Set(), sink, reader.header);
  return found;
}

const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'ü', ' ', '"', ',', ';', '\t', '|', '\n'), maxLength: 12 }),
  fc.constantFrom('plain', '1.5'),
);

test('whatever stands in cells, and wherever the stream is cut, each row arrives once with its own line', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell, fc.constantFrom('end', 'x')), { minLength: 1, maxLength: 40 }),
      fc.constantFrom(...DELIMITERS),
      fc.constantFrom('\n', '\r\n'),
      fc.integer({ min: 1, max: 200 }),
      fc.boolean(),
      async (rows, delimiter, lineEnd, pieceBytes, closed) => {
        const quote = (text: string) =>
          /["\n\r,;\t| ]/.test(text) || text === '' ? `"${text.replaceAll('"', '""')}"` : text;
        const records = rows.map((row) => row.map(quote).join(delimiter));
        const text =
          ['one', 'two', 'three'].join(delimiter) + lineEnd + records.join(lineEnd) + (closed ? lineEnd : '');
        const lines = records.map(
          (_, index) => 2 + records.slice(0, index).reduce((sum, record) => sum + record.split('\n').length, 0),
        );
        const found = await readAll(text, delimiter, pieceBytes);
        expect(found.unreadable).toEqual([]);
        expect(found.rows).toEqual(rows.map((row, index) => ({ line: lines[index], cells: row })));
      },
    ),
    { numRuns: sized({ short: 100, long: 300 }) },
  );
});

test('another parser reads the same rows from tidy text', async () => {
  const row = fc.array(
    fc
      .string({ unit: fc.constantFrom('a', 'b', '1', '.', '-', 'é', '"'), minLength: 1, maxLength: 6 })
      .filter((text) => !text.startsWith('"')),
    { minLength: 2, maxLength: 5 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
      const text = `h1,h2\n${rows.map((cells) => cells.join(',')).join('\n')}\n`;
      const expected = (parse(text, { relax_quotes: true, relax_column_count: true, quote: '"' }) as string[][]).slice(
        1,
      );
      expect((await readAll(text)).rows.map(({ cells }) => cells)).toEqual(expected);
    }),
  );
});

test('rows that no parser can read are left out by line; the ones around them stay', async () => {
  const found = await readAll('a,b\n"c"d,e\nf,g\n"h\ni",j\nk,l\n');
  expect(found.unreadable).toEqual([{ line: 2, code: 'malformed_row' }]);
  expect(found.rows).toEqual([
    { line: 3, cells: ['f', 'g'] },
    { line: 4, cells: ['h\ni', 'j'] },
    { line: 6, cells: ['k', 'l'] },
  ]);
});

test.each([false, true])(
  'a quote that never closes costs its own line only (at the end of the file: %s)',
  async (isAtEnd) => {
    const rest = isAtEnd ? 10 : 300_000;
    const found = await readAll(`a,b\n"c,d\n${'e,f\n'.repeat(rest)}`);
    expect(found.unreadable).toEqual([{ line: 2, code: 'malformed_row' }]);
    expect(found.rows).toHaveLength(rest);
    expect(found.rows.at(-1)).toEqual({ line: rest + 2, cells: ['e', 'f'] });
  },
);

test('however many lines leave a quote open, each costs itself alone, and closed ones behind are read', async () => {
  const found = await readAll(`a,b\n${'x,"y\n'.repeat(100_000)}${'e,f\n'.repeat(300_000)}"g\nh",i\n`);
  // Quotes come in pairs of lines that close each other only where the next line happens to begin one.
  expect(found.unreadable.length + found.rows.length).toBeGreaterThan(300_000);
  expect(found.rows.at(-1)).toEqual({ line: 400_002, cells: ['g\nh', 'i'] });
  expect(found.rows.filter(({ cells }) => cells[0] === 'e')).toHaveLength(300_000);
});

test('a row longer than a mebibyte is given up as a whole', async () => {
  const found = await readAll(`a,b\n1,2\n${'x'.repeat(5 * MIB)}\nc,d\n"${'y'.repeat(2 * MIB)}"\ne,f\n`);
  expect(found.unreadable).toEqual([
    { line: 3, code: 'row_too_long' },
    { line: 5, code: 'row_too_long' },
  ]);
  expect(found.rows).toEqual([
    { line: 2, cells: ['1', '2'] },
    { line: 4, cells: ['c', 'd'] },
    { line: 6, cells: ['e', 'f'] },
  ]);
});

test('blank rows are no rows; cells beyond the header are told', async () => {
  const found = await readAll('a,b\n\n,\n1,2,3\n \t , \n');
  expect(found.rows).toEqual([{ line: 4, cells: ['1', '2', '3'] }]);
});
