import { CSV, readContent } from '../read-content.ts';

const spendOf = (name: string, ...amounts: readonly string[]): string =>
  [`date,channel,${name}`, ...amounts.map((amount) => `2026-09-01,search,${amount}`)].join('\n');

test.each([
  ['cost_micros', {}],
  ['metrics.cost_micros', {}],
  ['Spend (micros)', { mapping: { spend: 'Spend (micros)' } }],
])('%s is in millionths', async (name, wishes) => {
  const { finding, rows } = await readContent(spendOf(name, '2969230000', '0', '1500000.0'), CSV, wishes);
  expect(finding).toMatchObject({ kind: 'spend', accepted: 3, rejected: 0 });
  expect(rows.map(({ spend }) => Number(spend)).reduce((sum, amount) => sum + amount, 0)).toBeCloseTo(2970.73, 6);
});

test('what is no plain number of millionths is refused, never read as whole units', async () => {
  const file = spendOf('cost_micros', '"2,969,230,000"', 'none yet', '1000000');
  const { finding, rows } = await readContent(file);
  expect(finding).toMatchObject({ accepted: 1, rejected: 2 });
  expect(rows).toMatchObject([{ spend: 1 }]);
});

test('orders may be in millionths as well', async () => {
  const file = 'order_id,user_id,timestamp,revenue_micros\no1,u1,2026-09-01,24320000\n';
  const { rows } = await readContent(file, CSV, { mapping: { revenue: 'revenue_micros' } });
  expect(rows).toMatchObject([{ revenue: 24.32 }]);
});

test('a report of an API is spend of the channel that was said', async () => {
  const file = 'segments.date,campaign.id,campaign.name,metrics.cost_micros\n2026-09-01,77,Brand,192150000\n';
  const { rows } = await readContent(file, CSV, { constants: { channel: 'google' } });
  expect(rows).toMatchObject([{ spend: 192.15, channel: 'google' }]);
});
