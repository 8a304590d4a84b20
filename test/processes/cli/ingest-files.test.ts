import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AttributionReport } from '../../../report/attribution-report.ts';
import { startCli } from './run-cli.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'liftgraph-rates-'));
  const users = Array.from({ length: 12 }, (_, place) => `u${place}`);
  const write = (file: string, header: string, rows: readonly string[]) =>
    writeFile(join(folder, file), [header, ...rows, ''].join('\n'));
  await write(
    'touches.csv',
    'user_id,timestamp,channel',
    users.map((user, place) => `${user},2026-01-05T10:00:00Z,${place % 3 === 0 ? 'direct' : 'meta_ads'}`),
  );
  await write(
    'orders.csv',
    'order_id,user_id,timestamp,revenue,currency',
    users.map((user, place) => `o${place},${user},2026-01-06T10:00:00Z,100,${place < 6 ? 'EUR' : 'USD'}`),
  );
  await write('rates.csv', 'date,currency,rate', ['2026-01-02,USD,0.5']);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const analyze = (...files: readonly string[]) =>
  startCli(['analyze', ...files, '--model', 'markov', '--json'], { cwd: folder, temporary: folder }).result;

test('sums in another currency wait for a file of rates that is named later', async () => {
  const { code, stdout, stderr } = await analyze('orders.csv', 'touches.csv', 'rates.csv');
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  const { revenue, currency } = JSON.parse(stdout) as AttributionReport;
  expect([revenue, currency]).toEqual([900, 'EUR']);
}, 60_000);

test('without any rates the file is named, with the sums concerned', async () => {
  const { code, stderr } = await analyze('orders.csv', 'touches.csv');
  expect(code).toBe(1);
  expect(stderr).toContain('orders.csv: The file has amounts in other currencies than EUR: USD 600.00 in 6 rows');
}, 60_000);
