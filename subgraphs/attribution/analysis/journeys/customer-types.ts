import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { conversionsOf, touchpointsOf } from '../../intake/touchpoints/named-rows.ts';
import { OF_SOURCE, sourceParams } from '../../intake/touchpoints/source-key.ts';
import { DAY_MS, spanOf, type JourneyQuery } from './journey-query.ts';
import { inSpan } from './journey-statements.ts';

/** Orders, and their revenue in major units. */
export interface OrderGroup {
  readonly orders: number;
  readonly revenue: number;
}

/** Orders by whether the files say that somebody bought for the first time. */
export interface CustomerTypes {
  readonly new: OrderGroup;
  readonly returning: OrderGroup;
  /** Of which the files say nothing. */
  readonly unknown: OrderGroup;
  /** By name: orders with a touch of the channel within the lookback, of those that are new or returning. */
  readonly channels: readonly { readonly channel: string; readonly orders: number; readonly newOrders: number }[];
}

const TIMEOUT_MS = 300_000;
const IN_RANGE = `${OF_SOURCE} AND ${inSpan('start', 'end')} AND conversion_event = {conversion_event:String}`;
const Count = z.coerce.number();
const Group = z.object({ type: z.number(), orders: Count, revenue: z.number() });
const Channel = z.object({ channel: z.string(), orders: Count, newOrders: Count });

/** An order that names its own click has a touch of it, whatever else is on record. */
const touchedOrders = (query: JourneyQuery): string => `
  SELECT channel, uniqExact(bought) AS orders, uniqExactIf(bought, is_new = 1) AS newOrders FROM (
    SELECT toString(touched.channel) AS channel, bought, is_new
      FROM (SELECT sipHash64(user_id) AS user, ts, channel FROM ${touchpointsOf(query, '')}
        WHERE ${OF_SOURCE} AND ${inSpan('from', 'end')}) AS touched
      INNER JOIN (SELECT sipHash64(user_id) AS user, ts AS at, sipHash64(order_id) AS bought, new_customer AS is_new
        FROM ${conversionsOf(query, 'FINAL')} WHERE ${IN_RANGE} AND new_customer >= 0) AS orders USING (user)
      WHERE touched.ts <= orders.at
        AND toUnixTimestamp64Milli(touched.ts) + {lookback:Int64} >= toUnixTimestamp64Milli(orders.at)
    UNION ALL
    SELECT toString(channel), sipHash64(order_id), new_customer
      FROM ${conversionsOf(query, 'FINAL')} WHERE ${IN_RANGE} AND new_customer >= 0 AND channel != ''
  ) GROUP BY channel ORDER BY channel`;

/** Counts orders of new and of returning customers; null where no order of the range says which it is. */
export async function measureCustomerTypes(clickhouse: ClickHouse, query: JourneyQuery): Promise<CustomerTypes | null> {
  const { startMs, endMs } = spanOf(query.dateRange);
  const lookbackMs = query.lookbackDays * DAY_MS;
  const options = {
    params: {
      ...sourceParams(query),
      start: startMs,
      end: endMs,
      from: startMs - lookbackMs,
      lookback: lookbackMs,
      conversion_event: query.conversionEvent,
    },
    timeoutMs: TIMEOUT_MS,
  };
  const groups = await clickhouse.rows(
    `SELECT toInt32(new_customer) AS type, count() AS orders, toFloat64(sum(toDecimal128(revenue, 4))) AS revenue
      FROM ${conversionsOf(query, 'FINAL')} WHERE ${IN_RANGE} GROUP BY type`,
    Group,
    options,
  );
  if (groups.every(({ type }) => type < 0)) return null;
  const channels = await clickhouse.rows(touchedOrders(query), Channel, options);
  const groupOf = (wanted: number): OrderGroup => {
    const found = groups.find(({ type }) => type === wanted);
    return { orders: found?.orders ?? 0, revenue: found?.revenue ?? 0 };
  };
  return { new: groupOf(1), returning: groupOf(0), unknown: groupOf(-1), channels };
}
