import { z } from 'zod';
import { openColumnarStore, sourceEvidence, upload, type ColumnarStore } from '../touchpoints/columnar-store.ts';
import { storedConversions } from '../touchpoints/stored-events.ts';

let store: ColumnarStore;
let sources = 0;
const newSource = (): string => `source-${(sources += 1)}`;

beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const HEADER = 'order_id,user_id,timestamp,revenue';
const ORDERS = `${HEADER}\nR1,u,2025-01-01,100\nR2,u,2025-01-01,160.11\nR3,u,2025-01-01,50\n`;
const REFUNDS = `${HEADER}\nR1,u,2025-01-05,-20\nR1,u,2025-01-05,-10\nR2,u,2025-01-06,-160.11\n`;
const MORE = `${HEADER}\nR1,u,2025-01-09,-5\n`;

const send = (source: string, content: string) => upload(store.clickhouse, source, content);
const revenues = async (source: string) =>
  (await storedConversions(store, source)).map((row) => [row.order_id, row.revenue, row.ts.slice(0, 10)]);

describe('a refund that another file brings', () => {
  const lowered = [
    ['R1', '65', '2025-01-01'],
    ['R2', '0', '2025-01-01'],
    ['R3', '50', '2025-01-01'],
  ];

  test.each([
    ['behind its order', [ORDERS, REFUNDS, MORE]],
    ['ahead of its order', [REFUNDS, MORE, ORDERS]],
    ['between', [MORE, ORDERS, REFUNDS]],
    ['again and again', [ORDERS, REFUNDS, REFUNDS, MORE, ORDERS, REFUNDS, MORE, ORDERS]],
    ['in one file with its order as well', [ORDERS + REFUNDS.slice(HEADER.length + 1), REFUNDS, MORE]],
  ])('lowers it: %s', async (_, files) => {
    const source = newSource();
    for (const file of files) await send(source, file);
    expect(await revenues(source)).toEqual(lowered);
  });

  test('leaves the same evidence, whatever the order of the files', async () => {
    const [one, other] = [newSource(), newSource()];
    for (const file of [ORDERS, REFUNDS, MORE]) await send(one, file);
    for (const file of [MORE, REFUNDS, ORDERS, REFUNDS]) await send(other, file);
    const key = (dataSourceId: string) => ({ accountId: 'account', dataSourceId });
    expect(await sourceEvidence(store.clickhouse, key(other))).toEqual(
      await sourceEvidence(store.clickhouse, key(one)),
    );
  });

  test('replaces what an earlier file said of it, and comes off what a later one says of its order', async () => {
    const source = newSource();
    await send(source, ORDERS);
    await send(source, REFUNDS);
    await send(source, `${HEADER}\nR1,u,2025-01-05,-35\n`);
    expect((await revenues(source))[0]).toEqual(['R1', '65', '2025-01-01']);
    await send(source, `${HEADER}\nR1,u,2025-01-02,200\n`);
    expect((await revenues(source)).find(([id]) => id === 'R1')).toEqual(['R1', '165', '2025-01-02']);
  });

  test('is told by its own id from another of its time', async () => {
    const source = newSource();
    await send(source, ORDERS);
    await send(source, `${HEADER},event_id\nR1,u,2025-01-01,-20,f1\n`);
    await send(source, `${HEADER},event_id\nR1,u,2025-01-01,-30,f2\n`);
    expect((await revenues(source))[0]).toEqual(['R1', '50', '2025-01-01']);
  });

  test('says what it lowered, and what it could not', async () => {
    const source = newSource();
    expect((await send(source, REFUNDS)).warnings).toEqual([
      '3 rows are refunds, 190.11 USD in all, of orders that the source does not hold. Each stands as a row of its ' +
        'own until its order comes, which it then lowers.',
    ]);
    expect((await send(source, ORDERS)).warnings).toEqual([
      '2 orders were lowered by refunds that other files brought.',
    ]);
    expect((await send(source, MORE)).warnings).toEqual([
      '1 row is a refund, which was taken off the order of the same id.',
    ]);
  });

  test('is taken in the currency of the source, by the rate of the day of its order', async () => {
    const source = newSource();
    const sendIn = (content: string) => upload(store.clickhouse, source, content, { sourceCurrency: 'EUR' });
    await sendIn('date,currency,rate\n2025-01-01,USD,0.5\n2025-01-05,USD,0.6\n');
    await sendIn(`${HEADER},currency\nR1,u,2025-01-01,100,USD\nR2,u,2025-01-01,100,EUR\n`);
    await sendIn(`${HEADER},currency\nR1,u,2025-01-05,-100,USD\nR2,u,2025-01-05,-20,EUR\n`);
    expect(await revenues(source)).toEqual([
      ['R1', '0', '2025-01-01'],
      ['R2', '80', '2025-01-01'],
    ]);
  });

  test('leaves an order alone that the shop told, when it is somebody else who saw it refunded', async () => {
    const source = newSource();
    const events = 'user_id,timestamp,channel,conversion,order_id,revenue\n';
    await send(source, `${events}u,2025-01-01,,1,R1,90\nu,2025-01-02,,1,R1,-40\n`);
    expect(await revenues(source)).toEqual([['R1', '50', '2025-01-01']]);
    const report = await send(source, ORDERS);
    expect((await revenues(source))[0]).toEqual(['R1', '100', '2025-01-01']);
    expect(report.warnings).toEqual([]);
    expect((await send(source, `${events}u,2025-01-02,,1,R1,-40\n`)).warnings).toEqual([
      '1 row is a refund of an order that a file of orders tells, and lowered nothing: what the shop says of its ' +
        'orders holds.',
    ]);
  });

  test('keeps the costs of the goods of its order', async () => {
    const source = newSource();
    await send(source, `${HEADER},cogs\nR1,u,2025-01-01,100,40\n`);
    await send(source, `${HEADER},cogs\nR1,u,2025-01-04,-10,\n`);
    const rows = await store.clickhouse.rows(
      `SELECT toString(cogs) AS cogs, toString(revenue) AS revenue FROM conversions FINAL
        WHERE data_source_id = {source:String}`,
      z.object({ cogs: z.string(), revenue: z.string() }),
      { params: { source } },
    );
    expect(rows).toEqual([{ cogs: '40', revenue: '90' }]);
  });
});
