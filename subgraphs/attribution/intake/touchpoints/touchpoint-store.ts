import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import { conversionsOf, spendOf, storedPathsOf, touchpointsOf } from './named-rows.ts';
import { coverageOf } from '../data-sources/coverage.ts';
import { UNDATED } from '../data-sources/source-days.ts';
import type { MeasureSource } from '../data-sources/sync-data-source.ts';
import { SOURCE_TABLES } from './columnar-schema.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from './source-key.ts';
import { stitched, type Stitched } from './people.ts';
import { partsDigest, storedDays } from './stored-days.ts';

const Count = z.coerce.number();
const LONG_READ_MS = 120_000;
const DAY_MS = 86_400_000;
/** Share of conversions without a touch in the 30 days before. */
const UNATTRIBUTED_AFTER_DAYS = 30;

/** What the models solve for, and far more than people tell apart: beyond it ids stand in the column of the channel. */
export const MAX_CHANNELS = 1_000;
/** Pairs of channel and campaign whose spend is told apart. */
export const MAX_SPEND_PAIRS = 20_000;

/** Of the names of all channels: results repeat them, and statements carry them. */
const MAX_NAMES_BYTES = 64 * 1024;

/** @throws ProblemError `validation_error` with code `too_many_channels` */
export function assertFewChannels(channels: readonly string[]): void {
  const bytes = channels.reduce((sum, name) => sum + Buffer.byteLength(name), 0);
  if (channels.length <= MAX_CHANNELS && bytes <= MAX_NAMES_BYTES) return;
  const what =
    channels.length > MAX_CHANNELS
      ? `names more than ${MAX_CHANNELS.toLocaleString('en-US')} channels`
      : `has channels whose names are ${bytes.toLocaleString('en-US')} bytes together, more than ` +
        `${MAX_NAMES_BYTES.toLocaleString('en-US')}`;
  throw new ProblemError('validation_error', `The source ${what}; is the right column mapped to channel?`, {
    code: 'too_many_channels',
  });
}

/**
 * Every channel that the source names, in touches, clicks on conversions, paths and spend; sorted.
 * @throws ProblemError `validation_error` with code `too_many_channels`
 */
export async function sourceChannels(clickhouse: ClickHouse, key: SourceKey): Promise<string[]> {
  // Each table is read no further than it takes to know that there are too many.
  const few = (name: string, table: string) =>
    `SELECT name FROM (SELECT DISTINCT toString(${name}) AS name FROM ${table} WHERE ${OF_SOURCE} LIMIT ` +
    `${MAX_CHANNELS + 2})`;
  const named = [
    ...[touchpointsOf, conversionsOf, spendOf].map((table) => few('channel', table(key, ''))),
    few('arrayJoin(path)', storedPathsOf(key)),
  ];
  const rows = await clickhouse.rows(
    `SELECT DISTINCT name FROM (${named.join(' UNION ALL ')}) WHERE name != '' ORDER BY name LIMIT ${MAX_CHANNELS + 1}`,
    z.object({ name: z.string() }),
    { params: sourceParams(key), timeoutMs: LONG_READ_MS },
  );
  const channels = rows.map(({ name }) => name);
  assertFewChannels(channels);
  return channels;
}

/** What a source amounts to, duplicates counted once, and what each of its days holds. */
export function measureSource(clickhouse: ClickHouse, clock: () => Date): MeasureSource {
  return async (accountId, dataSourceId) => {
    const now = clock();
    const source = { accountId, dataSourceId };
    const before = await partsDigest(clickhouse, source);
    const [{ counts, days }, beside, raw, people] = await Promise.all([
      storedDays(clickhouse, source, { deduplicated: true, now }),
      besideRows(clickhouse, source),
      matchedConversions(clickhouse, source),
      stitchedIfFew(clickhouse, source),
    ]);
    const matches = people === null ? raw : await matchedConversions(clickhouse, people.source);
    const after = await partsDigest(clickhouse, source);
    const dated = days.map(({ day }) => day).filter((day) => day !== UNDATED);
    return {
      touchpoints: counts.touchpoints,
      conversions: counts.conversions,
      spendRows: counts.spend,
      paths: counts.paths,
      ...beside,
      ...coverageOf(dated, now),
      touchpointMatchRate: matches.conversions === 0 ? 0 : matches.matched / matches.conversions,
      unattributedShare: matches.conversions === 0 ? 0 : 1 - matches.attributed / matches.conversions,
      userMatchRate: raw.users === 0 ? 0 : raw.matchedUsers / raw.users,
      stitchedUserMatchRate: people === null ? null : matches.users === 0 ? 0 : matches.matchedUsers / matches.users,
      days,
      parts: before === after ? after : null,
    };
  };
}

/** Deletes every row of a source. */
export async function purgeSource(clickhouse: ClickHouse, key: SourceKey): Promise<void> {
  const params = sourceParams(key);
  for (const table of SOURCE_TABLES) {
    const parts = await clickhouse.rows(
      `SELECT DISTINCT _partition_id AS id FROM ${table} WHERE ${OF_SOURCE}`,
      z.object({ id: z.string().regex(/^[0-9a-f]+$/) }),
      { params },
    );
    for (const { id } of parts)
      await clickhouse.command(`ALTER TABLE ${table} DROP PARTITION ID '${id}'`, { timeoutMs: LONG_READ_MS });
  }
}

/** Days of a channel, both inclusive, UTC. */
export interface ChannelPeriod {
  readonly channel: string;
  readonly start: string;
  readonly end: string;
}

/** How many touches of a channel there are in its period, in a range, and in both. */
export interface PeriodTouches {
  readonly period: number;
  readonly range: number;
  readonly both: number;
}

/**
 * The touches of each period and of a range, in the order of the periods. The engine adds them up: days times channels
 * times periods are too many for the thread that answers everybody.
 */
export async function touchesOfPeriods(
  clickhouse: ClickHouse,
  key: SourceKey,
  periods: readonly ChannelPeriod[],
  range: { readonly start: string; readonly end: string },
): Promise<PeriodTouches[]> {
  const span = [...periods, range];
  const rows = await clickhouse.rows(
    `WITH asked AS (
        SELECT arrayJoin(arrayZip(range(length({channels:Array(String)})), {channels:Array(String)},
          {starts:Array(Date32)}, {ends:Array(Date32)})) AS one,
          one.1 AS place, one.2 AS name, one.3 AS begins, one.4 AS ends),
      daily AS (
        SELECT toDate32(ts) AS day, toString(channel) AS name, count() AS touches
        FROM ${touchpointsOf(key, 'FINAL')}
        WHERE ${OF_SOURCE} AND touchpoints.channel IN {channels:Array(String)}
          AND ts >= toDateTime64({first:Date32}, 3, 'UTC') AND ts < toDateTime64({last:Date32} + 1, 3, 'UTC')
        GROUP BY day, name)
      SELECT place, sumIf(touches, day BETWEEN begins AND ends) AS period,
        sumIf(touches, day BETWEEN {start:Date32} AND {end:Date32}) AS range,
        sumIf(touches, day BETWEEN greatest(begins, {start:Date32}) AND least(ends, {end:Date32})) AS both
      FROM daily INNER JOIN asked USING (name) GROUP BY place`,
    z.object({ place: Count, period: Count, range: Count, both: Count }),
    {
      params: {
        ...sourceParams(key),
        ...range,
        channels: periods.map(({ channel }) => channel),
        starts: periods.map(({ start }) => start),
        ends: periods.map(({ end }) => end),
        first: span.reduce((first, { start }) => (start < first ? start : first), range.start),
        last: span.reduce((last, { end }) => (end > last ? end : last), range.end),
      },
      timeoutMs: LONG_READ_MS,
    },
  );
  const byPlace = new Map(rows.map(({ place, ...touches }) => [place, touches]));
  return periods.map((_, place) => byPlace.get(place) ?? { period: 0, range: 0, both: 0 });
}

/** Money spent on a campaign of a channel (an empty name: on none). */
export interface CampaignSpend {
  readonly channel: string;
  readonly campaign: string;
  /** Major currency units. */
  readonly spend: number;
}

/**
 * What was spent, and whether more campaigns spent it than are told apart: then each channel is one row without a
 * campaign.
 */
export interface SourceSpend {
  readonly rows: readonly CampaignSpend[];
  readonly tooManyCampaigns: boolean;
}

/**
 * Spend in a range of UTC days, both inclusive. On a day with spend rows of a channel these stand in for the own cost
 * of its touches.
 */
export async function sourceSpend(
  clickhouse: ClickHouse,
  key: SourceKey,
  dateRange: readonly [string, string],
): Promise<SourceSpend> {
  const rows = await spendBy('channel, campaign', clickhouse, key, dateRange);
  if (rows.length <= MAX_SPEND_PAIRS) return { rows, tooManyCampaigns: false };
  return { rows: await spendBy("channel, '' AS campaign", clickhouse, key, dateRange), tooManyCampaigns: true };
}

/** Spend on days ahead of a range of UTC days and behind it, major units. */
export async function spendOutside(
  clickhouse: ClickHouse,
  key: SourceKey,
  [start, end]: readonly [string, string],
): Promise<number> {
  const [row] = await clickhouse.rows(
    `SELECT toFloat64(sum(spend)) AS spend FROM ${spendOf(key, 'FINAL')}
      WHERE ${OF_SOURCE} AND (date < {start:Date32} OR date > {end:Date32})`,
    z.object({ spend: z.number() }),
    { params: { ...sourceParams(key), start, end }, timeoutMs: LONG_READ_MS },
  );
  return row?.spend ?? 0;
}

/** What a channel cost on one day, UTC. Major units. */
export interface DailySpend {
  readonly channel: string;
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly spend: number;
}

/** Days × channels that are read: a year of what any shop buys. More are left out, and nothing is said of them. */
const MAX_SPEND_DAYS = 100_000;

/** Spend by day in a range of UTC days, both inclusive, from the files of spend alone. None where there is too much. */
export async function dailySpend(
  clickhouse: ClickHouse,
  key: SourceKey,
  dateRange: readonly [string, string],
): Promise<readonly DailySpend[]> {
  const rows = await clickhouse.rows(
    `SELECT toString(channel) AS channel, toString(date) AS day, toFloat64(sum(spend)) AS spend
      FROM ${spendOf(key, 'FINAL')} WHERE ${OF_SOURCE} AND date >= {start:Date32} AND date <= {end:Date32}
      GROUP BY channel, date ORDER BY channel, date LIMIT ${MAX_SPEND_DAYS + 1}`,
    z.object({ channel: z.string(), day: z.string(), spend: z.number() }),
    { params: { ...sourceParams(key), start: dateRange[0], end: dateRange[1] }, timeoutMs: LONG_READ_MS },
  );
  return rows.length > MAX_SPEND_DAYS ? [] : rows;
}

function spendBy(
  names: string,
  clickhouse: ClickHouse,
  key: SourceKey,
  dateRange: readonly [string, string],
): Promise<CampaignSpend[]> {
  const inRange = (column: string) => `${column} >= {start:Date32} AND ${column} <= {end:Date32}`;
  const ofRow = 'toString(channel) AS channel, toString(campaign) AS campaign';
  return clickhouse.rows(
    `SELECT ${names}, toFloat64(sum(if(rows_of_day > 0, stated, touched))) AS spend FROM (
      SELECT channel, campaign, stated, touched, sum(stated_rows) OVER (PARTITION BY date, channel) AS rows_of_day
        FROM (
        SELECT date, ${ofRow}, sum(spend) AS stated, count() AS stated_rows, toDecimal128(0, 6) AS touched
          FROM ${spendOf(key, 'FINAL')} WHERE ${OF_SOURCE} AND ${inRange('date')} GROUP BY date, channel, campaign
        UNION ALL
        SELECT toDate32(ts) AS date, ${ofRow}, toDecimal128(0, 6), 0, sum(cost)
          FROM ${touchpointsOf(key, 'FINAL')} WHERE ${OF_SOURCE} AND ts >= toDateTime64({start:Date32}, 3, 'UTC')
            AND ts < toDateTime64({end:Date32} + 1, 3, 'UTC') GROUP BY date, channel, campaign
      )
    ) GROUP BY channel, campaign HAVING spend > 0 ORDER BY channel, campaign LIMIT ${MAX_SPEND_PAIRS + 1}`,
    z.object({ channel: z.string(), campaign: z.string(), spend: z.number() }),
    { params: { ...sourceParams(key), start: dateRange[0], end: dateRange[1] }, timeoutMs: LONG_READ_MS },
  );
}

interface MatchedConversions {
  readonly conversions: number;
  readonly matched: number;
  readonly attributed: number;
  /** Whose the conversions are, and how many of them have a touch. */
  readonly users: number;
  readonly matchedUsers: number;
}

/**
 * Per user in time order, `arrayFill` carries the last touch forward to every conversion: linear, however many there
 * are. Events are packed as milliseconds × 2 + 1 for a conversion; a click attached to a conversion is a touch of its
 * own.
 */
export async function matchedConversions(clickhouse: ClickHouse, key: SourceKey): Promise<MatchedConversions> {
  const [conversions, touchpoints] = [conversionsOf(key, 'FINAL'), touchpointsOf(key, 'FINAL')];
  const [row] = await clickhouse.rows(
    `SELECT sum(bought) AS conversions, sum(if(touched > 0, bought, 0)) AS matched, sum(followed) AS attributed,
      countIf(bought > 0) AS users, countIf(bought > 0 AND touched > 0) AS matchedUsers FROM (
      SELECT arraySort(groupArray(event)) AS events, countIf(bitTest(event, 0)) AS bought,
        countIf(NOT bitTest(event, 0)) AS touched,
        arrayCount((event, before) -> bitTest(event, 0) AND NOT bitTest(before, 0)
          AND event - before <= ${UNATTRIBUTED_AFTER_DAYS * DAY_MS * 2 + 1},
          events, arrayFill(event -> NOT bitTest(event, 0), events)) AS followed
      FROM (
        SELECT user_id, toUnixTimestamp64Milli(ts) * 2 + 1 AS event FROM ${conversions} WHERE ${OF_SOURCE}
        UNION ALL SELECT user_id, toUnixTimestamp64Milli(ts) * 2 FROM ${conversions}
          WHERE ${OF_SOURCE} AND channel != ''
        UNION ALL SELECT user_id, toUnixTimestamp64Milli(ts) * 2 FROM ${touchpoints}
          WHERE ${OF_SOURCE} AND user_id IN (SELECT user_id FROM ${conversionsOf(key, '')} WHERE ${OF_SOURCE})
      ) GROUP BY user_id
    )`,
    z.object({ conversions: Count, matched: Count, attributed: Count, users: Count, matchedUsers: Count }),
    { params: sourceParams(key), timeoutMs: LONG_READ_MS },
  );
  return row ?? { conversions: 0, matched: 0, attributed: 0, users: 0, matchedUsers: 0 };
}

/** Rows that are no journeys: who is one person, what money is worth; and what names the former. */
async function besideRows(
  clickhouse: ClickHouse,
  key: SourceKey,
): Promise<{ identities: number; fxRates: number; identitiesDigest: string | null }> {
  const [row] = await clickhouse.rows(
    `SELECT (SELECT count() FROM fx FINAL WHERE ${OF_SOURCE}) AS fxRates, count() AS identities,
      toString(sum(cityHash64(id, same_as))) AS digest FROM identities FINAL WHERE ${OF_SOURCE}`,
    z.object({ identities: Count, fxRates: Count, digest: z.string() }),
    { params: sourceParams(key), timeoutMs: LONG_READ_MS },
  );
  const { identities, fxRates, digest } = row ?? { identities: 0, fxRates: 0, digest: '' };
  return { identities, fxRates, identitiesDigest: identities === 0 ? null : `${identities}-${digest}` };
}

/** Null where there are no identities, or so many that no analysis reads them. */
async function stitchedIfFew(clickhouse: ClickHouse, key: SourceKey): Promise<Stitched<SourceKey> | null> {
  try {
    const people = await stitched(clickhouse, key);
    return people.found === null ? null : people;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === 'too_many_identities') return null;
    throw error;
  }
}
