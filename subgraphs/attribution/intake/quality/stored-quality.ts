import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { conversionsOf, currentPathsOf, ordersOf, touchpointsOf } from '../touchpoints/named-rows.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from '../touchpoints/source-key.ts';

/** What the stored rows of a range say of their own quality. Money in major units; days are UTC. */
export interface StoredQuality {
  readonly orders: {
    readonly count: number;
    readonly revenue: number;
    /** Of users without a touch in reach: from 90 days before the range to its end. */
    readonly unmatched: number;
    readonly unmatchedRevenue: number;
    readonly users: number;
    readonly unmatchedUsers: number;
    /** Beyond the first of one user in one minute at one price, under ids of their own. */
    readonly alike: number;
    readonly alikeRevenue: number;
    /** Refunds, and orders that were refunded in full. */
    readonly refunds: number;
  };
  /** Of all days of the source. */
  readonly everOrders: { readonly count: number; readonly refunds: number };
  readonly currencies: readonly { readonly currency: string; readonly orders: number; readonly revenue: number }[];
  /** Days with rows, in order. */
  readonly days: readonly DayQuality[];
  readonly channels: readonly ChannelTouches[];
  /** Users who touch more often than people can. */
  readonly bots: { readonly users: number; readonly touches: number; readonly cost: number };
}

export interface DayQuality {
  readonly day: string;
  readonly touches: number;
  readonly orders: number;
  readonly revenue: number;
}

export interface ChannelTouches {
  readonly channel: string;
  readonly touches: number;
  /** Those that name no campaign; 0 for steps of paths, which cannot. */
  readonly unnamed: number;
}

export interface QualityQuery extends SourceKey {
  /** First and last UTC day, both included. */
  readonly dateRange: readonly [string, string];
  readonly conversionEvent: string;
}

const READ_TIMEOUT_MS = 120_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** As far back as any analysis looks for a touch before an order. */
const REACH_BACK_DAYS = 90;
/** Beyond, nobody needs to know of more. */
const MOST_HEAVY_USERS = 1_000;
/** Nobody clicks a hundred times on each of their days; beneath so many touches in all it may be one long evening. */
const BOT_TOUCHES = { least: 200, aDay: 100 } as const;

const Count = z.coerce.number();
const since = (days: number): string => `ts >= toDateTime64(toDate32({start:String}) - ${days}, 3, 'UTC')`;
const BEFORE_END = `ts < toDateTime64(toDate32({end:String}) + 1, 3, 'UTC')`;
const IN_RANGE = `${OF_SOURCE} AND ${since(0)} AND ${BEFORE_END}`;
const BOUGHT = `${IN_RANGE} AND conversion_event = {conversion_event:String}`;
const USER = 'cityHash64(user_id)';
const dayOf = 'intDiv(toUnixTimestamp64Milli(ts), ' + String(DAY_MS) + ')';
const sumOf = (money: string): string => `toFloat64(sum(${money}))`;

/**
 * One row. A conversion that names its own click has a touch. Users are told apart by 64 bits of a hash, which costs a
 * third of their names; one pass over the touches finds both those of buyers and users with too many.
 */
const orderMatches = (orders: string, touches: string): string => `
  SELECT sum(n) AS count, ${sumOf('total')} AS revenue, sumIf(n, NOT matched) AS unmatched,
    toFloat64(sumIf(total, NOT matched)) AS unmatchedRevenue, uniqExactIf(user, n > 0) AS users,
    uniqExactIf(user, n > 0 AND NOT matched) AS unmatchedUsers, sumIf(n - 1, n > 1 AND price > 0) AS alike,
    toFloat64(sumIf(total - price, n > 1 AND price > 0)) AS alikeRevenue, sumIf(n, price <= 0) AS refunds,
    arrayMap(user -> toString(user),
      groupUniqArrayIf(${MOST_HEAVY_USERS})(user, touches >= ${BOT_TOUCHES.least})) AS heavyUsers
  FROM (
    SELECT user, price, n, price * n AS total, clicks > 0 OR touches > 0 AS matched, touches
    FROM (
      SELECT ${USER} AS user, toDecimal128(revenue, 4) AS price, count() AS n, countIf(channel != '') AS clicks
        FROM ${orders} WHERE ${BOUGHT}
        GROUP BY user, intDiv(toUnixTimestamp64Milli(ts), ${MINUTE_MS}), price
    ) AS bought FULL JOIN (
      SELECT ${USER} AS user, count() AS touches FROM ${touches}
        WHERE ${OF_SOURCE} AND ${since(REACH_BACK_DAYS)} AND ${BEFORE_END} GROUP BY user
        HAVING touches >= ${BOT_TOUCHES.least} OR user IN (SELECT ${USER} FROM ${orders} WHERE ${BOUGHT})
    ) AS touched USING (user)
  )`;
const OrdersRow = z.object({
  count: Count,
  revenue: z.number(),
  unmatched: Count,
  unmatchedRevenue: z.number(),
  users: Count,
  unmatchedUsers: Count,
  alike: Count,
  alikeRevenue: z.number(),
  refunds: Count,
  heavyUsers: z.array(z.string()),
});

const orderGroups = (orders: string, ever: string): string => `
  SELECT 'day' AS kind, toString(toDate32(any(ts))) AS name, count() AS n,
    ${sumOf('toDecimal128(revenue, 4)')} AS amount
    FROM ${orders} WHERE ${BOUGHT} GROUP BY ${dayOf}
  UNION ALL
  SELECT 'currency', toString(currency), count(), ${sumOf('toDecimal128(revenue, 4)')}
    FROM ${orders} WHERE ${BOUGHT} GROUP BY currency
  UNION ALL
  SELECT 'ever', '', count(), toFloat64(countIf(revenue <= 0))
    FROM ${ever} WHERE ${OF_SOURCE} AND conversion_event = {conversion_event:String}`;
const OrderGroup = z.object({
  kind: z.enum(['day', 'currency', 'ever']),
  name: z.string(),
  n: Count,
  amount: z.number(),
});

/**
 * Rows that came twice and were not merged yet count twice: to merge them while reading costs four times as much, and
 * changes no share by more than a re-sent day does.
 */
const touchGroups = (key: SourceKey): string => `
  SELECT grouping(channel) AS ofDay, toString(toDate32(any(ts))) AS day, toString(channel) AS channel,
    count() AS touches, countIf(campaign = '') AS unnamed
    FROM ${touchpointsOf(key, '')} WHERE ${IN_RANGE} GROUP BY GROUPING SETS ((${dayOf}), (channel))
  UNION ALL
  SELECT 0, '', toString(step), toUInt64(sum(conversions + nulls)), 0
    FROM ${currentPathsOf(key)} ARRAY JOIN path AS step
    WHERE dated = 0 OR (date >= toDate32({start:String}) AND date <= toDate32({end:String})) GROUP BY step`;
const TouchGroup = z.object({ ofDay: Count, day: z.string(), channel: z.string(), touches: Count, unnamed: Count });

const bots = (touches: string): string => `
  SELECT count() AS users, sum(n) AS touches, ${sumOf('own')} AS cost FROM (
    SELECT count() AS n, sum(cost) AS own, uniqExact(${dayOf}) AS days FROM ${touches}
      WHERE ${IN_RANGE} AND ${USER} IN arrayMap(user -> toUInt64(user), {heavy_users:Array(String)})
      GROUP BY user_id HAVING n >= ${BOT_TOUCHES.least} AND n > ${BOT_TOUCHES.aDay} * days
  )`;
const BotsRow = z.object({ users: Count, touches: Count, cost: z.number() });

/** Measures the rows of a source in a range: three statements, and one more where users touch often. */
export async function measureStoredQuality(clickhouse: ClickHouse, query: QualityQuery): Promise<StoredQuality> {
  const options = {
    params: {
      ...sourceParams(query),
      start: query.dateRange[0],
      end: query.dateRange[1],
      conversion_event: query.conversionEvent,
    },
    timeoutMs: READ_TIMEOUT_MS,
  };
  // Names of channels say nothing of who touched and who bought.
  const unnamed = {
    ...query,
    naming: undefined,
    others: query.others?.map((other) => ({ ...other, naming: undefined })),
  };
  const orders = conversionsOf(unnamed, 'FINAL');
  const [[found], groups, touched] = await Promise.all([
    clickhouse.rows(orderMatches(orders, touchpointsOf(unnamed, '')), OrdersRow, options),
    clickhouse.rows(orderGroups(orders, ordersOf(unnamed, '')), OrderGroup, options),
    clickhouse.rows(touchGroups(query), TouchGroup, options),
  ]);
  const { heavyUsers, ...ofOrders } = found!;
  const [ofBots] =
    heavyUsers.length === 0
      ? []
      : await clickhouse.rows(bots(touchpointsOf(unnamed, 'FINAL')), BotsRow, {
          ...options,
          params: { ...options.params, heavy_users: heavyUsers },
        });
  const ever = groups.find(({ kind }) => kind === 'ever');
  return {
    orders: ofOrders,
    everOrders: { count: ever?.n ?? 0, refunds: ever?.amount ?? 0 },
    currencies: groups
      .filter(({ kind }) => kind === 'currency')
      .map(({ name, n, amount }) => ({ currency: name, orders: n, revenue: amount }))
      .toSorted((a, b) => b.orders - a.orders || (a.currency < b.currency ? -1 : 1)),
    days: daysOf(
      groups.filter(({ kind }) => kind === 'day'),
      touched.filter(({ ofDay }) => ofDay === 1),
    ),
    channels: touched
      .filter(({ ofDay }) => ofDay === 0)
      .map(({ channel, touches, unnamed }) => ({ channel, touches, unnamed }))
      .toSorted((a, b) => (a.channel < b.channel ? -1 : 1)),
    bots: ofBots ?? { users: 0, touches: 0, cost: 0 },
  };
}

function daysOf(
  bought: readonly z.output<typeof OrderGroup>[],
  touched: readonly z.output<typeof TouchGroup>[],
): readonly DayQuality[] {
  const orders = new Map(bought.map((row) => [row.name, row]));
  const touches = new Map(touched.map((row) => [row.day, row.touches]));
  return [...new Set([...orders.keys(), ...touches.keys()])].toSorted().map((day) => ({
    day,
    touches: touches.get(day) ?? 0,
    orders: orders.get(day)?.n ?? 0,
    revenue: orders.get(day)?.amount ?? 0,
  }));
}
