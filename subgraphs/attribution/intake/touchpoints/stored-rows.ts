import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { currentPathsOf, ordersOf, spendOf, touchpointsOf } from './named-rows.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from './source-key.ts';

const READ_TIMEOUT_MS = 120_000;
const Count = z.coerce.number();

/** Counts and sums of a source's rows in a range, by no way that a model goes. Money in major units. */
export interface StoredRows {
  /** Touches per channel; none on a source of paths. */
  readonly touches: ReadonlyMap<string, number>;
  /** Stated spend, and the own cost of touches on days of a channel without stated spend. */
  readonly spend: ReadonlyMap<string, number>;
  /** Conversions of the event that is asked for. */
  readonly orders: StoredOrders;
  /** Those of aggregated paths, with the revenue per last step and the steps of all journeys. */
  readonly paths: StoredOrders & { readonly touches: number; readonly revenueByLastStep: ReadonlyMap<string, number> };
}

export interface StoredOrders {
  readonly conversions: number;
  readonly revenue: number;
}

/** Touches of a range per channel, as they lie on disk: rows that came twice and were not merged yet count twice. */
export interface CountedTouches {
  readonly touches: ReadonlyMap<string, number>;
  /** Their own cost, major units. */
  readonly cost: ReadonlyMap<string, number>;
}

export interface StoredRowsQuery extends SourceKey {
  /** First and last UTC day, both included. */
  readonly dateRange: readonly [string, string];
  readonly conversionEvent: string;
}

const Row = z.object({
  kind: z.enum(['touchpoints', 'conversions', 'spend', 'paths']),
  channel: z.string(),
  stored: Count,
  money: z.number(),
  bought: z.number(),
  touched: z.number(),
});
type Row = z.output<typeof Row>;

/** One number per day and channel, 48 bits of them the channel's hash: quicker than the two as keys. */
const dayAndChannel = (day: string): string =>
  `bitShiftLeft(toUInt64(toInt32(${day})), 48) + bitShiftRight(cityHash64(channel), 16)`;
const inDays = (column: string): string =>
  `${column} >= toDate32({start:String}) AND ${column} <= toDate32({end:String})`;

/** Touches' own cost counts where nothing is stated; `stated` says whether anything is. */
const touchStatement = (key: SourceKey, final: 'FINAL' | '', stated: boolean): string => `
  SELECT 'touchpoints' AS kind, toString(channel) AS channel, count() AS stored,
    toFloat64(${
      stated
        ? `sumIf(cost, ${dayAndChannel('toDate32(ts)')} NOT IN (SELECT ${dayAndChannel('date')}
      FROM ${spendOf(key, '')} WHERE ${OF_SOURCE}))`
        : 'sum(cost)'
    }) AS money, 0. AS bought, 0. AS touched
  FROM ${touchpointsOf(key, final)} WHERE ${OF_SOURCE} AND ts >= toDateTime64({start:String}, 3, 'UTC')
    AND ts < toDateTime64(toDate32({end:String}) + 1, 3, 'UTC') GROUP BY touchpoints.channel`;

const othersStatement = (key: SourceKey): string => `
  SELECT 'spend' AS kind, toString(channel) AS channel, count() AS stored, toFloat64(sum(spend)) AS money, 0. AS bought,
    0. AS touched FROM ${spendOf(key, 'FINAL')} WHERE ${OF_SOURCE} AND ${inDays('date')} GROUP BY spend.channel
  UNION ALL
  SELECT 'conversions', '', count(), toFloat64(sum(toDecimal128(revenue, 4))), toFloat64(count()), 0.
    FROM ${ordersOf(key, 'FINAL')}
    WHERE ${OF_SOURCE} AND ts >= toDateTime64({start:String}, 3, 'UTC')
      AND ts < toDateTime64(toDate32({end:String}) + 1, 3, 'UTC') AND conversion_event = {conversion_event:String}
  UNION ALL
  SELECT 'paths', last, count(), toFloat64(sum(revenue)), toFloat64(sum(conversions)),
    toFloat64(sum(length(path) * (conversions + nulls)))
    FROM (SELECT *, if(empty(path), '', toString(path[-1])) AS last FROM ${currentPathsOf(key)}
      WHERE dated = 0 OR (${inDays('date')})) GROUP BY last`;

/**
 * Counts a source's rows. `counted`: touches that another statement counted on its way, which is quick; where rows came
 * twice they count twice, and the caller asks again without: then they are counted here, once each.
 */
export async function countStoredRows(
  clickhouse: ClickHouse,
  query: StoredRowsQuery,
  counted: Promise<CountedTouches> | null,
): Promise<StoredRows> {
  const read = {
    params: {
      ...sourceParams(query),
      start: query.dateRange[0],
      end: query.dateRange[1],
      conversion_event: query.conversionEvent,
    },
    timeoutMs: READ_TIMEOUT_MS,
  };
  const [others, known] = await Promise.all([clickhouse.rows(othersStatement(query), Row, read), counted]);
  const of = (kind: Row['kind']) => others.filter((row) => row.kind === kind);
  const isStated = of('spend').length > 0;
  // Which of the touches' own cost counts beside stated spend, only their days tell.
  const isKnown = known !== null && !(isStated && known.cost.size > 0);
  const touches = isKnown
    ? rowsOf(known)
    : await clickhouse.rows(touchStatement(query, known === null ? 'FINAL' : '', isStated), Row, read);
  const sum = (rows: readonly Row[], value: (row: Row) => number): number =>
    rows.reduce((total, row) => total + value(row), 0);
  const perChannel = (rows: readonly Row[], value: (row: Row) => number): Map<string, number> =>
    new Map(
      [...Map.groupBy(rows, (row) => row.channel)]
        .map(([channel, group]) => [channel, sum(group, value)] as const)
        .filter(([, amount]) => amount !== 0),
    );
  const ordersOf = (kind: Row['kind']): StoredOrders => ({
    conversions: sum(of(kind), (row) => row.bought),
    revenue: sum(of(kind), (row) => row.money),
  });
  return {
    touches: perChannel(touches, (row) => row.stored),
    spend: perChannel([...touches, ...of('spend')], (row) => row.money),
    orders: ordersOf('conversions'),
    paths: {
      ...ordersOf('paths'),
      touches: sum(of('paths'), (row) => row.touched),
      revenueByLastStep: perChannel(of('paths'), (row) => row.money),
    },
  };
}

function rowsOf({ touches, cost }: CountedTouches): Row[] {
  return [...touches].map(([channel, stored]) => ({
    kind: 'touchpoints',
    channel,
    stored,
    money: cost.get(channel) ?? 0,
    bought: 0,
    touched: 0,
  }));
}
