import { conversionsOf, currentPathsOf, touchpointsOf } from '../../intake/touchpoints/named-rows.ts';
import { OF_SOURCE, type SourceKey } from '../../intake/touchpoints/source-key.ts';

/**
 * An event as one 64-bit number that sorts by time, touches ahead of conversions of the same instant, then by the names
 * of channel and campaign: milliseconds since the start of the span × 2^21, bit 20 set for a conversion, and below it
 * the channel's index (that behind the last: no click attached), times the campaign slots plus the campaign's (0: none)
 * where campaigns are asked for.
 */
export const CODE_BITS = 20;
const CONVERSION_BIT = CODE_BITS;
const TIME_SHIFT = CODE_BITS + 1;
/** Campaigns that are told apart; names beyond a few thousand are ids that somebody put into the wrong column. */
export const MAX_CAMPAIGNS = 5_000;
/** Longest span whose times fit beside the code. */
export const MAX_SPAN_MS = 2 ** (64 - TIME_SHIFT);
/** Amounts are stored with 4 decimals; sums run over integers and are therefore exact in any order. */
export const REVENUE_SCALE = 10_000;

/** Which facts of a source shape its statements. */
export interface EventShape {
  readonly source: SourceKey;
  readonly withEventIds: boolean;
  readonly withCampaigns: boolean;
}

const NO_CHANNEL = 'length({channels:Array(String)})';
const CHANNEL_INDEX = `transform(channel, {channels:Array(String)}, range(${NO_CHANNEL}), ${NO_CHANNEL})`;
const CAMPAIGN_SLOTS = 'length({campaigns:Array(String)}) + 1';
const CAMPAIGN_SLOT = `transform(campaign, {campaigns:Array(String)}, range(1, ${CAMPAIGN_SLOTS}), 0)`;
const codeOf = (withCampaigns: boolean): string =>
  withCampaigns ? `${CHANNEL_INDEX} * (${CAMPAIGN_SLOTS}) + ${CAMPAIGN_SLOT}` : CHANNEL_INDEX;
const packed = (conversion: boolean, withCampaigns: boolean): string =>
  `bitShiftLeft(toUInt64(toUnixTimestamp64Milli(ts) - {from:Int64}), ${TIME_SHIFT}) + ` +
  `${conversion ? 2 ** CONVERSION_BIT : 0} + ${codeOf(withCampaigns)}`;
/** Times in [from, until), the names of two parameters in milliseconds. */
export const inSpan = (from: string, until: string): string =>
  `ts >= fromUnixTimestamp64Milli({${from}:Int64}, 'UTC') AND ts < fromUnixTimestamp64Milli({${until}:Int64}, 'UTC')`;

/** Touches and conversions of a span, one row each. Touches of channels that do not take part are left out. */
const eventRows = (source: SourceKey, withCampaigns: boolean): string => `
  SELECT user_id, ${packed(false, withCampaigns)} AS event, event_id, '' AS order_id, toInt64(0) AS amount
  FROM ${touchpointsOf(source, 'FINAL')}
    WHERE ${OF_SOURCE} AND ${inSpan('from', 'until')} AND channel IN {channels:Array(String)}
  UNION ALL
  SELECT user_id, ${packed(true, withCampaigns)} AS event, event_id, order_id,
    toInt64(toDecimal128(revenue, 4) * ${REVENUE_SCALE}) AS amount
  FROM ${conversionsOf(source, 'FINAL')}
    WHERE ${OF_SOURCE} AND ${inSpan('from', 'until')} AND conversion_event = {conversion_event:String}`;

const isConversion = (event: string): string => `bitTest(${event}, ${CONVERSION_BIT})`;
const timeOf = (event: string): string => `bitShiftRight(${event}, ${TIME_SHIFT})`;

/**
 * Every user's events in order, and the amounts of the conversions in the same order. Events of one instant are told
 * apart by event id where the source has any; a conversion without one comes after the touches of its instant.
 */
function users({ source, withEventIds, withCampaigns }: EventShape): string {
  const rows = eventRows(source, withCampaigns);
  if (!withEventIds) {
    return `SELECT user_id, arraySort(groupArray(event)) AS events,
      arrayMap(conversion -> conversion.3, arraySort(groupArrayIf((event, order_id, amount), ${isConversion('event')})))
        AS amounts
      FROM (${rows}) GROUP BY user_id`;
  }
  const order = `${timeOf('event')} * 2 + (${isConversion('event')} AND event_id = '')`;
  return `SELECT user_id, arrayMap(entry -> entry.3, entries) AS events,
    arrayMap(entry -> entry.5, arrayFilter(entry -> ${isConversion('entry.3')}, entries)) AS amounts
    FROM (SELECT user_id, arraySort(groupArray((${order}, event_id, event, order_id, amount))) AS entries
      FROM (${rows}) GROUP BY user_id)`;
}

/**
 * Distinct paths with their counts, in one statement. A user's events are split behind every conversion; a part counts
 * when its last event (the conversion, or the last touch of what never converted) lies in the range, and its path are
 * the touches within the lookback before that event. A conversion's own click is its last touch. The order of the paths
 * is fixed. `touches` adds up to the touches of the range, whatever the lookback: each stands in a part that ends in
 * the range.
 */
export function pathStatement({ source, withEventIds }: Omit<EventShape, 'withCampaigns'>): string {
  const start = '({start:Int64} - {from:Int64})';
  return `SELECT path, toFloat64(countIf(converts)) AS conversions, toFloat64(sum(toInt128(amount))) AS amounts,
    toFloat64(sum(abs(toInt128(amount)))) AS turnover, toFloat64(sum(toInt256(amount) * toInt256(amount))) AS squares,
      toFloat64(countIf(NOT converts)) AS nulls,
    toFloat64(sum(touched)) AS touches FROM (
    SELECT ${isConversion('part[-1]')} AS converts,
      arrayCount(event -> NOT ${isConversion('event')} AND ${timeOf('event')} >= ${start}, part) AS touched,
        if(converts, part_amount, 0) AS amount,
      arrayFilter(step -> step != ${NO_CHANNEL}, arrayMap(event -> toUInt16(bitAnd(event, ${2 ** CODE_BITS - 1})),
        arrayFilter(event -> ${timeOf('event')} + {lookback:UInt64} >= ${timeOf('part[-1]')}, part))) AS path
    FROM (
      SELECT arrayReverseSplit(event -> ${isConversion('event')}, events) AS parts,
        arrayResize(amounts, length(parts)) AS part_amounts
          FROM (${users({ source, withEventIds, withCampaigns: false })})
    ) ARRAY JOIN parts AS part, part_amounts AS part_amount
    WHERE ${timeOf('part[-1]')} >= ${start}
  ) GROUP BY path ORDER BY path`;
}

/** Users in the order of their ids, with their packed events and the amounts of their conversions. */
export function eventStatement(shape: EventShape): string {
  return `SELECT user_id, events, amounts FROM (${users(shape)}) ORDER BY user_id`;
}

/** Paths that were uploaded as such: dated rows of the range, undated ones always. */
export const storedPathsStatement = (source: SourceKey): string => `
  SELECT arrayMap(step -> toUInt16(transform(step, {channels:Array(String)}, range(length({channels:Array(String)})),
    ${NO_CHANNEL})), kept) AS path,
    toFloat64(sum(paths.conversions)) AS conversions, toFloat64(sum(paths.revenue) * ${REVENUE_SCALE}) AS amounts,
      toFloat64(sum(abs(paths.revenue)) * ${REVENUE_SCALE}) AS turnover, toFloat64(sum(paths.nulls)) AS nulls,
    length(path) * (conversions + nulls) AS touches
  FROM (
    SELECT arrayFilter(step -> step IN {channels:Array(String)}, arrayMap(step -> toString(step), stored.path)) AS kept,
      conversions, revenue, nulls
    FROM ${currentPathsOf(source)} AS stored
    WHERE dated = 0 OR (date >= toDate32(fromUnixTimestamp64Milli({start:Int64}, 'UTC'))
      AND date < toDate32(fromUnixTimestamp64Milli({until:Int64}, 'UTC')))
  ) AS paths GROUP BY path ORDER BY path`;
