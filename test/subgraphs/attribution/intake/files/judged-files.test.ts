import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { z } from 'zod';
import { XLSX } from '../../../../../subgraphs/attribution/intake/files/reader/source-file.ts';
import { CSV, NDJSON, readPlaced } from './read-content.ts';

/*
 * Files of shops and programs by somebody who had not read the readers, and what he expected of them: sums, counts, or
 * that nothing can be made of them without being asked.
 */

const FILES = join(import.meta.dirname, 'judged-files');
const MEDIA_TYPES: Readonly<Record<string, string>> = { '.csv': CSV, '.ndjson': NDJSON, '.xlsx': XLSX };

const expected = z.object({
  files: z.record(
    z.string(),
    z.strictObject({
      /** Said with the file, as its sender would. */
      says: z
        .strictObject({
          constants: z.record(z.string(), z.string()).default({}),
          mapping: z.record(z.string(), z.string()).default({}),
          amountCurrency: z.string().nullable().default(null),
          locale: z.string().nullable().default(null),
        })
        .prefault({}),
      refused: z.literal(true).optional(),
      orders: z.number().optional(),
      revenue: z.number().optional(),
      touches: z.number().optional(),
      spend: z.record(z.string(), z.number()).optional(),
      rejected: z.number().optional(),
    }),
  ),
});
const { files } = expected.parse(JSON.parse(await readFile(join(FILES, 'expected.json'), 'utf8')));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'liftgraph-judged-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each(Object.entries(files))('%s is what its author says', async (file, { says, ...wanted }) => {
  const { finding, refusal, rows } = await readPlaced(join(FILES, file), {
    ...says,
    mediaType: MEDIA_TYPES[extname(file)]!,
    unpackedPath: join(folder, 'unpacked'),
  });
  if (wanted.refused === true) {
    expect(refusal?.message).toMatch(/.{20,}/);
    return;
  }
  expect(refusal).toBeUndefined();
  // Of rows with one key the last is stored.
  const orders = [...new Map(of('conversions').map((row) => [row['order_id'], row])).values()];
  const channels = Map.groupBy(of('spend'), (row) => String(row['channel']));
  expect({
    orders: orders.length,
    revenue: sum([...orders, ...of('refunds')], 'revenue'),
    touches: of('touchpoints').length,
    spend: Object.fromEntries([...channels].map(([channel, spent]) => [channel, sum(spent, 'spend')])),
    rejected: finding!.rejected,
  }).toEqual({ orders: 0, revenue: 0, touches: 0, spend: {}, rejected: 0, ...wanted });

  function of(table: string) {
    return rows.filter((row) => row['table'] === table);
  }
});

const sum = (rows: readonly Readonly<Record<string, unknown>>[], column: string): number =>
  Math.round(rows.reduce((total, row) => total + 100 * Number(row[column]), 0)) / 100;

test('a look at a file adds up its rows, and not its rows of sums once more', async () => {
  const { finding } = await readPlaced(join(FILES, '11_google_ads_utf16.csv'), {
    mediaType: CSV,
    unpackedPath: join(folder, 'unpacked'),
    isDryRun: true,
  });
  expect(finding!.inspection!.currencies).toEqual([expect.objectContaining({ currency: 'USD', rows: 42 })]);
  expect(finding!.inspection!.currencies[0]!.amount).toBeCloseTo(
    files['11_google_ads_utf16.csv']!.spend!['google_ads']!,
    2,
  );
});
