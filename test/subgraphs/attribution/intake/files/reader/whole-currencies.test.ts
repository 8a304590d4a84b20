import { CSV, readContent } from '../read-content.ts';

const read = (lines: readonly string[], wishes = {}) => readContent(lines.join('\n'), CSV, wishes);
const HEADER = 'order_id,user_id,timestamp,revenue';

describe('amounts of a currency without decimals', () => {
  test.each([
    ['that a column names', [`${HEADER},currency`, 'R1,u,2026-01-01,1.234,JPY', 'R2,u,2026-01-02,12.000,JPY'], {}],
    ['that was said', [HEADER, 'R1,u,2026-01-01,1.234', 'R2,u,2026-01-02,12.000'], { amountCurrency: 'KRW' }],
    ['of the source', [HEADER, 'R1,u,2026-01-01,1.234', 'R2,u,2026-01-02,12.000'], { currency: 'CLP' }],
    ['that stands beside them', [HEADER, 'R1,u,2026-01-01,"1,234円"', 'R2,u,2026-01-02,"12,000円"'], {}],
    [
      'that the header names',
      ['order_id,user_id,timestamp,Umsatz (JPY)', 'R1,u,2026-01-01,1.234', 'R2,u,2026-01-02,12.000'],
      {},
    ],
  ])('%s are parted by thousands', async (_, lines, wishes) => {
    const { rows, refusal } = await read(lines, wishes);
    expect(refusal).toBeUndefined();
    expect(rows.map(({ revenue }) => revenue)).toEqual([1_234, 12_000]);
  });

  test('of spend, too', async () => {
    const { rows } = await read(['date,channel,spend,currency', '2026-01-01,tv,1.234,JPY'], {});
    expect(rows.map(({ spend }) => spend)).toEqual([1_234]);
  });

  test.each([
    ['another currency', { amountCurrency: 'EUR' }],
    ['no currency', {}],
  ])('in %s are asked as ever', async (_, wishes) => {
    const { refusal } = await read([HEADER, 'R1,u,2026-01-01,1.234'], wishes);
    expect(refusal?.code).toBe('ambiguous_decimals');
  });

  test('beside amounts of another one are asked', async () => {
    const { refusal } = await read([`${HEADER},currency`, 'R1,u,2026-01-01,1.234,JPY', 'R2,u,2026-01-01,2.345,USD'], {
      rates: { JPY: { days: [0], rates: [0.01] } },
    });
    expect(refusal?.code).toBe('ambiguous_decimals');
  });
});
