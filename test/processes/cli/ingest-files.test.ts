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

describe('of several files', () => {
  const USERS = Array.from({ length: 12 }, (_, place) => place);
  const touches = (header: string) =>
    [header, ...USERS.map((place) => `u${place},2026-01-05T10:00:00Z,email`), ''].join('\n');
  const orders = (header: string) =>
    [header, ...Array.from({ length: 12 }, (_, place) => `o${place},u${place},2026-01-06T10:00:00Z,100`), ''].join(
      '\n',
    );
  beforeAll(async () => {
    await writeFile(join(folder, 'visits.csv'), touches('user_id,timestamp,channel'));
    await writeFile(join(folder, 'sales.csv'), orders('Nr,Wer,Wann,revenue'));
    await writeFile(join(folder, 'tv.csv'), 'date,spend\n2026-01-05,40\n2026-01-09,60\nnever,5\n');
  });
  const named = ['--map', 'order_id=Nr', '--map', 'user_id=Wer', '--answer', 'mapping:timestamp=Wann'];

  test('answers about columns hold for the file that has them', async () => {
    const { code, stdout, stderr } = await analyze('visits.csv', 'sales.csv', ...named);
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    expect((JSON.parse(stdout) as AttributionReport).revenue).toBe(1_200);
  }, 60_000);

  test('a value of all rows says of which file; what is left out is told with the figures', async () => {
    const refused = await analyze('visits.csv', 'sales.csv', 'tv.csv', ...named, '--set', 'channel=tv');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("Say of which it is true, such as --set 'visits.csv:channel=tv'.");
    const { stdout } = await analyze('visits.csv', 'sales.csv', 'tv.csv', ...named, '--set', 'tv.csv:channel=tv');
    const { diagnostics, channel_impact: impact } = JSON.parse(stdout) as AttributionReport;
    expect(impact.map(({ channel, spend }) => [channel, spend])).toEqual([
      ['email', 0],
      ['tv', 40],
    ]);
    expect(diagnostics.warnings).toEqual(
      expect.arrayContaining([
        expect.stringContaining(
          'tv.csv: 1 of 3 rows were rejected and are missing here, the first in line 4: date: "never"',
        ),
        '$60 of spend lies on days before 2026-01-05 or after 2026-01-06 and is left out. The range is that of ' +
          '--from and --to, else that of touches and orders.',
      ]),
    );
  }, 60_000);
});

describe('channel rules of a file', () => {
  const withRules = async (rules: unknown) => {
    await writeFile(join(folder, 'rules.json'), typeof rules === 'string' ? rules : JSON.stringify(rules));
    return startCli(
      [
        'analyze',
        'orders.csv',
        'touches.csv',
        'rates.csv',
        '--channel-rules',
        'rules.json',
        '--model',
        'markov',
        '--json',
      ],
      { cwd: folder, temporary: folder },
    ).result;
  };

  test('say what channels are called', async () => {
    const { code, stdout, stderr } = await withRules({
      rules: [{ match: { channel: 'meta_ads' }, channel: 'social' }],
    });
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    const { channel_impact: impact } = JSON.parse(stdout) as AttributionReport;
    expect(impact.map(({ channel }) => channel).toSorted()).toEqual(['direct', 'social']);
  }, 60_000);

  test.each([
    ['{', 'rules.json: the channel rules are no JSON.'],
    [[{ match: {}, channel: 'x' }], 'rules.json: rules.0.match: must name at least one of channel'],
    [[{ match: { campaign_regex: '(' }, channel: 'x' }], '--channel-rules: rules.0: campaign_regex is not a regular'],
  ])(
    '%j is refused',
    async (rules, message) => {
      const { code, stderr } = await withRules(rules);
      expect(code).toBe(1);
      expect(stderr).toContain(message);
    },
    60_000,
  );
});
