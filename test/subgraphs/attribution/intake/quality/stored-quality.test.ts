import { measureStoredQuality } from '../../../../../subgraphs/attribution/intake/quality/stored-quality.ts';
import type { StoredQuality } from '../../../../../subgraphs/attribution/intake/quality/stored-quality.ts';
import { rejectedCurrencies } from '../../../../../subgraphs/attribution/intake/files/rejects.ts';
import {
  csvOf,
  PLANTED_RANGE,
  plantedShop,
  withRows,
  type PlantedRow,
  type PlantedShop,
} from '../../../../planted-shop.ts';
import { openColumnarStore, storeRows, upload, type ColumnarStore } from '../touchpoints/columnar-store.ts';

let store: ColumnarStore;
let sources = 0;
beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const measured = (
  dataSourceId: string,
  dateRange: readonly [string, string] = PLANTED_RANGE,
  others: readonly string[] = [],
): Promise<StoredQuality> =>
  measureStoredQuality(store.clickhouse, {
    accountId: 'account',
    dataSourceId,
    others: others.map((other) => ({ accountId: 'account', dataSourceId: other })),
    dateRange,
    conversionEvent: 'purchase',
  });

async function stored(shop: PlantedShop, files: readonly (keyof PlantedShop)[] = ['touches', 'orders', 'spend']) {
  sources += 1;
  const id = `quality-${sources}`;
  const reports = [];
  for (const file of files) reports.push(await upload(store.clickhouse, id, csvOf(shop[file])));
  return { id, reports };
}

test('orders, users, days and channels are those of the files', async () => {
  const shop = withRows('orders', (row, place) => ({
    ...row,
    user_id: place % 4 === 0 ? `x${place}` : row['user_id']!,
  }));
  const { id } = await stored(shop);
  const found = await measured(id);
  const touched = new Set(shop.touches.map((row) => row['user_id']));
  const unmatched = shop.orders.filter((row) => !touched.has(row['user_id']));
  const revenue = (rows: PlantedShop['orders']) => rows.reduce((sum, row) => sum + Number(row['revenue']), 0);
  expect(found.orders).toEqual({
    count: 336,
    revenue: revenue(shop.orders),
    unmatched: unmatched.length,
    unmatchedRevenue: revenue(unmatched),
    users: new Set(shop.orders.map((row) => row['user_id'])).size,
    unmatchedUsers: new Set(unmatched.map((row) => row['user_id'])).size,
    alike: 0,
    alikeRevenue: 0,
    refunds: 1,
  });
  expect(found.everOrders).toEqual({ count: 336, refunds: 1 });
  expect(found.currencies).toEqual([{ currency: 'USD', orders: 336, revenue: revenue(shop.orders) }]);
  expect(found.days).toHaveLength(28);
  expect(found.days[0]).toEqual({
    day: '2026-01-01',
    touches: 72,
    orders: 12,
    revenue: revenue(shop.orders.slice(0, 12)),
  });
  const direct = shop.touches.filter((row) => row['channel'] === 'direct').length;
  expect(found.channels.find(({ channel }) => channel === 'direct')).toEqual({
    channel: 'direct',
    touches: direct,
    unnamed: direct,
  });
  expect(found.channels.find(({ channel }) => channel === 'meta_ads')?.unnamed).toBe(0);
  expect(found.bots).toEqual({ users: 0, touches: 0, cost: 0 });
});

test('only the days asked for count, and a touch before them', async () => {
  const shop = withRows('orders', (row, place) => ({ ...row, user_id: place % 4 === 0 ? 'nobody' : row['user_id']! }));
  const { id } = await stored(shop);
  const found = await measured(id, ['2026-01-10', '2026-01-11']);
  const touched = new Set(
    shop.touches.filter((row) => String(row['timestamp']) < '2026-01-12').map((row) => row['user_id']),
  );
  const bought = shop.orders.filter((row) => /^2026-01-1[01]/.test(String(row['timestamp'])));
  const unmatched = bought.filter((row) => !touched.has(row['user_id'])).length;
  expect(found.days.map(({ day }) => day)).toEqual(['2026-01-10', '2026-01-11']);
  expect(found.orders).toMatchObject({ count: bought.length, unmatched });
  expect([bought.length, unmatched]).toEqual([24, 6]);
  expect(found.everOrders.count).toBe(336);
});

test('an order that two sources tell is one order, also on the days around the range', async () => {
  const [{ id: shop }, { id: copy }] = [
    await stored(plantedShop(), ['orders']),
    await stored(plantedShop(), ['orders']),
  ];
  const found = await measured(shop, ['2026-01-01', '2026-01-02'], [copy]);
  expect([found.orders.count, found.everOrders]).toEqual([24, { count: 336, refunds: 1 }]);
});

test('an order under a second id is seen; one a minute later is another', async () => {
  const shop = withRows('orders', (row, place) => [
    row,
    ...(place % 10 === 1 ? [{ ...row, order_id: `#${row['order_id']}` }] : []),
    ...(place % 10 === 2 ? [{ ...row, order_id: `later-${place}`, timestamp: '2026-01-28T23:00:00Z' }] : []),
  ]);
  const { id } = await stored(shop);
  const alike = shop.orders.filter((row) => String(row['order_id']).startsWith('#'));
  expect((await measured(id)).orders).toMatchObject({
    alike: alike.length,
    alikeRevenue: alike.reduce((sum, row) => sum + Number(row['revenue']), 0),
  });
});

test('rows of one file with one order id count as they arrive, and sending the file again adds none', async () => {
  // The order anew, which is of another moment; at the same one it would be asked what the rows are.
  const anew = (row: PlantedRow) => ({
    ...row,
    timestamp: String(row['timestamp']).replace('.000Z', '.001Z'),
    revenue: 5,
  });
  const shop = withRows('orders', (row, place) => (place % 5 === 0 ? [row, anew(row)] : row));
  const { id, reports } = await stored(shop, ['orders']);
  expect(reports[0]?.quality).toMatchObject({ repeatedOrders: 68, conversions: 404, firstDay: '2026-01-01' });
  const again = await upload(store.clickhouse, id, csvOf(plantedShop().orders));
  expect(again.quality.repeatedOrders).toBeUndefined();
});

test('users who touch more than a hundred times a day are told with what their touches cost', async () => {
  const { id } = await stored(plantedShop());
  const padded = (part: number): string => String(part).padStart(2, '0');
  const touch = (user: string, second: number, day = 5) => ({
    user_id: user,
    ts: `2026-01-0${day} 01:${padded(Math.floor(second / 60))}:${padded(second % 60)}`,
    channel: 'meta_ads',
    cost: '0.5',
    referrer: '',
    click_id: '',
  });
  const bot = Array.from({ length: 250 }, (_, second) => touch('bot', second));
  // As many, but over many days.
  const eager = Array.from({ length: 240 }, (_, second) => touch('eager', second, 1 + (second % 9)));
  await storeRows(store.clickhouse, { accountId: 'account', dataSourceId: id }, 'touchpoints', [...bot, ...eager]);
  expect((await measured(id)).bots).toEqual({ users: 1, touches: 250, cost: 125 });
});

test('a conversion that names its own click has a touch', async () => {
  const { id } = await stored(plantedShop(), ['touches']);
  const order = { user_id: 'unknown', ts: '2026-01-05 01:00:00', revenue: '10' };
  await storeRows(store.clickhouse, { accountId: 'account', dataSourceId: id }, 'conversions', [
    { ...order, order_id: 'a', channel: 'meta_ads' },
    { ...order, order_id: 'b', user_id: 'nobody' },
  ]);
  expect((await measured(id)).orders).toMatchObject({ count: 2, unmatched: 1, unmatchedUsers: 1 });
});

test('rejects say which currencies they were of', async () => {
  const key = { accountId: 'account', dataSourceId: 'rejects' };
  const reject = (line: number, code: string, value: string) => ({
    account_id: key.accountId,
    data_source_id: key.dataSourceId,
    upload_id: 'upload',
    line,
    column: 'currency',
    code,
    value,
    version: 1,
  });
  const rejects = [
    ...[2, 3, 4].map((line) => reject(line, 'wrong_currency', line === 3 ? 'gbp' : 'EUR')),
    reject(5, 'missing_value', ''),
  ];
  await store.clickhouse.insert(
    'INSERT INTO rejects FORMAT JSONEachRow',
    Buffer.from(rejects.map((row) => JSON.stringify(row)).join('\n')),
  );
  const [found] = await rejectedCurrencies(store.clickhouse, key, ['upload']);
  expect(found).toMatchObject({ uploadId: 'upload', kept: 4 });
  expect([...found!.foreignRows]).toEqual([
    ['EUR', 2],
    ['GBP', 1],
  ]);
  expect(await rejectedCurrencies(store.clickhouse, key, [])).toEqual([]);
});
