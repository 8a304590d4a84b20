import { z } from 'zod';
import { listRejects } from '../../../../../subgraphs/attribution/intake/files/rejects.ts';
import { CURRENT_PATHS } from '../../../../../subgraphs/attribution/intake/touchpoints/current-paths.ts';
import { sourceParams } from '../../../../../subgraphs/attribution/intake/touchpoints/source-key.ts';
import {
  measureSource,
  purgeSource,
  sourceChannels,
  sourceSpend,
} from '../../../../../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import { MEASURED_AT, openColumnarStore, sourceEvidence, upload, type ColumnarStore } from './columnar-store.ts';
import { storedConversions, storedTouches } from './stored-events.ts';

let store: ColumnarStore;
let sources = 0;
const newSource = (): string => `source-${(sources += 1)}`;

beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const key = (dataSourceId: string) => ({ accountId: 'account', dataSourceId });
const touches = (source: string) => storedTouches(store, source);
const conversions = (source: string) => storedConversions(store, source);

describe('what is stored', () => {
  test('the latest row of a natural key wins, within a file and across files', async () => {
    const source = newSource();
    await upload(
      store.clickhouse,
      source,
      'user_id,timestamp,channel,campaign,cost\nu,2025-01-01,a,x,1\nu,2025-01-01,a,x,2\nu,2025-01-01,a,y,3\n',
    );
    expect((await touches(source)).map(({ campaign, cost }) => [campaign, cost])).toEqual([
      ['x', '2'],
      ['y', '3'],
    ]);
    await upload(store.clickhouse, source, 'user_id,timestamp,channel,campaign,cost\nu,2025-01-01,a,x,9\n');
    expect((await touches(source)).map(({ campaign, cost }) => [campaign, cost])).toEqual([
      ['x', '9'],
      ['y', '3'],
    ]);
    await upload(store.clickhouse, source, 'order_id,user_id,timestamp,revenue\no,u,2025-01-01,1\n');
    await upload(store.clickhouse, source, 'order_id,user_id,timestamp,revenue\no,v,2025-01-05,2\n');
    expect(await conversions(source)).toMatchObject([{ order_id: 'o', user_id: 'v', revenue: '2' }]);
    expect(await measureSource(store.clickhouse, () => MEASURED_AT)('account', source)).toMatchObject({
      touchpoints: 2,
      conversions: 1,
    });
  });

  test('a path may stand in several rows: those of one file add up, a later file replaces them', async () => {
    const source = newSource();
    const stored = () =>
      store.clickhouse.rows(
        `SELECT arrayStringConcat(path, '>') AS path, toFloat64(conversions) AS conversions, toFloat64(revenue) AS ` +
          `revenue FROM ${CURRENT_PATHS} ORDER BY path`,
        z.object({ path: z.string(), conversions: z.number(), revenue: z.number() }),
        { params: sourceParams(key(source)) },
      );
    const file = 'path,conversions,revenue,nulls\na > b,1,10,0\nc,1,1,0\na > b,2,20,0\n';
    const sum = [
      { path: 'a>b', conversions: 3, revenue: 30 },
      { path: 'c', conversions: 1, revenue: 1 },
    ];
    await upload(store.clickhouse, source, file);
    expect(await stored()).toEqual(sum);
    const evidence = await sourceEvidence(store.clickhouse, key(source));
    expect(evidence.rows).toBe(2);
    // As it was, in another order, and with a chunk that is sent twice.
    await upload(store.clickhouse, source, file);
    await upload(store.clickhouse, source, 'path,conversions,revenue,nulls\nc,1,1,0\na > b,2,20,0\na > b,1,10,0\n');
    const now = new Date(Date.UTC(2026, 5, 1));
    for (let time = 0; time < 2; time += 1) await upload(store.clickhouse, source, file, { uploadId: 'retried', now });
    expect(await stored()).toEqual(sum);
    expect(await sourceEvidence(store.clickhouse, key(source))).toEqual(evidence);
    await upload(store.clickhouse, source, 'path,conversions,revenue,nulls\na>b,4,40,0\n', {
      now: new Date(now.getTime() + 1),
    });
    expect(await stored()).toEqual([{ path: 'a>b', conversions: 4, revenue: 40 }, sum[1]]);
    expect((await measureSource(store.clickhouse, () => MEASURED_AT)('account', source)).paths).toBe(2);
  });

  test('conversions of one user and instant without an order id both count, however often they come', async () => {
    const source = newSource();
    const file =
      'user_id,timestamp,channel,conversion,revenue,conversion_event\n' +
      'u,2025-01-02,,1,10,\n' +
      'u,2025-01-02,,1,20,\n' +
      'u,2025-01-02,,1,20,upgrade\n';
    for (let time = 0; time < 2; time += 1) {
      await upload(store.clickhouse, source, file);
      expect(
        (await conversions(source)).map(({ revenue, conversion_event }) => `${revenue} ${conversion_event}`).toSorted(),
      ).toEqual(['10 purchase', '20 purchase', '20 upgrade']);
    }
  });

  test('the evidence depends on the rows, not on how or how often they came', async () => {
    const [one, two] = [newSource(), newSource()];
    const header = 'user_id,timestamp,channel,cost\n';
    const [a, b] = ['u,2025-01-01,a,1\n', 'v,2025-01-02,b,2\n'];
    await upload(store.clickhouse, one, header + a + b);
    await upload(store.clickhouse, two, header + b);
    await upload(store.clickhouse, two, header + a);
    await upload(store.clickhouse, two, header + b);
    const evidence = await sourceEvidence(store.clickhouse, key(one));
    expect(evidence.rows).toBe(2);
    expect(await sourceEvidence(store.clickhouse, key(two))).toEqual(evidence);
    await upload(store.clickhouse, two, `${header}v,2025-01-02,b,2.5\n`);
    expect(await sourceEvidence(store.clickhouse, key(two))).not.toEqual(evidence);
  });

  test('rows that are alike in two sources, or two accounts, stay apart', async () => {
    const keys = [key(newSource()), key(newSource())];
    keys.push({ accountId: 'other', dataSourceId: keys[0]!.dataSourceId });
    const files = [
      'user_id,timestamp,channel,campaign,cost\nu,2025-01-01,a,x,1\nu,2025-01-01,a,x,bad\n',
      'order_id,user_id,timestamp,revenue\no,u,2025-01-01,1\n',
      'date,channel,campaign,spend\n2025-01-01,a,x,1\n',
      'path,conversions,revenue,nulls\na > b,1,2,3\n',
    ];
    for (const source of keys)
      for (const [index, file] of files.entries())
        await upload(store.clickhouse, '', file, { source, uploadId: `alike-${index}` });
    const [first, ...others] = await Promise.all(keys.map((source) => sourceEvidence(store.clickhouse, source)));
    expect(first!.rows).toBe(4);
    expect(others).toEqual([first, first]);
    for (const source of keys)
      expect((await listRejects(store.clickhouse, source, { limit: 10, offset: 0 })).total).toBe(1);
  });

  test('one account and source never sees the rows of another', async () => {
    const source = newSource();
    const file = 'user_id,timestamp,channel\nu,2025-01-01,a\nu,x,a\n';
    await upload(store.clickhouse, source, file);
    for (const foreign of [
      { accountId: 'other', dataSourceId: source },
      { accountId: 'account', dataSourceId: 'other' },
    ]) {
      expect(await sourceChannels(store.clickhouse, foreign)).toEqual([]);
      expect((await listRejects(store.clickhouse, foreign, { limit: 10, offset: 0 })).total).toBe(0);
      expect((await sourceEvidence(store.clickhouse, foreign)).rows).toBe(0);
      await purgeSource(store.clickhouse, foreign);
    }
    expect(await sourceChannels(store.clickhouse, key(source))).toEqual(['a']);
    await purgeSource(store.clickhouse, key(source));
    expect(await sourceChannels(store.clickhouse, key(source))).toEqual([]);
    expect((await listRejects(store.clickhouse, key(source), { limit: 10, offset: 0 })).total).toBe(0);
  });

  test('the measure of a source: coverage, gaps, and conversions with and without touches', async () => {
    const source = newSource();
    await upload(
      store.clickhouse,
      source,
      'user_id,timestamp,channel\nu1,2025-01-01,a\nu2,2025-01-01,a\nu4,2025-03-05,a\n',
    );
    await upload(
      store.clickhouse,
      source,
      'order_id,user_id,timestamp,revenue,channel\n' +
        '1,u1,2025-01-03,1,\n' +
        '2,u2,2025-03-01,1,\n' +
        '3,u3,2025-01-02,1,\n' +
        '4,u4,2025-03-01,1,\n' +
        '5,u5,2025-01-01,1,b\n',
    );
    const measure = await measureSource(store.clickhouse, () => MEASURED_AT)('account', source);
    expect(measure).toMatchObject({
      touchpoints: 3,
      conversions: 5,
      earliest: '2025-01-01',
      latest: '2025-03-05',
      touchpointMatchRate: 4 / 5,
    });
    // 1 (two days before) and 5 (its own click) follow a touch; 2 is too late, 3 has none, 4 is ahead of its touch.
    expect(measure.unattributedShare).toBeCloseTo(3 / 5, 12);
    expect(measure.missingDays).toHaveLength(64 - 5);
    expect(measure.missingDays).toEqual(expect.arrayContaining(['2025-01-04', '2025-02-28', '2025-03-04']));
  });

  test('spend rows stand in for the cost of touches on the same day and channel', async () => {
    const source = newSource();
    await upload(
      store.clickhouse,
      source,
      'user_id,timestamp,channel,campaign,cost\n' +
        'u,2025-01-01T10:00:00Z,a,x,1.5\n' +
        'u,2025-01-01T23:59:59Z,a,x,2\n' +
        'u,2025-01-02,a,x,4\n' +
        'u,2025-01-01,b,,8\n' +
        'u,2025-01-03,a,x,16\n' +
        'u,2025-01-01T11:00:00Z,a,z,32\n',
    );
    await upload(
      store.clickhouse,
      source,
      'date,channel,campaign,spend\n2025-01-01,a,x,10\n2025-01-01,a,y,5\n2025-01-05,a,y,7\n',
    );
    expect((await sourceSpend(store.clickhouse, key(source), ['2025-01-01', '2025-01-02'])).rows).toEqual([
      { channel: 'a', campaign: 'x', spend: 10 + 4 },
      { channel: 'a', campaign: 'y', spend: 5 },
      { channel: 'b', campaign: '', spend: 8 },
    ]);
  });
});
