import { CSV, NDJSON, readContent } from '../read-content.ts';

const HEADER = 'order_id,user_id,timestamp,revenue';
const read = (lines: readonly string[], wishes = {}) => readContent(lines.join('\n'), CSV, wishes);
const revenues = (rows: readonly Record<string, string | number | null>[]) =>
  Object.fromEntries(rows.map(({ order_id: id, revenue }) => [String(id), revenue]));

describe('a refund in a row of its own', () => {
  test('lowers the order of its file, before or behind it, and is no order', async () => {
    const { finding, rows } = await read([
      HEADER,
      'R1,u1,2026-01-02,-20.50',
      'R1,u1,2026-01-01,100',
      'R2,u2,2026-01-01,160.11',
      'R2,u2,2026-01-05,-160.11',
      'R3,u3,2026-01-01,80',
      'R3,u3,2026-01-05,-10',
      'R3,u3,2026-01-06,-0.0001',
      'R4,u4,2026-01-01,5',
    ]);
    expect(rows.length).toBe(4);
    expect(revenues(rows)).toEqual({ R1: 79.5, R2: 0, R3: 69.9999, R4: 5 });
    expect(finding).toMatchObject({ accepted: 8, rejected: 0, conversions: 4, refundRows: { takenOff: 4 } });
    expect(finding?.latestMs).toBe(Date.UTC(2026, 0, 1));
  });

  test('stays as it is where the file has no order of its id', async () => {
    const { finding, rows } = await read([
      HEADER,
      'R1,u1,2026-01-01,100',
      'refund-1,u1,2026-01-02,-20',
      'R2,u2,2026-01-01,0',
      'R2,u2,2026-01-02,-7',
    ]);
    expect(rows.map(({ order_id: id, revenue }) => [id, revenue])).toEqual([
      ['R1', 100],
      ['refund-1', -20],
      ['R2', 0],
      ['R2', -7],
    ]);
    expect(finding).toMatchObject({ accepted: 4, conversions: 4, refundRows: { takenOff: 0 } });
  });

  test('is looked for behind rows that are handed on already', async () => {
    const many = Array.from({ length: 150_000 }, (_, row) => `order-${row}-${'x'.repeat(60)},u,2026-01-01,10`);
    const { finding, rows } = await read([
      HEADER,
      ...many,
      `${many[0]!.slice(0, many[0]!.indexOf(','))},u,2026-01-02,-4`,
    ]);
    // The last of each id counts.
    const last = new Map(rows.map(({ order_id: id, revenue }) => [id, revenue]));
    expect([last.size, last.get(`order-0-${'x'.repeat(60)}`), new Set(last.values())]).toEqual([
      150_000,
      6,
      new Set([6, 10]),
    ]);
    expect(finding).toMatchObject({ accepted: 150_001, conversions: 150_000, refundRows: { takenOff: 1 } });
  });

  test('lowers no order when it is refused itself', async () => {
    const { finding, rows } = await read([HEADER, 'R1,u1,2026-01-01,100', 'R1,,2026-01-02,-20', 'R1,u1,,-20']);
    expect(revenues(rows)).toEqual({ R1: 100 });
    expect(finding).toMatchObject({ accepted: 1, rejected: 2, refundRows: { takenOff: 0 } });
  });

  test('lowers what is left behind the refunds of the order itself, and may say its amount as one', async () => {
    const { rows } = await read([
      `${HEADER},refunded`,
      'R1,u1,2026-01-01,100,30',
      'R1,u1,2026-01-02,-20,',
      'R2,u1,2026-01-01,50,0',
      'R2,u1,2026-01-03,0,12.5',
      // Nothing but its own refund.
      'R3,u1,2026-01-03,10,12.5',
    ]);
    expect(revenues(rows)).toEqual({ R1: 50, R2: 37.5, R3: -2.5 });
  });

  test('counts in the currency of its order alone, by the rate of the order', async () => {
    const rates = { USD: { days: [Date.UTC(2026, 0, 1) / 86_400_000], rates: [0.5] } };
    const { rows } = await read(
      [
        `${HEADER},currency`,
        'R1,u1,2026-01-01,100,USD',
        'R1,u1,2026-01-02,-20,USD',
        'R2,u2,2026-01-01,100,EUR',
        'R2,u2,2026-01-02,-20,',
        'R3,u3,2026-01-01,100,EUR',
        'R3,u3,2026-01-02,-20,USD',
      ],
      { currency: 'EUR', rates },
    );
    expect(rows.map(({ order_id: id, revenue }) => [id, revenue])).toEqual([
      ['R1', 40],
      ['R2', 80],
      ['R3', 100],
      ['R3', -10],
    ]);
  });

  test('is read as numbers of its file are written', async () => {
    const { rows } = await readContent(
      ['Bestellnummer;Kunde;Datum;Umsatz', 'R1;u1;13.01.2026;1.160,50', 'R1;u1;14.01.2026;-160,25 €'].join('\n'),
      CSV,
      { mapping: { order_id: 'Bestellnummer', user_id: 'Kunde', timestamp: 'Datum', revenue: 'Umsatz' } },
    );
    expect(revenues(rows)).toEqual({ R1: 1000.25 });
  });

  test('lowers orders among events, which may have no id', async () => {
    const { finding, rows } = await read([
      'user_id,timestamp,channel,conversion,order_id,revenue',
      'u1,2026-01-01,email,0,,',
      'u1,2026-01-02,,1,R1,100',
      'u1,2026-01-03,,1,R1,-40',
      'u1,2026-01-04,,1,,100',
      'u1,2026-01-05,,1,,-40',
    ]);
    expect(rows.filter(({ table }) => table === 'conversions').map((row) => [row['order_id'], row['revenue']])).toEqual(
      [
        ['R1', 60],
        ['', 100],
        ['', -40],
      ],
    );
    expect(finding).toMatchObject({ accepted: 5, touchpoints: 1, conversions: 3, refundRows: { takenOff: 1 } });
  });

  test('lowers the last of several rows of its order, too', async () => {
    const { rows } = await read([
      HEADER,
      'R1,u1,2026-01-01,100',
      'R1,u1,2026-01-01,120',
      `${'L'.repeat(400)},u1,2026-01-01,9`,
      `${'L'.repeat(400)},u1,2026-01-02,-2`,
      'R1,u1,2026-01-02,-20',
    ]);
    expect(revenues(rows)).toEqual({ R1: 100, ['L'.repeat(400)]: 7 });
  });

  test('is refused where there are too many to be known', async () => {
    const many = Array.from({ length: 200_001 }, (_, row) => `${row},u,2026-01-01,-1`);
    const { refusal } = await read([HEADER, ...many]);
    expect(refusal).toMatchObject({
      code: 'file_limit_exceeded',
      message: expect.stringContaining('200000 in a file'),
    });
  });

  test('that takes off more than an amount can be refuses its order', async () => {
    const { finding, rows } = await read([HEADER, 'R1,u1,2026-01-01,1', ...Array(3).fill('R1,u1,2026-01-02,-1e12')]);
    expect(rows).toEqual([]);
    expect(finding?.rejects).toMatchObject([{ line: 2, column: 'revenue', code: 'amount_out_of_range' }]);
  });
});

test('a dry run shows the same sums', async () => {
  const lines = [
    `${HEADER},currency,refunded`,
    'R1,u1,2026-01-01,100,EUR,10',
    'R1,u1,2026-01-02,-20.5,EUR,',
    'R2,u1,2026-01-01,50,EUR,',
  ];
  const { finding, rows } = await read(lines, { isDryRun: true });
  expect(rows).toEqual([]);
  expect(finding).toMatchObject({ accepted: 3, conversions: 2, refundRows: { takenOff: 1 } });
  expect(finding?.inspection?.currencies).toEqual([{ currency: 'EUR', rows: 3, amount: 119.5 }]);
  expect(finding?.sample?.rows.map(({ read: shown }) => [shown['revenue'], shown['refunded']])).toEqual([
    ['100', '30.5'],
    ['-20.5', '0'],
    ['50', '0'],
  ]);
  const stored = await read(lines);
  expect(revenues(stored.rows)).toEqual({ R1: 69.5, R2: 50 });
});

test('rows that are no orders of their own count as such', async () => {
  const { finding } = await read([
    HEADER,
    'R1,u1,2026-01-01,100',
    'R1,u1,2026-01-02,-20.5',
    'R2,u1,2026-01-02,-3',
    'R3,u1,2026-01-02,-4',
  ]);
  expect(finding?.refundRows).toEqual({ takenOff: 1, alone: 2, leftOut: 0 });
});

test('a dry run counts rows that repeat an order, but no refunds', async () => {
  const lines = [HEADER, 'R1,u,2026-01-01,10', 'R1,u,2026-01-01,15', 'R1,u,2026-01-02,-5', 'R2,u,2026-01-02,5'];
  const { finding } = await read(lines, { isDryRun: true });
  expect(finding?.sample?.repeatedOrders).toBe(1);
});

describe('events of GA4 in BigQuery', () => {
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
  const readEvents = (...events: object[]) =>
    readContent(events.map((each) => JSON.stringify(each)).join('\n'), NDJSON);

  test('a refund lowers its purchase', async () => {
    const { finding, rows } = await readEvents(
      event('purchase', 1, { transaction_id: 'T1', purchase_revenue: 160.11 }),
      event('purchase', 2, { transaction_id: 'T2', purchase_revenue: 50 }),
      event('refund', 3, { transaction_id: 'T1', refund_value: 160.11 }, 99),
      event('refund', 4, { transaction_id: 'T2' }, 12.5),
    );
    expect(rows.filter(({ table }) => table === 'conversions').map((row) => [row['order_id'], row['revenue']])).toEqual(
      [
        ['T1', 0],
        ['T2', 37.5],
      ],
    );
    expect(finding).toMatchObject({
      preset: 'ga4_bigquery',
      accepted: 4,
      rejected: 0,
      touchpoints: 1,
      conversions: 2,
      refundRows: { takenOff: 2, alone: 0, leftOut: 0 },
    });
  });

  test('a refund without its purchase, or without an amount, is left out and counted', async () => {
    const { finding, rows } = await readEvents(
      event('purchase', 1, { transaction_id: 'T1', purchase_revenue: 160.11 }),
      event('refund', 3, { transaction_id: 'T1' }),
      event('refund', 4, { transaction_id: 'T9', refund_value: 5 }),
    );
    expect(rows.filter(({ table }) => table === 'conversions').map((row) => [row['order_id'], row['revenue']])).toEqual(
      [['T1', 160.11]],
    );
    expect(finding).toMatchObject({ accepted: 1, skipped: 2, refundRows: { takenOff: 0, alone: 0, leftOut: 2 } });
  });
});
