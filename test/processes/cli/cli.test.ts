import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShopTruth } from '../../../examples/shop/generate.ts';
import type { AttributionReport } from '../../../report/attribution-report.ts';
import { startCli, type CliResult } from './run-cli.ts';

const CHANNELS = [
  'brand_search',
  'paid_search',
  'google_ads',
  'meta_ads',
  'display',
  'retargeting',
  'influencer',
  'email',
  'affiliate',
];

let folder: string;
let temporary: string;
let truth: ShopTruth;

const liftgraph = (...args: readonly string[]): Promise<CliResult> => startCli(args, { cwd: folder, temporary }).result;
const resultOf = ({ stdout }: CliResult): AttributionReport => JSON.parse(stdout) as AttributionReport;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-'));
  temporary = join(folder, 'temporary');
  await mkdir(temporary);
  const made = await liftgraph('example', 'shop', '--users', '900', '--end', '2026-06-30');
  if (made.code !== 0) throw new Error(made.stderr);
  truth = JSON.parse(await readFile(join(folder, 'shop/truth.json'), 'utf8')) as ShopTruth;
  await writeFile(join(folder, 'notes.md'), 'Nothing to load.\n');
}, 60_000);
afterAll(() => rm(folder, { recursive: true }));

describe('the command line', () => {
  test('help shows the commands, examples and exit codes', async () => {
    const { code, stdout } = await liftgraph('--help');
    expect(code).toBe(0);
    for (const part of [
      'analyze [options] <file...>',
      'example [options] <directory>',
      'liftgraph analyze shop/touchpoints.csv',
      'Exit codes: 0 done',
    ])
      expect(stdout).toContain(part);
  });

  test.each([
    ['no such command', ['analyse'], `unknown command 'analyse'`],
    ['no file', ['analyze'], `missing required argument 'file'`],
    [
      'a model that there is not',
      ['analyze', 'shop/events.csv', '--model', 'magic'],
      'Allowed choices are causal, markov',
    ],
    ['a margin of nothing', ['analyze', 'shop/events.csv', '--margin', '0'], 'Give a number from 0.0001 to 1.'],
    ['an order out of range', ['analyze', 'shop/events.csv', '--order', '5'], 'Give a whole number from 1 to 4.'],
    ['a day that there is not', ['analyze', 'shop/events.csv', '--from', '2026-02-30'], 'Give a date as YYYY-MM-DD.'],
    [
      'a confidence out of range',
      ['analyze', 'shop/events.csv', '--confidence', '1'],
      'Give a number from 0.8 to 0.99.',
    ],
    [
      'a range backwards',
      ['analyze', 'shop/events.csv', '--from', '2026-05-01', '--to', '2026-04-01'],
      '--from 2026-05-01 lies after --to 2026-04-01. Swap them.',
    ],
    [
      'a file that there is not',
      ['analyze', 'shop/nothing.csv'],
      'shop/nothing.csv: there is no such file. Check the path.',
    ],
    ['a report of no kind', ['analyze', 'shop/events.csv', '--report', 'report.pdf'], 'Let its name end in .html,'],
    ['a folder', ['analyze', 'shop'], 'shop: this is not a file. Name the files inside it, for example shop/*.csv.'],
    ['a type that it cannot read', ['analyze', 'notes.md'], 'notes.md: unknown type of file.'],
  ])('%s is refused with code 1 and a line that says what to do', async (_, args, message) => {
    const { code, stdout, stderr } = await liftgraph(...args);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(message);
    // The reason, perhaps a guess at what was meant, and where to find help.
    expect(stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(3);
  });
});

describe('liftgraph analyze', () => {
  test('amounts that add up to more than is exact are a line that says where to look', async () => {
    const orders = Array.from(
      { length: 95 },
      (_, order) => `o${order},u${order % 9},2026-06-02T10:00:00Z,1000000000000`,
    );
    const touches = Array.from({ length: 9 }, (_, user) => `u${user},2026-06-01T10:00:00Z,email`);
    await writeFile(join(folder, 'touches.csv'), `user_id,timestamp,channel\n${touches.join('\n')}\n`);
    await writeFile(join(folder, 'large.csv'), `order_id,user_id,timestamp,revenue\n${orders.join('\n')}\n`);
    const { code, stdout, stderr } = await liftgraph('analyze', 'touches.csv', 'large.csv');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(
      /^error: The revenue of this range.* 90,000,000,000,000, .*wrong number among the orders.*\.$/,
    );
    expect(stderr).not.toContain('    at ');
  });

  test('days of other centuries, among the rows or asked for, take no time', async () => {
    await writeFile(
      join(folder, 'far.csv'),
      'date,channel,spend\n1900-01-02,email,5\n2026-06-01,email,5\n9999-12-31,email,5\n',
    );
    const { code, stdout } = await liftgraph('analyze', 'shop/touchpoints.csv', 'shop/orders.csv', 'far.csv', '--json');
    expect(code).toBe(0);
    expect(resultOf({ stdout } as CliResult).date_range).toEqual(truth.date_range);
    for (const [name, day] of [
      ['--from', '0001-01-01'],
      ['--to', '9999-12-31'],
    ] as const) {
      const refused = await liftgraph('analyze', 'shop/touchpoints.csv', 'shop/orders.csv', name, day);
      expect(refused).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          new RegExp(
            `error: ${name} ${day}: rows lie between 2000-01-01 and 2\\d{3}-\\d\\d-\\d\\d. Choose a day in between.`,
          ),
        ),
      });
    }
  });

  test('touchpoints, orders, spend become a table; progress goes to standard error; nothing is left', async () => {
    const { code, stdout, stderr } = await liftgraph(
      'analyze',
      'shop/touchpoints.csv',
      'shop/orders.csv',
      'shop/spend.csv',
    );
    expect(stderr).toContain('orders.csv: ');
    expect(code).toBe(0);
    for (const channel of CHANNELS) expect(stdout).toMatch(new RegExp(`^${channel} {2,}[\\d,]+\\.\\d\\d {3}`, 'm'));
    expect(stdout).toMatch(/^total .*/m);
    expect(stdout).toContain('Recovered revenue (Delta_R) is ');
    expect(stdout).not.toContain('\u001B');
    for (const step of ['Starting the engine', 'Building journeys', 'Combining the models'])
      expect(stderr).toContain(step);
    expect(await readdir(temporary)).toEqual([]);
  }, 60_000);

  test('orders by address and touches by cookie meet through a file of identities', async () => {
    const rowsOf = async (file: string) =>
      (await readFile(join(folder, 'shop', file), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => line.split(','));
    const [[touchHeader, ...touches], [orderHeader, ...orders]] = [
      await rowsOf('touchpoints.csv'),
      await rowsOf('orders.csv'),
    ];
    const buyer = orderHeader!.indexOf('user_id');
    const addressed = orders.map((row) => row.with(buyer, `${row[buyer]!}@shop.example`));
    const pairs = [...new Set(orders.map((row) => row[buyer]!))].map((user) => [
      user,
      `${user.toUpperCase()}@Shop.Example`,
    ]);
    const write = (file: string, rows: readonly (readonly string[])[]) =>
      writeFile(join(folder, file), rows.map((row) => row.join(',')).join('\n'));
    await write('cookies.csv', [touchHeader!, ...touches]);
    await write('addressed.csv', [orderHeader!, ...addressed]);
    await write('who.csv', [['id', 'same_as'], ...pairs]);
    const joined = await liftgraph('analyze', 'cookies.csv', 'addressed.csv', 'who.csv', '--model', 'markov', '--json');
    const plain = await liftgraph('analyze', 'shop/touchpoints.csv', 'shop/orders.csv', '--model', 'markov', '--json');
    expect(joined.stderr).toContain(`who.csv: ${pairs.length.toLocaleString('en-US')} rows of identities`);
    const [one, other] = [resultOf(joined), resultOf(plain)];
    // Intervals rest on groups of users, which are drawn by their ids.
    const credit = ({ channel_impact: impact }: typeof one) =>
      impact.map((each) => [each.channel, each.attributed_revenue, each.conversions, each.lastclick_revenue]);
    expect(credit(one)).toEqual(credit(other));
    expect(one.diagnostics.stitching).toMatchObject({ pairs: pairs.length, people: pairs.length, user_match_rate: 0 });
    expect(one.diagnostics.stitching!.stitched_user_match_rate).toBeGreaterThan(0.5);
    expect(other.diagnostics).not.toHaveProperty('stitching');
  }, 60_000);

  test('gzipped NDJSON gives the same figures as CSV, bit by bit; JSON and report hold every channel', async () => {
    const reports = ['--report', 'report.html', '--report', 'report.xlsx'];
    const [csv, ndjson] = await Promise.all([
      liftgraph('analyze', 'shop/touchpoints.csv', 'shop/orders.csv', '--json'),
      liftgraph('analyze', 'shop/touchpoints.ndjson.gz', 'shop/orders.csv', '--json', ...reports),
    ]);
    expect([csv.code, ndjson.code]).toEqual([0, 0]);
    const result = resultOf(csv);
    expect(resultOf(ndjson).diagnostics.run_digest).toBe(result.diagnostics.run_digest);
    const { trust } = result;
    expect(trust).toMatchObject({
      not_measured: ['provenance'],
      components: { detection: { calibration_error: expect.any(Number) } },
    });
    expect(trust!.verification.claims_verified).toBe(trust!.verification.claims_total);
    expect(trust!.verification.claims_total).toBeGreaterThan(30);
    expect(result.revenue).toBe(truth.revenue);
    expect(result.conversions).toBe(truth.orders);
    expect(result.date_range[1] <= '2026-06-30').toBe(true);
    const credited = result.channel_impact.reduce(
      (sum, channel) => sum + Math.round(100 * channel.attributed_revenue),
      0,
    );
    expect(credited + Math.round(100 * result.baseline_revenue)).toBe(Math.round(100 * truth.revenue));

    const page = await readFile(join(folder, 'report.html'), 'utf8');
    expect(page).toContain('Credit over time');
    for (const { channel } of result.channel_impact) expect(page).toContain(`<th scope="row">${channel}</th>`);
    expect(page).toContain('touchpoints.ndjson.gz, orders.csv');
    // A ZIP archive, as workbooks are.
    expect((await readFile(join(folder, 'report.xlsx'))).subarray(0, 4)).toEqual(Buffer.from('PK\u0003\u0004'));
  }, 60_000);

  test('one table of events holds the same journeys; all options of the analysis count', async () => {
    const { code, stdout } = await liftgraph(
      'analyze',
      'shop/events.csv',
      '--json',
      '--from',
      '2026-04-01',
      '--to',
      '2026-04-30',
      '--lookback-days',
      '14',
      '--confidence',
      '0.8',
      '--order',
      '2',
      '--model',
      'markov',
      '--baseline',
      'direct',
      '--granularity',
      'weekly',
      '--margin',
      '0.4',
    );
    expect(code).toBe(0);
    const result = JSON.parse(stdout) as AttributionReport;
    expect(result).toMatchObject({
      model: 'markov',
      methodology: 'markov/order-2',
      date_range: ['2026-04-01', '2026-04-30'],
      lookback_window_days: 14,
      confidence_level: 0.8,
      granularity: 'weekly',
      profitability: { margin: 0.4, origin: 'request' },
    });
    expect(result.time_series!.map((period) => [period.period_start, period.partial])).toEqual([
      ['2026-03-30', true],
      ['2026-04-06', false],
      ['2026-04-13', false],
      ['2026-04-20', false],
      ['2026-04-27', true],
    ]);
    expect(
      Object.fromEntries(result.channel_impact.map((channel) => [channel.channel, channel.is_baseline])),
    ).toMatchObject({ direct: true, organic_search: false });
    const orders = (await readFile(join(folder, 'shop/orders.csv'), 'utf8'))
      .split('\n')
      .filter((line) => line.includes(',2026-04-'));
    expect(result.conversions).toBe(orders.length);
  }, 60_000);

  test('results of experiments calibrate the credit, and their file is checked line by line', async () => {
    const header = 'channel,method,start,end,incremental_revenue,standard_error\n';
    await writeFile(
      join(folder, 'experiments.csv'),
      `${header}meta_ads,geo,2026-01-01,2026-06-30,9000,10\n\nemail,holdout,2026-04-01,2026-04-30,500,60\n`,
    );
    await writeFile(join(folder, 'guesses.csv'), `${header}meta_ads,guess,2026-01-01,2026-06-30,9000,10\n`);
    await writeFile(join(folder, 'short.csv'), 'channel,start,end\nmeta_ads,2026-01-01,2026-06-30\n');
    const [calibrated, guesses, short, other] = await Promise.all([
      liftgraph('analyze', 'shop/events.csv', '--json', '--experiments', 'experiments.csv'),
      liftgraph('analyze', 'shop/events.csv', '--experiments', 'guesses.csv'),
      liftgraph('analyze', 'shop/events.csv', '--experiments', 'short.csv'),
      liftgraph('analyze', 'shop/events.csv', '--experiments', 'experiments.csv', '--model', 'markov'),
    ]);
    expect(calibrated.code).toBe(0);
    const result = resultOf(calibrated);
    expect(result.methodology).toContain('calibrated-by-2-experiments');
    expect(result.diagnostics.experiments.map(({ id, channel }) => [id, channel])).toEqual([
      ['line-2', 'meta_ads'],
      ['line-4', 'email'],
    ]);
    const [meta] = result.diagnostics.experiments;
    expect(Math.abs(meta!.model_incremental_revenue_after - 9_000)).toBeLessThan(
      Math.abs(meta!.model_incremental_revenue_before - 9_000),
    );
    expect([guesses.code, short.code, other.code]).toEqual([1, 1, 1]);
    expect(guesses.stderr).toContain('guesses.csv: line 2: method: ');
    expect(short.stderr).toContain('the header lacks method, incremental_revenue, standard_error');
    expect(other.stderr).toContain('calibrate the causal model alone');
  }, 60_000);

  test('paths alone: the path models answer, causal says what it lacks, PRAV refuses', async () => {
    const [causal, prav] = await Promise.all([
      liftgraph('analyze', 'shop/paths.csv', '--json'),
      liftgraph('analyze', 'shop/paths.csv', '--model', 'prav'),
    ]);
    expect(causal.code).toBe(0);
    expect(resultOf(causal).revenue).toBe(truth.revenue);
    expect(resultOf(causal).diagnostics.warnings.length).toBeGreaterThan(0);
    expect(resultOf(causal).methodology).toContain('prior-weights');
    expect(prav.code).toBe(1);
    expect(prav.stderr).toMatch(/^error: .*(users|user id|touchpoints)/m);
  }, 60_000);

  test('rows that cannot be used are counted and the first is named; a file without any is refused', async () => {
    await writeFile(
      join(folder, 'some-bad.csv'),
      `${(await readFile(join(folder, 'shop/orders.csv'), 'utf8')).trimEnd()}\nTT-1,u1,never,10.00,USD,true\n`,
    );
    await writeFile(join(folder, 'all-bad.csv'), 'order_id,user_id,timestamp,revenue\n1,u1,never,10.00\n');
    await writeFile(join(folder, 'odd.csv'), 'colour,size\nred,4\n');
    const [some, all, odd] = await Promise.all([
      liftgraph('analyze', 'shop/touchpoints.csv', 'some-bad.csv', '--json'),
      liftgraph('analyze', 'all-bad.csv'),
      liftgraph('analyze', 'odd.csv'),
    ]);
    expect(some.code).toBe(0);
    expect(resultOf(some).conversions).toBe(truth.orders);
    expect(some.stderr).toMatch(
      new RegExp(
        `some-bad.csv: .* rows of conversions; 1 rejected, the first in line ${truth.orders + 2}: timestamp: "never" ` +
          `is not a date or time`,
      ),
    );
    expect(all.code).toBe(1);
    expect(all.stderr).toContain(
      'error: all-bad.csv: no row can be used (line 2: timestamp: "never" is not a date or time',
    );
    expect(odd.code).toBe(1);
    expect(odd.stderr).toContain('error: odd.csv: The columns "colour", "size" fit no kind of file.');
    expect(await readdir(temporary)).toEqual([]);
  }, 60_000);

  test('a range without orders is refused with advice', async () => {
    const { code, stderr } = await liftgraph(
      'analyze',
      'shop/events.csv',
      '--from',
      '2025-01-01',
      '--to',
      '2025-01-31',
    );
    expect(code).toBe(1);
    expect(stderr).toContain('error: There is no conversion in this range.');
  }, 60_000);

  test('Ctrl-C ends it with code 130 and leaves nothing behind', async () => {
    const { child, result } = startCli(['analyze', 'shop/events.csv'], { cwd: folder, temporary });
    child.stderr!.once('data', () => child.kill('SIGINT'));
    const { code, stdout, stderr } = await result;
    expect(code).toBe(130);
    expect(stdout).toBe('');
    expect(stderr).toContain('Interrupted.');
    expect(await readdir(temporary)).toEqual([]);
  }, 60_000);
});
