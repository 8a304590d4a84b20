import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { recordChunks, type RecordChunk } from '../../../../subgraphs/attribution/touchpoints/record-chunks.ts';

const DELIMITERS = [',', ';', '\t', '|'];
const CHUNK_BYTES = 256;

async function* pieces(data: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < data.length; start += size) yield data.subarray(start, start + size);
}

async function chunksOf(text: string, delimiter: string | undefined, pieceBytes = 97, chunkBytes = CHUNK_BYTES): Promise<RecordChunk[]> {
  const chunks: RecordChunk[] = [];
  for await (const chunk of recordChunks(pieces(Buffer.from(text), pieceBytes), { delimiter, firstLine: 2, chunkBytes })) {
    chunks.push({ ...chunk, data: Buffer.from(chunk.data) });
    chunk.release();
  }
  return chunks;
}

/** The records of a chunk with their lines, read by another parser. */
function numberedRecords(chunk: RecordChunk, delimiter: string): { line: number; cells: string[] }[] {
  const records = parse(Buffer.from(chunk.data), { delimiter, relax_column_count: true, info: true }) as unknown as { record: string[] }[];
  return records.map(({ record }, index) => (chunk.numbered ? { line: Number(record[0]), cells: record.slice(1) } : { line: chunk.firstLine + index, cells: record }));
}

const cell = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'ü', ' ', '"', ',', ';', '\t', '|', '\n'), maxLength: 12 }), fc.constantFrom('plain', '1.5'));

test('whatever stands in the cells, and wherever the stream is cut, each record arrives once with its own line', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell, fc.constantFrom('end', 'x')), { minLength: 1, maxLength: 40 }),
      fc.constantFrom(...DELIMITERS), fc.constantFrom('\n', '\r\n'), fc.integer({ min: 1, max: 200 }), fc.boolean(),
      async (rows, delimiter, lineEnd, pieceBytes, closed) => {
        const quote = (text: string) => (/["\n\r,;\t| ]/.test(text) || text === '' ? `"${text.replaceAll('"', '""')}"` : text);
        const records = rows.map((row) => row.map(quote).join(delimiter));
        const text = records.join(lineEnd) + (closed ? lineEnd : '');
        const lines = records.map((_, index) => 2 + records.slice(0, index).reduce((sum, record) => sum + record.split('\n').length, 0));
        const chunks = await chunksOf(text, delimiter, pieceBytes);
        expect(chunks.flatMap((chunk) => chunk.unreadable)).toEqual([]);
        expect(chunks.flatMap((chunk) => numberedRecords(chunk, delimiter))).toEqual(rows.map((row, index) => ({ line: lines[index], cells: row })));
      },
    ),
    { numRuns: 200 },
  );
});

test('records that no parser can read are left out by line; the ones around them stay', async () => {
  const chunks = await chunksOf('a,b\n"c"d,e\nf,g\n"h\ni",j\nk,l\n', ',');
  expect(chunks.flatMap(({ unreadable }) => unreadable)).toEqual([{ line: 3, code: 'malformed_row' }]);
  expect(chunks.flatMap((chunk) => numberedRecords(chunk, ','))).toEqual([
    { line: 2, cells: ['a', 'b'] }, { line: 4, cells: ['f', 'g'] }, { line: 5, cells: ['h\ni', 'j'] }, { line: 7, cells: ['k', 'l'] },
  ]);
});

test('a quote that never closes costs its own line only', async () => {
  const text = `a,b\n"c,d\n${'e,f\n'.repeat(600_000)}`;
  const chunks = await chunksOf(text, ',', 1 << 16, 4 << 20);
  expect(chunks.flatMap(({ unreadable }) => unreadable)).toEqual([{ line: 3, code: 'malformed_row' }]);
  const records = chunks.flatMap((chunk) => numberedRecords(chunk, ','));
  expect(records).toHaveLength(600_001);
  expect(records.at(-1)).toEqual({ line: 600_003, cells: ['e', 'f'] });
});

test('a line longer than a chunk is given up as a whole, without being kept in memory', async () => {
  const chunks = await chunksOf(`a,b\n${'x'.repeat(5 * CHUNK_BYTES)}\nc,d\n`, ',');
  expect(chunks.flatMap(({ unreadable }) => unreadable)).toEqual([{ line: 3, code: 'row_too_long' }]);
  expect(chunks.flatMap((chunk) => numberedRecords(chunk, ','))).toEqual([{ line: 2, cells: ['a', 'b'] }, { line: 4, cells: ['c', 'd'] }]);
});

test('quotes mean nothing in lines of JSON', async () => {
  const chunks = await chunksOf('{"a":"\n{"b":1}\n', undefined);
  expect(chunks).toMatchObject([{ numbered: false, firstLine: 2, unreadable: [] }]);
  expect(Buffer.from(chunks[0]!.data).toString()).toBe('{"a":"\n{"b":1}\n');
});
