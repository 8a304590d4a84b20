import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { faultOfEventTable, faultOfPathTable, NO_CHANNEL } from '../../../../../compute/journey-tables.ts';
import type { JourneyQuery } from '../../../../../subgraphs/attribution/analysis/journeys/journey-query.ts';
import { JourneyStore, loadJourneys } from '../../../../../subgraphs/attribution/analysis/journeys/journey-store.ts';
import { fnv1a, readEventRows } from '../../../../compute/reference-data.ts';
import {
  MEASURED_AT,
  openColumnarStore,
  storeRows,
  upload,
  type ColumnarStore,
} from '../../intake/touchpoints/columnar-store.ts';
import { eventsOf, pathsOf } from './readable-journeys.ts';
import { csvOf, DAY_S, history, journeysOf, START_S } from './slow-journeys.ts';
import { sized } from '../../../../run-length.ts';

let store: ColumnarStore;
let sources = 0;
const newSource = (): string => `source-${(sources += 1)}`;

beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const queryOf = (dataSourceId: string, changes: Partial<JourneyQuery> = {}): JourneyQuery => ({
  accountId: 'account',
  dataSourceId,
  dateRange: ['2025-01-01', '2025-12-31'],
  lookbackDays: 30,
  conversionEvent: 'purchase',
  ...changes,
});
const loadPaths = (query: JourneyQuery) => new JourneyStore(store.clickhouse, query).loadPaths();
const loadEvents = (query: JourneyQuery) => new JourneyStore(store.clickhouse, query).loadEvents();
const fixture = (name: string): string =>
  readFileSync(new URL(`../../../../compute/fixtures/${name}`, import.meta.url), 'utf8');

describe('the reference data', () => {
  let source: string;
  beforeAll(async () => {
    source = newSource();
    await upload(store.clickhouse, source, fixture('events.csv'));
  });

  test('its journeys are exactly the reference journeys', async () => {
    const { paths, totals } = await loadPaths(queryOf(source));
    expect(faultOfPathTable(paths)).toBeNull();
    const reference = fixture('events.journeys.csv')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','));
    const [empty, ...rows] = reference.map(
      ([path, conversions, value, nulls]) => [path!, [Number(conversions), Number(value), Number(nulls)]] as const,
    );
    expect(pathsOf(paths)).toEqual(Object.fromEntries(rows));
    expect(empty![0]).toBe('');
    const sum = (index: 0 | 1 | 2) => rows.reduce((total, [, counts]) => total + counts[index]!, 0);
    expect(totals).toMatchObject({
      journeys: sum(0) + sum(2),
      convertingJourneys: sum(0),
      conversions: sum(0) + empty![1][0]!,
      unattributedConversions: empty![1][0],
      unattributedRevenue: empty![1][1],
      touches: 19_239,
    });
    expect(totals.revenue).toBeCloseTo(sum(1) + empty![1][1]!, 6);
  });

  test('its events are all there, users together and in order, up to the last one stored', async () => {
    const read = (await loadEvents(queryOf(source)))!;
    expect(faultOfEventTable(read.events)).toBeNull();
    const expected = [...Map.groupBy(readEventRows(), ({ user }) => user)].map(
      ([user, rows]) =>
        [
          fnv1a(user),
          rows
            .toSorted((a, b) => a.timeS - b.timeS)
            .map(({ timeS, channel, conversion, value }) => `${timeS} ${channel} ${conversion ? value : '-'}`),
        ] as const,
    );
    const inOrderOfHash = (events: Iterable<readonly [number, string[]]>) => [...events].toSorted(([a], [b]) => a - b);
    expect(inOrderOfHash(eventsOf(read.events))).toEqual(inOrderOfHash(expected));
    const last = Math.max(...readEventRows().map(({ timeS }) => timeS));
    expect([read.observedUntilS, read.untilS]).toEqual([last, last]);
  });

  test('both tables at once are the tables one by one', async () => {
    const { paths, totals, followed } = await loadJourneys(store.clickhouse, queryOf(source));
    expect({ paths, totals }).toEqual(await loadPaths(queryOf(source)));
    expect(followed).toEqual(await loadEvents(queryOf(source)));
  });

  test('reading twice, and after the same file came again, gives the same bytes', async () => {
    const read = async () => [await loadPaths(queryOf(source)), await loadEvents(queryOf(source))];
    const first = await read();
    await upload(store.clickhouse, source, fixture('events.csv'));
    expect(await read()).toEqual(first);
  });
});

describe.each([[false], [true]])('any history, event ids: %p', (withEventIds) => {
  test('is cut like the slow way cuts it, in every range and lookback, in any order of rows and uploads', async () => {
    await fc.assert(
      fc.asyncProperty(
        history(withEventIds),
        fc.integer({ min: 0, max: 19 }),
        fc.integer({ min: 0, max: 19 }),
        fc.integer({ min: 1, max: 10 }),
        async (rows, one, other, lookbackDays) => {
          const source = newSource();
          // The whole file once, and a part of it again in another order.
          await upload(store.clickhouse, source, csvOf(rows));
          await upload(store.clickhouse, source, csvOf(rows.slice(0, 20).toReversed()));
          const [firstDay, lastDay] = [Math.min(one, other), Math.max(one, other)];
          const day = (index: number) => new Date((START_S + index * DAY_S) * 1000).toISOString().slice(0, 10);
          const { paths, totals } = await loadPaths(
            queryOf(source, { dateRange: [day(firstDay), day(lastDay)], lookbackDays }),
          );
          const expected = journeysOf(
            rows,
            { startS: START_S + firstDay * DAY_S, endS: START_S + (lastDay + 1) * DAY_S },
            lookbackDays * DAY_S,
          );
          const { '': unattributed = [0, 0, 0], ...rest } = expected;
          expect(pathsOf(paths)).toEqual(rest);
          expect([totals.unattributedConversions, totals.unattributedRevenue]).toEqual([
            unattributed[0],
            unattributed[1],
          ]);
        },
      ),
      { numRuns: sized({ short: 10, long: 25 }) },
    );
  }, 60_000);
});

test('only the conversion event asked for cuts and counts; only the channels asked for are touches', async () => {
  const source = newSource();
  await upload(store.clickhouse, source, 'user_id,timestamp,channel\nu,2025-01-01,a\nu,2025-01-02,b\nu,2025-01-03,a\n');
  await upload(
    store.clickhouse,
    source,
    'order_id,user_id,timestamp,revenue,conversion_event\n1,u,2025-01-02T12:00:00Z,5,signup\n2,u,2025-01-04,7,\n',
  );
  expect(pathsOf((await loadPaths(queryOf(source))).paths)).toEqual({ 'a > b > a': [1, 7, 0] });
  expect(pathsOf((await loadPaths(queryOf(source, { conversionEvent: 'signup' }))).paths)).toEqual({
    'a > b': [1, 5, 0],
    a: [0, 0, 1],
  });
  const { paths, totals } = await loadPaths(queryOf(source, { channels: ['b'] }));
  expect([paths.channels, pathsOf(paths), totals.touches]).toEqual([['b'], { b: [1, 7, 0] }, 1]);
});

test(
  'every event comes with its campaign, in the order of channel and campaign within an instant; clicks on ' +
    'conversions too',
  async () => {
    const source = newSource();
    const rows = [
      'u,2025-01-01,b,x,0,',
      'u,2025-01-01,a,y,0,',
      'u,2025-01-01,a,,0,',
      'u,2025-01-01,a,x,0,',
      'u,2025-01-02,b,"=y, z",1,5',
      'u,2025-01-03,,,1,7',
      'v,2025-01-01,b,,0,',
      'v,2025-01-04,,x,1,9',
    ];
    await upload(store.clickhouse, source, `user_id,timestamp,channel,campaign,conversion,revenue\n${rows.join('\n')}`);
    const { events, campaigns, tooManyCampaigns } = (await loadEvents(queryOf(source)))!;
    expect(faultOfEventTable(events)).toBeNull();
    expect([campaigns!.names, tooManyCampaigns]).toEqual([['=y, z', 'x', 'y'], false]);
    const named = Array.from(events.channel, (channel, i) => [
      channel === NO_CHANNEL ? '' : events.channels[channel]!,
      campaigns!.slot[i] === 0 ? '' : campaigns!.names[campaigns!.slot[i]! - 1]!,
      events.conversion[i]!,
    ]);
    expect(named).toEqual([
      ['a', '', 0],
      ['a', 'x', 0],
      ['a', 'y', 0],
      ['b', 'x', 0],
      ['b', '=y, z', 1],
      ['', '', 1],
      ['b', '', 0],
      ['', 'x', 1],
    ]);
    expect(Array.from(events.timeS, (timeS) => new Date(timeS * 1000).toISOString().slice(0, 10))).toEqual([
      '2025-01-01',
      '2025-01-01',
      '2025-01-01',
      '2025-01-01',
      '2025-01-02',
      '2025-01-03',
      '2025-01-01',
      '2025-01-04',
    ]);
  },
);

test('events without campaigns come without a column for them; more than can be told apart say so', async () => {
  const [plain, crowded] = [newSource(), newSource()];
  await upload(store.clickhouse, plain, 'user_id,timestamp,channel\nu,2025-01-01,a\n');
  expect(await loadEvents(queryOf(plain))).toMatchObject({ campaigns: null, tooManyCampaigns: false });
  await upload(
    store.clickhouse,
    crowded,
    ['user_id,timestamp,channel,campaign', ...Array.from({ length: 5_001 }, (_, i) => `u,2025-01-01,a,c${i}`)].join(
      '\n',
    ),
  );
  expect(await loadEvents(queryOf(crowded))).toMatchObject({ campaigns: null, tooManyCampaigns: true });
});

test('events reach from the lookback, or 90 days before follow-up ends, to 14 days after the range', async () => {
  const source = newSource();
  const days = ['2025-01-01', '2025-02-20', '2025-05-01', '2025-05-15', '2025-05-16', '2025-07-01'];
  await upload(store.clickhouse, source, ['user_id,timestamp,channel', ...days.map((day) => `u,${day},a`)].join('\n'));
  const read = (await loadEvents(queryOf(source, { dateRange: ['2025-05-01', '2025-05-01'] })))!;
  expect(Array.from(read.events.timeS, (timeS) => new Date(timeS * 1000).toISOString().slice(0, 10))).toEqual([
    '2025-02-20',
    '2025-05-01',
    '2025-05-15',
    '2025-05-16',
  ]);
  expect(read.observedUntilS).toBe(Date.UTC(2025, 6, 1) / 1000);
  expect(read.untilS).toBe(Date.UTC(2025, 4, 16) / 1000);
});

test('a file of paths: dated rows by range, undated ones always, and no events', async () => {
  const source = newSource();
  await upload(
    store.clickhouse,
    source,
    'path,date,conversions,revenue,nulls\na > b,2025-01-01,1,10.10,2\na > ' +
      'b,2025-01-02,1,20.20,0\na>b,2026-01-01,9,9,9\nb,,2,5,1\n,,3,7.5,0\n',
  );
  const { paths, totals } = await loadPaths(queryOf(source));
  expect(faultOfPathTable(paths)).toBeNull();
  expect(pathsOf(paths)).toEqual({ 'a > b': [2, 30.3, 2], b: [2, 5, 1] });
  expect(totals).toEqual({
    journeys: 7,
    convertingJourneys: 4,
    conversions: 7,
    revenue: 42.8,
    turnover: 42.8,
    unattributedConversions: 3,
    unattributedRevenue: 7.5,
    touches: 2 * 4 + 3,
  });
  expect(await loadEvents(queryOf(source))).toBeNull();
});

test('a source without rows has no journeys and no events', async () => {
  const { paths, totals } = await loadPaths(queryOf(newSource()));
  expect([faultOfPathTable(paths), paths.nulls.length, totals.conversions]).toEqual([null, 0, 0]);
  const read = (await loadEvents(queryOf(newSource())))!;
  expect([faultOfEventTable(read.events), read.events.timeS.length]).toEqual([null, 0]);
});

test('rows of other centuries say nothing of how long a source was observed, and are in no window', async () => {
  const source = newSource();
  await upload(
    store.clickhouse,
    source,
    'user_id,timestamp,channel\nu,2025-01-02T10:00:00Z,a\nu,2025-01-03T10:00:00Z,a\n',
  );
  const { accountId, dataSourceId } = queryOf(source);
  await storeRows(
    store.clickhouse,
    { accountId, dataSourceId },
    'touchpoints',
    ['1900-01-01 00:00:00.000', '2299-12-31 23:00:00.000'].map((ts) => ({ user_id: 'u', ts, channel: 'a' })),
  );
  await storeRows(
    store.clickhouse,
    { accountId, dataSourceId },
    'conversions',
    ['1900-01-02 00:00:00.000', '2299-12-31 23:30:00.000'].map((ts) => ({
      order_id: ts,
      user_id: 'u',
      ts,
      revenue: '1',
    })),
  );
  const read = (await loadEvents(queryOf(source, { observedBefore: MEASURED_AT })))!;
  expect(read.observedUntilS).toBe(Date.parse('2025-01-03T10:00:00Z') / 1000);
  expect([...read.events.timeS]).toEqual(
    ['2025-01-02T10:00:00Z', '2025-01-03T10:00:00Z'].map((time) => Date.parse(time) / 1000),
  );
});

test('refunds and large amounts keep their cents', async () => {
  const source = newSource();
  await upload(
    store.clickhouse,
    source,
    'order_id,user_id,timestamp,revenue\n1,u,2025-01-02,-19.99\n2,u,2025-01-03,900000000.01\n3,u,2025-01-04,0\n',
  );
  const read = (await loadEvents(queryOf(source)))!;
  expect([...read.events.value]).toEqual([-19.99, 900_000_000.01, 0]);
  expect((await loadPaths(queryOf(source))).totals).toMatchObject({
    revenue: 899_999_980.02,
    unattributedConversions: 3,
  });
});

test('the order values of a path are told apart by their squares; a file of paths knows none', async () => {
  const source = newSource();
  await upload(store.clickhouse, source, 'user_id,timestamp,channel\nu,2025-01-01,a\nv,2025-01-01,a\nw,2025-01-01,b\n');
  await upload(
    store.clickhouse,
    source,
    'order_id,user_id,timestamp,revenue\n1,u,2025-01-02,10.50\n2,v,2025-01-03,-30\n',
  );
  const { channels, steps, valueSquares } = (await loadPaths(queryOf(source))).paths;
  expect(Array.from(valueSquares!, (squares, path) => [channels[steps[path]!], squares])).toEqual([
    ['a', 10.5 ** 2 + 30 ** 2],
    ['b', 0],
  ]);
  const file = newSource();
  await upload(store.clickhouse, file, 'path,conversions,revenue,nulls\na,2,-19.50,0\n');
  expect((await loadPaths(queryOf(file))).paths.valueSquares).toBeUndefined();
});

test('many of the largest orders that ingest takes add up', async () => {
  const source = newSource();
  const largest = 1_000_000_000_000;
  await upload(
    store.clickhouse,
    source,
    [
      'order_id,user_id,timestamp,revenue',
      ...Array.from({ length: 20 }, (_, index) => `${index},u,2025-01-02,${largest}`),
    ].join('\n'),
  );
  expect((await loadPaths(queryOf(source))).totals).toMatchObject({ revenue: 20 * largest });
  expect([...(await loadEvents(queryOf(source)))!.events.value]).toEqual(Array(20).fill(largest));
});

test('rows of one path in one file add up', async () => {
  const source = newSource();
  await upload(store.clickhouse, source, 'path,conversions,revenue,nulls\na > b,1,10,0\na > b,2,20,0\n');
  const { paths, totals } = await loadPaths(queryOf(source));
  expect([pathsOf(paths), totals.revenue]).toEqual([{ 'a > b': [3, 30, 0] }, 30]);
});

test('an impossible range is a validation error', async () => {
  for (const dateRange of [
    ['2025-02-30', '2025-03-01'],
    ['2025-03-02', '2025-03-01'],
    ['x', 'y'],
  ] as const) {
    await expect((async () => loadPaths(queryOf('s', { dateRange })))()).rejects.toMatchObject({
      type: 'validation_error',
    });
  }
});
