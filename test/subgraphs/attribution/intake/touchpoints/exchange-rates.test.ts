import * as fc from 'fast-check';
import { rateOn, ratesOf } from '../../../../../subgraphs/attribution/intake/touchpoints/exchange-rates.ts';
import { openColumnarStore, upload, type ColumnarStore } from './columnar-store.ts';

let store: ColumnarStore;
beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const DAY_MS = 86_400_000;

describe('rates of exchange', () => {
  test('the latest file counts, and a rate holds on its day and the seven behind it', async () => {
    await upload(
      store.clickhouse,
      'source',
      'day,currency,exchange_rate\n2026-01-02,USD,0.9\n2026-01-05,usd,0.00000000001\n' +
        '2026-01-05,IDR,5.5e-5\n2026-01-05,KWD,3.05\n',
    );
    await upload(store.clickhouse, 'source', 'date,currency,rate\n2026-01-05,USD,0.95\n');
    await upload(store.clickhouse, 'other', 'date,currency,rate\n2026-01-05,CHF,1.1\n');
    const rates = await ratesOf(store.clickhouse, { accountId: 'account', dataSourceId: 'source' });
    const on = (currency: string, time: string) => rateOn(rates, currency, Date.parse(time));
    expect(on('USD', '2026-01-01T23:59:59Z')).toBeNull();
    expect(on('USD', '2026-01-02')).toBe(0.9);
    expect(on('USD', '2026-01-04T23:59:59Z')).toBe(0.9);
    expect(on('USD', '2026-01-05')).toBe(0.95);
    expect(on('USD', '2026-01-12T23:59:59Z')).toBe(0.95);
    expect(on('USD', '2026-01-13')).toBeNull();
    expect(on('IDR', '2026-01-05')).toBe(0.000055);
    expect(on('KWD', '2026-01-06')).toBe(3.05);
    expect(on('CHF', '2026-01-05')).toBeNull();
    expect(on('toString', '2026-01-05')).toBeNull();
    // It may go to another process.
    expect(JSON.parse(JSON.stringify(rates))).toEqual(rates);
  });

  test('what is found is what a look at every rate would find', () => {
    const days = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(days, fc.integer({ min: -5, max: 80 }), (held, day) => {
        const sorted = held.toSorted((a, b) => a - b);
        const rates = { USD: { days: sorted, rates: sorted.map((each) => each + 1) } };
        const latest = sorted.findLast((each) => each <= day && day - each <= 7);
        expect(rateOn(rates, 'USD', day * DAY_MS + 5)).toBe(latest === undefined ? null : latest + 1);
      }),
    );
  });

  test.each(['0', '-1', '1,2', '5000001', 'x', '1e400', '0.000000000001'])('%j is no rate', async (rate) => {
    const report = await upload(store.clickhouse, 'bad', `date,currency,rate\n2026-01-05,USD,"${rate}"\n`);
    expect(report.firstErrors).toMatchObject([{ column: 'rate', code: 'not_a_rate' }]);
  });
});
