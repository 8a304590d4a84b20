import { CSV, readContent } from '../read-content.ts';

const read = (lines: readonly string[], wishes = {}) => readContent(lines.join('\n'), CSV, wishes);
type Rows = readonly Record<string, string | number | null>[];
const orders = (rows: Rows) =>
  Object.fromEntries(
    rows.filter(({ table }) => table === 'conversions').map(({ order_id: id, revenue }) => [String(id), revenue]),
  );

const LINES = [
  'R1,u1,2026-01-01,shirt,10',
  'R1,u1,2026-01-01,shoe,30.5',
  'R1,u1,2026-01-01,socks,5',
  'R2,u2,2026-01-02,shoe,7',
];
const QUESTION = 'rows:order_id';

describe('several rows of one order', () => {
  test.each(['sku', 'Product name', 'Artikelnummer', 'Line item', 'quantity', '商品名'])(
    'are its lines where "%s" stands beside amounts that differ',
    async (column) => {
      const { finding, rows, refusal } = await read([`order_id,user_id,timestamp,${column},revenue`, ...LINES]);
      expect(refusal).toBeUndefined();
      expect(orders(rows)).toEqual({ R1: 45.5, R2: 7 });
      expect(rows.length).toBe(2);
      expect(finding).toMatchObject({ accepted: 4, conversions: 2, addedLines: 2, orderRows: 'lines' });
    },
  );

  test('are its lines where they meet a column of totals, whatever it is called', async () => {
    const { rows } = await read([
      'order_id,user_id,timestamp,revenue,Gesamtbetrag',
      'R1,u1,2026-01-01,"10,50","20,99"',
      'R1,u1,2026-01-01,"10,49","20,99"',
      'R2,u1,2026-01-01,"5,00","5,00"',
    ]);
    expect(orders(rows)).toEqual({ R1: 20.99, R2: 5 });
  });

  test('are versions of the order where they are of different moments: the last one counts', async () => {
    const { finding, rows, refusal } = await read([
      'order_id,user_id,timestamp,revenue',
      'R1,u1,2026-01-01T10:00:00Z,40',
      'R2,u1,2026-01-01T10:00:00Z,7',
      'R1,u1,2026-01-02T09:00:00Z,35',
    ]);
    expect(refusal).toBeUndefined();
    expect(orders(rows)).toEqual({ R1: 35, R2: 7 });
    expect(finding?.orderRows ?? null).toBeNull();
  });

  test('are the whole order where it is the total that stands in each', async () => {
    const { finding, rows } = await read([
      'order_id,customer_email,timestamp,sku,item_price,order_total',
      'R1,a@b.de,2026-01-01,shirt,10,40',
      'R1,a@b.de,2026-01-01,shoe,30,40',
      'R2,a@b.de,2026-01-02,shoe,7,7',
    ]);
    expect(orders(rows)).toEqual({ R1: 40, R2: 7 });
    expect(finding).toMatchObject({ orderRows: 'whole', addedLines: 0 });
  });

  test('are the whole order where many repeat their amount, each its own', async () => {
    const many = Array.from({ length: 6 }, (_, order) =>
      [1, 2].map((row) => `R${order},u,2026-01-01,sku${row},${order + 10}`),
    );
    const { finding, rows } = await read(['order_id,user_id,timestamp,sku,revenue', ...many.flat()]);
    expect(finding?.orderRows).toBe('whole');
    expect(orders(rows)['R3']).toBe(13);
  });

  test.each([
    [
      'amounts that differ, and nothing that tells lines',
      ['order_id,user_id,timestamp,revenue', 'R1,u,2026-01-01,10', 'R1,u,2026-01-01,30'],
    ],
    [
      'amounts alike, of articles that may cost the same',
      ['order_id,user_id,timestamp,sku,revenue', 'R1,u,2026-01-01,a,10', 'R1,u,2026-01-01,b,10'],
    ],
  ])('are asked: %s', async (_, file) => {
    const { refusal } = await read(file);
    expect(refusal).toMatchObject({ code: 'repeated_orders', param: `/answers/${QUESTION}` });
    expect(refusal?.errors?.[0]?.message).toMatch(/"lines" \(.*\) or "whole"/);
    const [first, last] = [10, Number(file.at(-1)!.split(',').at(-1))];
    const added = await read(file, { answers: { [QUESTION]: 'lines' } });
    expect(orders(added.rows)).toEqual({ R1: first + last });
    const whole = await read(file, { answers: { [QUESTION]: 'whole' } });
    expect(orders(whole.rows)).toEqual({ R1: last });
    const looked = await read(file, { isDryRun: true });
    expect(looked.finding?.inspection?.questions).toMatchObject([{ id: QUESTION, code: 'repeated_orders' }]);
  });

  test('are no question where the same row came twice', async () => {
    const { finding, rows, refusal } = await read([
      'order_id,user_id,timestamp,revenue',
      'R1,u,2026-01-01,10',
      'R1,u,2026-01-01,10',
      'R2,u,2026-01-01,3',
    ]);
    expect(refusal).toBeUndefined();
    expect(orders(rows)).toEqual({ R1: 10, R2: 3 });
    expect(finding).toMatchObject({ conversions: 3, orderRows: null });
  });
});

test('discounts and returns are lines, too; costs of goods are added up; an order below 0 is a refund', async () => {
  const { rows } = await read([
    'order_id,user_id,timestamp,sku,revenue,cogs',
    'R1,u,2026-01-01,a,10,4',
    'R1,u,2026-01-01,b,30,12',
    'R1,u,2026-01-01,discount,-5,',
    'R2,u,2026-01-03,a,-10,',
    'R2,u,2026-01-03,b,-30,',
    'R3,u,2026-01-03,c,9,',
  ]);
  expect(rows.map((row) => [row['table'], row['order_id'], row['revenue'], row['cogs']])).toEqual([
    ['conversions', 'R1', 35, 16],
    ['conversions', 'R3', 9, null],
    ['refunds', 'R2', -40, undefined],
  ]);
});

test('a dry run shows what an order comes to', async () => {
  const { finding } = await read(['order_id,user_id,timestamp,sku,revenue', ...LINES], { isDryRun: true });
  expect(finding?.sample?.rows.map(({ line, read: shown }) => [line, shown['revenue']])).toEqual([
    [2, '45.5'],
    [5, '7'],
  ]);
  expect(finding?.sample?.repeatedOrders).toBe(0);
});

test('rows in any order, and ids however long, are found in a large file', async () => {
  const many = Array.from({ length: 20_000 }, (_, row) => `${'o'.repeat(row % 90)}${row},u,2026-01-01,${row % 7}`);
  const { refusal, finding } = await read(['order_id,user_id,timestamp,revenue', ...many]);
  expect([refusal, finding?.conversions]).toEqual([undefined, 20_000]);
  const repeated = await read([
    'order_id,user_id,timestamp,revenue',
    ...many,
    `${many[1]!.split(',')[0]!},u,2026-01-01,99`,
  ]);
  expect(repeated.refusal?.code).toBe('repeated_orders');
});

test('rows that wait for an answer are no rejects of a dry run', async () => {
  const lines = ['order_id,user_id,timestamp,revenue', 'R1,u,03/04/2026,1.258', 'R2,u,04/05/2026,2.400'];
  const { finding } = await read(lines, { isDryRun: true });
  expect(finding?.inspection?.questions.map(({ code }) => code)).toEqual(['ambiguous_decimals', 'ambiguous_dates']);
  expect(finding).toMatchObject({ accepted: 2, rejected: 0 });
});
