import { readFileSync } from 'node:fs';
import { journeysAsPaths } from '../../../../../compute/evidence/journeys.ts';
import type { PathTable } from '../../../../../compute/journey-tables.ts';
import { spanOf } from '../../../../../subgraphs/attribution/analysis/journeys/journey-query.ts';
import { loadJourneys } from '../../../../../subgraphs/attribution/analysis/journeys/journey-store.ts';
import { loadSampledEvents } from '../../../../../subgraphs/attribution/analysis/journeys/sampled-events.ts';
import { openColumnarStore, upload, type ColumnarStore } from '../../intake/touchpoints/columnar-store.ts';

const EVENTS = readFileSync(new URL('../../../../compute/fixtures/events.csv', import.meta.url), 'utf8');
const SOURCE = { accountId: 'account', dataSourceId: 'sampled' };
const RANGE = ['2025-02-03', '2025-03-02'] as const;
const DAY_S = 86_400;

let store: ColumnarStore;
beforeAll(async () => {
  store = await openColumnarStore();
  await upload(store.clickhouse, SOURCE.dataSourceId, EVENTS);
});
afterAll(() => store.close());

/** Counts per path; money in tenths of a cent. */
function byPath({ channels, offsets, steps, conversions, value, nulls }: PathTable): Record<string, readonly number[]> {
  const sums = new Map<string, number[]>();
  for (let p = 0; p < conversions.length; p += 1) {
    const name = Array.from(steps.subarray(offsets[p], offsets[p + 1]), (step) => channels[step]).join(' > ');
    const sum = sums.get(name) ?? [0, 0, 0];
    sums.set(name, [sum[0]! + conversions[p]!, sum[1]! + Math.round(value[p]! * 1000), sum[2]! + nulls[p]!]);
  }
  return Object.fromEntries([...sums].toSorted(([a], [b]) => a.localeCompare(b)));
}

test.each([7, 30])(
  'walking the events of single users finds the paths that SQL makes, with a lookback of %i days',
  async (lookbackDays) => {
    const { paths, followed } = await loadJourneys(store.clickhouse, {
      ...SOURCE,
      dateRange: RANGE,
      lookbackDays,
      conversionEvent: 'purchase',
    });
    const { startMs, endMs } = spanOf(RANGE);
    const walked = journeysAsPaths(followed!.events, {
      startS: startMs / 1000,
      endS: endMs / 1000,
      lookbackS: lookbackDays * DAY_S,
    });
    expect(Object.keys(byPath(paths)).length).toBeGreaterThan(50);
    expect(byPath(walked)).toEqual(byPath(paths));
  },
);

test('one user in one is everybody; one in four is a quarter, the same users every time', async () => {
  const { followed } = await loadJourneys(store.clickhouse, {
    ...SOURCE,
    dateRange: RANGE,
    lookbackDays: 30,
    conversionEvent: 'purchase',
  });
  const { channels } = followed!.events;
  const span = spanOf(RANGE);
  const read = (oneIn: number) =>
    loadSampledEvents(store.clickhouse, { ...SOURCE, span, conversionEvent: 'purchase', channels, oneIn });
  const journeysOf = (table: Parameters<typeof journeysAsPaths>[0]) =>
    byPath(
      journeysAsPaths(table, {
        startS: span.startMs / 1000,
        endS: span.endMs / 1000,
        lookbackS: 30 * DAY_S,
        seenFromS: span.startMs / 1000,
      }),
    );
  const [all, some] = [await read(1), await read(4)];
  const withoutMoney = (paths: ReturnType<typeof journeysOf>) =>
    Object.entries(paths).map(([name, [conversions, , nulls]]) => [name, conversions, nulls]);
  expect(withoutMoney(journeysOf(all))).toEqual(withoutMoney(journeysOf(followed!.events)));
  const share = (some.userStart.length - 1) / (all.userStart.length - 1);
  expect(share).toBeGreaterThan(0.2);
  expect(share).toBeLessThan(0.3);
  expect((await read(4)).timeS).toEqual(some.timeS);
});
