import fc from 'fast-check';
import { toCents } from '../../../../../compute/numerics/largest-remainder.ts';
import { loadJourneys } from '../../../../../subgraphs/attribution/analysis/journeys/journey-store.ts';
import { readRevenue } from '../../../../../subgraphs/attribution/intake/touchpoints/range-revenue.ts';
import { openColumnarStore, storeRows, upload, type ColumnarStore } from './columnar-store.ts';

let store: ColumnarStore;
beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const DAYS = ['2025-01-31', '2025-02-01', '2025-02-02', '2025-02-03', '2025-02-28', '2025-03-01'];
const EVENTS = ['purchase', 'signup'];
const day = fc.constantFrom(...DAYS);
const time = fc.constantFrom('T00:00:00Z', 'T00:00:00.001Z', 'T12:30:00Z', 'T23:59:59.999Z');
/** Refunds too, and parts of a cent. */
const revenue = fc.oneof(
  fc.integer({ min: -500_000, max: 5_000_000 }).map((cents) => cents / 100),
  fc.integer({ min: -9_999, max: 9_999 }).map((parts) => parts / 10_000),
);
// Several rows of one order in one file have tests of their own.
const orders = fc.uniqueArray(fc.tuple(fc.nat(30), fc.nat(8), day, time, revenue, fc.constantFrom(...EVENTS)), {
  minLength: 1,
  maxLength: 40,
  selector: ([order]) => order,
});
const touches = fc.array(fc.tuple(fc.nat(8), day, time, fc.constantFrom('email', 'search')), { maxLength: 20 });
const paths = fc.array(fc.tuple(fc.constantFrom('a > b', 'b', ''), fc.nat(5), revenue, fc.option(day)), {
  minLength: 1,
  maxLength: 12,
});
const rows = (header: string, lines: readonly string[]): string => `${header}\n${lines.join('\n')}\n`;

let sources = 0;

/**
 * What an analysis of each range finds, and what is compared with it: the same to the cent, or a refresh would cause
 * the next.
 */
async function expectSame(dataSourceId: string): Promise<void> {
  const queries = (
    [
      ['2025-02-01', '2025-02-28', 'purchase'],
      ['2025-02-02', '2025-02-02', 'purchase'],
      ['2025-01-01', '2025-02-28', 'signup'],
    ] as const
  ).map(([start, end, conversionEvent]) => ({ start, end, conversionEvent }));
  const revenueOf = await readRevenue(store.clickhouse, { accountId: 'account', dataSourceId }, queries);
  for (const { start, end, conversionEvent } of queries) {
    const { totals } = await loadJourneys(store.clickhouse, {
      accountId: 'account',
      dataSourceId,
      dateRange: [start, end],
      lookbackDays: 30,
      conversionEvent,
    });
    expect({ start, end, conversionEvent, cents: revenueOf({ start, end, conversionEvent }) }).toEqual({
      start,
      end,
      conversionEvent,
      cents: toCents(totals.revenue),
    });
  }
}

test('of orders and touches, whatever their days, events and refunds, sent twice or replaced', async () => {
  await fc.assert(
    fc.asyncProperty(orders, touches, orders, async (bought, seen, later) => {
      const source = `orders-${(sources += 1)}`;
      const file = (all: typeof bought) =>
        rows(
          'order_id,user_id,timestamp,revenue,conversion_event',
          all.map(([order, user, date, at, amount, event]) => `o${order},u${user},${date}${at},${amount},${event}`),
        );
      await upload(store.clickhouse, source, file(bought));
      if (seen.length > 0)
        await upload(
          store.clickhouse,
          source,
          rows(
            'user_id,timestamp,channel',
            seen.map(([user, date, at, channel]) => `u${user},${date}${at},${channel}`),
          ),
        );
      await upload(store.clickhouse, source, file(later));
      await upload(store.clickhouse, source, file(later));
      await expectSame(source);
    }),
    { numRuns: 8 },
  );
}, 120_000);

test('of aggregated paths, dated and undated; they count for nothing beside touches', async () => {
  await fc.assert(
    fc.asyncProperty(paths, async (sums) => {
      const source = `paths-${(sources += 1)}`;
      const file = (dated: boolean) => {
        const chosen = sums.filter(([, , , date]) => (date !== null) === dated);
        const header = `path,conversions,revenue,nulls${dated ? ',date' : ''}`;
        return chosen.length === 0
          ? null
          : rows(
              header,
              chosen.map(([path, conversions, amount, date]) =>
                [path, conversions, amount, 1, ...(dated ? [date] : [])].join(','),
              ),
            );
      };
      for (const content of [file(true), file(false)])
        if (content !== null) await upload(store.clickhouse, source, content);
      await expectSame(source);
      await upload(store.clickhouse, source, 'user_id,timestamp,channel\nu,2025-02-01T10:00:00Z,a\n');
      await expectSame(source);
    }),
    { numRuns: 5 },
  );
}, 120_000);

test('days and events that nobody asks for are not read, however many; sums of any size are', async () => {
  const key = { accountId: 'account', dataSourceId: `names-${(sources += 1)}` };
  await storeRows(
    store.clickhouse,
    key,
    'conversions',
    Array.from({ length: 5_000 }, (_, order) => ({
      order_id: `o${order}`,
      user_id: 'u',
      ts: '2025-02-01 10:00:00.000',
      revenue: '1',
      conversion_event: `name ${order}`,
    })),
  );
  await storeRows(
    store.clickhouse,
    key,
    'conversions',
    ['1900-01-01', '2299-12-31'].map((day) => ({
      order_id: day,
      user_id: 'u',
      ts: `${day} 10:00:00.000`,
      revenue: '1',
    })),
  );
  // More parts of a cent than 64 bits hold.
  await storeRows(
    store.clickhouse,
    key,
    'conversions',
    Array.from({ length: 1_000 }, (_, order) => ({
      order_id: `large-${order}`,
      user_id: 'u',
      ts: '2025-02-01 10:00:00.000',
      revenue: '1000000000000',
    })),
  );
  let read = 0;
  const counting = {
    ...store.clickhouse,
    rows: async (...asked: Parameters<typeof store.clickhouse.rows>) =>
      store.clickhouse.rows(...asked).then((rows) => ((read += rows.length), rows)),
  } as typeof store.clickhouse;
  const query = { start: '2025-02-01', end: '2025-02-28', conversionEvent: 'purchase' };
  expect((await readRevenue(counting, key, [query]))(query)).toBe(1e17);
  expect(read).toBe(2);
});
