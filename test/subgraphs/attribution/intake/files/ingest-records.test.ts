import { gzipSync } from 'node:zlib';
import { stringify } from 'node:querystring';
import { sourceChannels } from '../../../../../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import { openColumnarStore, upload, type ColumnarStore } from '../touchpoints/columnar-store.ts';
import { storedConversions, storedTouches } from '../touchpoints/stored-events.ts';

let store: ColumnarStore;
let sources = 0;
const newSource = (): string => `source-${(sources += 1)}`;

beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const key = (dataSourceId: string) => ({ accountId: 'account', dataSourceId });
const touches = (source: string) => storedTouches(store, source);
const conversions = (source: string) => storedConversions(store, source);

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
      'order_id,user_id,timestamp,revenue,currency,new_customer\n' +
        'o1,u1,1735689600,10.5,eur,true\n' +
        'o2,u1,1735689600123,-3,,\n' +
        'o3,,2025-01-01 00:00:00,7,EUR,0\n',
    );
    expect(report).toMatchObject({
      kind: 'conversions',
      rowsAccepted: 2,
      rowsRejected: 1,
      conversions: 1,
      touchpoints: 0,
      currency: 'EUR',
    });
    expect(report.firstErrors).toEqual([
      { line: 4, column: 'user_id', code: 'missing_value', message: 'the cell is empty, but a value is required' },
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

  test('a refund in a row of its own lowers its order, and sending the file again changes nothing', async () => {
    const source = newSource();
    const file =
      'order_id,user_id,timestamp,revenue,currency\nR2,u,1735689600,160.11,EUR\nR2,u,1735776000,-160.11,EUR\n' +
      'R3,u,1735689600,50,EUR\nR3,u,1735776000,-20,EUR\nR4,u,1735776000,-1,EUR\n';
    for (let sent = 0; sent < 2; sent += 1) {
      const report = await upload(store.clickhouse, source, file);
      expect(report).toMatchObject({
        rowsAccepted: 5,
        rowsRejected: 0,
        conversions: 2,
        latest: '2025-01-01T00:00:00.000Z',
      });
      expect(report.quality.repeatedOrders).toBeUndefined();
      expect(report.warnings).toEqual([
        '2 rows are refunds, which were taken off the order of the same id.',
        '1 row is a refund, 1.00 EUR in all, of an order that the source does not hold. Each stands as a row of its ' +
          'own until its order comes, which it then lowers.',
      ]);
      expect((await conversions(source)).map((row) => [row.order_id, row.revenue, row.ts])).toEqual([
        ['R2', '0', '2025-01-01 00:00:00.000'],
        ['R3', '30', '2025-01-01 00:00:00.000'],
        ['R4', '-1', '2025-01-02 00:00:00.000'],
      ]);
    }
  });

  test('a file with a row per item is asked what they are; what is said of it holds', async () => {
    const file =
      'order_id,user_id,timestamp,revenue\n' +
      'o1,u,1735689600,10\no1,u,1735689600,30\no1,u,1735689600,5\no2,u,1735689600,7';
    await expect(upload(store.clickhouse, newSource(), file)).rejects.toMatchObject({
      problem: { code: 'repeated_orders', param: '/answers/rows:order_id' },
    });
    const [lines, whole] = [newSource(), newSource()];
    const added = await upload(store.clickhouse, lines, file, { options: { answers: { 'rows:order_id': 'lines' } } });
    expect([added.rowsAccepted, added.conversions, added.quality.repeatedOrders]).toEqual([4, 2, undefined]);
    expect(added.warnings).toEqual(['2 rows are further lines of orders, and were added up.']);
    expect((await conversions(lines)).map((row) => [row.order_id, row.revenue])).toEqual([
      ['o1', '45'],
      ['o2', '7'],
    ]);
    const last = await upload(store.clickhouse, whole, file, { options: { answers: { 'rows:order_id': 'whole' } } });
    expect(last.quality.repeatedOrders).toBeUndefined();
    expect(last.warnings).toEqual([
      '2 rows repeat an order_id of the file. Of each order the last row counts, as the whole of it.',
    ]);
    expect((await conversions(whole)).map((row) => [row.order_id, row.revenue])).toEqual([
      ['o1', '5'],
      ['o2', '7'],
    ]);
  });

  test('amounts in several currencies are stored by nobody, and their sums told', async () => {
    const source = newSource();
    const orders = ['o1,u,1735689600,10.5,EUR', 'o2,u,1735689600,7,USD', 'o3,u,1735689600,2.25,USD'];
    await expect(
      upload(store.clickhouse, source, ['order_id,user_id,timestamp,revenue,currency', ...orders].join('\n')),
    ).rejects.toMatchObject({
      problem: { code: 'mixed_currencies' },
      message: expect.stringContaining('USD 9.25 in 2 rows'),
    });
    expect(await conversions(source)).toEqual([]);
  });

  test('one table of events: a conversion is a row of its own, with an order id that stays the same', async () => {
    const source = newSource();
    const file =
      'user_id,timestamp,channel,campaign,cost,conversion,revenue\n' +
      'u1,2025-01-01,email,a,1,0,0\n' +
      'u1,2025-01-02,,,0,1,20\n' +
      'u2,2025-01-03,search,b,0,1,30\n' +
      'u2,2025-01-04,,,0,0,0\n';
    const report = await upload(store.clickhouse, source, file);
    expect(report).toMatchObject({ kind: 'events', rowsAccepted: 3, rowsRejected: 1, touchpoints: 1, conversions: 2 });
    expect(report.firstErrors).toMatchObject([{ line: 5, column: 'channel', code: 'missing_value' }]);
    const first = await conversions(source);
    expect(first.map(({ channel }) => channel)).toEqual(['', 'search']);
    await upload(store.clickhouse, source, file);
    expect(await conversions(source)).toEqual(first);
  });

  test('an order of a file of orders stays, whatever a table of events says of it before or later', async () => {
    const events = 'user_id,timestamp,channel,conversion,revenue,order_id\nu1,2025-01-02,email,1,99,o1\n';
    const orders = 'order_id,user_id,timestamp,revenue\no1,u1,2025-01-02,90\n';
    for (const files of [
      [events, orders],
      [orders, events],
    ]) {
      const source = newSource();
      for (const file of files) await upload(store.clickhouse, source, file);
      expect(await conversions(source)).toMatchObject([{ order_id: 'o1', revenue: '90' }]);
      await upload(store.clickhouse, source, orders.replace('90', '85'));
      expect(await conversions(source)).toMatchObject([{ order_id: 'o1', revenue: '85' }]);
    }
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
      '{"user_id":"u","timestamp":"2025-01-01","channel":"a"}\n' +
        'nonsense\n' +
        '[1]\n' +
        '{"user_id":"u","timestamp":"x","channel":"a"}\n',
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
    const file = await parquet(`SELECT 'o' || number AS order_id, if(number = 3, '', 'u') AS "User Id",
        toDateTime64('2025-01-01 00:00:00', 3, 'UTC') + number AS timestamp,
      toDecimal64(number - 1, 2) AS revenue, 'EUR' AS currency, [number] AS list
        FROM numbers(5)`);
    const report = await upload(store.clickhouse, source, file, { mediaType: 'application/vnd.apache.parquet' });
    expect(report).toMatchObject({
      kind: 'conversions',
      rowsAccepted: 4,
      rowsRejected: 1,
      currency: 'EUR',
      firstErrors: [{ line: 4, column: 'User Id', code: 'missing_value' }],
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

  test('UTF-16 is read, with a mark of its byte order or without', async () => {
    for (const mark of ['\uFEFF', '']) {
      const content = Buffer.from(`${mark}${header}u,2025-01-01,a\n`, 'utf16le');
      expect(await upload(store.clickhouse, newSource(), content)).toMatchObject({ rowsAccepted: 1, rowsRejected: 0 });
    }
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
