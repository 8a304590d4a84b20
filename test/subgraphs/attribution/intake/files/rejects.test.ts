import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { ReadingRoom } from '../../../../../subgraphs/attribution/intake/files/reading-room.ts';
import { listRejects } from '../../../../../subgraphs/attribution/intake/files/rejects.ts';
import {
  measureSource,
  purgeSource,
} from '../../../../../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import { MEASURED_AT, openColumnarStore, upload, type ColumnarStore } from '../touchpoints/columnar-store.ts';
import { storedTouches } from '../touchpoints/stored-events.ts';

let store: ColumnarStore;
let sources = 0;
const newSource = (): string => `source-${(sources += 1)}`;

beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const key = (dataSourceId: string) => ({ accountId: 'account', dataSourceId });
const touches = (source: string) => storedTouches(store, source);

/** A byte that neither UTF-8 nor Windows-1252 has by itself. */
const NO_CHARACTER = 0x81;

describe('rows that are refused', () => {
  const bad: [string, string, string][] = [
    [',2025-01-01,email,1', 'user_id', 'missing_value'],
    ['u,,email,1', 'timestamp', 'missing_value'],
    ['u,2025-01-01,,1', 'channel', 'missing_value'],
    ['u,yesterday,email,1', 'timestamp', 'not_a_date'],
    ['u,12/01/2025,email,1', 'timestamp', 'not_a_date'],
    ['u,2025-02-30,email,1', 'timestamp', 'not_a_date'],
    ['u,2025-01-01T25:00:00Z,email,1', 'timestamp', 'not_a_date'],
    ['u,2025,email,1', 'timestamp', 'not_a_date'],
    ['u,1970-01-05,email,1', 'timestamp', 'date_out_of_range'],
    ['u,2050-01-01,email,1', 'timestamp', 'date_out_of_range'],
    ['u,2025-01-01T00:00:00+14:01,email,1', 'timestamp', 'offset_out_of_range'],
    ['u,2025-01-01T00:00:00-99:00,email,1', 'timestamp', 'offset_out_of_range'],
    ['u,2025-01-01 00:00:00 +0575,email,1', 'timestamp', 'offset_out_of_range'],
    ['u,2025-01-01,em\u0007ail,1', 'channel', 'control_character'],
    ['u\u001b[31m,2025-01-01,email,1', 'user_id', 'control_character'],
    ['u,2025-01-01,email,abc', 'cost', 'not_a_number'],
    ['u,2025-01-01,email,"1,5"', 'cost', 'not_a_number'],
    ['u,2025-01-01,email,-1', 'cost', 'negative_value'],
    ['u,2025-01-01,email,1,more', '', 'too_many_columns'],
    ['u,2025-01-01,"em"ail,1', '', 'malformed_row'],
    [`${'u'.repeat(600)},2025-01-01,email,1`, 'user_id', 'value_too_long'],
    [`u,2025-01-01,em\u{0}BAD,1`, 'channel', 'invalid_encoding'],
  ];

  test('each says line, column and code; accepted and rejected make up the whole file', async () => {
    const source = newSource();
    const good = 'u,2025-01-01,email,1.25';
    const lines = ['user_id,timestamp,channel,cost', ...bad.flatMap(([row]) => [good, row, ''])];
    const content = Buffer.from(lines.join('\n')).map((byte) => (byte === 0 ? NO_CHARACTER : byte));
    const report = await upload(store.clickhouse, source, content);
    const expected = bad.map(([, column, code], index) => ({ line: 3 + 3 * index, column, code }));
    expect(report.firstErrors.map(({ line, column, code }) => ({ line, column, code }))).toEqual(expected);
    expect([report.rowsAccepted, report.rowsRejected]).toEqual([bad.length, bad.length]);
    const { rows, total } = await listRejects(store.clickhouse, key(source), { limit: 3, offset: 2 });
    expect(total).toBe(bad.length);
    expect(rows.map(({ line, column, code }) => ({ line, column, code }))).toEqual(expected.slice(2, 5));
    expect(rows[1]!.message).toContain('"yesterday"');
  });

  test('a path has as many steps as models can take', async () => {
    const source = newSource();
    const path = (steps: number): string =>
      `${Array.from({ length: steps }, (_, step) => `c${step % 7}`).join(' > ')},1,10,0`;
    const report = await upload(
      store.clickhouse,
      source,
      ['path,conversions,revenue,nulls', path(10_000), path(10_001)].join('\n'),
    );
    expect(report).toMatchObject({
      rowsAccepted: 1,
      rowsRejected: 1,
      firstErrors: [{ line: 3, column: 'path', code: 'path_too_long', message: 'the path has more than 10,000 steps' }],
    });
  });

  test('a value that is quoted in part ends with a whole character', async () => {
    const orders = [
      'order_id,user_id,timestamp,revenue',
      ...['', 'x'].map((first) => `o,u,2025-01-01,${first}${'\u{1F4A5}'.repeat(400)}`),
    ];
    const { firstErrors } = await upload(store.clickhouse, newSource(), orders.join('\n'));
    expect(firstErrors.map(({ code, message }) => [code, message.isWellFormed()])).toEqual([
      ['not_a_number', true],
      ['not_a_number', true],
    ]);
  });

  test('a deployment may narrow the dates', async () => {
    const room = new ReadingRoom({
      folder: join(tmpdir(), 'liftgraph-test-narrow'),
      rowDates: { earliestDay: '2025-06-01', maxAheadHours: 0 },
    });
    const now = new Date('2026-01-01T12:00:00Z');
    const rows = [
      'u,2025-05-31T23:59:59Z,email',
      'u,2025-06-01,email',
      'u,2026-01-01T12:00:00Z,email',
      'u,2026-01-01T12:00:01Z,email',
    ];
    const report = await upload(store.clickhouse, newSource(), ['user_id,timestamp,channel', ...rows].join('\n'), {
      room,
      now,
    });
    await room.close();
    expect(report).toMatchObject({
      rowsAccepted: 2,
      firstErrors: [
        { line: 2, code: 'date_out_of_range' },
        { line: 5, code: 'date_out_of_range' },
      ],
    });
  });

  test('the furthest offsets, tabs and line ends in quoted names are taken', async () => {
    const source = newSource();
    const rows = [
      'u,2025-01-02T00:00:00+14:00,"a\tb",x',
      'u,2025-01-02T00:00:00-1400,"a\nb",x',
      'u,2025-01-02T00:00:00-03,c,"x\r\ny"',
      'u,2025-01-02T00:00:00.5Z,c,x',
    ];
    expect(
      await upload(store.clickhouse, source, ['user_id,timestamp,channel,campaign', ...rows].join('\n')),
    ).toMatchObject({ rowsAccepted: 4, rowsRejected: 0 });
    expect((await touches(source)).map(({ ts }) => ts)).toEqual([
      '2025-01-01 10:00:00.000',
      '2025-01-02 00:00:00.500',
      '2025-01-02 03:00:00.000',
      '2025-01-02 14:00:00.000',
    ]);
    expect(await upload(store.clickhouse, source, 'path,conversions\n"a > b\u0001",1\nb,1\n')).toMatchObject({
      rowsAccepted: 1,
      firstErrors: [{ line: 2, column: 'path', code: 'control_character' }],
    });
    const ndjson =
      '{"user_id":"u","timestamp":"2025-01-01","channel":"a\\u0002"}\n' +
      '{"user_id":"u","timestamp":"2025-01-01","channel":"a"}\n';
    expect(await upload(store.clickhouse, source, ndjson, { mediaType: 'application/x-ndjson' })).toMatchObject({
      rowsAccepted: 1,
      firstErrors: [{ line: 1, column: 'channel', code: 'control_character' }],
    });
  });

  test('rejects of an upload that is sent again are replaced', async () => {
    const source = newSource();
    await upload(store.clickhouse, source, 'user_id,timestamp,channel\nu,x,a\nu,y,a\n', { uploadId: 'same' });
    const again = await upload(store.clickhouse, source, 'user_id,timestamp,channel\nu,2025-01-01,a\nu,y,a\n', {
      uploadId: 'same',
    });
    expect(again).toMatchObject({ rowsAccepted: 1, rowsRejected: 1 });
    expect(
      (await listRejects(store.clickhouse, key(source), { limit: 10, offset: 0 })).rows.map(({ line }) => line),
    ).toEqual([3]);
  });

  test('whatever the cells hold, no row is lost: the engine reads what was written', async () => {
    const source = newSource();
    const cell = fc
      .string({
        unit: fc.constantFrom('a', 'ß', ' ', '"', ',', "'", '\n', '=', '\\', 'N', ';'),
        minLength: 1,
        maxLength: 8,
      })
      .filter((text) => text.trim() !== '');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 20 }), async (rows) => {
        const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
        const lines = rows.map(
          ([channel, campaign], index) => `u${index},2025-01-01,${quote(channel)},${quote(campaign)}`,
        );
        const report = await upload(
          store.clickhouse,
          source,
          ['user_id,timestamp,channel,campaign', ...lines].join('\n'),
        );
        expect([report.rowsAccepted, report.rowsRejected]).toEqual([rows.length, 0]);
        const stored = await touches(source);
        const written = rows.map(([channel, campaign], index) => ({ user_id: `u${index}`, channel, campaign }));
        expect(stored.map(({ user_id, channel, campaign }) => ({ user_id, channel, campaign }))).toEqual(
          expect.arrayContaining(written),
        );
        await purgeSource(store.clickhouse, key(source));
      }),
      { numRuns: 15 },
    );
  });

  test('a file of many chunks keeps its lines, and gives up only what is wrong', async () => {
    const source = newSource();
    const rows = 700_000;
    const wrong = new Set([5, 250_500, 699_999]);
    const line = (index: number) =>
      wrong.has(index)
        ? 'u,never,email,"c"'
        : `user-${index},2025-01-01T00:00:00Z,email,${index % 1000 === 0 ? '"two\nlines"' : 'campaign'}`;
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('user_id,timestamp,channel,campaign\n');
      for (let start = 0; start < rows; start += 10_000)
        yield Buffer.from(Array.from({ length: 10_000 }, (_, index) => `${line(start + index)}\n`).join(''));
    }
    const report = await upload(store.clickhouse, source, '', { body: body() });
    expect([report.rowsAccepted, report.rowsRejected]).toEqual([rows - wrong.size, wrong.size]);
    const lineOf = (index: number) => 2 + index + Math.ceil(index / 1000);
    expect(report.firstErrors.map(({ line: at }) => at)).toEqual([...wrong].map(lineOf));
    expect((await measureSource(store.clickhouse, () => MEASURED_AT)('account', source)).touchpoints).toBe(
      rows - wrong.size,
    );
  }, 60_000);
});
