import * as fc from 'fast-check';
import { ratesOf } from '../../../../../subgraphs/attribution/intake/files/exchange-rates.ts';
import { rateOn, ratesIn } from '../../../../../subgraphs/attribution/intake/files/reader/currency-rates.ts';
import { sourceSpend } from '../../../../../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import { storedConversions } from '../touchpoints/stored-events.ts';
import { openColumnarStore, upload, type ColumnarStore } from '../touchpoints/columnar-store.ts';

let store: ColumnarStore;
beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const DAY_MS = 86_400_000;
const YEAR = ['2026-01-01', '2026-12-31'] as const;

describe('rates of exchange', () => {
  test('the latest file counts, and a rate holds on its day and the 92 behind it', async () => {
    await upload(
      store.clickhouse,
      'source',
      'day,currency,exchange_rate\n2026-01-02,USD,0.9\n2026-01-05,usd,0.00000000001\n' +
        '2026-01-05,IDR,5.5e-5\n2026-01-05,KWD,3.05\n',
    );
    await upload(store.clickhouse, 'source', 'date,currency,rate\n2026-01-05,USD,0.95\n');
    await upload(store.clickhouse, 'other', 'date,currency,rate\n2026-01-05,CHF,1.1\n');
    const written = await ratesOf(store.clickhouse, { accountId: 'account', dataSourceId: 'source' });
    // What is passed on is text: it is read where rows are.
    expect(Object.values(written).map((each) => typeof each)).toEqual(['string', 'string', 'string']);
    const rates = ratesIn(written);
    const on = (currency: string, time: string) => rateOn(rates, currency, Date.parse(time));
    expect(on('USD', '2026-01-01T23:59:59Z')).toBeNull();
    expect(on('USD', '2026-01-02')).toBe(0.9);
    expect(on('USD', '2026-01-04T23:59:59Z')).toBe(0.9);
    expect(on('USD', '2026-01-05')).toBe(0.95);
    expect(on('USD', '2026-04-07T23:59:59Z')).toBe(0.95);
    expect(on('USD', '2026-04-08')).toBeNull();
    expect(on('IDR', '2026-01-05')).toBe(0.000055);
    expect(on('KWD', '2026-01-06')).toBe(3.05);
    expect(on('CHF', '2026-01-05')).toBeNull();
    expect(on('toString', '2026-01-05')).toBeNull();
  });

  test('what is found is what a look at every rate would find', () => {
    const days = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(days, fc.integer({ min: -5, max: 200 }), (held, day) => {
        const sorted = held.toSorted((a, b) => a - b);
        const rates = { USD: { days: sorted, rates: sorted.map((each) => each + 1) } };
        const latest = sorted.findLast((each) => each <= day && day - each <= 92);
        expect(rateOn(rates, 'USD', day * DAY_MS + 5)).toBe(latest === undefined ? null : latest + 1);
      }),
    );
  });

  test('amounts are converted as they are read; what has no rate refuses the file, or its row', async () => {
    const source = 'shop';
    const rates = 'date,currency,rate\n2026-01-01,EUR,1.08\n2026-03-01,EUR,1.2\n2026-01-01,GBP,1.25\n';
    const order = (id: string, day: string, revenue: string, currency: string) =>
      `${id},u,2026-${day},${revenue},${currency}`;
    const csv = (...rows: readonly string[]) => ['order_id,user_id,timestamp,revenue,currency', ...rows].join('\n');
    const orders = csv(
      order('a', '02-01', '10', 'USD'),
      order('b', '02-01', '10.55', 'EUR'),
      order('c', '03-02', '100', 'EUR'),
      order('d', '02-03', '2', 'GBP'),
    );
    await expect(upload(store.clickhouse, source, orders)).rejects.toMatchObject({
      problem: { code: 'mixed_currencies' },
    });
    expect(await upload(store.clickhouse, source, rates)).toMatchObject({ rowsAccepted: 3 });
    const report = await upload(store.clickhouse, source, orders);
    expect(report).toMatchObject({ rowsAccepted: 4, rowsRejected: 0, currency: 'USD' });
    expect(report.warnings).toEqual([
      'The amounts of 2 rows in EUR, 110.55 in all, were converted by the rates of the source, to 131.39 USD.',
      'The amounts of 1 row in GBP, 2.00 in all, were converted by the rates of the source, to 2.50 USD.',
    ]);
    const stored = await storedConversions(store, source);
    expect(stored.map(({ order_id, revenue, currency }) => [order_id, revenue, currency])).toEqual([
      ['a', '10', 'USD'],
      ['b', '11.394', 'USD'],
      ['d', '2.5', 'USD'],
      ['c', '120', 'USD'],
    ]);
    const late = csv(order('e', '02-01', '1', 'USD'), '', 'f,u,2025-12-31,1,EUR');
    expect(await upload(store.clickhouse, source, late)).toMatchObject({
      rowsAccepted: 1,
      firstErrors: [{ column: 'currency', code: 'no_rate' }],
    });
    const spend = 'date,channel,spend,currency\n2026-02-01,tv,10,EUR\n2026-02-01,tv,1,USD\n';
    expect(await upload(store.clickhouse, source, spend, { sourceCurrency: 'USD' })).toMatchObject({ rowsAccepted: 2 });
    expect([
      ...(await sourceSpend(store.clickhouse, { accountId: 'account', dataSourceId: source }, YEAR)).rows,
    ]).toMatchObject([{ channel: 'tv', spend: 11.8 }]);
  });

  test.each(['0', '-1', '1,2,3', '5000001', 'x', '1e400', '0.000000000001'])('%j is no rate', async (rate) => {
    const report = await upload(store.clickhouse, 'bad', `date,currency,rate\n2026-01-05,USD,"${rate}"\n`);
    expect(report.firstErrors).toMatchObject([{ column: 'rate', code: 'not_a_rate' }]);
  });
});
