import { JourneyStore } from '../../../../../subgraphs/attribution/analysis/journeys/journey-store.ts';
import { partsDigest, storedDays } from '../../../../../subgraphs/attribution/intake/touchpoints/stored-days.ts';
import { countStoredRows } from '../../../../../subgraphs/attribution/intake/touchpoints/stored-rows.ts';
import { MEASURED_AT, openColumnarStore, upload, type ColumnarStore } from './columnar-store.ts';

let store: ColumnarStore;
beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const key = (dataSourceId: string) => ({ accountId: 'account', dataSourceId });
const TOUCHES =
  'user_id,timestamp,channel,campaign,cost\n' +
  'u,2025-01-01T10:00:00Z,ads,x,1.5\n' +
  'u,2025-01-02T10:00:00Z,ads,x,2\n' +
  'v,2025-01-02T11:00:00Z,mail,,0.25\n' +
  'v,2025-01-09T11:00:00Z,mail,,9\n';
const query = (source: string) => ({
  ...key(source),
  dateRange: ['2025-01-01', '2025-01-02'] as const,
  conversionEvent: 'purchase',
});

const countedOnTheWay = async (source: string) =>
  (await new JourneyStore(store.clickhouse, { ...query(source), lookbackDays: 30, countsTouches: true }).facts())
    .counted!;

test(
  'counts of the range: stated spend stands in for the touches of its day and channel, other events are no ' +
    'conversions',
  async () => {
    await upload(store.clickhouse, 'counts', TOUCHES);
    await upload(
      store.clickhouse,
      'counts',
      'order_id,user_id,timestamp,revenue\n1,u,2025-01-02T12:00:00Z,10\n2,u,2025-01-03T00:00:00Z,99\n',
    );
    await upload(
      store.clickhouse,
      'counts',
      'order_id,user_id,timestamp,revenue,conversion_event\n3,u,2025-01-02T12:00:00Z,50,signup\n',
    );
    await upload(store.clickhouse, 'counts', 'date,channel,campaign,spend\n2025-01-02,ads,x,7\n2025-01-02,tv,,3\n');
    for (const counted of [countedOnTheWay('counts'), null]) {
      const rows = await countStoredRows(store.clickhouse, query('counts'), counted);
      expect(Object.fromEntries(rows.touches)).toEqual({ ads: 2, mail: 1 });
      expect(Object.fromEntries(rows.spend)).toEqual({ ads: 8.5, mail: 0.25, tv: 3 });
      expect(rows.orders).toEqual({ conversions: 1, revenue: 10 });
    }
  },
);

test('without spend touches keep their cost; on the way a row that came twice counts twice, alone once', async () => {
  await upload(store.clickhouse, 'own', TOUCHES);
  await store.clickhouse.command('SYSTEM STOP MERGES touchpoints');
  await upload(store.clickhouse, 'own', 'user_id,timestamp,channel,campaign,cost\nu,2025-01-01T10:00:00Z,ads,x,1.5\n');
  const counts = async (counted: ReturnType<typeof countedOnTheWay> | null) => {
    const { touches, spend } = await countStoredRows(store.clickhouse, query('own'), counted);
    return { touches: Object.fromEntries(touches), spend: Object.fromEntries(spend) };
  };
  expect(await counts(countedOnTheWay('own'))).toEqual({ touches: { ads: 3, mail: 1 }, spend: { ads: 5, mail: 0.25 } });
  expect(await counts(null)).toEqual({ touches: { ads: 2, mail: 1 }, spend: { ads: 3.5, mail: 0.25 } });
  await store.clickhouse.command('SYSTEM START MERGES touchpoints');
});

test('paths count by their last step; undated ones always, dated ones in the range', async () => {
  await upload(store.clickhouse, 'paths', 'path,conversions,revenue,nulls\na > b,2,20,3\nb,1,5,0\n');
  await upload(
    store.clickhouse,
    'paths',
    'path,conversions,revenue,nulls,date\na > c,1,7,0,2025-01-01\na > c,4,70,0,2025-02-01\n',
  );
  const rows = await countStoredRows(store.clickhouse, query('paths'), countedOnTheWay('paths'));
  expect(Object.fromEntries(rows.paths.revenueByLastStep)).toEqual({ b: 25, c: 7 });
  expect(rows.paths).toMatchObject({ conversions: 4, revenue: 32, touches: 2 * 5 + 1 + 2 });
  expect(
    (await storedDays(store.clickhouse, key('paths'), { deduplicated: true, now: MEASURED_AT })).days.map(
      ({ day, rows: count, pathSteps }) => [day, count, pathSteps],
    ),
  ).toEqual([
    ['1970-01-01', 2, 3],
    ['2025-01-01', 1, 2],
    ['2025-02-01', 1, 2],
  ]);
});

test('a day has one digest whatever the order and number of uploads, another when anything in it changes', async () => {
  const [header, ...lines] = TOUCHES.trimEnd().split('\n');
  await upload(store.clickhouse, 'one', TOUCHES);
  for (const line of lines.toReversed()) await upload(store.clickhouse, 'two', `${header}\n${line}\n`);
  await upload(store.clickhouse, 'two', TOUCHES);
  const days = async (source: string) =>
    (await storedDays(store.clickhouse, key(source), { deduplicated: true, now: MEASURED_AT })).days;
  const before = await days('one');
  expect(before.map(({ day, rows }) => [day, rows])).toEqual([
    ['2025-01-01', 1],
    ['2025-01-02', 2],
    ['2025-01-09', 1],
  ]);
  expect(await days('two')).toEqual(before);
  for (const changed of ['u,2025-01-02T10:00:00Z,ads,x,2.5', 'w,2025-01-02T10:00:00Z,ads,x,2']) {
    await upload(store.clickhouse, 'two', `${header}\n${changed}\n`);
    const after = await days('two');
    expect(after[1]!.digest).not.toBe(before[1]!.digest);
    expect([after[0], after[2]]).toEqual([before[0], before[2]]);
  }
});

test('channels that change places are noticed', async () => {
  const rows = (first: string, second: string) =>
    `user_id,timestamp,channel\nu,2025-01-01T10:00:00Z,${first}\nv,2025-01-01T11:00:00Z,${second}\n`;
  await upload(store.clickhouse, 'here', rows('a', 'b'));
  await upload(store.clickhouse, 'there', rows('b', 'a'));
  const digest = async (source: string) =>
    (await storedDays(store.clickhouse, key(source), { deduplicated: false, now: MEASURED_AT })).days[0]!.digest;
  expect(await digest('here')).not.toBe(await digest('there'));
});

test('the state of the store changes with every upload, of this source alone', async () => {
  await upload(store.clickhouse, 'state', TOUCHES);
  const before = await partsDigest(store.clickhouse, key('state'));
  expect(before).not.toBeNull();
  await upload(store.clickhouse, 'another', TOUCHES);
  expect(await partsDigest(store.clickhouse, key('state'))).toBe(before);
  await upload(store.clickhouse, 'state', 'user_id,timestamp,channel\nz,2025-01-02,ads\n');
  expect(await partsDigest(store.clickhouse, key('state'))).not.toBe(before);
});
