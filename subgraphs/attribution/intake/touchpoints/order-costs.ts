import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { ordersOf } from './named-rows.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from './source-key.ts';

/** What the orders of a range say of the cost of their goods. Money in major units. */
export interface OrderCosts {
  /** Of the orders that say it. */
  readonly cogs: number;
  /** Of the same orders, refunds taken off. */
  readonly revenue: number;
  /** Part of the revenue of all orders that have any which comes from orders that say it, in [0, 1]. */
  readonly revenueShare: number;
}

export interface OrderCostsQuery extends SourceKey {
  /** First and last UTC day, both included. */
  readonly dateRange: readonly [string, string];
  readonly conversionEvent: string;
}

const READ_TIMEOUT_MS = 120_000;
const Row = z.object({ goods: z.number(), costed: z.number(), known: z.number(), sold: z.number() });

const sum = (amount: string): string => `toFloat64(sum(toDecimal128(${amount}, 4)))`;
/** A refund that is a row of its own has no revenue, and need not say what its goods cost. */
const statement = (key: SourceKey): string => `
  SELECT ${sum('ifNull(cogs, 0)')} AS goods, ${sum('if(isNull(cogs), 0, revenue)')} AS costed,
    ${sum('if(isNull(cogs), 0, greatest(revenue, 0))')} AS known, ${sum('greatest(revenue, 0)')} AS sold
  FROM ${ordersOf(key, 'FINAL')}
  WHERE ${OF_SOURCE} AND ts >= toDateTime64({start:String}, 3, 'UTC')
    AND ts < toDateTime64(toDate32({end:String}) + 1, 3, 'UTC') AND conversion_event = {conversion_event:String}`;

/** Null where no order of the source has ever said it, which is found quickly, or none of the range. */
export async function orderCosts(
  clickhouse: ClickHouse,
  { dateRange: [start, end], conversionEvent, ...key }: OrderCostsQuery,
): Promise<OrderCosts | null> {
  const params = { ...sourceParams(key), start, end, conversion_event: conversionEvent };
  const read = { params, timeoutMs: READ_TIMEOUT_MS };
  const [any] = await clickhouse.rows(
    `SELECT 1 AS found FROM conversions WHERE ${OF_SOURCE} AND isNotNull(cogs) LIMIT 1`,
    z.object({ found: z.number() }),
    read,
  );
  if (any === undefined) return null;
  const [row] = await clickhouse.rows(statement(key), Row, read);
  if (row === undefined || !(row.known > 0)) return null;
  return { cogs: row.goods, revenue: row.costed, revenueShare: row.known / row.sold };
}
