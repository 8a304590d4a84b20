import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { OF_ORDERS, standsIn } from '../touchpoints/row-versions.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from '../touchpoints/source-key.ts';
import { MAX_AMOUNT } from './reader/decimals.ts';
import { RATE_HOLDS_DAYS } from './reader/currency-rates.ts';

/*
 * Refunds that are rows of their own lower the order of their id, whichever comes first and from whatever file. They
 * lie in a table beside the orders; after each upload, orders that refunds change are written anew, with what they were
 * worth before (`gross`) and a version just above the one that they had. So whatever reads orders need not know of
 * refunds, and an order that comes again is lowered again.
 */

const TIMEOUT_MS = 120_000;

const OF_UPLOAD = `${OF_SOURCE} AND version >= {from:UInt64} AND version < {until:UInt64}`;
/** Orders that the upload may change. */
const IS_CHANGED = `order_id IN (
  SELECT order_id FROM refunds WHERE ${OF_UPLOAD} UNION ALL SELECT order_id FROM conversions
    WHERE ${OF_UPLOAD} AND order_id IN (SELECT order_id FROM refunds WHERE ${OF_SOURCE}))`;

/** As they count: of each, what the latest upload says; rows of one file are added up. */
const REFUNDS = `(
  SELECT order_id, written_currency, ts, event_id, tupleElement(latest, 1) AS own, tupleElement(latest, 2) AS written,
    tupleElement(latest, 3) AS needs_order, tupleElement(latest, 4) AS version, tupleElement(latest, 5) AS row
  FROM (
    SELECT order_id, ts, event_id, written_currency, argMax(sums, upload) AS latest FROM (
      SELECT order_id, ts, event_id, written_currency, (bitShiftRight(version, 20), upload_id) AS upload,
        (sum(revenue), sum(written), max(needs_order), max(version),
          any((user_id, currency, new_customer, conversion_event, channel, campaign))) AS sums
      FROM refunds FINAL WHERE ${OF_SOURCE} AND ${IS_CHANGED} GROUP BY order_id, ts, event_id, written_currency, upload
    ) GROUP BY order_id, ts, event_id, written_currency
  )
)`;

const CHANGED_ORDERS = `SELECT order_id FROM refunds WHERE ${OF_SOURCE} AND ${IS_CHANGED}`;
/** Those of them that refunds are known of. */
const ARE_CONCERNED = `${OF_SOURCE} AND order_id IN (${CHANGED_ORDERS})`;
/** Their rows, as they stand. */
const CONCERNED = `(SELECT * FROM conversions FINAL WHERE ${ARE_CONCERNED})`;

/**
 * Which refunds count for which order. What a shop says of its orders holds against what others saw of them; refunds
 * that say nothing without their order wait for it.
 */
const COUNTS =
  `(refund.version >= ${OF_ORDERS} OR orders.version < ${OF_ORDERS}) ` +
  `AND NOT (refund.needs_order = 1 AND ${standsIn('orders.version')})`;

/** By the rate of the day of the order, as it was itself taken: what was paid back in full is worth what was paid. */
const PAID_BACK = `(
  SELECT order_id, greatest(sum(worth), toDecimal128(${-MAX_AMOUNT}, 4)) AS back, toUInt64(count()) AS told FROM (
    SELECT refund.order_id AS order_id, if(fx.rate > 0 AND toInt32(refund.day) - toInt32(fx.date) <= ${RATE_HOLDS_DAYS},
      toDecimal128(round(toFloat64(refund.written) * toFloat64(fx.rate), 4), 4), refund.own) AS worth
    FROM (
      SELECT refund.order_id AS order_id, refund.written_currency AS currency, refund.written AS written,
        refund.own AS own, toDate32(orders.ts) AS day
      FROM ${REFUNDS} AS refund INNER JOIN ${CONCERNED} AS orders ON refund.order_id = orders.order_id
      WHERE ${COUNTS}
    ) AS refund
    ASOF LEFT JOIN (SELECT toString(currency) AS currency, date, rate FROM fx FINAL WHERE ${OF_SOURCE}) AS fx
      ON refund.currency = fx.currency AND refund.day >= fx.date
  ) GROUP BY order_id
)`;

const KEPT = [
  'account_id, data_source_id, order_id, user_id, ts, event_id, currency, new_customer, conversion_event, channel',
  'campaign, cogs',
].join(', ');

const LOWER = `INSERT INTO conversions (${KEPT}, gross, revenue, version)
  SELECT ${KEPT}, before, after, version + told FROM (
    SELECT orders.*, ifNull(gross, revenue) AS before, toDecimal64(before + paid.back, 4) AS after, told
    FROM ${CONCERNED} AS orders INNER JOIN ${PAID_BACK} AS paid ON orders.order_id = paid.order_id
  ) WHERE after != revenue`;

const STAND_IN = `INSERT INTO conversions (${KEPT}, gross, revenue, version)
  SELECT {account_id:String}, {data_source_id:String}, order_id, row.1, latest, '', row.2, row.3, row.4, row.5, row.6,
    NULL, 0, greatest(back, toDecimal128(${-MAX_AMOUNT}, 4)), told
  FROM (
    SELECT order_id, argMax(row, version) AS row, max(ts) AS latest, sum(own) AS back, toUInt64(count()) AS told
    FROM ${REFUNDS}
    WHERE needs_order = 0 AND order_id NOT IN (SELECT order_id FROM conversions WHERE ${ARE_CONCERNED})
    GROUP BY order_id
  )`;

/** What became of the refunds of one upload, and of its orders. */
export interface RefundFates {
  /** Rows that were taken off an order. */
  readonly takenOff: number;
  /** Rows of somebody who saw them, where the shop itself tells the order. */
  readonly overruled: number;
  /** Rows whose order the source does not hold, and what they come to, above 0. */
  readonly alone: number;
  readonly aloneAmount: number;
  /** The same of those that stand nowhere until it does. */
  readonly waiting: number;
  readonly waitingAmount: number;
  /** Orders that refunds of other uploads lowered. */
  readonly loweredByOthers: number;
}

const Count = z.coerce.number();
const Fates = z.object({
  takenOff: Count,
  overruled: Count,
  alone: Count,
  aloneAmount: z.number(),
  waiting: Count,
  waitingAmount: z.number(),
  loweredByOthers: Count,
});

const FATES = `
  SELECT countIf(is_told AND NOT is_overruled) AS takenOff, countIf(is_overruled) AS overruled,
    countIf(NOT is_told AND needs_order = 0) AS alone,
    toFloat64(-sumIf(revenue, NOT is_told AND needs_order = 0)) AS aloneAmount,
    countIf(NOT is_told AND needs_order = 1) AS waiting,
    toFloat64(-sumIf(revenue, NOT is_told AND needs_order = 1)) AS waitingAmount,
    (SELECT count() FROM conversions FINAL WHERE ${OF_UPLOAD} AND isNotNull(gross)
      AND order_id NOT IN (SELECT order_id FROM refunds WHERE ${OF_UPLOAD})) AS loweredByOthers
  FROM (
    SELECT revenue, needs_order, order_id IN (
      SELECT order_id FROM conversions WHERE ${ARE_CONCERNED} AND NOT (${standsIn('version')})
    ) AS is_told, version < ${OF_ORDERS} AND order_id IN (
      SELECT order_id FROM conversions WHERE ${ARE_CONCERNED} AND version >= ${OF_ORDERS}
    ) AS is_overruled FROM refunds FINAL WHERE ${OF_UPLOAD}
  )`;

/**
 * Lowers the orders of a source that an upload tells, or tells refunds of, and says what became of these; null where
 * there are none. Doing it twice changes nothing.
 * @param versions the first, and that behind the last, of the upload's blocks
 */
export async function lowerRefundedOrders(
  clickhouse: ClickHouse,
  key: SourceKey,
  versions: { readonly from: string; readonly until: string },
): Promise<RefundFates | null> {
  const params = { ...sourceParams(key), ...versions };
  const [any] = await clickhouse.rows(
    `SELECT 1 AS found FROM refunds WHERE ${OF_SOURCE} AND ${IS_CHANGED} LIMIT 1`,
    z.object({ found: z.number() }),
    { params, timeoutMs: TIMEOUT_MS },
  );
  if (any === undefined) return null;
  await clickhouse.command(STAND_IN, { params, timeoutMs: TIMEOUT_MS });
  await clickhouse.command(LOWER, { params, timeoutMs: TIMEOUT_MS });
  const [fates] = await clickhouse.rows(FATES, Fates, { params, timeoutMs: TIMEOUT_MS });
  return fates ?? null;
}
