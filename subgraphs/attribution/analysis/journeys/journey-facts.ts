import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { conversionsOf, storedPathsOf, touchpointsOf } from '../../intake/touchpoints/named-rows.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from '../../intake/touchpoints/source-key.ts';
import type { CountedTouches } from '../../intake/touchpoints/stored-rows.ts';
import { assertFewChannels, MAX_CHANNELS } from '../../intake/touchpoints/touchpoint-store.ts';
import type { JourneyQuery, TimeSpan } from './journey-query.ts';
import { CODE_BITS, inSpan, MAX_CAMPAIGNS } from './journey-statements.ts';

/** Names travel in the address of a statement; servers take a megabyte. */
const MAX_NAMES_BYTES = 500_000;
const TIMEOUT_MS = 300_000;
/** Somebody's ids in the column of the channel would make a group of every row: beyond the limit names are left out. */
const NAMES_SETTINGS = { max_rows_to_group_by: MAX_CHANNELS + 2, group_by_overflow_mode: 'any' };

/** What a source holds, read before its journeys. */
export interface JourneyFacts {
  readonly channels: readonly string[];
  /** Of touches and conversions; empty where they are too many to tell apart. */
  readonly campaigns: readonly string[];
  readonly tooManyCampaigns: boolean;
  /** The source is a file of aggregated paths: it has no users and no events. */
  readonly holdsPaths: boolean;
  /** It holds aggregated paths beside events; only the events count. */
  readonly ignoresPaths: boolean;
  readonly withEventIds: boolean;
  /** Time of the last stored event, milliseconds since the epoch; 0 when there is none. */
  readonly latestMs: number;
  /** Upper bounds of what the events of the window will be. */
  readonly touches: number;
  readonly conversions: number;
  /** Touches of the range, where the query asks for them. */
  readonly counted: CountedTouches | null;
}

const Count = z.coerce.number();
const FactsRow = z.object({
  kind: z.enum(['touchpoints', 'conversions', 'paths', 'campaigns']),
  name: z.string(),
  events: Count,
  with_ids: Count,
  latest: Count,
  counted: Count,
  cost: z.number(),
});
type FactsRow = z.output<typeof FactsRow>;

const LATEST = `toUnixTimestamp64Milli(maxIf(ts, ts < fromUnixTimestamp64Milli({observed_before:Int64}, 'UTC')))`;
/** Behind the last day that the engine has. */
const NEVER_MS = Date.UTC(2300, 0, 1) - 1;
const countsOf = (isCounted: boolean): string =>
  isCounted
    ? `countIf(${inSpan('start', 'end')}) AS counted, toFloat64(sumIf(cost, ${inSpan('start', 'end')})) AS cost`
    : '0 AS counted, 0. AS cost';
const campaignsOf = (table: string): string =>
  `SELECT 'campaigns', toString(campaign), 0, 0, 0, 0, 0. FROM (SELECT DISTINCT campaign FROM ${table} WHERE ` +
  `${OF_SOURCE} AND campaign != '' LIMIT ${MAX_CAMPAIGNS + 1})`;

/**
 * A row per name; duplicates don't matter to it. Groups and distinct values are of the dictionary's numbers, so that a
 * name is looked at once.
 */
const factsStatement = (key: SourceKey, isCounted: boolean): string => `
  SELECT 'touchpoints' AS kind, toString(channel) AS name, countIf(${inSpan('from', 'until')}) AS events,
    max(event_id != '') AS with_ids, ${LATEST} AS latest, ${countsOf(isCounted)}
    FROM ${touchpointsOf(key, '')} WHERE ${OF_SOURCE} GROUP BY touchpoints.channel
  UNION ALL
  SELECT 'conversions', toString(channel), countIf(${inSpan('from', 'until')}), max(event_id != ''), ${LATEST}, 0, 0.
    FROM ${conversionsOf(key, '')} WHERE ${OF_SOURCE} GROUP BY conversions.channel
  UNION ALL
  SELECT 'paths', toString(step), count(), 0, 0, 0, 0. FROM ${storedPathsOf(key)} LEFT ARRAY JOIN path AS step
    WHERE ${OF_SOURCE} GROUP BY step
  UNION ALL
  ${campaignsOf('touchpoints')} UNION ALL ${campaignsOf('conversions')}`;

/**
 * What has to be known before the journeys of a source can be asked for. `widest`: the widest window that any statement
 * reads.
 * @throws ProblemError `validation_error` with code `too_many_channels`
 */
export async function readJourneyFacts(
  clickhouse: ClickHouse,
  query: JourneyQuery,
  range: TimeSpan,
  widest: TimeSpan,
): Promise<JourneyFacts> {
  const isCounted = query.countsTouches === true;
  const params = {
    ...sourceParams(query),
    from: widest.startMs,
    until: widest.endMs,
    observed_before: query.observedBefore?.getTime() ?? NEVER_MS,
    ...(isCounted ? { start: range.startMs, end: range.endMs } : {}),
  };
  const rows = await clickhouse.rows(factsStatement(query, isCounted), FactsRow, {
    params,
    settings: NAMES_SETTINGS,
    timeoutMs: TIMEOUT_MS,
  });
  const of = (...kinds: readonly FactsRow['kind'][]): FactsRow[] => rows.filter(({ kind }) => kinds.includes(kind));
  const names = (...kinds: readonly FactsRow['kind'][]): string[] =>
    [...new Set(of(...kinds).map(({ name }) => name))].filter((name) => name !== '').toSorted(byCodePoint);
  const [channels, campaigns] = [names('touchpoints', 'conversions', 'paths'), names('campaigns')];
  assertFewChannels(channels);
  const tooManyCampaigns =
    campaigns.length > MAX_CAMPAIGNS ||
    (channels.length + 1) * (campaigns.length + 1) > 2 ** CODE_BITS ||
    encodeURIComponent(campaigns.join()).length > MAX_NAMES_BYTES;
  const events = of('touchpoints', 'conversions');
  const hasEvents = events.length > 0;
  const hasPaths = of('paths').length > 0;
  const { channels: wanted } = query;
  const sum = (kind: 'touchpoints' | 'conversions'): number => of(kind).reduce((total, row) => total + row.events, 0);
  const perChannel = (value: 'counted' | 'cost') =>
    new Map(of('touchpoints').flatMap((row) => (row[value] === 0 ? [] : [[row.name, row[value]] as const])));
  return {
    channels: wanted === undefined ? channels : channels.filter((channel) => wanted.includes(channel)),
    campaigns: tooManyCampaigns ? [] : campaigns,
    tooManyCampaigns,
    holdsPaths: hasPaths && !hasEvents,
    ignoresPaths: hasPaths && hasEvents,
    withEventIds: events.some(({ with_ids }) => with_ids > 0),
    latestMs: events.reduce((latest, row) => Math.max(latest, row.latest), 0),
    touches: sum('touchpoints'),
    conversions: sum('conversions'),
    counted: isCounted ? { touches: perChannel('counted'), cost: perChannel('cost') } : null,
  };
}

/** As the engine sorts: by the bytes of UTF-8. */
function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
