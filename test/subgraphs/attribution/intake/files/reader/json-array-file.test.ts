import { NDJSON, readContent } from '../read-content.ts';

const ORDERS = Array.from({ length: 1_200 }, (_, index) => ({
  order_id: `o${index}`,
  user_id: `u${index}`,
  timestamp: '2026-05-01T10:00:00Z',
  revenue: 5,
}));

describe('a file of JSON that is one array', () => {
  test.each([
    ['in one line', JSON.stringify(ORDERS)],
    ['with a row in each line', `[${ORDERS.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`],
    ['indented', `\uFEFF${JSON.stringify(ORDERS, null, 2)}`],
  ])('is read row by row, %s', async (_, content) => {
    const { finding, refusal } = await readContent(content, NDJSON);
    expect(refusal).toBeUndefined();
    expect(finding).toMatchObject({ accepted: 1_200, rejected: 0 });
  });

  test('is refused where it ends too early', async () => {
    const { refusal } = await readContent(JSON.stringify(ORDERS).slice(0, -9), NDJSON);
    expect(refusal?.message).toMatch(/JSON array/);
  });
});
