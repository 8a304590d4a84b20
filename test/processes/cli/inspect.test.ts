import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { optionsOf } from '../../../processes/cli/file-options.ts';
import { startCli } from './run-cli.ts';

let folder: string;
let orders: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'liftgraph-inspect-'));
  orders = join(folder, 'orders.csv');
  await writeFile(orders, 'Bestellnummer;Kunde;Datum;Umsatz\nA-1;k1;03.04.2026;1.258\nA-2;k2;04.04.2026;2.400\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const runCli = (args: readonly string[]) => startCli(args, { cwd: folder, temporary: folder }).result;

test('a file is shown as it would be read, with the questions that it leaves open', async () => {
  const { code, stdout } = await runCli(['inspect', orders]);
  expect(code).toBe(0);
  expect(stdout).toContain('revenue    from "Umsatz"');
  expect(stdout).toContain('in Datum, the day comes first');
  expect(stdout).toContain("--answer 'decimals:Umsatz=comma'");
});

test('an answer settles what was open, and analyze takes the same', async () => {
  const answered = await runCli(['inspect', orders, '--answer', 'decimals:Umsatz=comma', '--json']);
  expect(JSON.parse(answered.stdout)).toMatchObject([
    { file: orders, questions: [], sample: [{ read: { revenue: '1258' } }, { read: { revenue: '2400' } }] },
  ]);
  const refused = await runCli(['analyze', orders]);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("--answer 'decimals:Umsatz=…'")]);
}, 60_000);

test.each([
  [['--timezone', 'Mars/Base'], '--timezone: must be an IANA time zone such as Europe/Berlin.'],
  [['--map', 'sales=Umsatz'], '--map sales: "sales" is no canonical column'],
  [['--map', 'revenu=Umsatz'], 'did you mean revenue? There are user_id'],
  [['--map', 'Umsatz'], 'Give it as NAME=VALUE.'],
  [['--preset', 'nobody'], 'There is no preset "nobody". Choose one of shopify_orders'],
])('%j is refused by name', async (said, message) => {
  const { code, stderr } = await runCli(['inspect', orders, ...said]);
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
});

test('of several files, a file in front says it of that one', () => {
  const said = { map: ['shop/a.csv:revenue=Total', 'user_id=Client'], set: ['b.csv:channel=meta_ads'] };
  expect(optionsOf('shop/a.csv', said, false)).toEqual({
    options: { mapping: { revenue: 'Total' }, constants: {}, answers: {} },
    usualMapping: { user_id: 'Client' },
  });
  expect(optionsOf('shop/b.csv', said, false)).toEqual({
    options: { mapping: {}, constants: { channel: 'meta_ads' }, answers: {} },
    usualMapping: { user_id: 'Client' },
  });
});

test('sums in other currencies are looked at by the rates of a file beside them, whichever comes first', async () => {
  const [sums, rates] = [join(folder, 'sums.csv'), join(folder, 'rates.csv')];
  await writeFile(
    sums,
    'order_id,user_id,timestamp,revenue,currency\no1,u,2026-01-05,100,EUR\no2,u,2026-01-06,100,USD\n',
  );
  await writeFile(rates, 'date,currency,rate\n2026-01-02,USD,0.5\n2026-01-06,USD,0.4\n');
  for (const files of [
    [sums, rates],
    [rates, sums],
  ]) {
    const { code, stdout } = await runCli(['inspect', ...files, '--json']);
    expect(code).toBe(0);
    const found = JSON.parse(stdout) as { readonly file: string; readonly kind: string }[];
    expect(found.map(({ file }) => file)).toEqual(files);
    expect(found.find(({ kind }) => kind === 'conversions')).toMatchObject({
      accepted: 2,
      rejected: 0,
      warnings: [
        'The amounts of 1 row in USD, 100.00 in all, were converted by the rates of the source, to 40.00 EUR.',
      ],
    });
  }
}, 60_000);
