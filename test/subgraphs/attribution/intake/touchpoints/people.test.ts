import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { z } from 'zod';
import { touchpointsOf } from '../../../../../subgraphs/attribution/intake/touchpoints/named-rows.ts';
import { MAX_IDS_OF_PERSON, stitched } from '../../../../../subgraphs/attribution/intake/touchpoints/people.ts';
import {
  joinedKey,
  OF_SOURCE,
  sourceParams,
  type SourceKey,
} from '../../../../../subgraphs/attribution/intake/touchpoints/source-key.ts';
import {
  measureSource,
  purgeSource,
} from '../../../../../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import { sized } from '../../../../run-length.ts';
import { MEASURED_AT, openColumnarStore, upload, type ColumnarStore } from './columnar-store.ts';

/** Each example fills a store of its own. */
const LONGEST_MS = sized({ short: 60_000, long: 600_000 });

let store: ColumnarStore;
let sources = 0;
const newKey = (): SourceKey => ({ accountId: 'account', dataSourceId: `source-${(sources += 1)}` });

beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

type Pair = readonly [string, string];

const csvOf = (header: string, rows: readonly (readonly string[])[]): string =>
  [header, ...rows.map((row) => row.join(','))].join('\n');
const sendPairs = (key: SourceKey, pairs: readonly Pair[]) =>
  upload(store.clickhouse, key.dataSourceId, csvOf('id,same_as', pairs));
const sendTouches = (key: SourceKey, ids: readonly string[]) =>
  upload(
    store.clickhouse,
    key.dataSourceId,
    csvOf(
      'user_id,timestamp,channel',
      ids.map((id) => [id, '2026-01-05', 'email']),
    ),
  );

/** Which of the ids that have a touch are read as one: sorted groups of more than one. */
async function groupsOf(key: SourceKey, ids: readonly string[]): Promise<string[][]> {
  const { source } = await stitched(store.clickhouse, key);
  const rows = await store.clickhouse.rows(
    `SELECT raw.user_id AS id, read.user_id AS person FROM
      (SELECT user_id, event_id FROM touchpoints FINAL WHERE ${OF_SOURCE}) AS raw
      INNER JOIN (SELECT user_id, event_id FROM ${touchpointsOf(source, 'FINAL')} WHERE ${OF_SOURCE}) AS read
      USING (event_id)`,
    z.object({ id: z.string(), person: z.string() }),
    { params: sourceParams(source) },
  );
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(ids));
  return [...Map.groupBy(rows, ({ person }) => person).values()]
    .map((group) => group.map(({ id }) => id).toSorted())
    .filter((group) => group.length > 1)
    .toSorted();
}

/** The same without thinking: whoever is joined takes the name of the other, everywhere. */
function naiveGroups(pairs: readonly Pair[], ids: readonly string[]): string[][] {
  const group = new Map([...ids, ...pairs.flat()].map((id) => [id, id]));
  for (const [a, b] of pairs) {
    const [from, to] = [group.get(a)!, group.get(b)!];
    for (const [id, named] of group) if (named === from) group.set(id, to);
  }
  return [...Map.groupBy(ids, (id) => group.get(id)!).values()]
    .map((each) => each.toSorted())
    .filter((each) => each.length > 1)
    .toSorted();
}

/** Touches that can be told apart by their event whatever their user is called. */
const sendTellable = (key: SourceKey, ids: readonly string[]) =>
  upload(
    store.clickhouse,
    key.dataSourceId,
    csvOf(
      'user_id,timestamp,channel,event_id',
      ids.map((id) => [id, '2026-01-05', 'email', `event-${id}`]),
    ),
  );

describe('who is one person', () => {
  test(
    'whatever pairs there are, ids are one exactly where pairs connect them, over all sources',
    async () => {
      const id = fc.integer({ min: 0, max: 30 }).map((number) => `id-${number}`);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(id, id), { maxLength: 40 }),
          fc.array(fc.tuple(id, id), { minLength: 1, maxLength: 10 }),
          fc.uniqueArray(id, { minLength: 1 }),
          async (pairs, others, ids) => {
            const [first, second] = [newKey(), newKey()];
            if (pairs.length > 0) await sendPairs(first, pairs);
            await sendPairs(second, others);
            await sendTellable(first, ids);
            expect(await groupsOf(joinedKey([first, second]), ids)).toEqual(naiveGroups([...pairs, ...others], ids));
            expect(await groupsOf(first, ids)).toEqual(naiveGroups(pairs, ids));
          },
        ),
        { numRuns: sized({ short: 8, long: 100 }) },
      );
    },
    LONGEST_MS,
  );

  test('a chain of ids is one person as long as it is short enough, and nobody beyond that', async () => {
    const key = newKey();
    const chain = (name: string, count: number): Pair[] =>
      Array.from({ length: count - 1 }, (_, place) => [`${name}-${place}`, `${name}-${place + 1}`]);
    await sendPairs(key, [...chain('short', MAX_IDS_OF_PERSON), ...chain('long', MAX_IDS_OF_PERSON + 1)]);
    const ids = ['short-0', `short-${MAX_IDS_OF_PERSON - 1}`, 'long-0', `long-${MAX_IDS_OF_PERSON}`];
    await sendTellable(key, ids);
    expect(await groupsOf(key, ids)).toEqual([ids.slice(0, 2)]);
    const { found } = await stitched(store.clickhouse, key);
    expect(found).toEqual({ pairs: 2 * MAX_IDS_OF_PERSON - 1, people: 1, leftOut: MAX_IDS_OF_PERSON + 1 });
  });

  test('an id that everybody shares joins nobody, and takes nobody from his other ids', async () => {
    const key = newKey();
    const everybody = Array.from({ length: MAX_IDS_OF_PERSON + 5 }, (_, place): Pair => [`u${place}`, 'unknown']);
    await sendPairs(key, [...everybody, ['u1', 'cookie-1']]);
    const ids = ['u1', 'u2', 'cookie-1', 'unknown'];
    await sendTellable(key, ids);
    expect(await groupsOf(key, ids)).toEqual([['cookie-1', 'u1']]);
    expect((await stitched(store.clickhouse, key)).found!.leftOut).toBe(1);
  });

  test('a chain of 300,000 ids takes no longer per pair than pairs that have nothing in common', async () => {
    const count = 300_000;
    const timeOf = async (pairs: Iterable<string>): Promise<number> => {
      const key = newKey();
      await upload(store.clickhouse, key.dataSourceId, ['id,same_as', ...pairs].join('\n'));
      const startedMs = performance.now();
      await stitched(store.clickhouse, key);
      return performance.now() - startedMs;
    };
    const apart = await timeOf(Array.from({ length: count }, (_, place) => `a${place},b${place}`));
    const chained = await timeOf(Array.from({ length: count }, (_, place) => `c${place},c${place + 1}`));
    expect(chained).toBeLessThan(5 * apart + 2_000);
  });

  test('an address, its digest and any spelling of them are one id, and no address is stored', async () => {
    const key = newKey();
    const digest = createHash('sha256').update('ann@shop.example').digest('hex');
    await sendTouches(key, ['cookie-7', ' Ann@Shop.example ', digest.toUpperCase()]);
    await sendPairs(key, [['cookie-7', 'ANN@shop.example']]);
    await upload(
      store.clickhouse,
      key.dataSourceId,
      csvOf('order_id,user_id,timestamp,revenue', [['o1', 'ann@shop.example', '2026-01-06', '10']]),
    );
    const stored = await store.clickhouse.rows(
      `SELECT user_id AS id FROM touchpoints WHERE ${OF_SOURCE} UNION DISTINCT
       SELECT user_id FROM conversions WHERE ${OF_SOURCE} UNION DISTINCT
       SELECT arrayJoin([id, same_as]) FROM identities WHERE ${OF_SOURCE}`,
      z.object({ id: z.string() }),
      { params: sourceParams(key) },
    );
    expect(stored.map(({ id }) => id).toSorted()).toEqual([digest, 'cookie-7'].toSorted());
  });

  test('the match rate is told before and after, and pairs go with their source', async () => {
    const key = newKey();
    const measure = () => measureSource(store.clickhouse, () => MEASURED_AT)('account', key.dataSourceId);
    await sendTouches(key, ['cookie-1', 'cookie-2', 'known']);
    await upload(
      store.clickhouse,
      key.dataSourceId,
      csvOf(
        'order_id,user_id,timestamp,revenue',
        ['customer-1', 'customer-2', 'known', 'stranger'].map((id) => [`order-${id}`, id, '2026-01-06', '10']),
      ),
    );
    expect(await measure()).toMatchObject({
      userMatchRate: 0.25,
      stitchedUserMatchRate: null,
      touchpointMatchRate: 0.25,
      identitiesDigest: null,
    });
    await sendPairs(key, [
      ['cookie-1', 'customer-1'],
      ['customer-2', 'cookie-2'],
    ]);
    const stitchedOnes = await measure();
    expect(stitchedOnes).toMatchObject({
      identities: 2,
      userMatchRate: 0.25,
      stitchedUserMatchRate: 0.75,
      touchpointMatchRate: 0.75,
    });
    await sendPairs(key, [['customer-1', 'cookie-1']]);
    expect((await measure()).identitiesDigest).not.toBe(stitchedOnes.identitiesDigest);
    await purgeSource(store.clickhouse, key);
    expect(await measure()).toMatchObject({ identities: 0, conversions: 0, identitiesDigest: null });
    expect((await stitched(store.clickhouse, key)).found).toBeNull();
  });
});

test('people are made by turns of accounts: a crowd of one waits behind the first of another', async () => {
  const crowd = [newKey(), newKey(), newKey(), newKey()];
  const neighbour: SourceKey = { accountId: 'neighbour', dataSourceId: 'source-of-a-neighbour' };
  for (const source of [...crowd, neighbour])
    await upload(store.clickhouse, source.dataSourceId, 'id,same_as\na,b\nb,c\n', { source });
  const made: string[] = [];
  await Promise.all(
    [...crowd, neighbour].map(async (source) => {
      await stitched(store.clickhouse, source);
      made.push(source.accountId);
    }),
  );
  expect(made.indexOf('neighbour')).toBeLessThan(2);
});

test('more pairs than may be are counted without all of them in memory', async () => {
  const key = newKey();
  await store.clickhouse.command(
    `INSERT INTO identities (account_id, data_source_id, id, same_as, version)
       SELECT {account_id:String}, {data_source_id:String}, toString(number), 'hub', 1 FROM numbers(2200000)`,
    { params: sourceParams(key), timeoutMs: LONGEST_MS },
  );
  await expect(stitched(store.clickhouse, key)).rejects.toMatchObject({ problem: { code: 'too_many_identities' } });
  await purgeSource(store.clickhouse, key);
});
