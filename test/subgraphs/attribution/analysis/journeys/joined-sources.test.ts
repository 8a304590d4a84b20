import * as fc from 'fast-check';
import { toCents } from '../../../../../compute/numerics/largest-remainder.ts';
import type { JourneyQuery } from '../../../../../subgraphs/attribution/analysis/journeys/journey-query.ts';
import { loadJourneys } from '../../../../../subgraphs/attribution/analysis/journeys/journey-store.ts';
import { readRevenue } from '../../../../../subgraphs/attribution/intake/touchpoints/range-revenue.ts';
import { readTogether } from '../../../../../subgraphs/attribution/intake/touchpoints/read-together.ts';
import {
  joinedKey,
  sourceKeyOf,
  type OneSource,
  type SourceKey,
} from '../../../../../subgraphs/attribution/intake/touchpoints/source-key.ts';
import { partsDigest, storedDays } from '../../../../../subgraphs/attribution/intake/touchpoints/stored-days.ts';
import { joinedDays } from '../../../../../subgraphs/attribution/intake/data-sources/source-days.ts';
import { countStoredRows } from '../../../../../subgraphs/attribution/intake/touchpoints/stored-rows.ts';
import {
  sourceChannels,
  sourceSpend,
} from '../../../../../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import { sized } from '../../../../run-length.ts';
import { MEASURED_AT, openColumnarStore, upload, type ColumnarStore } from '../../intake/touchpoints/columnar-store.ts';
import { eventsOf, pathsOf } from './readable-journeys.ts';

/** Each example fills a store of its own. */
const LONGEST_MS = sized({ short: 60_000, long: 600_000 });

let store: ColumnarStore;
let sources = 0;
const newSource = (): OneSource => ({ accountId: 'account', dataSourceId: `source-${(sources += 1)}` });

beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const RANGE = ['2026-01-01', '2026-01-31'] as const;
const QUERY = { dateRange: RANGE, lookbackDays: 30, conversionEvent: 'purchase' };

/** One row of a shop, and which of its sources tells it. */
interface Told {
  readonly of: number;
  readonly header: string;
  readonly row: string;
}

async function send(source: OneSource, told: readonly Told[]): Promise<void> {
  for (const [header, rows] of Map.groupBy(told, (each) => each.header))
    await upload(store.clickhouse, source.dataSourceId, [header, ...rows.map(({ row }) => row)].join('\n'));
}

/** Everything that analyses read of sources. */
async function readAll(asked: SourceKey) {
  const { source, warnings } = await readTogether(store.clickhouse, asked);
  const query: JourneyQuery = { ...source, ...QUERY };
  const { paths, totals, followed } = await loadJourneys(store.clickhouse, query);
  const revenueOf = await readRevenue(store.clickhouse, sourceKeyOf(asked), [
    { start: RANGE[0], end: RANGE[1], conversionEvent: 'purchase' },
  ]);
  return {
    paths: pathsOf(paths),
    totals,
    events: eventsOf(followed!.events),
    spend: (await sourceSpend(store.clickhouse, source, RANGE)).rows,
    stored: await countStoredRows(store.clickhouse, query, null),
    channels: await sourceChannels(store.clickhouse, source),
    revenueCents: revenueOf({ start: RANGE[0], end: RANGE[1], conversionEvent: 'purchase' }),
    warnings,
  };
}

const day = (number: number): string => `2026-01-${String(number).padStart(2, '0')}`;
const TOUCHES = 'user_id,timestamp,channel,campaign,cost';
const ORDERS = 'order_id,user_id,timestamp,revenue';
const SPEND = 'date,channel,campaign,spend';
const PAIRS = 'id,same_as';
const user = fc.integer({ min: 0, max: 6 }).map((number) => `u${number}`);
const channel = fc.constantFrom('email', 'Facebook', 'google_ads');
const of = fc.integer({ min: 0, max: 2 });
const shop = fc
  .record({
    touches: fc.uniqueArray(fc.record({ of, user, channel, hour: fc.integer({ min: 0, max: 700 }) }), {
      selector: ({ user, channel, hour }) => `${user} ${channel} ${hour}`,
      minLength: 1,
      maxLength: 30,
    }),
    orders: fc.array(fc.record({ of, user, hour: fc.integer({ min: 0, max: 700 }) }), { minLength: 1, maxLength: 12 }),
    spend: fc.uniqueArray(fc.record({ of, channel, day: fc.integer({ min: 1, max: 31 }) }), {
      selector: ({ channel, day }) => `${channel} ${day}`,
      maxLength: 12,
    }),
    pairs: fc.array(fc.record({ of, a: user, b: user }), { maxLength: 3 }),
  })
  .map(({ touches, orders, spend, pairs }): readonly Told[] => [
    ...touches.map(({ of, user, channel, hour }) => ({
      of,
      header: TOUCHES,
      row: `${user},${new Date(Date.UTC(2026, 0, 1) + hour * 3_600_000).toISOString()},${channel},c${hour % 3},0.5`,
    })),
    ...orders.map(({ of, user, hour }, place) => ({
      of,
      header: ORDERS,
      row: `o${place},${user},${new Date(Date.UTC(2026, 0, 1) + hour * 3_600_000).toISOString()},${place + 1}`,
    })),
    ...spend.map(({ of, channel, day: number }) => ({
      of,
      header: SPEND,
      row: `${day(number)},${channel},,${number}`,
    })),
    ...pairs.map(({ of, a, b }) => ({ of, header: PAIRS, row: `${a},${b}` })),
  ]);

describe('several sources that are read as one', () => {
  test(
    'say whatever one source with all of their rows says',
    async () => {
      await fc.assert(
        fc.asyncProperty(shop, async (told) => {
          const [whole, ...parts] = [newSource(), newSource(), newSource(), newSource()] as const;
          await send(whole, told);
          for (const [place, part] of parts.entries())
            await send(
              part,
              told.filter((each) => each.of === place),
            );
          expect(await readAll(joinedKey(parts))).toEqual(await readAll(whole));
        }),
        { numRuns: sized({ short: 6, long: 60 }) },
      );
    },
    LONGEST_MS,
  );

  test('an order that several tell counts once, as the first in the order of the request tells it', async () => {
    const [first, second] = [newSource(), newSource()];
    const touches = ['a,2026-01-02,email,,0', 'b,2026-01-02,google_ads,,0'].map((row) => ({
      of: 0,
      header: TOUCHES,
      row,
    }));
    const orders = (rows: readonly string[]): Told[] => rows.map((row) => ({ of: 0, header: ORDERS, row }));
    await send(first, [...touches, ...orders(['o1,a,2026-01-05,10', 'o2,a,2026-02-05,100'])]);
    await send(second, orders(['o1,b,2026-01-06,20', 'o2,b,2026-01-06,200', 'o3,b,2026-01-07,5']));
    const there = await readAll(joinedKey([first, second]));
    // o2 is told again by the second source, and lies beyond the range as the first tells it.
    expect(there).toMatchObject({ revenueCents: 1_500, totals: { conversions: 2, revenue: 15 } });
    expect(there.stored.orders).toEqual({ conversions: 2, revenue: 15 });
    expect(there.warnings.join()).toContain('2 orders are told by more than one of the sources');
    const back = await readAll(joinedKey([second, first]));
    expect(back).toMatchObject({ revenueCents: 22_500, totals: { conversions: 3, revenue: 225 } });
  });

  test('each follows rules of its own, and rules that are alike are one', async () => {
    const [first, second, third] = [newSource(), newSource(), newSource()];
    const rows: readonly Told[] = [
      { of: 0, header: TOUCHES, row: 'a,2026-01-02,fb,brand,0' },
      { of: 0, header: TOUCHES, row: 'a,2026-01-03,fb,,0' },
      { of: 0, header: SPEND, row: '2026-01-02,fb,,7' },
    ];
    for (const source of [first, second, third]) await send(source, rows);
    await send(first, [{ of: 0, header: ORDERS, row: 'o1,a,2026-01-05,10' }]);
    const ruled = (source: OneSource, named: string): OneSource => ({
      ...source,
      naming: {
        rules: [
          { match: { channel: 'FB', campaignRegex: '^brand' }, channel: `${named}_brand` },
          { match: { channel: 'fb' }, channel: named },
        ],
      },
    });
    const read = await readAll(joinedKey([ruled(first, 'meta'), second, ruled(third, 'social')]));
    expect(read.channels).toEqual(['fb', 'meta', 'meta_brand', 'social', 'social_brand']);
    expect(read.spend.map(({ channel, spend }) => [channel, spend])).toEqual([
      ['fb', 7],
      ['meta', 7],
      ['social', 7],
    ]);
    expect(Object.fromEntries(read.stored.touches)).toEqual({
      fb: 2,
      meta: 1,
      meta_brand: 1,
      social: 1,
      social_brand: 1,
    });
    const alike = await readAll(joinedKey([ruled(first, 'meta'), ruled(second, 'meta')]));
    expect(Object.fromEntries(alike.stored.touches)).toEqual({ meta: 2, meta_brand: 2 });
    expect(toCents(alike.totals.revenue)).toBe(alike.revenueCents);
  });

  test('what is on record of each, added up, is what the store finds of all', async () => {
    const parts = [newSource(), newSource()] as const;
    for (const [place, part] of parts.entries())
      await send(part, [
        { of: 0, header: TOUCHES, row: `a${place},2026-01-02,email,,1` },
        { of: 0, header: ORDERS, row: `o${place},a,2026-01-0${place + 2},10` },
        { of: 0, header: SPEND, row: `2026-01-0${place + 3},email,,3` },
      ]);
    const daysOf = async (key: SourceKey) =>
      (await storedDays(store.clickhouse, key, { deduplicated: true, now: MEASURED_AT })).days;
    expect(joinedDays([await daysOf(parts[0]), await daysOf(parts[1])])).toEqual(await daysOf(joinedKey(parts)));
    const of = (key: SourceKey) => partsDigest(store.clickhouse, key);
    expect(await of(joinedKey(parts))).toBe(`${await of(parts[0])} ${await of(parts[1])}`);
  });
});
