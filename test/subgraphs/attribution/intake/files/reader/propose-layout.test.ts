import { CSV, readContent } from '../read-content.ts';

/** A file of ten rows: `#` in a cell is the number of the row. */
const fileOf = (...columns: readonly (readonly [name: string, cell: string])[]): string =>
  [
    columns.map(([name]) => name).join('\t'),
    ...Array.from({ length: 10 }, (_, row) => columns.map(([, cell]) => cell.replaceAll('#', String(row))).join('\t')),
  ].join('\n');
const EMAIL = ['buyer-email', 'b#@example.com'] as const;

async function proposed(file: string, wishes = {}) {
  const { finding, refusal } = await readContent(file, CSV, { isDryRun: true, ...wishes });
  return { ...finding?.inspection?.mapping, refused: refusal?.code };
}

test.each([
  [
    'item-price',
    fileOf(
      ['order-id', '114-#'],
      ['order-item-id', '50#'],
      ['purchase-date', '2026-09-1# 10:00'],
      EMAIL,
      ['item-tax', '1.#'],
      ['item-price', '31.9#'],
      ['shipping-price', '3.9#'],
    ),
  ],
  [
    'price',
    fileOf(['order_id', 'L#'], EMAIL, ['order_date', '2026-09-1#'], ['sku', '10#'], ['qty', '1'], ['price', '2#.5']),
  ],
  [
    'Order Total Amount',
    fileOf(
      ['Order Number', '70#'],
      ['Order Date', '2026-09-1#'],
      ['Email (Billing)', 'a#@example.org'],
      ['Phone (Billing)', '55501#'],
      ['Cart Discount Amount', '0.#'],
      ['Order Subtotal Amount', '24#.5'],
      ['Order Total Amount', '25#.5'],
      ['Order Total Tax Amount', '1.#'],
      ['Item Cost', '84.#'],
    ),
  ],
  [
    'totalEcommerceRevenue',
    fileOf(
      ['idSite', '1'],
      ['orderNumber', '70#'],
      ['userId', 'u#'],
      ['created', '2026-09-1#'],
      ['totalEcommerceRevenue', '1#.5'],
    ),
  ],
])('the amount of orders is proposed by its name: %s', async (name, file) => {
  expect(await proposed(file)).toMatchObject({ revenue: name });
});

const ADS = [
  ['Start of it', '2026-09-1#'],
  ['Account Name', 'Acme'],
  ['Campaign Group Name', 'Q3'],
  ['Campaign Id', 'a'],
  ['Campaign Name', 'Retargeting'],
  ['Daily Budget', '300.00'],
  ['Gesamt spent', '26#.31'],
] as const;

test('a budget is no spend', async () => {
  expect(await proposed(fileOf(...ADS), { constants: { channel: 'linkedin' } })).toMatchObject({
    date: 'Start of it',
    campaign: 'Campaign Name',
    spend: 'Gesamt spent',
  });
});

test('an account, a group or an id of campaigns is no channel', async () => {
  expect(await proposed(fileOf(...ADS))).toMatchObject({ refused: 'unrecognised_columns' });
  expect(await proposed(fileOf(...ADS, ['Ad network used', 'Search']))).toMatchObject({ channel: 'Ad network used' });
});

test.each([
  'zip',
  'idSite',
  'Item #',
  'Outstanding Balance',
  'Bid',
  'Steuerbetrag',
  'Kundennummer',
  'Quantity',
  '数量',
])('nothing is proposed where the only number is of %s', async (name) => {
  const file = fileOf(['order_id', 'L#'], EMAIL, ['order_date', '2026-09-1#'], [name, '10#']);
  expect(await proposed(file)).toEqual({ refused: 'unrecognised_columns' });
});

test.each(['Charged amount', ''])('an empty column, and one without a name, is no channel: "%s"', async (name) => {
  const file = fileOf(['Date', '2026-09-1#'], ['Amount', '1#.5'], ['Currency', 'USD'], [name, name === '' ? 'x' : '']);
  expect(await proposed(file)).toEqual({ refused: 'unrecognised_columns' });
});

test('only columns whose names do not tell them are asked', async () => {
  const file = fileOf(
    ['order_id', 'L#'],
    EMAIL,
    ['order_date', '2026-09-1#'],
    ['Currency', 'USD'],
    ['item-price', '2#.5'],
  );
  const { refusal } = await readContent(file);
  expect(refusal?.code).toBe('uncertain_mapping');
  expect(refusal?.errors?.map(({ param }) => param)).toEqual(['/answers/mapping:user_id', '/answers/mapping:revenue']);
  const answers = { 'mapping:user_id': 'buyer-email', 'mapping:revenue': 'item-price' };
  const { finding } = await readContent(file, CSV, { answers });
  expect(finding).toMatchObject({ accepted: 10, currency: 'USD' });
});
