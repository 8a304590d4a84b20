import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { READING_LIMITS } from '../../../../../../subgraphs/attribution/intake/files/reading-limits.ts';
import { NO_WISHES, type ReadingOrder } from '../../../../../../subgraphs/attribution/intake/files/reading-messages.ts';
import { readRecords } from '../../../../../../subgraphs/attribution/intake/files/reader/read-records.ts';
import type { ExchangeRates } from '../../../../../../subgraphs/attribution/intake/files/reader/currency-rates.ts';
import { rowsOfBlock } from '../native-block.ts';

const VENDOR_FILES = join(import.meta.dirname, '../vendor-files');
const DAY_MS = 86_400_000;
const dayOf = (day: string): number => Date.parse(day) / DAY_MS;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'liftgraph-conversion-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Said = Partial<Pick<ReadingOrder, 'currency' | 'amountCurrency' | 'rates' | 'isDryRun'>>;

async function readPaths(content: string) {
  const path = join(folder, 'paths.csv');
  await writeFile(path, content);
  return (await readFrom(path, { currency: 'EUR', rates: RATES }, false)).finding;
}

/** @param withRows whether rows are looked at, which must hold no lists */
async function readFrom(path: string, said: Said, withRows = true) {
  const rows: Record<string, string | number>[] = [];
  const finding = await readRecords(
    {
      ...NO_WISHES,
      path,
      unpackedPath: join(folder, 'unpacked'),
      mediaType: 'text/csv',
      rates: {},
      contentEncoding: 'identity',
      delimiter: 'auto',
      usualMapping: {},
      remembered: {},
      isDryRun: false,
      currency: null,
      earliestMs: 0,
      latestMs: Date.parse('2026-12-01'),
      maxBytes: 1e6,
      limits: READING_LIMITS,
      ...said,
    },
    {
      progress: () => undefined,
      room: () => Promise.resolve(),
      block: ({ currency }, parts) => {
        if (withRows) for (const row of rowsOfBlock(Buffer.concat(parts))) rows.push({ ...row, currency });
      },
    },
  );
  return { finding, rows };
}

async function read(content: string, said: Said) {
  const path = join(folder, 'file.csv');
  await writeFile(path, content);
  return readFrom(path, said);
}

const RATES: ExchangeRates = {
  USD: { days: [dayOf('2026-01-01'), dayOf('2026-01-10')], rates: [0.9, 0.8] },
  JPY: { days: [dayOf('2026-01-01')], rates: [0.006] },
};
const ORDERS = 'order_id,user_id,timestamp,revenue,currency\n';
const order = (id: string, day: string, revenue: string, currency: string): string =>
  `${id},u,${day}T12:00:00Z,${revenue},${currency}\n`;

describe('rows in other currencies', () => {
  test.each(['field-three-currencies', 'shopify-orders-currencies'])('%s adds up with its rates', async (name) => {
    const wanted = z
      .object({
        file: z.string(),
        accepted: z.number(),
        options: z.object({ currency: z.string() }),
        with_fx: z.object({ file: z.string(), base: z.string(), revenue: z.number() }),
      })
      .parse(JSON.parse(await readFile(join(VENDOR_FILES, name, 'expected.json'), 'utf8')));
    const { file, base, revenue } = wanted.with_fx;
    const [, ...lines] = (await readFile(join(VENDOR_FILES, name, file), 'utf8')).trim().split('\n');
    const rates = Object.fromEntries(
      lines.map((line) => {
        const [day, currency, rate] = line.split(',');
        return [currency, { days: [dayOf(day!)], rates: [Number(rate)] }];
      }),
    );
    const { finding, rows } = await readFrom(join(VENDOR_FILES, name, wanted.file), { amountCurrency: base, rates });
    expect(finding).toMatchObject({ accepted: wanted.accepted, rejected: 0, currency: base });
    const sum = rows.reduce((total, row) => total + Number(row['revenue']), 0);
    expect(Math.abs(sum - revenue)).toBeLessThan(0.02);
    expect(finding.converted.map(({ currency }) => currency).toSorted()).toEqual(Object.keys(rates).toSorted());
  });

  test('each is worth what the rate of its day says, and the report says how much', async () => {
    const { finding, rows } = await read(
      ORDERS +
        order('a', '2026-01-05', '100', 'usd') +
        order('b', '2026-01-12', '100', 'USD') +
        order('c', '2026-01-12', '1000', 'EUR') +
        order('d', '2026-01-12', '-50', 'USD') +
        order('e', '2026-01-12', '12345678901', 'JPY'),
      { currency: 'EUR', rates: RATES },
    );
    expect(rows.map((row) => row['revenue'])).toEqual([90, 80, 1000, 74_074_073.406, -40]);
    expect(new Set(rows.map((row) => row['currency']))).toEqual(new Set(['EUR']));
    expect(finding).toMatchObject({
      accepted: 5,
      currency: 'EUR',
      converted: [
        { currency: 'JPY', rows: 1, amount: 12_345_678_901, worth: 74_074_073.406 },
        { currency: 'USD', rows: 3, amount: 150, worth: 130 },
      ],
    });
  });

  test('refunds, spend, the cost of touches and dated paths are converted, too', async () => {
    const refunded = await read('order_id,user_id,timestamp,revenue,refunded,currency\na,u,2026-01-12,100,25,USD\n', {
      currency: 'EUR',
      rates: RATES,
    });
    expect(refunded.rows).toMatchObject([{ revenue: 60 }]);
    const spend = await read('date,channel,spend,currency\n2026-01-12,email,10,USD\n2026-01-12,email,1,EUR\n', {
      currency: 'EUR',
      rates: RATES,
    });
    expect(spend.rows).toMatchObject([{ spend: 9 }]);
    const events = await read(
      'user_id,timestamp,channel,conversion,revenue,cost,order_id,currency\n' +
        'u,2026-01-12,email,0,,2,,USD\nu,2026-01-13,,1,50,,o,USD\n',
      { currency: 'EUR', rates: RATES },
    );
    expect(events.rows).toMatchObject([{ cost: 1.6 }, { revenue: 40 }]);
    const paths = await readPaths(
      'path,conversions,revenue,date,currency\na > b,2,10,2026-01-12,USD\nb,0,0,,USD\nc,1,5,,USD\n',
    );
    expect(paths.converted).toMatchObject([{ currency: 'USD', rows: 2, amount: 10, worth: 8 }]);
    expect(paths.rejects).toMatchObject([{ line: 4, column: 'currency', code: 'no_rate', value: 'USD' }]);
  });

  test('a row whose day has no rate is rejected, a currency without any stops the file', async () => {
    const { finding } = await read(
      ORDERS + order('a', '2025-12-31', '100', 'USD') + order('b', '2026-01-12', '1', ''),
      {
        currency: 'EUR',
        rates: RATES,
      },
    );
    expect(finding).toMatchObject({
      accepted: 1,
      rejectedRevenue: 0,
      rejects: [{ line: 2, column: 'currency', code: 'no_rate', value: 'USD' }],
    });
    await expect(
      read(ORDERS + order('a', '2026-01-12', '100', 'USD') + order('b', '2026-01-12', '7', 'GBP'), {
        currency: 'EUR',
        rates: RATES,
      }),
    ).rejects.toMatchObject({
      refusal: { code: 'mixed_currencies', message: expect.stringMatching(/than EUR: GBP 7\.00 in 1 row\./) },
    });
  });

  test('the source counts in the one currency that it has no rates of, whichever comes first', async () => {
    const { finding, rows } = await read(
      ORDERS + order('a', '2026-01-12', '100', 'USD') + order('b', '2026-01-12', '1', 'EUR'),
      { rates: RATES },
    );
    expect(finding).toMatchObject({ accepted: 2, currency: 'EUR' });
    expect(rows.map((row) => row['revenue'])).toEqual([80, 1]);
    await expect(read(ORDERS + order('a', '2026-01-12', '100', 'USD'), { rates: RATES })).rejects.toMatchObject({
      refusal: { code: 'mixed_currencies', message: expect.stringContaining('currency=USD') },
    });
  });

  test('amounts that name no currency are in that which was said of the file', async () => {
    const { rows } = await read('order_id,user_id,timestamp,revenue\na,u,2026-01-12,100\n', {
      currency: 'EUR',
      amountCurrency: 'USD',
      rates: RATES,
    });
    expect(rows).toMatchObject([{ revenue: 80, currency: 'EUR' }]);
  });

  test('a file of rates says which currency they lead to', async () => {
    const { finding } = await read('date,currency,rate\n2026-01-12,USD,0.9\n', { amountCurrency: 'EUR' });
    expect(finding).toMatchObject({ kind: 'fx', accepted: 1, currency: 'EUR', converted: [] });
  });
});
