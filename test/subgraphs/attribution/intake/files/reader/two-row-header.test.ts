import { XLSX } from '../../../../../../subgraphs/attribution/intake/files/reader/source-file.ts';
import { CSV, readContent } from '../read-content.ts';
import { workbook } from '../workbook-files.ts';

const ORDERS = [['R1', 'u1', '2026-01-01', '10.5']];
const SPEND = [['2026-01-01', 'tv', '40', '3']];
const FILES: readonly (readonly [string, readonly (readonly string[])[], readonly object[]])[] = [
  [
    'names below the name of their group',
    [
      ['Order', '', '', 'Customer'],
      ['ID', 'date', 'Total', 'ID'],
      ['R1', '2026-01-01', '10.5', 'u1'],
    ],
    [{ order_id: 'R1', user_id: 'u1', revenue: 10.5 }],
  ],
  [
    'some names in either row',
    [['Order number', 'Customer', 'Order date', ''], ['', '', '', 'Total'], ...ORDERS],
    [{ order_id: 'R1', user_id: 'u1', revenue: 10.5 }],
  ],
  [
    'a group above some of them, and a title above all',
    [['Spend of January', '', '', ''], ['', '', 'Results', ''], ['Date', 'Channel', 'Spend', 'Clicks'], ...SPEND],
    [{ date: '2026-01-01', channel: 'tv', spend: 40, clicks: 3 }],
  ],
  [
    'merged down and across',
    [['Date', 'Channel', 'Performance', ''], ['', '', 'Spend', 'Clicks'], ...SPEND],
    [{ date: '2026-01-01', channel: 'tv', spend: 40, clicks: 3 }],
  ],
];

describe('a header in two rows', () => {
  test.each(FILES)('%s', async (_, lines, wanted) => {
    const csv = await readContent(lines.map((cells) => cells.join(',')).join('\n'), CSV);
    expect(csv.refusal).toBeUndefined();
    expect(csv.rows).toMatchObject(wanted);
    const sheet = await readContent(workbook({ rows: lines.map((cells) => [...cells]) }), XLSX);
    expect(sheet.refusal).toBeUndefined();
    expect(sheet.rows).toMatchObject(wanted);
    expect(sheet.finding?.rejected).toBe(0);
  });

  test('is none where one row says all', async () => {
    const { rows } = await readContent('date,channel,spend\n2026-01-01,tv,40\n2026-01-02,tv,41\n', CSV);
    expect(rows.length).toBe(2);
  });
});
