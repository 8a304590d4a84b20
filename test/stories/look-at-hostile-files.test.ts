import { Caller, openHouse, type House } from '../house.ts';
import { clock } from '../service-clock.ts';

/* What a stranger has looked at, or loads, costs others nothing, and comes back no larger than it may. */

let house: House;
let caller: Caller;
let source: string;
beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false, clock });
  caller = await Caller.register(house.root);
  const { body } = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} });
  source = String(body['data_source_id']);
});
afterAll(() => house?.stop());

const send = (content: string, query = '') =>
  caller.send('POST', `/data-sources/${source}/records${query}`, content, { 'content-type': 'text/csv' });
const KIB = 1024;
const TIME = '2025-01-05T10:00:00Z';

test.each([
  ['long', (index: number) => String(index).padEnd(500, 'x')],
  ['full of quotes', (index: number) => `${index}${"'".repeat(250)}${'\\'.repeat(250)}`],
])('two thousand ids that are %s are looked for among those that are stored', async (_how, id) => {
  const rows = Array.from({ length: 2_000 }, (_, index) => `${id(index)},${TIME},email\n`);
  const { status, body } = await send(`user_id,timestamp,channel\n${rows.join('')}`, '?dry_run=true');
  expect([status, body]).toMatchObject([200, { accepted: 2_000, join: { users: 0 } }]);
});

test('rows of a thousand columns with long names are shown as far as people may look at them', async () => {
  const names = Array.from({ length: 900 }, (_, index) => `c${index}${'n'.repeat(1_000)}`);
  const row = ['u1', TIME, 'email', ...names.map(() => 'x')].join(',');
  const file = `${['user_id', 'timestamp', 'channel', ...names].join(',')}\n${`${row}\n`.repeat(20)}`;
  const { status, body, text } = await send(file, '?dry_run=true');
  expect([status, body]).toMatchObject([200, { accepted: 20, sample: [{ raw: { user_id: 'u1', channel: 'email' } }] }]);
  expect(text.length).toBeLessThan(1_024 * KIB);
});

test('names of columns that are as long as a row stand in no reject and in no question', async () => {
  const long = '_'.repeat(200_000);
  const header = ['Bestellnummer', 'Kunde', 'Datum', 'Umsatz'].map((name) => name + long).join(',');
  const file = `${header}\n${`o,u,${TIME},x\n`.repeat(150)}`;
  for (const query of ['', '?dry_run=true']) {
    const { status, body, text } = await send(file, query);
    expect([status, body]).toMatchObject([query === '' ? 202 : 200, { accepted: 0, rejected: 150 }]);
    expect(text.length).toBeLessThan(256 * KIB);
  }
  const told = await caller.get(`/data-sources/${source}/status`);
  expect(told.text.length).toBeLessThan(64 * KIB);
  const rejects = await caller.get(`/data-sources/${source}/rejects`);
  expect(rejects.text.length).toBeLessThan(64 * KIB);
});

test('of the looks of an account, one at a time has the rates of its source', async () => {
  const { clickhouse } = house.backing;
  const { rows } = clickhouse;
  let [under, most] = [0, 0];
  const counted = async (...[statement, ...rest]: Parameters<typeof rows>) => {
    const isOfRates = statement.includes('FROM fx');
    if (isOfRates) most = Math.max(most, (under += 1));
    try {
      return await rows.call(clickhouse, statement, ...rest);
    } finally {
      if (isOfRates) under -= 1;
    }
  };
  clickhouse.rows = counted as typeof rows;
  try {
    const looks = Array.from({ length: 20 }, () =>
      send(`user_id,timestamp,channel\nu,${TIME},email\n`, '?dry_run=true'),
    );
    expect((await Promise.all(looks)).map(({ status }) => status)).toEqual(looks.map(() => 200));
  } finally {
    clickhouse.rows = rows;
  }
  expect(most).toBe(1);
});
