import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { z } from 'zod';
import type { ReadingWishes } from '../../../../../subgraphs/attribution/intake/files/reading-messages.ts';
import { readPlaced, type ReadContent } from './read-content.ts';

/*
 * Files as vendors and people make them. They and what they hold were made by somebody who had not read the readers;
 * each folder says where its format is published.
 */

const FOLDERS = process.env['VENDOR_FILES'] ?? join(import.meta.dirname, 'vendor-files');
const NOW = Date.parse('2026-11-25T12:00:00Z');

const outcome = z.object({
  accepted: z.number(),
  rejected: z.number(),
  skipped: z.number(),
  totals: z.record(z.string(), z.number()),
  refused: z.boolean(),
  records: z.record(z.string(), z.number()),
  questions: z.array(z.object({ code: z.string(), column: z.string().nullable() })),
});
const expected = outcome.partial().extend({
  file: z.string(),
  preset: z.string().nullable(),
  kind: z.string().nullable(),
  options: z.object({
    timezone: z.string().optional(),
    currency: z.string().optional(),
    mapping: z.record(z.string(), z.string()).optional(),
    answers: z.record(z.string(), z.string()).optional(),
  }),
  questions: z.array(z.object({ code: z.string(), column: z.string().nullable() })),
  rejects: z.array(z.object({ line: z.number(), column: z.string().optional(), code: z.string() })).default([]),
  rows: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))).default([]),
  rows_order: z.string().optional(),
  loose: z.array(z.string()).default([]),
  loose_codes: z.record(z.string(), z.string()).default({}),
  also_right: z.array(outcome.partial()).default([]),
  without_rates: z.string().optional(),
});
type Expected = z.output<typeof expected>;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.txt': 'text/csv',
  '.tsv': 'text/csv',
  '.json': 'application/x-ndjson',
  '.ndjson': 'application/x-ndjson',
  '.gz': 'application/x-ndjson',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};
/** What the file can't say is answered in our words. */
const ANSWERS: Readonly<Record<string, readonly [string, string]>> = {
  day_first: ['dates', 'day_first'],
  month_first: ['dates', 'month_first'],
  dot_is_thousands: ['decimals', 'comma'],
  dot_is_decimal: ['decimals', 'point'],
  comma_is_thousands: ['decimals', 'point'],
  comma_is_decimal: ['decimals', 'comma'],
};

let unpacked: string;
beforeAll(async () => {
  unpacked = await mkdtemp(join(tmpdir(), 'liftgraph-vendor-'));
});
afterAll(() => rm(unpacked, { recursive: true, force: true }));

const read = (path: string, wishes: Partial<ReadingWishes>, isDryRun = false): Promise<ReadContent> =>
  readPlaced(path, {
    ...wishes,
    unpackedPath: join(unpacked, 'unpacked'),
    mediaType: MEDIA_TYPES[extname(path)]!,
    isDryRun,
    latestMs: NOW + 48 * 3_600_000,
  });

/** What must be asked, and what must be said aloud. */
const asked = ({ finding, refusal }: ReadContent): string[] => [
  ...(finding?.inspection?.questions.map(({ code }) => code) ?? []),
  ...(refusal === undefined ? [] : [refusal.code ?? '']),
  ...(finding?.hasZoneless === true ? ['time_zone'] : []),
];

const folders = await readdir(FOLDERS);
describe.each(folders.filter((folder) => !/^_|\./.test(folder)))('%s', (folder) => {
  let wanted: Expected;
  let path: string;
  let wishes: Partial<ReadingWishes>;
  beforeAll(async () => {
    wanted = expected.parse(JSON.parse(await readFile(join(FOLDERS, folder, 'expected.json'), 'utf8')));
    path = join(FOLDERS, folder, wanted.file);
    const { timezone = null, currency = null, mapping = {}, answers = {} } = wanted.options;
    wishes = {
      timezone,
      mapping,
      amountCurrency: currency,
      answers: Object.fromEntries(
        Object.entries(answers).map(([column, meaning]) => {
          const [of, value] = ANSWERS[meaning]!;
          return [`${of}:${column}`, value];
        }),
      ),
    };
  });
  const outcomes = (): z.output<typeof outcome>[] =>
    [{}, ...wanted.also_right].map((other) =>
      outcome.parse({
        accepted: 0,
        rejected: 0,
        skipped: 0,
        totals: {},
        refused: false,
        records: {},
        ...wanted,
        ...other,
      }),
    );

  test('asks what it must, and nothing else', async () => {
    const found = asked(await read(path, { mapping: wanted.options.mapping ?? {} }, true));
    const rightly = outcomes().map(({ questions }) => questions.map(({ code }) => code));
    // Names of channels are asked about when they meet others, and what is no upload is refused.
    const told = rightly.map((codes) => codes.filter((code) => !['channel_names', 'not_daily'].includes(code)));
    if (outcomes().some(({ refused }) => refused)) return;
    expect(told.map((codes) => codes.toSorted())).toContainEqual(
      (wanted.without_rates === undefined ? found : [...found, 'mixed_currencies']).toSorted(),
    );
  });

  test('stores what stands there, and refuses the rest by line', async () => {
    const got = await read(path, wishes);
    const summary = summaryOf(got);
    if (wanted.without_rates !== undefined) {
      expect(got.refusal?.code).toBe('mixed_currencies');
      return;
    }
    if (got.refusal !== undefined) {
      expect({ refusal: got.refusal, mayBe: outcomes().some(({ refused }) => refused) }).toMatchObject({ mayBe: true });
      return;
    }
    if (wanted.preset !== null) expect(got.finding!.preset).toMatch(new RegExp(`^${wanted.preset}`));
    expect(outcomes().map(comparable(summary))).toContainEqual(summary);
    const { rejects } = got.finding!;
    if (got.finding!.rejected !== wanted.rejected) return;
    expect(rejects.map(({ line, code }) => ({ line, code }))).toEqual(
      wanted.rejects.map(({ line, code }, index) => ({
        line,
        code: wanted.loose_codes[code]?.includes(rejects[index]?.code ?? '') === true ? rejects[index]!.code : code,
      })),
    );
    firstRows(wanted, got);
  });
});

interface Summary {
  readonly counts: readonly number[];
  readonly totals: Readonly<Record<string, number>>;
  readonly records: Readonly<Record<string, number>>;
}

function summaryOf({ finding, rows }: ReadContent): Summary {
  // The store keeps the last row of an order.
  const standing = [...new Map(rows.map((row, place) => [row['order_id'] || place, row])).values()];
  const sum = (column: string) => cents(standing.reduce((total, row) => total + Number(row[column] ?? 0), 0));
  const records: Record<string, number> = {};
  for (const { table } of rows) records[table!] = (records[table!] ?? 0) + 1;
  return {
    counts: [finding?.accepted ?? 0, finding?.rejected ?? 0, finding?.skipped ?? 0],
    totals: { revenue: sum('revenue'), spend: sum('spend'), cost: sum('cost') },
    records,
  };
}

const cents = (amount: number): number => Math.round(amount * 100) / 100;

/** What is wanted in the form of what was got: only what the case tells is compared. */
const comparable =
  (got: Summary) =>
  ({ accepted, rejected, skipped, totals, records }: z.output<typeof outcome>): Summary => ({
    counts: Object.keys(records).length > 0 ? got.counts : [accepted, rejected, skipped],
    totals: { ...got.totals, ...totals },
    records: Object.keys(records).length > 0 ? { ...got.records, ...records } : got.records,
  });

/** Times are `ts` in the store; what is loose, or not of the row's table, is not compared. */
function firstRows({ rows, rows_order, loose, kind }: Expected, got: ReadContent): void {
  if (rows_order !== undefined) return;
  const table = kind === 'events' ? 'touchpoints' : kind;
  const stored = got.rows.filter((row) => row['table'] === table);
  for (const [index, row] of rows.entries()) {
    const found = stored[index] ?? {};
    for (const [column, value] of Object.entries(row)) {
      const name = column === 'timestamp' ? 'ts' : column;
      if (loose.includes(column) || !(name in found) || value === null) continue;
      const isSame =
        typeof found[name] === 'number'
          ? Math.abs(Number(found[name]) - Number(value)) < 0.005
          : String(found[name]).startsWith(String(value).replace(/\.\d{3}Z$/, ''));
      expect({ index, column, found: isSame ? value : found[name] }).toEqual({ index, column, found: value });
    }
  }
}
