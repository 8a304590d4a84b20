import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { DEFAULT_SHOPPERS, generateShop, type ShopFiles, type ShopTruth } from '../../../examples/shop/generate.ts';
import { SHOP_DAYS, yesterdayUtc } from '../../../examples/shop/shop-calendar.ts';

const END = '2026-06-30';
const CHANNELS = [
  'direct',
  'organic_search',
  'brand_search',
  'paid_search',
  'google_ads',
  'meta_ads',
  'display',
  'retargeting',
  'influencer',
  'email',
  'affiliate',
];

type Row = Readonly<Record<string, string>>;

interface Shop {
  readonly files: ShopFiles;
  readonly touchpoints: readonly Row[];
  readonly orders: readonly Row[];
  readonly spend: readonly Row[];
  readonly events: readonly Row[];
  readonly paths: readonly Row[];
  readonly truth: ShopTruth;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function rowsOf(file: string): Promise<readonly Row[]> {
  const [header, ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const columns = header!.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    if (cells.length !== columns.length) throw new Error(`not ${columns.length} cells: ${line}`);
    return Object.fromEntries(columns.map((column, index) => [column, cells[index]!]));
  });
}

async function makeShop(seed: number, users: number, endDate = END): Promise<Shop> {
  const files = await generateShop({ directory: join(folder, `${seed}-${users}-${endDate}`), seed, endDate, users });
  const [touchpoints, orders, spend, events, paths] = await Promise.all(
    [files.touchpoints, files.orders, files.spend, files.events, files.paths].map(rowsOf),
  );
  return {
    files,
    touchpoints: touchpoints!,
    orders: orders!,
    spend: spend!,
    events: events!,
    paths: paths!,
    truth: JSON.parse(await readFile(files.truth, 'utf8')) as ShopTruth,
  };
}

async function digestOf(files: ShopFiles): Promise<string> {
  const hash = createHash('sha256');
  for (const file of Object.values(files) as string[]) hash.update(await readFile(file));
  return hash.digest('hex');
}

const daysBefore = (days: number): Date => new Date(Date.parse(END) - days * 86_400_000);
const sumOf = (rows: readonly Row[], column: string): number =>
  rows.reduce((sum, row) => sum + Math.round(100 * Number(row[column])), 0) / 100;

describe('the example shop', () => {
  test('the same seed and end date give the same bytes, another seed or date gives others', async () => {
    const first = await digestOf(
      await generateShop({ directory: join(folder, 'a'), seed: 5, endDate: END, users: 300 }),
    );
    expect(
      await digestOf(await generateShop({ directory: join(folder, 'b'), seed: 5, endDate: END, users: 300 })),
    ).toBe(first);
    expect(
      await digestOf(await generateShop({ directory: join(folder, 'c'), seed: 6, endDate: END, users: 300 })),
    ).not.toBe(first);
    expect(
      await digestOf(await generateShop({ directory: join(folder, 'd'), seed: 5, endDate: '2026-06-29', users: 300 })),
    ).not.toBe(first);
  });

  test('at its usual size it has more than 100,000 touchpoints and an order every hour or two', async () => {
    // A tenth of the shoppers: what each of them does is independent of the others.
    const shop = await makeShop(1, DEFAULT_SHOPPERS / 10);
    expect(shop.touchpoints.length).toBeGreaterThan(10_000);
    expect(shop.orders.length).toBeGreaterThan(200);
    expect(shop.orders.length).toBeLessThan(600);
  });

  test('whatever the seed and size, the rows are sound and the files agree with each other', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 2 ** 31 - 1 }),
        fc.integer({ min: 700, max: 1100 }),
        async (seed, users) => {
          const shop = await makeShop(seed, users);
          const startMs = Date.parse(`${END}T00:00:00Z`) - (SHOP_DAYS - 1) * 86_400_000;
          const endMs = Date.parse(`${END}T23:59:59Z`);
          const times = [...shop.touchpoints, ...shop.orders].map((row) => Date.parse(row['timestamp']!));
          expect(times.every((time) => time >= startMs && time <= endMs)).toBe(true);

          expect(new Set(shop.touchpoints.map((row) => row['channel']))).toEqual(new Set(CHANNELS));
          expect(
            shop.orders.every((order) => Number(order['revenue']) > 0 && /^\d+\.\d\d$/.test(order['revenue']!)),
          ).toBe(true);
          expect(
            shop.touchpoints.every(
              (touch) => Number(touch['cost']) >= 0 && /^(click|view)$/.test(touch['event_type']!),
            ),
          ).toBe(true);
          expect(shop.spend.every((row) => Number(row['spend']) > 0)).toBe(true);

          const known = new Set(shop.touchpoints.map((row) => row['user_id']));
          expect(shop.orders.every((order) => known.has(order['user_id']))).toBe(true);
          const naturalKeys = shop.touchpoints.map(
            (row) => `${row['user_id']} ${row['timestamp']} ${row['channel']} ${row['campaign']}`,
          );
          expect(new Set(naturalKeys).size).toBe(naturalKeys.length);
          expect(new Set(shop.orders.map((order) => order['order_id'])).size).toBe(shop.orders.length);

          const revenue = sumOf(shop.orders, 'revenue');
          expect(shop.events).toHaveLength(shop.touchpoints.length + shop.orders.length);
          expect(sumOf(shop.events, 'revenue')).toBe(revenue);
          expect(sumOf(shop.paths, 'revenue')).toBe(revenue);
          expect(sumOf(shop.paths, 'conversions')).toBe(shop.orders.length);
          expect(shop.truth.revenue).toBe(revenue);
        },
      ),
      { numRuns: 4 },
    );
  });

  test('an order follows a visit of the same user within half an hour', async () => {
    const shop = await makeShop(3, 600);
    const visits = Map.groupBy(
      shop.touchpoints.filter((touch) => touch['event_type'] === 'click'),
      (touch) => touch['user_id'],
    );
    for (const order of shop.orders) {
      const lags = (visits.get(order['user_id']) ?? []).map(
        (visit) => Date.parse(order['timestamp']!) - Date.parse(visit['timestamp']!),
      );
      expect(lags.some((lag) => lag >= 0 && lag <= 30 * 60_000)).toBe(true);
    }
  });

  test('nobody is a new customer twice, nor after having bought', async () => {
    const shop = await makeShop(4, 900);
    const bought = new Set<string>();
    for (const order of shop.orders) {
      if (order['new_customer'] === 'true') expect(bought.has(order['user_id']!)).toBe(false);
      bought.add(order['user_id']!);
    }
    expect(shop.orders.some((order) => order['new_customer'] === 'true')).toBe(true);
    expect(shop.orders.some((order) => order['new_customer'] === 'false')).toBe(true);
  });

  test('the gzipped NDJSON holds the touchpoints of the CSV', async () => {
    const shop = await makeShop(7, 300);
    const objects = gunzipSync(await readFile(shop.files.touchpointsNdjson))
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(
      objects.map((object) => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, String(value)]))),
    ).toEqual(shop.touchpoints);
  });

  test('the sale week sells more than an ordinary week, and Sundays more than Saturdays', async () => {
    const shop = await makeShop(11, 2500);
    const perDay = Map.groupBy(shop.orders, (order) => order['timestamp']!.slice(0, 10));
    const ordersOn = (date: Date): number => perDay.get(date.toISOString().slice(0, 10))?.length ?? 0;
    const week = (firstDaysBefore: number): number =>
      Array.from({ length: 7 }, (_, day) => ordersOn(daysBefore(firstDaysBefore - day))).reduce((a, b) => a + b, 0);
    expect(week(59)).toBeGreaterThan(1.5 * week(80));
    const onWeekday = (weekday: number): number =>
      Array.from({ length: SHOP_DAYS }, (_, day) => daysBefore(day))
        .filter((date) => date.getUTCDay() === weekday)
        .map(ordersOn)
        .reduce((a, b) => a + b, 0);
    expect(onWeekday(0)).toBeGreaterThan(onWeekday(6));
  });

  test('an impossible end date or number of users is refused', async () => {
    const request = { directory: join(folder, 'bad'), seed: 1, endDate: END, users: 10 };
    await expect(generateShop({ ...request, endDate: '2026-02-30' })).rejects.toThrow(
      '"2026-02-30" is not a date of the form YYYY-MM-DD',
    );
    await expect(generateShop({ ...request, endDate: 'yesterday' })).rejects.toThrow(RangeError);
    await expect(generateShop({ ...request, users: 0 })).rejects.toThrow('users must be a whole number of at least 1');
  });
});

test('yesterday is the last complete day in UTC', () => {
  expect(yesterdayUtc(new Date('2026-03-01T00:10:00Z'))).toBe('2026-02-28');
});
