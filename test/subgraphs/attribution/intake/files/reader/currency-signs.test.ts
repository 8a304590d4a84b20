import { CSV, readContent, type ReadContent } from '../read-content.ts';

const ordersOf = (...amounts: readonly string[]): string =>
  [
    'order_id;user_id;timestamp;revenue',
    ...amounts.map((amount, index) => `o${index};u${index};2026-09-01;${amount}`),
  ].join('\n');
const codeOf = ({ finding, refusal }: ReadContent): string | null => refusal?.code ?? finding?.currency ?? null;
const read = (amounts: readonly string[], wishes = {}) => readContent(ordersOf(...amounts), CSV, wishes);

test.each([
  ['kr', '744,19 kr', 'SEK, NOK, DKK'],
  ['¥', '¥12,187', 'JPY, CNY'],
  ['￥', '￥12,187', 'JPY, CNY'],
  ['Rs.', '744.19 Rs.', 'INR, PKR'],
  ['lei', '744,19 lei', 'RON, MDL'],
])('%s may be of several currencies, and is asked', async (sign, amount, candidates) => {
  const { refusal, rows } = await read([amount]);
  expect(refusal?.code).toBe('ambiguous_currency');
  expect(rows).toEqual([]);
  const first = candidates.slice(0, 3);
  for (const said of [`"${sign}"`, candidates, `currency=${first}`, `--currency ${first}`])
    expect(refusal?.message).toContain(said);
});

test('a sign that nobody knows is asked too', async () => {
  const { refusal } = await read(['Z$ 744.19']);
  expect(refusal).toMatchObject({ code: 'ambiguous_currency' });
  expect(refusal?.message).toContain('"Z$"');
});

test.each([
  [{ amountCurrency: 'NOK' }, 'NOK'],
  [{ currency: 'DKK' }, 'DKK'],
  [{ answers: { 'currency:revenue': 'SEK' } }, 'SEK'],
])('what was said settles it: %j', async (wishes, currency) => {
  const { finding, rows } = await read(['744,19 kr'], wishes);
  expect(finding).toMatchObject({ currency, accepted: 1, rejected: 0 });
  expect(rows[0]).toMatchObject({ revenue: 744.19 });
});

test('an answer is one of the currencies', async () => {
  expect(codeOf(await read(['744,19 kr'], { answers: { 'currency:revenue': 'crowns' } }))).toBe('invalid_answer');
});

test('a column of currencies settles it', async () => {
  const file = 'order_id;user_id;timestamp;revenue;currency\no1;u1;2026-09-01;744,19 kr;NOK\n';
  expect((await readContent(file)).finding).toMatchObject({ currency: 'NOK', accepted: 1 });
});

test('a source in a currency that is not written so is asked all the same', async () => {
  expect(codeOf(await read(['744,19 kr'], { currency: 'USD' }))).toBe('ambiguous_currency');
});

test.each([
  ['$744.19', null],
  ['744,19 zł', 'PLN'],
  ['744,19 Kč', 'CZK'],
  ['Fr. 744.19', 'CHF'],
  ['HK$744.19', 'HKD'],
  ['12187円', 'JPY'],
])('%s is sure: %s', async (amount, currency) => {
  expect(codeOf(await read([amount]))).toBe(currency);
});

test('a sure sign beside it settles a shared one', async () => {
  expect(codeOf(await read(['744,19 kr', '12,50 SEK']))).toBe('SEK');
});

test.each([
  ['€', '12,50 €', '£12.50'],
  ['kr', '12,50 €', '12,50 kr'],
  ['$', '12,50 €', '$12.50'],
])('signs of several currencies, %s among them, refuse the file', async (_sign, ...amounts) => {
  const { refusal, rows } = await read(amounts);
  expect(refusal).toMatchObject({ code: 'mixed_currencies' });
  expect(rows).toEqual([]);
});

test('the point of an abbreviation is no part of the number', async () => {
  const { finding, rows } = await read(['Fr. 744.19']);
  expect(finding).toMatchObject({ accepted: 1, rejected: 0 });
  expect(rows[0]).toMatchObject({ revenue: 744.19 });
});

test('a look at the file tells the question', async () => {
  const { finding } = await read(['744,19 kr'], { isDryRun: true });
  expect(finding?.inspection?.questions).toMatchObject([
    {
      id: 'currency:revenue',
      code: 'ambiguous_currency',
      options: ['SEK', 'NOK', 'DKK', 'ISK'].map((value) => ({ value })),
    },
  ]);
});
