import { CSV, readContent } from '../read-content.ts';

const HEADER = 'order_id,user_id,timestamp,revenue';
const idsOf = async (lines: readonly string[]) => {
  const { finding, refusal, rows } = await readContent(lines.join('\n'), CSV);
  expect(refusal).toBeUndefined();
  return { skipped: finding?.skipped, ids: rows.map(({ order_id: id }) => id) };
};

describe('orders that came to nothing', () => {
  test.each([
    ['Status', 'Cancelled'],
    ['order_status', 'wc-failed'],
    ['Financial Status', 'voided'],
    ['Deal Stage', 'Closed Lost'],
    ['Deal Stage', 'Appointment Scheduled'],
    ['Auftragsstatus', 'Storniert'],
    ['État', 'Annulée'],
    ['Status zamówienia', 'Anulowane'],
    ['注文ステータス', 'キャンセル'],
    ['Situação', 'Cancelado'],
    ['test', 'true'],
  ])('are left out where "%s" says "%s", and counted', async (column, value) => {
    const read = await idsOf([
      `${HEADER},${column}`,
      'a,u1,2026-01-01,10,',
      `b,u1,2026-01-02,20,${value}`,
      'c,u2,2026-01-03,30,other',
    ]);
    expect(read).toEqual({ skipped: 1, ids: ['a', 'c'] });
  });

  test('are kept where they take an amount back', async () => {
    const { rows } = await readContent(
      [`${HEADER},status`, 'a,u1,2026-01-01,10,paid', 'a,u1,2026-01-02,-4,cancelled'].join('\n'),
      CSV,
    );
    expect(rows.map(({ table, revenue }) => [table, revenue])).toEqual([
      ['conversions', 10],
      ['refunds', -4],
    ]);
  });

  test('are told by columns of a status alone', async () => {
    expect(await idsOf([`${HEADER},note`, 'a,u1,2026-01-01,10,cancelled'])).toEqual({ skipped: 0, ids: ['a'] });
  });
});

test('a row of sums without a customer and a time is no lost order', async () => {
  const { finding } = await readContent(
    ['order_id,user_id,timestamp,revenue', 'a,u1,2026-01-01,10', 'Summe,,,10'].join('\n'),
    CSV,
  );
  expect(finding).toMatchObject({ accepted: 1, rejected: 0, skipped: 1, rejectedRevenue: 0 });
});

test('what was refunded is found where its total has a column', async () => {
  const { finding, rows } = await readContent(
    ['order_id,user_id,timestamp,revenue,Total Refunded', 'a,u1,2026-01-01,"$1,010.00",$10.00'].join('\n'),
    CSV,
  );
  expect(finding?.rejected).toBe(0);
  expect(rows.map(({ revenue }) => revenue)).toEqual([1000]);
});

test.each([
  ['commissionStatus', 'declined', 1],
  ['Campaign status', 'rejected', 2],
])('what a network took back is no spend, by its "%s" %s', async (column, value, kept) => {
  const { rows } = await readContent(
    [`date,channel,spend,${column}`, '2026-01-01,awin,5,approved', `2026-01-02,awin,7,${value}`].join('\n'),
    CSV,
  );
  expect(rows.length).toBe(kept);
});
