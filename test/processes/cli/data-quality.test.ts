import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AttributionReport } from '../../../report/attribution-report.ts';
import { csvOf, withRows } from '../../planted-shop.ts';
import { startCli, type CliResult } from './run-cli.ts';

let folder: string;
let temporary: string;
const analyze = (...args: readonly string[]): Promise<CliResult> =>
  startCli(['analyze', 'touches.csv', 'orders.csv', 'spend.csv', ...args], { cwd: folder, temporary }).result;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-quality-'));
  temporary = join(folder, 'temporary');
  await mkdir(temporary);
  // Three quarters of the buyers are unknown to the touches.
  const shop = withRows('orders', (row) =>
    Number(String(row['user_id']).slice(1)) % 4 > 0 ? { ...row, user_id: `${row['user_id']}@shop.example` } : row,
  );
  for (const [name, rows] of Object.entries(shop)) await writeFile(join(folder, `${name}.csv`), csvOf(rows));
});
afterAll(() => rm(folder, { recursive: true }));

test('bad files end the command, with the sums and the option that goes on all the same', async () => {
  const { code, stdout, stderr } = await analyze();
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/error: The rows are not good enough.*252 of 336 orders, [\d,.]+ USD, are of users/);
  expect(stderr).toContain('--accept-quality order_match_rate,user_match_rate');
});

test.each([
  ['page.pdf', /argument 'page\.pdf' is invalid\. Let its name end in \.html, .* \.xlsx/],
  ['nowhere/page.html', /nowhere\/page\.html: the report cannot be written there/],
])('a report that cannot be written as %s is refused ahead of the analysis', async (file, message) => {
  const { code, stderr } = await analyze('--report', file);
  expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
  expect(stderr).not.toMatch(/Reading|not good enough/);
});

test('what is accepted stands ahead of every figure, in the table, the page and the JSON', async () => {
  const accepted = ['--accept-quality', 'order_match_rate', '--accept-quality', 'user_match_rate'];
  const { code, stdout } = await analyze(...accepted, '--report', 'page.html');
  expect(code).toBe(0);
  expect(stdout.split('\n')[0]).toMatch(/^! Not good enough, accepted \(order_match_rate\): 252 of 336 orders/);
  expect(stdout).toMatch(/Trust: risk 0\.[3-9]\d of 1 \((low|moderate|high)\)/);
  const page = await readFile(join(folder, 'page.html'), 'utf8');
  expect(page.indexOf('The data is not good enough')).toBeGreaterThan(0);
  expect(page.indexOf('The data is not good enough')).toBeLessThan(page.indexOf('class="tiles"'));

  const workbook = await analyze(...accepted, '--report', 'book.xlsx');
  expect(workbook.code).toBe(0);
  expect((await readFile(join(folder, 'book.xlsx'))).subarray(0, 2).toString()).toBe('PK');

  const json = await analyze('--accept-quality', 'order_match_rate,user_match_rate', '--json');
  const { data_quality: quality, trust } = JSON.parse(json.stdout) as AttributionReport;
  expect(quality?.checks.slice(0, 2)).toMatchObject([
    { code: 'order_match_rate', severity: 'blocking', value: 0.25 },
    { code: 'user_match_rate', severity: 'blocking', value: 0.25 },
  ]);
  expect(trust?.classifications).toContain('misattribution');
  expect(trust?.risk_level).not.toBe('minimal');
});

test('a code that there is not is refused with those that there are', async () => {
  const { code, stderr } = await analyze('--accept-quality', 'everything');
  expect(code).toBe(1);
  expect(stderr).toContain('Codes are order_match_rate, user_match_rate');
});
