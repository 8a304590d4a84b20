import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { stringify } from 'node:querystring';
import * as fc from 'fast-check';
import { z } from 'zod';
import { CURRENT_PATHS } from '../../../../../subgraphs/attribution/intake/touchpoints/current-paths.ts';
import { ReadingRoom } from '../../../../../subgraphs/attribution/intake/files/reading-room.ts';
import { listRejects } from '../../../../../subgraphs/attribution/intake/files/rejects.ts';
import {
  measureSource,
  purgeSource,
  sourceChannels,
  sourceSpend,
} from '../../../../../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import {
  MEASURED_AT,
  openColumnarStore,
  sourceEvidence,
  upload,
  type ColumnarStore,
} from '../touchpoints/columnar-store.ts';

let store: ColumnarStore;
let sources = 0;
const newSource = (): string => `source-${(sources += 1)}`;

beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const key = (dataSourceId: string) => ({ accountId: 'account', dataSourceId });
const touches = (source: string) =>
  store.clickhouse.rows(
    `SELECT user_id, toString(ts) AS ts, event_id, channel, campaign, toString(cost) AS cost FROM touchpoints FINAL ` +
      `WHERE data_source_id = {source:String} ORDER BY user_id, ts, channel, campaign`,
    z.object({
      user_id: z.string(),
      ts: z.string(),
      event_id: z.string(),
      channel: z.string(),
      campaign: z.string(),
      cost: z.string(),
    }),
    { params: { source } },
  );
const conversions = (source: string) =>
  store.clickhouse.rows(
    `SELECT order_id, user_id, toString(ts) AS ts, toString(revenue) AS revenue, currency, new_customer, ` +
      `conversion_event, channel FROM conversions FINAL WHERE data_source_id = {source:String} ORDER BY ts, order_id`,
    z.object({
      order_id: z.string(),
      user_id: z.string(),
      ts: z.string(),
      revenue: z.string(),
      currency: z.string(),
      new_customer: z.number(),
      conversion_event: z.string(),
      channel: z.string(),
    }),
    { params: { source } },
  );

describe('kinds', () => {
  test('touchpoints, with everything a header may have', async () => {
    const source = newSource();
    const report = await upload(
      store.clickhouse,
      source,
      '\uFEFFJourney ID;Timestamp;Channel;Campaign;Cost;Event ID\r\nu1;2025-01-02T03:04:05+01:00;email;"spring; ' +
        'sale";1.5;e1\r\n',
    );
    expect(report).toMatchObject({
      kind: 'touchpoints',
      rowsAccepted: 1,
      rowsRejected: 0,
      touchpoints: 1,
      conversions: 0,
      currency: null,
      earliest: '2025-01-02T02:04:05.000Z',
      latest: '2025-01-02T02:04:05.000Z',
    });
    expect(await touches(source)).toEqual([
      {
        user_id: 'u1',
        ts: '2025-01-02 02:04:05.000',
        event_id: 'e1',
        channel: 'email',
        campaign: 'spring; sale',
        cost: '1.5',
      },
    ]);
  });

  test('conversions, in the currency of the first', async () => {
    const source = newSource();
    const report = await upload(
      store.clickhouse,
      source,
      'order_id,user_id,timestamp,revenue,currency,new_customer\no1,u1,1735689600,10.5,eur,true\no2,u1,1735689600123,-3,,\no3,u2,2025-01-01 00:00:00,7,USD,0\n',
    );
    expect(report).toMatchObject({
      kind: 'conversions',
      rowsAccepted: 2,
      rowsRejected: 1,
      conversions: 2,
      touchpoints: 0,
      currency: 'EUR',
    });
    expect(report.firstErrors).toEqual([
      { line: 4, column: 'currency', code: 'wrong_currency', message: '"USD" is not the currency of this source' },
    ]);
    expect(await conversions(source)).toEqual([
      {
        order_id: 'o1',
        user_id: 'u1',
        ts: '2025-01-01 00:00:00.000',
        revenue: '10.5',
        currency: 'EUR',
        new_customer: 1,
        conversion_event: 'purchase',
        channel: '',
      },
      {
        order_id: 'o2',
        user_id: 'u1',
        ts: '2025-01-01 00:00:00.123',
        revenue: '-3',
        currency: 'EUR',
        new_customer: -1,
        conversion_event: 'purchase',
        channel: '',
      },
    ]);
  });

  test('one table of events: a conversion is a row of its own, with an order id that stays the same', async () => {
    const source = newSource();
    const file =
      'user_id,timestamp,channel,campaign,cost,conversion,revenue\nu1,2025-01-01,email,a,1,0,0\nu1,2025-01-02,,,0,1,20\nu2,2025-01-03,search,b,0,1,30\nu2,2025-01-04,,,0,0,0\n';
    const report = await upload(store.clickhouse, source, file);
    expect(report).toMatchObject({ kind: 'events', rowsAccepted: 3, rowsRejected: 1, touchpoints: 1, conversions: 2 });
    expect(report.firstErrors).toMatchObject([{ line: 5, column: 'channel', code: 'missing_value' }]);
    const first = await conversions(source);
    expect(first.map(({ channel }) => channel)).toEqual(['', 'search']);
    await upload(store.clickhouse, source, file);
    expect(await conversions(source)).toEqual(first);
  });

  test('spend, and paths with or without a day', async () => {
    const source = newSource();
    expect(
      await upload(
        store.clickhouse,
        source,
        'date,channel,campaign,spend,impressions,clicks\n2025-01-01,email,a,10.25,1000,30\n2025-02-30,email,a,1,,\n',
      ),
    ).toMatchObject({
      kind: 'spend',
      spendRows: 1,
      rowsRejected: 1,
      firstErrors: [{ line: 3, column: 'date', code: 'not_a_date' }],
    });
    expect(
      await upload(
        store.clickhouse,
        source,
        'path,total_conversions,total_conversion_value,total_null\n a >b> a,2,10.5,7\n,1,5,0\nc,-1,0,0\n',
      ),
    ).toMatchObject({
      kind: 'paths',
      paths: 2,
      rowsRejected: 1,
      earliest: null,
      firstErrors: [{ line: 4, column: 'total_conversions', code: 'negative_value' }],
    });
    expect(await sourceChannels(store.clickhouse, key(source))).toEqual(['a', 'b', 'email']);
  });
});

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
    const good = 'u,2025-01-01,email,1';
    const lines = ['user_id,timestamp,channel,cost', ...bad.flatMap(([row]) => [good, row, ''])];
    const content = Buffer.from(lines.join('\n')).map((byte) => (byte === 0 ? 0xff : byte));
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
      '{"user_id":"u","timestamp":"2025-01-01","channel":"a\\u0002"}\n{"user_id":"u","timestamp":"2025-01-01","channel":"a"}\n';
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

describe('other media', () => {
  test('lines of JSON and an array of rows give what CSV gives', async () => {
    const rows = [
      { user_id: 'u1', timestamp: 1735689600, channel: 'email', cost: 0.25 },
      { user_id: 'u2', timestamp: '2025-01-01T00:00:00Z', channel: 'ads', cost: null, more: [1] },
    ];
    const [csv, lines, array] = [newSource(), newSource(), newSource()];
    await upload(
      store.clickhouse,
      csv,
      'user_id,timestamp,channel,cost\nu1,1735689600,email,0.25\nu2,2025-01-01T00:00:00Z,ads,\n',
    );
    await upload(store.clickhouse, lines, rows.map((row) => JSON.stringify(row)).join('\n\n'), {
      mediaType: 'application/x-ndjson',
    });
    await upload(store.clickhouse, array, JSON.stringify(rows), { mediaType: 'application/json' });
    const expected = await touches(csv);
    expect(expected).toHaveLength(2);
    expect(await touches(lines)).toEqual(expected);
    expect(await touches(array)).toEqual(expected);
  });

  test('a row of JSON that is none is refused by its line', async () => {
    const report = await upload(
      store.clickhouse,
      newSource(),
      '{"user_id":"u","timestamp":"2025-01-01","channel":"a"}\nnonsense\n[1]\n{"user_id":"u","timestamp":"x","channel":"a"}\n',
      { mediaType: 'application/x-ndjson' },
    );
    expect(report.rowsAccepted).toBe(1);
    expect(report.firstErrors.map(({ line, code }) => [line, code])).toEqual([
      [2, 'malformed_json'],
      [3, 'malformed_json'],
      [4, 'not_a_date'],
    ]);
  });

  test('Parquet is checked like any other file', async () => {
    const source = newSource();
    const file = await parquet(`SELECT 'o' || number AS order_id, 'u' AS "User Id",
        toDateTime64('2025-01-01 00:00:00', 3, 'UTC') + number AS timestamp,
      toDecimal64(number - 1, 2) AS revenue, if(number = 3, 'USD', 'EUR') AS currency, [number] AS list
        FROM numbers(5)`);
    const report = await upload(store.clickhouse, source, file, { mediaType: 'application/vnd.apache.parquet' });
    expect(report).toMatchObject({
      kind: 'conversions',
      rowsAccepted: 4,
      rowsRejected: 1,
      currency: 'EUR',
      firstErrors: [{ line: 4, column: 'currency', code: 'wrong_currency' }],
    });
    expect((await conversions(source)).map(({ order_id, ts, revenue }) => [order_id, ts, revenue])).toEqual([
      ['o0', '2025-01-01 00:00:00.000', '-1'],
      ['o1', '2025-01-01 00:00:01.000', '0'],
      ['o2', '2025-01-01 00:00:02.000', '1'],
      ['o4', '2025-01-01 00:00:04.000', '3'],
    ]);
  });

  test('gzip, announced or not; the digest is that of the content', async () => {
    const file = 'user_id,timestamp,channel\nu,2025-01-01,a\n';
    const plain = await upload(store.clickhouse, newSource(), file);
    for (const contentEncoding of ['gzip', 'identity'] as const) {
      const report = await upload(store.clickhouse, newSource(), gzipSync(file), { contentEncoding });
      expect(report).toMatchObject({ rowsAccepted: 1, bytes: file.length, contentDigest: plain.contentDigest });
    }
  });

  async function parquet(select: string): Promise<Buffer> {
    const url = new URL(store.url);
    const authorization = `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`;
    const response = await fetch(`${url.origin}/?${stringify({ default_format: 'Parquet' })}`, {
      method: 'POST',
      headers: { authorization },
      body: select,
    });
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  }
});

describe('bodies that are refused', () => {
  const header = 'user_id,timestamp,channel\n';

  test.each([
    ['', {}, 'empty_file'],
    ['\n\n', {}, 'empty_file'],
    ['a,b\n1,2\n', {}, 'unrecognised_columns'],
    [Buffer.from(`\uFEFF${header}`, 'utf16le'), {}, 'unsupported_encoding'],
    [Buffer.from(`${header}u,2025-01-01,a\n`, 'utf16le'), {}, 'unsupported_encoding'],
    [`${header}u,2025-01-01,a\n`.replaceAll('\n', '\r'), {}, 'unsupported_line_ends'],
    ['PAR1 nonsense', { mediaType: 'application/vnd.apache.parquet' }, 'unreadable_parquet'],
    ['not json', { mediaType: 'application/x-ndjson' }, 'unreadable_header'],
    [gzipSync(header.repeat(1000)).subarray(0, 60), { contentEncoding: 'gzip' as const }, 'corrupt_gzip'],
    [header, { contentEncoding: 'gzip' as const }, 'corrupt_gzip'],
    [
      JSON.stringify(Array.from({ length: 1001 }, () => ({ user_id: 'u' }))),
      { mediaType: 'application/json' },
      'invalid_rows',
    ],
    [header, { delimiter: 'x' }, 'invalid_delimiter'],
  ])('refusal %#', async (content, changes, code) => {
    await expect(upload(store.clickhouse, newSource(), content, changes)).rejects.toMatchObject({
      type: 'validation_error',
      problem: { code },
    });
  });

  test('no message repeats a NUL, which PostgreSQL could not store', async () => {
    const refusal = upload(store.clickhouse, newSource(), '{"user\\u0000":1}\n', { mediaType: 'application/x-ndjson' });
    await expect(refusal).rejects.toMatchObject({
      problem: { code: 'unrecognised_columns' },
      message: expect.stringContaining('"user\u2400"'),
    });
    const report = await upload(store.clickhouse, newSource(), `${header}u,20\u{0}25,a\nu,2025-01-01,a\u{0}b\n`);
    expect(report.firstErrors.map(({ code }) => code)).toEqual(['not_a_date', 'nul_character']);
    expect(JSON.stringify(report)).not.toContain(String.raw`\u0000`);
  });

  test('a small gzip of a large content is stopped at the limit', async () => {
    const bomb = gzipSync(Buffer.concat([Buffer.from(header), Buffer.alloc(50_000_000, 'u,2025-01-01,a\n')]));
    expect(bomb.length).toBeLessThan(200_000);
    await expect(upload(store.clickhouse, newSource(), bomb, { maxBytes: 1_000_000 })).rejects.toMatchObject({
      type: 'payload_too_large',
    });
  });

  test('an unknown media type', async () => {
    await expect(upload(store.clickhouse, newSource(), header, { mediaType: 'text/html' })).rejects.toMatchObject({
      type: 'unsupported_media_type',
    });
  });
});

describe('what is stored', () => {
  test('the latest row of a natural key wins, within a file and across files', async () => {
    const source = newSource();
    await upload(
      store.clickhouse,
      source,
      'user_id,timestamp,channel,campaign,cost\nu,2025-01-01,a,x,1\nu,2025-01-01,a,x,2\nu,2025-01-01,a,y,3\n',
    );
    expect((await touches(source)).map(({ campaign, cost }) => [campaign, cost])).toEqual([
      ['x', '2'],
      ['y', '3'],
    ]);
    await upload(store.clickhouse, source, 'user_id,timestamp,channel,campaign,cost\nu,2025-01-01,a,x,9\n');
    expect((await touches(source)).map(({ campaign, cost }) => [campaign, cost])).toEqual([
      ['x', '9'],
      ['y', '3'],
    ]);
    await upload(store.clickhouse, source, 'order_id,user_id,timestamp,revenue\no,u,2025-01-01,1\n');
    await upload(store.clickhouse, source, 'order_id,user_id,timestamp,revenue\no,v,2025-01-05,2\n');
    expect(await conversions(source)).toMatchObject([{ order_id: 'o', user_id: 'v', revenue: '2' }]);
    expect(await measureSource(store.clickhouse, () => MEASURED_AT)('account', source)).toMatchObject({
      touchpoints: 2,
      conversions: 1,
    });
  });

  test('a path may stand in several rows: those of one file add up, a later file replaces them', async () => {
    const source = newSource();
    const stored = () =>
      store.clickhouse.rows(
        `SELECT arrayStringConcat(path, '>') AS path, toFloat64(conversions) AS conversions, toFloat64(revenue) AS ` +
          `revenue FROM ${CURRENT_PATHS} ORDER BY path`,
        z.object({ path: z.string(), conversions: z.number(), revenue: z.number() }),
        { params: { account_id: 'account', data_source_id: source } },
      );
    const file = 'path,conversions,revenue,nulls\na > b,1,10,0\nc,1,1,0\na > b,2,20,0\n';
    const sum = [
      { path: 'a>b', conversions: 3, revenue: 30 },
      { path: 'c', conversions: 1, revenue: 1 },
    ];
    await upload(store.clickhouse, source, file);
    expect(await stored()).toEqual(sum);
    const evidence = await sourceEvidence(store.clickhouse, key(source));
    expect(evidence.rows).toBe(2);
    // As it was, in another order, and with a chunk that is sent twice.
    await upload(store.clickhouse, source, file);
    await upload(store.clickhouse, source, 'path,conversions,revenue,nulls\nc,1,1,0\na > b,2,20,0\na > b,1,10,0\n');
    const now = new Date(Date.UTC(2026, 5, 1));
    for (let time = 0; time < 2; time += 1) await upload(store.clickhouse, source, file, { uploadId: 'retried', now });
    expect(await stored()).toEqual(sum);
    expect(await sourceEvidence(store.clickhouse, key(source))).toEqual(evidence);
    await upload(store.clickhouse, source, 'path,conversions,revenue,nulls\na>b,4,40,0\n', {
      now: new Date(now.getTime() + 1),
    });
    expect(await stored()).toEqual([{ path: 'a>b', conversions: 4, revenue: 40 }, sum[1]]);
    expect((await measureSource(store.clickhouse, () => MEASURED_AT)('account', source)).paths).toBe(2);
  });

  test('conversions of one user and instant without an order id both count, however often they come', async () => {
    const source = newSource();
    const file =
      'user_id,timestamp,channel,conversion,revenue,conversion_event\nu,2025-01-02,,1,10,\nu,2025-01-02,,1,20,\nu,2025-01-02,,1,20,upgrade\n';
    for (let time = 0; time < 2; time += 1) {
      await upload(store.clickhouse, source, file);
      expect(
        (await conversions(source)).map(({ revenue, conversion_event }) => `${revenue} ${conversion_event}`).toSorted(),
      ).toEqual(['10 purchase', '20 purchase', '20 upgrade']);
    }
  });

  test('the evidence depends on the rows, not on how or how often they came', async () => {
    const [one, two] = [newSource(), newSource()];
    const header = 'user_id,timestamp,channel,cost\n';
    const [a, b] = ['u,2025-01-01,a,1\n', 'v,2025-01-02,b,2\n'];
    await upload(store.clickhouse, one, header + a + b);
    await upload(store.clickhouse, two, header + b);
    await upload(store.clickhouse, two, header + a);
    await upload(store.clickhouse, two, header + b);
    const evidence = await sourceEvidence(store.clickhouse, key(one));
    expect(evidence.rows).toBe(2);
    expect(await sourceEvidence(store.clickhouse, key(two))).toEqual(evidence);
    await upload(store.clickhouse, two, `${header}v,2025-01-02,b,2.5\n`);
    expect(await sourceEvidence(store.clickhouse, key(two))).not.toEqual(evidence);
  });

  test('rows that are alike in two sources, or two accounts, stay apart', async () => {
    const keys = [key(newSource()), key(newSource())];
    keys.push({ accountId: 'other', dataSourceId: keys[0]!.dataSourceId });
    const files = [
      'user_id,timestamp,channel,campaign,cost\nu,2025-01-01,a,x,1\nu,2025-01-01,a,x,bad\n',
      'order_id,user_id,timestamp,revenue\no,u,2025-01-01,1\n',
      'date,channel,campaign,spend\n2025-01-01,a,x,1\n',
      'path,conversions,revenue,nulls\na > b,1,2,3\n',
    ];
    for (const source of keys)
      for (const [index, file] of files.entries())
        await upload(store.clickhouse, '', file, { source, uploadId: `alike-${index}` });
    const [first, ...others] = await Promise.all(keys.map((source) => sourceEvidence(store.clickhouse, source)));
    expect(first!.rows).toBe(4);
    expect(others).toEqual([first, first]);
    for (const source of keys)
      expect((await listRejects(store.clickhouse, source, { limit: 10, offset: 0 })).total).toBe(1);
  });

  test('one account and source never sees the rows of another', async () => {
    const source = newSource();
    const file = 'user_id,timestamp,channel\nu,2025-01-01,a\nu,x,a\n';
    await upload(store.clickhouse, source, file);
    for (const foreign of [
      { accountId: 'other', dataSourceId: source },
      { accountId: 'account', dataSourceId: 'other' },
    ]) {
      expect(await sourceChannels(store.clickhouse, foreign)).toEqual([]);
      expect((await listRejects(store.clickhouse, foreign, { limit: 10, offset: 0 })).total).toBe(0);
      expect((await sourceEvidence(store.clickhouse, foreign)).rows).toBe(0);
      await purgeSource(store.clickhouse, foreign);
    }
    expect(await sourceChannels(store.clickhouse, key(source))).toEqual(['a']);
    await purgeSource(store.clickhouse, key(source));
    expect(await sourceChannels(store.clickhouse, key(source))).toEqual([]);
    expect((await listRejects(store.clickhouse, key(source), { limit: 10, offset: 0 })).total).toBe(0);
  });

  test('the measure of a source: coverage, gaps, and conversions with and without touches', async () => {
    const source = newSource();
    await upload(
      store.clickhouse,
      source,
      'user_id,timestamp,channel\nu1,2025-01-01,a\nu2,2025-01-01,a\nu4,2025-03-05,a\n',
    );
    await upload(
      store.clickhouse,
      source,
      'order_id,user_id,timestamp,revenue,channel\n1,u1,2025-01-03,1,\n2,u2,2025-03-01,1,\n3,u3,2025-01-02,1,\n4,u4,2025-03-01,1,\n5,u5,2025-01-01,1,b\n',
    );
    const measure = await measureSource(store.clickhouse, () => MEASURED_AT)('account', source);
    expect(measure).toMatchObject({
      touchpoints: 3,
      conversions: 5,
      earliest: '2025-01-01',
      latest: '2025-03-05',
      touchpointMatchRate: 4 / 5,
    });
    // 1 (two days before) and 5 (its own click) follow a touch; 2 is too late, 3 has none, 4 is ahead of its touch.
    expect(measure.unattributedShare).toBeCloseTo(3 / 5, 12);
    expect(measure.missingDays).toHaveLength(64 - 5);
    expect(measure.missingDays).toEqual(expect.arrayContaining(['2025-01-04', '2025-02-28', '2025-03-04']));
  });

  test('spend rows stand in for the cost of touches on the same day and channel', async () => {
    const source = newSource();
    await upload(
      store.clickhouse,
      source,
      'user_id,timestamp,channel,campaign,cost\nu,2025-01-01T10:00:00Z,a,x,1.5\nu,2025-01-01T23:59:59Z,a,x,2\nu,2025-01-02,a,x,4\nu,2025-01-01,b,,8\nu,2025-01-03,a,x,16\nu,2025-01-01T11:00:00Z,a,z,32\n',
    );
    await upload(
      store.clickhouse,
      source,
      'date,channel,campaign,spend\n2025-01-01,a,x,10\n2025-01-01,a,y,5\n2025-01-05,a,y,7\n',
    );
    expect((await sourceSpend(store.clickhouse, key(source), ['2025-01-01', '2025-01-02'])).rows).toEqual([
      { channel: 'a', campaign: 'x', spend: 10 + 4 },
      { channel: 'a', campaign: 'y', spend: 5 },
      { channel: 'b', campaign: '', spend: 8 },
    ]);
  });
});
