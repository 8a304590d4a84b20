import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AttributionReport } from '../../report/attribution-report.ts';
import { Caller, openHouse, type House, type Json } from '../house.ts';
import { startCli } from '../processes/cli/run-cli.ts';
import { clock } from '../service-clock.ts';

/*
 * Files as systems part them: refunds by themselves, orders line by line, visits and buyers under two ids. Whatever is
 * told twice counts once, at both doors.
 */

const USERS = Array.from({ length: 12 }, (_, place) => place);
const rowsOf = (header: string, row: (user: number) => string): string => [header, ...USERS.map(row), ''].join('\n');
const TOUCHES = rowsOf(
  'user_id,timestamp,channel',
  (user) => `u${user},2026-01-05T10:00:00Z,${user % 3 === 0 ? 'direct' : 'email'}`,
);
const ORDERS = rowsOf('order_id,user_id,timestamp,revenue', (user) => `o${user},u${user},2026-01-06T10:00:00Z,100`);
const REFUNDS = 'order_id,user_id,timestamp,revenue\no1,u1,2026-01-07T10:00:00Z,-30\no2,u2,2026-01-08T10:00:00Z,-100\n';

interface Shop {
  readonly files: Readonly<Record<string, string>>;
  readonly conversions: number;
  readonly revenue: number;
}
const SHOPS: Readonly<Record<string, Shop>> = {
  'refunds in a file behind that of their orders, sent twice': {
    files: { touches: TOUCHES, orders: ORDERS, refunds: REFUNDS, again: REFUNDS },
    conversions: 12,
    revenue: 1_070,
  },
  'refunds in a file ahead of that of their orders': {
    files: { refunds: REFUNDS, touches: TOUCHES, orders: ORDERS },
    conversions: 12,
    revenue: 1_070,
  },
  // Without the pairs no order would meet a touch, which is refused.
  'visits under a cookie, orders under an address and that cookie': {
    files: {
      visits: rowsOf('cookie_id,timestamp,channel', (user) => `c${user},2026-01-05T10:00:00Z,email`),
      orders: rowsOf(
        'order_id,email,cookie_id,timestamp,revenue',
        (user) => `o${user},u${user}@shop.example,c${user},2026-01-06T10:00:00Z,100`,
      ),
    },
    conversions: 12,
    revenue: 1_200,
  },
  'touches and orders by turns, told apart by a word': {
    files: {
      log: rowsOf(
        'uid,ts,channel,event,value,order_id',
        (user) => `u${user},2026-01-05T10:00:00Z,email,click,,\nu${user},2026-01-06T10:00:00Z,,purchase,100,o${user}`,
      ),
    },
    conversions: 12,
    revenue: 1_200,
  },
  'orders line by line': {
    files: {
      touches: TOUCHES,
      lines: rowsOf(
        'order_id,user_id,timestamp,sku,amount',
        (user) => `o${user},u${user},2026-01-06T10:00:00Z,shirt,60.5\no${user},u${user},2026-01-06T10:00:00Z,socks,9.5`,
      ),
    },
    conversions: 12,
    revenue: 840,
  },
};
const shops = Object.entries(SHOPS);
const RANGE = ['2026-01-01', '2026-01-31'] as const;

describe('over the doors', () => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse('one process', { clock });
  });
  afterAll(() => house?.stop());

  const revenueOf = ({ channel_impact: impact }: Json): number => {
    const channels = impact as never as { readonly attributed_revenue: number }[];
    return Math.round(100 * channels.reduce((sum, each) => sum + each.attributed_revenue, 0)) / 100;
  };
  async function sourceOf(caller: Caller, contents: readonly string[]): Promise<string> {
    const { body } = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} });
    const id = String(body['data_source_id']);
    for (const content of contents) {
      const sent = await caller.send('POST', `/data-sources/${id}/records`, content, { 'content-type': 'text/csv' });
      expect([sent.status, sent.body]).toMatchObject([202, { rejected: 0 }]);
    }
    return id;
  }
  const analysed = async (caller: Caller, sources: Readonly<Record<string, unknown>>): Promise<number> => {
    const asked = { ...sources, date_range: RANGE, model: 'markov' };
    const { status, body } = await caller.post('/attribution', asked, { prefer: 'wait=60' });
    expect([status, body['status']]).toEqual([200, 'completed']);
    return revenueOf(body);
  };

  test.each(shops)('%s', async (_, { files, revenue, conversions }) => {
    const caller = await Caller.register(house.root);
    const id = await sourceOf(caller, Object.values(files));
    expect(await analysed(caller, { data_source_id: id })).toBe(revenue);
    expect((await caller.get(`/data-sources/${id}/status`)).body).toMatchObject({ records: { conversions } });
  });

  test('refunds of another source are taken off what their orders come to, once', async () => {
    const caller = await Caller.register(house.root);
    const shop = await sourceOf(caller, [TOUCHES, ORDERS]);
    const payments = await sourceOf(caller, [REFUNDS]);
    expect(await analysed(caller, { data_source_ids: [shop, payments] })).toBe(1_070);
    expect(await analysed(caller, { data_source_ids: [payments, shop] })).toBe(1_070);
    const whole = await sourceOf(caller, [TOUCHES, ORDERS, REFUNDS]);
    expect(await analysed(caller, { data_source_ids: [whole, payments] })).toBe(1_070);
  });
});

describe('on the command line', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'liftgraph-parts-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(shops)('%s', async (_, { files, ...wanted }) => {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, `${name}.csv`), content);
    const names = Object.keys(files).map((name) => `${name}.csv`);
    const { code, stdout, stderr } = await startCli(['analyze', ...names, '--model', 'markov', '--json'], {
      cwd: folder,
      temporary: folder,
    }).result;
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    const { revenue, conversions } = JSON.parse(stdout) as AttributionReport;
    expect({ revenue, conversions }).toEqual(wanted);
  });
});
