import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { recordedRange, UNDATED, type StoredDay } from '../data-sources/source-days.ts';
import { CURRENT_PATHS } from './current-paths.ts';
import { OF_SOURCE, sourceParams, sourcesOf, type SourceKey } from './source-key.ts';

const READ_TIMEOUT_MS = 120_000;
const DAY_MS = 86_400_000;
const Count = z.coerce.number();
const KINDS = ['touchpoints', 'conversions', 'spend', 'paths'] as const;
const Row = z.object({ kind: z.enum(KINDS), date: z.string(), stored: Count, steps: Count, digest: z.string() });

/** What every day of a source holds. */
export interface StoredDays {
  /** The days on record; rows of others are in the counts alone. */
  readonly days: readonly StoredDay[];
  /** All rows, by kind. */
  readonly counts: Readonly<Record<(typeof KINDS)[number], number>>;
}

/** Hash of names that repeat, which are hashed once each: an odd factor, which loses nothing. */
const factorOf = (names: readonly string[]): string =>
  `bitOr(${names.map((name, index) => `cityHash64(${name}) * ${2 * index + 1}`).join(' + ')}, 1)`;
/** Hash of a row. */
const hashOf = (values: string, ...names: readonly string[]): string =>
  names.length === 0 ? `cityHash64(${values})` : `cityHash64(${values}) * ${factorOf(names)}`;
/** Of what stands in place of a channel. A row without any of it has the hash that it always had. */
const ORIGIN_HASH =
  `if(channel != '' AND referrer = '' AND click_id = '', 1, ` +
  `${factorOf(['source', 'medium', 'referrer', 'click_id'])})`;

/** Of the cost of an order's goods. An order without has the hash that it always had. */
const GOODS_HASH = `if(isNull(cogs), toUInt64(1), bitOr(cityHash64(assumeNotNull(cogs)), 1))`;

/** Between the digests of several sources, which are in the order of the sources. */
const BETWEEN_PARTS = ' ';

/** Number of the day of a time, counted from 1970-01-01. */
const DAY_OF_TIME = 'intDiv(toUnixTimestamp64Milli(ts), 86400000)';
/** Stands for every day that is not on record: however many there are, they are one group. */
const OTHER_DAYS = '';
const recorded = (day: string): string => `if(${day} >= {first:Int64} AND ${day} <= {last:Int64}, ${day}, -1)`;
const nameOf = (number: string): string =>
  `if(${number} < 0, '${OTHER_DAYS}', toString(toDate32('1970-01-01') + ${number}))`;

const statement = (final: 'FINAL' | ''): string => `
  SELECT 'touchpoints' AS kind, ${nameOf('day')} AS date, count() AS stored, 0 AS steps,
    toString(sum(${hashOf('user_id, ts, event_id, cost', 'channel', 'campaign')} * ${ORIGIN_HASH})) AS digest
    FROM touchpoints ${final} WHERE ${OF_SOURCE} GROUP BY ${recorded(DAY_OF_TIME)} AS day
  UNION ALL SELECT 'conversions', ${nameOf('day')}, count(), 0, toString(sum(${hashOf(
    'order_id, user_id, ts, event_id, revenue',
    'conversion_event',
    'channel',
    'campaign',
  )} * ${GOODS_HASH}))
    FROM conversions FINAL WHERE ${OF_SOURCE} GROUP BY ${recorded(DAY_OF_TIME)} AS day
  UNION ALL SELECT 'spend', ${nameOf('day')}, count(), 0, toString(sum(${hashOf('date, spend', 'channel', 'campaign')}))
    FROM spend FINAL WHERE ${OF_SOURCE} GROUP BY ${recorded('toInt64(toInt32(date))')} AS day
  UNION ALL SELECT 'paths', if(day = 0, '${UNDATED}', ${nameOf('day')}), count(), sum(length(path)),
    toString(sum(${hashOf('path, dated, date, conversions, revenue, nulls')}))
    FROM ${CURRENT_PATHS} GROUP BY if(dated = 1, ${recorded('toInt64(toInt32(date))')}, 0) AS day`;

/** Rows and digest of every day on record at `now`. `deduplicated` as in {@link countStoredRows}. */
export async function storedDays(
  clickhouse: ClickHouse,
  key: SourceKey,
  options: { readonly deduplicated: boolean; readonly now: Date },
): Promise<StoredDays> {
  const { start, end } = recordedRange(options.now);
  const params = { ...sourceParams(key), first: Date.parse(start) / DAY_MS, last: Date.parse(end) / DAY_MS };
  const rows = await clickhouse.rows(statement(options.deduplicated ? 'FINAL' : ''), Row, {
    params,
    timeoutMs: READ_TIMEOUT_MS,
  });
  const sum = (of: readonly z.output<typeof Row>[], what: 'stored' | 'steps' = 'stored'): number =>
    of.reduce((total, row) => total + row[what], 0);
  const byDay = Map.groupBy(
    rows.filter(({ date }) => date !== OTHER_DAYS),
    (row) => row.date,
  );
  return {
    days: [...byDay]
      .map(([day, kinds]) => ({
        day,
        rows: sum(kinds),
        pathSteps: sum(kinds, 'steps'),
        digest: kinds
          .map(({ kind, digest }) => `${kind}:${digest}`)
          .toSorted()
          .join(' '),
      }))
      .toSorted((a, b) => a.day.localeCompare(b.day)),
    counts: Object.fromEntries(
      KINDS.map((kind) => [kind, sum(rows.filter((row) => row.kind === kind))]),
    ) as StoredDays['counts'],
  };
}

/**
 * Names the state in which the engine holds the rows of each source, by the checksums of its parts: as long as it stays
 * the same, so do the rows. It also changes when parts are merged, which leaves the rows as they are. null where the
 * engine does not tell.
 */
export async function partsDigest(clickhouse: ClickHouse, key: SourceKey): Promise<string | null> {
  try {
    const [row] = await clickhouse.rows(
      `SELECT arrayStringConcat(arrayMap(wanted -> toString(cityHash64(arraySort(arrayMap(part -> part.2,
          arrayFilter(part -> part.1 = wanted, parts))))), {partitions:Array(String)}), '${BETWEEN_PARTS}') AS digest
        FROM (SELECT groupArray((partition, (table, name, hash_of_all_files))) AS parts FROM system.parts
          WHERE active AND database = currentDatabase() AND table IN ('touchpoints', 'conversions', 'spend', 'paths')
            AND partition IN {partitions:Array(String)})`,
      z.object({ digest: z.string() }),
      {
        params: {
          partitions: sourcesOf(key).map(({ accountId, dataSourceId }) => `('${accountId}','${dataSourceId}')`),
        },
      },
    );
    return row?.digest ?? null;
  } catch {
    // A server may keep its system tables to itself.
    return null;
  }
}

/** The same of several sources, each of which has its own; null where one is not known. */
export function joinedParts(parts: readonly (string | null | undefined)[]): string | null {
  return parts.some((each) => each == null) ? null : parts.join(BETWEEN_PARTS);
}

/** What {@link joinedParts} joined, in the same order. */
export function partsOfEach(joined: string): readonly string[] {
  return joined.split(BETWEEN_PARTS);
}
