import { NO_CHANNEL, type EventTable } from '../../../../compute/journey-tables.ts';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { conversionsOf, touchpointsOf } from '../../intake/touchpoints/named-rows.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from '../../intake/touchpoints/source-key.ts';
import { wordLists } from './arrow-columns.ts';
import { GrowingArray } from './growing-array.ts';
import type { TimeSpan } from './journey-query.ts';

export interface SampledEventsQuery extends SourceKey {
  readonly span: TimeSpan;
  readonly conversionEvent: string;
  readonly channels: readonly string[];
  /** One user in so many is read, chosen by the hash of the user's id. */
  readonly oneIn: number;
}

const TIMEOUT_MS = 120_000;
/**
 * Milliseconds × 2^17, bit 16 for a conversion, the channel's index below: events of one user sort by time, touches
 * first.
 */
const TIME_UNIT = 2 ** 17;
const WHERE =
  `${OF_SOURCE} AND ts >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND ts < ` +
  `fromUnixTimestamp64Milli({until:Int64}, 'UTC') AND cityHash64(user_id) % {one_in:UInt64} = 0`;
const packed = (conversion: 0 | 1): string =>
  `bitShiftLeft(toUInt64(toUnixTimestamp64Milli(ts)), 17) + ${conversion * 65_536} + transform(channel, ` +
  `{channels:Array(String)}, range(length({channels:Array(String)})), ${NO_CHANNEL})`;
/**
 * Rows as they lie on disk: one that came twice and was not merged yet repeats its own channel, which no count of
 * transitions notices.
 */
const statementOf = (source: SourceKey): string => `SELECT arraySort(groupArray(event)) AS events FROM (
    SELECT user_id, ${packed(0)} AS event FROM ${touchpointsOf(source, '')}
      WHERE ${WHERE} AND channel IN {channels:Array(String)}
    UNION ALL SELECT user_id, ${packed(1)} AS event FROM ${conversionsOf(source, '')}
      WHERE ${WHERE} AND conversion_event = {conversion_event:String}
  ) GROUP BY user_id`;

/**
 * The events of a sample of users in a span, without the value of their conversions and without the users' hashes: for
 * counting transitions.
 */
export async function loadSampledEvents(clickhouse: ClickHouse, query: SampledEventsQuery): Promise<EventTable> {
  const { span, channels, conversionEvent, oneIn } = query;
  const params = {
    ...sourceParams(query),
    from: span.startMs,
    until: span.endMs,
    one_in: oneIn,
    channels,
    conversion_event: conversionEvent,
  };
  const userStart = new GrowingArray(Uint32Array);
  const timeS = new GrowingArray(Float64Array);
  const channel = new GrowingArray(Uint16Array);
  const conversion = new GrowingArray(Uint8Array);
  let conversions = 0;
  userStart.append([0]);
  for await (const batch of clickhouse.batches(statementOf(query), { params, timeoutMs: TIMEOUT_MS })) {
    const { words, offsets } = wordLists(batch, 'events');
    for (let row = 0; row < batch.numRows; row += 1) {
      const count = offsets[row + 1]! - offsets[row]!;
      const first = timeS.extend(count);
      channel.extend(count);
      conversion.extend(count);
      for (let i = 0; i < count; i += 1) {
        const low = words[2 * (offsets[row]! + i)]!;
        const high = words[2 * (offsets[row]! + i) + 1]!;
        timeS.values[first + i] = ((high * 2 ** 32) / TIME_UNIT + (low >>> 17)) / 1000;
        channel.values[first + i] = low & 0xffff;
        conversion.values[first + i] = (low >>> 16) & 1;
        conversions += (low >>> 16) & 1;
      }
      userStart.append([timeS.length]);
    }
  }
  const users = userStart.length - 1;
  return {
    channels,
    userStart: userStart.done(),
    userHash: new Uint32Array(users),
    timeS: timeS.done(),
    channel: channel.done(),
    conversion: conversion.done(),
    value: new Float64Array(conversions),
  };
}
