import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { AttributionReport } from '../../../report/attribution-report.ts';
import { startCli } from './run-cli.ts';

const SHOP = join(
  import.meta.dirname,
  '../../subgraphs/attribution/intake/files/vendor-files',
  'one-shop-four-exports',
);
const told = z.object({
  files: z.array(z.string()),
  whole: z.object({ orders: z.number(), revenue: z.number(), spend: z.record(z.string(), z.number()) }),
});

let temporary: string;
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'liftgraph-one-shop-'));
});
afterAll(() => rm(temporary, { recursive: true, force: true }));

test('exports of four programs and a list of who is who, untouched, are one shop with one command', async () => {
  const { files, whole } = told.parse(JSON.parse(await readFile(join(SHOP, 'expected.json'), 'utf8')));
  const range = ['--from', '2026-06-01', '--to', '2026-06-15'];
  const { code, stdout, stderr } = await startCli(['analyze', ...files, ...range, '--json'], { cwd: SHOP, temporary })
    .result;
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  const report = JSON.parse(stdout) as AttributionReport;
  expect([report.conversions, report.revenue]).toEqual([whole.orders, whole.revenue]);
  const spend = report.channel_impact.filter((channel) => channel.spend > 0).map((each) => [each.channel, each.spend]);
  expect(Object.fromEntries(spend)).toEqual(whole.spend);
  // Touches of google / cpc and facebook / paid_social are held against what was spent there.
  for (const { channel, attributed_revenue, identification } of report.channel_impact.filter((each) => each.spend > 0))
    expect([channel, attributed_revenue > 1_000, identification!.status]).toEqual([channel, true, 'partial']);
  // Orders go by address, touches by cookie.
  expect(report.diagnostics.stitching).toMatchObject({ user_match_rate: 0, stitched_user_match_rate: 1 });
}, 60_000);
