import { z } from 'zod';
import { toCents } from '../../../../compute/numerics/largest-remainder.ts';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { UNDATED } from '../data-sources/source-days.ts';
import { CURRENT_PATHS } from './current-paths.ts';
import { ordersOf } from './named-rows.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from './source-key.ts';

/** A range of UTC days, both included, and the conversions that count. */
export interface RevenueQuery {
  readonly start: string;
  readonly end: string;
  readonly conversionEvent: string;
}

/** Revenue that a source holds for a range, in cents, as an analysis of the range would find it. */
export type RevenueOf = (query: RevenueQuery) => number;

const READ_TIMEOUT_MS = 120_000;
const Row = z.object({
  kind: z.enum(['conversions', 'events', 'paths']),
  day: z.string(),
  name: z.string(),
  amount: z.coerce.number(),
});

/**
 * Ten-thousandths, as they are stored: whole numbers have no rounding that depends on the order of a sum. Of 256 bits,
 * which no rows fill.
 */
const SCALE = 10_000;
const amountOf = (revenue: string): string => `toString(toInt256(sum(toDecimal128(${revenue}, 4)) * ${SCALE}))`;
/** The day of the row is a number while rows are grouped: dates of other centuries have no type of their own. */
const statement = (key: SourceKey): string => `
  SELECT 'conversions' AS kind, toString(toDate32(any(ts))) AS day, toString(conversion_event) AS name,
    ${amountOf('revenue')} AS amount
    FROM ${ordersOf(key, 'FINAL')} WHERE ${OF_SOURCE} AND conversion_event IN {events:Array(String)}
      AND ts >= toDateTime64({start:Date32}, 3, 'UTC') AND ts < toDateTime64({end:Date32} + 1, 3, 'UTC')
    GROUP BY intDiv(toUnixTimestamp64Milli(ts), 86400000), conversion_event
  UNION ALL SELECT 'events', '', '', toString(count()) FROM (
    SELECT 1 FROM touchpoints WHERE ${OF_SOURCE} LIMIT 1 UNION ALL SELECT 1 FROM conversions WHERE ${OF_SOURCE} LIMIT 1
  )
  UNION ALL SELECT 'paths', if(dated = 1, toString(date), '${UNDATED}') AS day, '', ${amountOf('revenue')}
    FROM ${CURRENT_PATHS} WHERE dated = 0 OR (date >= {start:Date32} AND date <= {end:Date32}) GROUP BY day`;

/**
 * The revenue of a source, or of several together, by day, read once for all of `queries`: days and events that none of
 * them asks for are not read. Aggregated paths count where the source has nothing else, undated ones in every range.
 */
export async function readRevenue(
  clickhouse: ClickHouse,
  key: SourceKey,
  queries: readonly RevenueQuery[],
): Promise<RevenueOf> {
  const [first, last] = [
    queries.map(({ start }) => start).toSorted()[0] ?? UNDATED,
    queries
      .map(({ end }) => end)
      .toSorted()
      .at(-1) ?? UNDATED,
  ];
  const events = [...new Set(queries.map(({ conversionEvent }) => conversionEvent))];
  const rows = await clickhouse.rows(statement(key), Row, {
    params: { ...sourceParams(key), start: first, end: last, events },
    timeoutMs: READ_TIMEOUT_MS,
  });
  const holdsEvents = rows.some(({ kind, amount }) => kind === 'events' && amount > 0);
  const counted = rows.filter(({ kind }) => kind === (holdsEvents ? 'conversions' : 'paths'));
  return ({ start, end, conversionEvent }) => {
    let sum = 0;
    for (const { kind, day, name, amount } of counted) {
      const isInRange = (kind === 'paths' && day === UNDATED) || (day >= start && day <= end);
      if (isInRange && (kind === 'paths' || name === conversionEvent)) sum += amount;
    }
    return toCents(sum / SCALE);
  };
}
