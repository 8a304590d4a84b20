import { createHash } from 'node:crypto';
import { CSV, NDJSON, readContent } from '../read-content.ts';

const read = (lines: readonly string[], wishes = {}) => readContent(lines.join('\n'), CSV, wishes);
type Rows = readonly Record<string, string | number | null>[];
const pairs = (rows: Rows) =>
  rows.filter(({ table }) => table === 'identities').map(({ id, same_as: other }) => [id, other]);
const users = (rows: Rows) => rows.filter(({ table }) => table !== 'identities').map((row) => row['user_id']);
const sha = (address: string): string => createHash('sha256').update(address).digest('hex');

describe('rows that name two ids of a person', () => {
  test('tell each pair once, in files of any kind', async () => {
    const { finding, rows } = await read([
      'anonymous_id,user_id,timestamp,channel',
      'c1,,2026-01-01,email',
      'c1,u1,2026-01-02,email',
      'c1,u1,2026-01-03,direct',
      'c2,u1,2026-01-03,direct',
    ]);
    expect(pairs(rows)).toEqual([
      ['u1', 'c1'],
      ['u1', 'c2'],
    ]);
    // Before somebody said who he is, his cookie is all that tells.
    expect(users(rows)).toEqual(['c1', 'u1', 'u1', 'u1']);
    expect(finding).toMatchObject({ accepted: 4, rejected: 0, touchpoints: 4, pairs: 2 });
  });

  test.each([
    ['cookie', 'customer_id'],
    ['Client ID', 'Kundennummer'],
    ['visitor_id', 'Email'],
  ])('by a "%s" and a "%s"', async (cookie, person) => {
    const { rows } = await read([
      `order_id,timestamp,revenue,${person},${cookie}`,
      'R1,2026-01-01,10,A@b.de,c1',
      'R2,2026-01-01,10,A@b.de,',
    ]);
    const [told] = pairs(rows);
    expect(new Set(told)).toEqual(new Set([sha('a@b.de'), 'c1']));
    expect(pairs(rows).length).toBe(1);
  });

  test('tell nothing where one of them is none, where both are one, or where many share one', async () => {
    const { rows, finding } = await read([
      'order_id,timestamp,revenue,customer_id,cookie_id,device_id',
      ...['0', 'guest', 'null', '(not set)', '-1'].map((id, place) => `R${place},2026-01-01,10,${id},c${place},till`),
      'R7,2026-01-01,10,same,same,till',
      'R8,2026-01-01,10,u8,,till',
    ]);
    expect([pairs(rows), finding?.accepted]).toEqual([[], 7]);
  });

  test('are read once where a file is looked at as a whole', async () => {
    const { rows } = await read([
      'user_id;cookie_id;Datum;channel',
      'u1;c1;13.01.2026;email',
      'u2;c1;14.01.2026;email',
    ]);
    expect(pairs(rows)).toEqual([
      ['u1', 'c1'],
      ['u2', 'c1'],
    ]);
  });
});

test('messages of Segment join who visits and who buys, also those that say nothing else', async () => {
  const message = (type: string, more: object) => ({
    messageId: `${type}-${Math.random()}`,
    timestamp: '2026-01-02T10:00:00Z',
    type,
    ...more,
  });
  const messages = [
    message('page', {
      anonymousId: 'a1',
      context: { campaign: { source: 'mail', medium: 'email' }, page: { url: '/' } },
    }),
    message('identify', { anonymousId: 'a1', userId: 'u1' }),
    message('alias', { previousId: 'u0', userId: 'u1' }),
    message('track', {
      anonymousId: 'a1',
      userId: 'u1',
      event: 'Order Completed',
      properties: { order_id: 'R1', revenue: 9 },
    }),
  ];
  const { finding, rows } = await readContent(messages.map((each) => JSON.stringify(each)).join('\n'), NDJSON);
  expect(finding).toMatchObject({ preset: 'segment', touchpoints: 1, conversions: 1, pairs: 2 });
  expect(pairs(rows)).toEqual([
    ['u1', 'a1'],
    ['u1', 'u0'],
  ]);
});
