import { z } from 'zod';
import { orderCosts } from '../../../../../subgraphs/attribution/intake/touchpoints/order-costs.ts';
import { storedDays } from '../../../../../subgraphs/attribution/intake/touchpoints/stored-days.ts';
import { migrateColumnarTables } from '../../../../../subgraphs/attribution/intake/touchpoints/columnar-schema.ts';
import { MEASURED_AT, openColumnarStore, upload, type ColumnarStore } from './columnar-store.ts';

let store: ColumnarStore;
beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const key = (dataSourceId: string) => ({ accountId: 'account', dataSourceId });
const costsOf = (source: string, others: readonly string[] = []) =>
  orderCosts(store.clickhouse, {
    ...key(source),
    ...(others.length > 0 && { others: others.map(key) }),
    dateRange: ['2025-01-01', '2025-01-31'],
    conversionEvent: 'purchase',
  });
const stored = (source: string) =>
  store.clickhouse.rows(
    `SELECT order_id, toFloat64(revenue) AS revenue, toFloat64(cogs) AS cogs FROM conversions FINAL
      WHERE data_source_id = {source:String} ORDER BY order_id`,
    z.object({ order_id: z.string(), revenue: z.number(), cogs: z.number().nullable() }),
    { params: { source } },
  );
const digestOf = async (source: string): Promise<string> =>
  (await storedDays(store.clickhouse, key(source), { deduplicated: true, now: MEASURED_AT })).days
    .map(({ digest }) => digest)
    .join();

const ORDERS =
  'order_id,user_id,timestamp,revenue,cost of goods sold,conversion_event\n' +
  'a,u,2025-01-02T12:00:00Z,100,40.5,\n' +
  'b,u,2025-01-03T12:00:00Z,60,,\n' +
  'c,u,2025-01-04T12:00:00Z,50,0,\n' +
  'd,v,2025-01-05T12:00:00Z,-10,,\n' +
  'e,v,2025-01-05T12:00:00Z,30,-1,\n' +
  'f,v,2025-01-05T12:00:00Z,500,1,signup\n' +
  'g,v,2025-02-05T12:00:00Z,500,1,\n';

describe('the cost of goods of orders', () => {
  test('is kept with its order, null where nothing is said, and never below 0', async () => {
    const report = await upload(store.clickhouse, 'shop', ORDERS);
    expect(report).toMatchObject({ rowsAccepted: 6, rowsRejected: 1 });
    expect(report.firstErrors).toMatchObject([{ line: 6, column: 'cost of goods sold', code: 'negative_value' }]);
    expect((await stored('shop')).slice(0, 4)).toEqual([
      { order_id: 'a', revenue: 100, cogs: 40.5 },
      { order_id: 'b', revenue: 60, cogs: null },
      { order_id: 'c', revenue: 50, cogs: 0 },
      { order_id: 'd', revenue: -10, cogs: null },
    ]);
    // 150 of 210: d, a refund of its own, has no revenue.
    expect(await costsOf('shop')).toEqual({ cogs: 40.5, revenue: 150, revenueShare: 150 / 210 });
  });

  test('an order that is sent again without it no longer says it', async () => {
    await upload(store.clickhouse, 'again', 'order_id,user_id,timestamp,revenue,cogs\na,u,2025-01-02,10,4\n');
    expect(await costsOf('again')).toEqual({ cogs: 4, revenue: 10, revenueShare: 1 });
    await upload(store.clickhouse, 'again', 'order_id,user_id,timestamp,revenue\na,u,2025-01-02,10\n');
    expect(await costsOf('again')).toBeNull();
  });

  test('comes in rows of JSON and in tables of events, too; the price of an item is none', async () => {
    await upload(
      store.clickhouse,
      'json',
      JSON.stringify([{ order_id: 'a', user_id: 'u', timestamp: '2025-01-02', revenue: 10, cogs: 4.25 }]),
      { mediaType: 'application/json' },
    );
    expect(await stored('json')).toEqual([{ order_id: 'a', revenue: 10, cogs: 4.25 }]);
    await upload(
      store.clickhouse,
      'events',
      'user_id,timestamp,channel,conversion,order_id,revenue,cogs\n' +
        'u,2025-01-01,ads,0,,,\nu,2025-01-02,,1,a,10,3\nu,2025-01-03,,1,b,20,\n',
    );
    expect(await stored('events')).toEqual([
      { order_id: 'a', revenue: 10, cogs: 3 },
      { order_id: 'b', revenue: 20, cogs: null },
    ]);
    await upload(
      store.clickhouse,
      'items',
      'order_id,user_id,timestamp,revenue,cost_per_item\na,u,2025-01-02T00:00:00Z,10,4\n',
    );
    expect(await stored('items')).toEqual([{ order_id: 'a', revenue: 10, cogs: null }]);
  });

  test('is converted with its order, by the rate of the day; without a rate the row is refused', async () => {
    const [source, head] = ['abroad', 'order_id,user_id,timestamp,revenue,currency,cogs\n'];
    await upload(store.clickhouse, source, 'date,currency,rate\n2025-01-01,EUR,1.5\n');
    await upload(store.clickhouse, source, `${head}a,u,2025-01-02,10,USD,4\nb,u,2025-01-02,10,EUR,4\n`);
    expect(await stored(source)).toEqual([
      { order_id: 'a', revenue: 10, cogs: 4 },
      { order_id: 'b', revenue: 15, cogs: 6 },
    ]);
    const early = `${head}c,u,2024-12-31,0,EUR,5\nd,u,2024-12-31,0,EUR,0\ne,u,2024-12-31,1,USD,1\n`;
    expect((await upload(store.clickhouse, source, early, { sourceCurrency: 'USD' })).firstErrors).toMatchObject([
      { line: 2, column: 'currency', code: 'no_rate' },
    ]);
  });

  test('of sources that are read together an order that both tell counts once', async () => {
    const orders = 'order_id,user_id,timestamp,revenue,cogs\n';
    await upload(store.clickhouse, 'first', `${orders}a,u,2025-01-02,10,4\n`);
    await upload(store.clickhouse, 'second', `${orders}a,u,2025-01-02,10,9\nb,u,2025-01-02,10,2\n`);
    expect(await costsOf('first', ['second'])).toEqual({ cogs: 6, revenue: 20, revenueShare: 1 });
  });

  test('a source without it has the digests that it always had; with it, others', async () => {
    const csv = 'order_id,user_id,timestamp,revenue\na,u,2025-01-02,10\nb,v,2025-01-02,7\n';
    await upload(store.clickhouse, 'plain', csv);
    const [before] = await store.clickhouse.rows(
      `SELECT toString(sum(cityHash64(order_id, user_id, ts, event_id, revenue) * bitOr(cityHash64(conversion_event) * 1
        + cityHash64(channel) * 3 + cityHash64(campaign) * 5, 1))) AS digest
        FROM conversions FINAL WHERE data_source_id = 'plain'`,
      z.object({ digest: z.string() }),
    );
    expect(await digestOf('plain')).toBe(`conversions:${before!.digest}`);
    const costed = 'order_id,user_id,timestamp,revenue,cogs\na,u,2025-01-02,10,\nb,v,2025-01-02,7,0\n';
    await upload(store.clickhouse, 'costed', costed);
    expect(await digestOf('costed')).not.toBe(await digestOf('plain'));
  });

  test('tables from before there was such a column get it, and their orders say nothing', async () => {
    await upload(store.clickhouse, 'older', 'order_id,user_id,timestamp,revenue\na,u,2025-01-02,10\n');
    const before = await digestOf('older');
    await store.clickhouse.command('ALTER TABLE conversions DROP COLUMN cogs');
    await store.clickhouse.command('TRUNCATE TABLE schema_statements');
    await migrateColumnarTables(store.clickhouse);
    expect(await stored('older')).toEqual([{ order_id: 'a', revenue: 10, cogs: null }]);
    expect(await digestOf('older')).toBe(before);
    expect(await costsOf('older')).toBeNull();
  });
});
