import { CSV, NDJSON, readContent } from '../read-content.ts';

const HEADER = 'order_id,user_id,timestamp,revenue';
const read = (lines: readonly string[], wishes = {}) => readContent(lines.join('\n'), CSV, wishes);
type Rows = readonly Record<string, string | number | null>[];
const of = (table: string, rows: Rows) =>
  rows.filter((row) => row['table'] === table).map(({ order_id: id, revenue }) => [id, revenue]);

describe('a row of an order that is worth less than nothing', () => {
  test('is handed on beside the orders, before or behind its own, and tells no time', async () => {
    const { finding, rows } = await read([
      HEADER,
      'R1,u1,2026-01-02,-20.50',
      'R1,u1,2026-01-01,100',
      'R1,u1,2026-01-06,-0.0001',
    ]);
    expect(of('conversions', rows)).toEqual([['R1', 100]]);
    expect(of('refunds', rows)).toEqual([
      ['R1', -20.5],
      ['R1', -0.0001],
    ]);
    expect(finding).toMatchObject({ accepted: 3, rejected: 0, conversions: 1, refunds: 2 });
    expect(finding?.latestMs).toBe(Date.UTC(2026, 0, 1));
  });

  test('may say its amount as what was refunded', async () => {
    const { rows } = await read([
      `${HEADER},refunded`,
      'R1,u1,2026-01-01,100,30',
      'R1,u1,2026-01-02,-20,',
      'R2,u1,2026-01-03,0,12.5',
      // Nothing but its own refund.
      'R3,u1,2026-01-03,10,12.5',
    ]);
    expect(of('conversions', rows)).toEqual([['R1', 70]]);
    expect(of('refunds', rows)).toEqual([
      ['R1', -20],
      ['R2', -12.5],
      ['R3', -2.5],
    ]);
  });

  test('is refused like any other', async () => {
    const { finding, rows } = await read([
      `${HEADER},refunded`,
      'R1,u1,2026-01-01,100,',
      'R1,,2026-01-02,-20,',
      'R1,u1,,-20,',
      'R1,u1,2026-01-02,-1e12,1e12',
    ]);
    expect(of('refunds', rows)).toEqual([]);
    expect(finding).toMatchObject({ accepted: 1, rejected: 3, refunds: 0 });
    expect(finding?.rejects.at(-1)).toMatchObject({ line: 5, column: 'revenue', code: 'amount_out_of_range' });
  });

  test('is kept in its own currency, too', async () => {
    const rates = { USD: { days: [Date.UTC(2026, 0, 1) / 86_400_000], rates: [0.5] } };
    const { rows } = await read([`${HEADER},currency`, 'R1,u1,2026-01-02,-20,USD', 'R2,u2,2026-01-02,-20,EUR'], {
      currency: 'EUR',
      rates,
    });
    expect(rows.map(({ revenue, written, written_currency: code }) => [revenue, written, code])).toEqual([
      [-10, -20, 'USD'],
      [-20, -20, ''],
    ]);
  });

  test('is read as numbers of its file are written', async () => {
    const { rows } = await readContent(
      ['Bestellnummer;Kunde;Datum;Umsatz', 'R1;u1;13.01.2026;1.160,50', 'R1;u1;14.01.2026;-160,25 €'].join('\n'),
      CSV,
      { mapping: { order_id: 'Bestellnummer', user_id: 'Kunde', timestamp: 'Datum', revenue: 'Umsatz' } },
    );
    expect([of('conversions', rows), of('refunds', rows)]).toEqual([[['R1', 1160.5]], [['R1', -160.25]]]);
  });

  test('stands among events, where one without an order id stays as it is', async () => {
    const { finding, rows } = await read([
      'user_id,timestamp,channel,conversion,order_id,revenue',
      'u1,2026-01-01,email,0,,',
      'u1,2026-01-02,,1,R1,100',
      'u1,2026-01-03,,1,R1,-40',
      'u1,2026-01-05,,1,,-40',
    ]);
    expect(of('conversions', rows)).toEqual([
      ['R1', 100],
      ['', -40],
    ]);
    expect(of('refunds', rows)).toEqual([['R1', -40]]);
    expect(finding).toMatchObject({ accepted: 4, touchpoints: 1, conversions: 2, refunds: 1 });
  });

  test('may be one of any number', async () => {
    const many = Array.from({ length: 300_000 }, (_, row) => `${row},u,2026-01-01,-1`);
    const { finding } = await read([HEADER, ...many]);
    expect(finding).toMatchObject({ accepted: 300_000, refunds: 300_000 });
  });
});

describe('a dry run', () => {
  test('shows what is left of an order, and the same sums', async () => {
    const lines = [
      `${HEADER},currency,refunded`,
      'R1,u1,2026-01-01,100,EUR,10',
      'R1,u1,2026-01-02,-20.5,EUR,',
      'R2,u1,2026-01-01,50,EUR,',
    ];
    const { finding, rows } = await read(lines, { isDryRun: true });
    expect(rows).toEqual([]);
    expect(finding).toMatchObject({ accepted: 3, conversions: 2, refunds: 1 });
    expect(finding?.inspection?.currencies).toEqual([{ currency: 'EUR', rows: 3, amount: 119.5 }]);
    expect(finding?.sample?.rows.map(({ read: shown }) => [shown['revenue'], shown['refunded']])).toEqual([
      ['100', '30.5'],
      ['-20.5', '0'],
      ['50', '0'],
    ]);
  });

  test('tells refunds of orders of the file from others', async () => {
    const lines = [HEADER, 'R1,u,2026-01-02,-20.5', 'R1,u,2026-01-01,100', 'R2,u,2026-01-02,-3', 'R3,u,2026-01-02,-4'];
    const { finding } = await read(lines, { isDryRun: true });
    expect(finding?.sample?.refunds).toEqual({ ofFile: 1, ofOthers: 2, amountOfOthers: 7 });
  });

  test('counts rows that repeat an order, but no refunds', async () => {
    const lines = [HEADER, 'R1,u,2026-01-01,10', 'R1,u,2026-01-01,15', 'R1,u,2026-01-02,-5', 'R2,u,2026-01-02,5'];
    const { finding } = await read(lines, { isDryRun: true });
    expect(finding?.sample?.repeatedOrders).toBe(1);
  });
});

test('a refund event of GA4 waits for its purchase; without an amount it is left out and counted', async () => {
  const event = (name: string, minute: number, ecommerce: object, value?: number) => ({
    event_name: name,
    event_timestamp: String(Date.UTC(2026, 4, 18, 10, minute) * 1_000),
    user_pseudo_id: '1.2',
    event_params: [
      { key: 'ga_session_id', value: { int_value: '7' } },
      { key: 'currency', value: { string_value: 'EUR' } },
      ...(value === undefined ? [] : [{ key: 'value', value: { double_value: value } }]),
    ],
    ecommerce,
  });
  const events = [
    event('purchase', 1, { transaction_id: 'T1', purchase_revenue: 160.11 }),
    event('refund', 3, { transaction_id: 'T1', refund_value: 160.11 }, 99),
    event('refund', 4, { transaction_id: 'T2' }, 12.5),
    event('refund', 5, { transaction_id: 'T3' }),
  ];
  const { finding, rows } = await readContent(events.map((each) => JSON.stringify(each)).join('\n'), NDJSON);
  expect(of('conversions', rows)).toEqual([['T1', 160.11]]);
  expect(rows.filter(({ table }) => table === 'refunds')).toMatchObject([
    { order_id: 'T1', revenue: -160.11, needs_order: 1 },
    { order_id: 'T2', revenue: -12.5, needs_order: 1 },
  ]);
  expect(finding).toMatchObject({
    preset: 'ga4_bigquery',
    accepted: 3,
    skipped: 1,
    touchpoints: 1,
    conversions: 1,
    refunds: 2,
    amountless: 1,
  });
});
