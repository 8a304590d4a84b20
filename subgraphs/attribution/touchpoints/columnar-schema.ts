import type { ClickHouse } from '../../../platform/clickhouse/client.ts';

/**
 * Tables of the columnar store. Layout, by measurement on 10 M touchpoints: one partition per data source, so that a source
 * is read, compacted and dropped alone; ReplacingMergeTree keeps the row with the highest version per natural key, and every
 * read says FINAL, which costs 1 to 2 s on 20 fresh parts and nothing once they are merged. Account and source lead every
 * sorting key, because FINAL takes rows of equal keys for one and the same, across partitions too: without them, the rows of
 * one tenant would replace another's. `version` is the upload's time and the chunk's number in it: latest wins.
 *
 * An upload goes through a Null-engine intake: each row arrives parsed, with the code of what is wrong with it, and views
 * send it on to its table, to the rejects, and into the counts of its chunk. A chunk that is sent twice changes nothing.
 */
const SOURCE = `account_id LowCardinality(String), data_source_id LowCardinality(String)`;
const SOURCE_NAMES = 'account_id, data_source_id';
const PARTITION = 'PARTITION BY (account_id, data_source_id)';

const TOUCH = `user_id String, ts DateTime64(3, 'UTC'), event_id String, channel LowCardinality(String), campaign LowCardinality(String),
  source LowCardinality(String), medium LowCardinality(String), cost Decimal(18, 6), event_type LowCardinality(String)`;
const CONVERSION = `order_id String, user_id String, ts DateTime64(3, 'UTC'), event_id String, revenue Decimal(18, 4), currency LowCardinality(String),
  new_customer Int8, conversion_event LowCardinality(String), channel LowCardinality(String), campaign LowCardinality(String)`;
const SPEND = `date Date32, channel LowCardinality(String), campaign LowCardinality(String), spend Decimal(18, 6), impressions UInt64, clicks UInt64`;
const PATH = `path Array(LowCardinality(String)), conversions Decimal(18, 4), revenue Decimal(18, 4), nulls Decimal(18, 4), dated UInt8, date Date32`;

/** What every intake row carries beside its values: where it came from, and the reject code (empty: accepted, `blank`: no row at all). */
const INTAKE = `${SOURCE}, version UInt64, upload_id LowCardinality(String), chunk UInt32, line UInt64, code LowCardinality(String), column LowCardinality(String), value String`;

/** Intakes, the tables they feed, and under which condition. */
const INTAKES = [
  { name: 'touch', columns: TOUCH, time: 'ts' },
  { name: 'event', columns: `${TOUCH}, is_conversion UInt8, order_id String, revenue Decimal(18, 4), currency LowCardinality(String), new_customer Int8, conversion_event LowCardinality(String)`, time: 'ts' },
  { name: 'conversion', columns: CONVERSION, time: 'ts' },
  { name: 'spend', columns: SPEND, time: 'date' },
  { name: 'path', columns: PATH, time: 'date' },
] as const;

/** Column names of a definition list; types may hold commas in parentheses. */
const namesOf = (columns: string): string[] => columns.split(/,(?![^(]*\))/).map((column) => column.trim().split(' ', 1)[0]!);

/** In a single event table a conversion may have no order id: what tells it from others of its user and instant gives it one that stays the same. */
const DERIVED_ORDER = `if(order_id = '', concat('row-', lower(hex(sipHash128(user_id, toUnixTimestamp64Milli(ts), channel, campaign, revenue, conversion_event)))), order_id) AS order_id`;

const TARGETS = [
  { intake: 'touch', table: 'touchpoints', columns: namesOf(TOUCH), when: '1' },
  { intake: 'event', table: 'touchpoints', columns: namesOf(TOUCH), when: 'is_conversion = 0' },
  { intake: 'event', table: 'conversions', columns: namesOf(CONVERSION).map((name) => (name === 'order_id' ? DERIVED_ORDER : name)), when: 'is_conversion = 1' },
  { intake: 'conversion', table: 'conversions', columns: namesOf(CONVERSION), when: '1' },
  { intake: 'spend', table: 'spend', columns: namesOf(SPEND), when: '1' },
  { intake: 'path', table: 'paths', columns: [...namesOf(PATH), 'upload_id', 'line'], when: '1' },
] as const;

const table = (name: string, columns: string, key: string): string =>
  `CREATE TABLE IF NOT EXISTS ${name} (${SOURCE}, ${columns}, version UInt64) ENGINE = ReplacingMergeTree(version) ${PARTITION} ORDER BY (${SOURCE_NAMES}, ${key})`;

/**
 * One row per chunk, without GROUP BY, since a chunk comes as one block of one upload. Undated paths have no time.
 */
const counts = (intake: string, time: string): string => {
  const conversion = intake === 'event' ? 'is_conversion' : intake === 'conversion' ? '1' : '0';
  const timed = intake === 'path' ? `code = '' AND dated` : `code = ''`;
  const bound = (aggregate: string) => `toDateTime64(${aggregate}If(${time}, ${timed}), 3, 'UTC')`;
  return `CREATE MATERIALIZED VIEW IF NOT EXISTS ${intake}_counts TO upload_counts AS
    SELECT any(account_id) AS account_id, any(data_source_id) AS data_source_id, any(upload_id) AS upload_id, any(chunk) AS chunk,
      countIf(code = '') AS accepted, countIf(code NOT IN ('', 'blank')) AS rejected, countIf(code = '' AND ${conversion} = 1) AS conversions,
      countIf(${timed}) AS timed, ${bound('min')} AS earliest, ${bound('max')} AS latest, any(version) AS version
    FROM ${intake}_intake`;
};

const STATEMENTS: readonly string[] = [
  table('touchpoints', TOUCH, 'user_id, ts, channel, campaign'),
  table('conversions', CONVERSION, 'order_id'),
  table('spend', SPEND, 'date, channel, campaign'),
  // A path that stands twice in a file counts twice; of two files that name it, the later one counts (see the stored paths statement).
  table('paths', `${PATH}, upload_id LowCardinality(String), line UInt64`, 'path, dated, date, line'),
  `CREATE TABLE IF NOT EXISTS rejects (${SOURCE}, upload_id String, line UInt64, column LowCardinality(String), code LowCardinality(String), value String,
    version UInt64) ENGINE = ReplacingMergeTree(version) ${PARTITION} ORDER BY (${SOURCE_NAMES}, upload_id, line)`,
  `CREATE TABLE IF NOT EXISTS upload_counts (${SOURCE}, upload_id String, chunk UInt32, accepted UInt64, rejected UInt64, conversions UInt64, timed UInt64,
    earliest DateTime64(3, 'UTC'), latest DateTime64(3, 'UTC'), version UInt64) ENGINE = ReplacingMergeTree(version) ${PARTITION} ORDER BY (${SOURCE_NAMES}, upload_id, chunk)`,
  `CREATE TABLE IF NOT EXISTS upload_currencies (${SOURCE}, upload_id String, currency String, version UInt64)
    ENGINE = ReplacingMergeTree(version) ${PARTITION} ORDER BY (${SOURCE_NAMES}, upload_id)`,
  ...INTAKES.map(({ name, columns }) => `CREATE TABLE IF NOT EXISTS ${name}_intake (${INTAKE}, ${columns}) ENGINE = Null`),
  ...TARGETS.map(
    ({ intake, table, columns, when }) => `CREATE MATERIALIZED VIEW IF NOT EXISTS ${intake}_to_${table} TO ${table} AS
    SELECT ${SOURCE_NAMES}, ${columns.join(', ')}, version FROM ${intake}_intake WHERE code = '' AND ${when}`,
  ),
  ...INTAKES.map(
    ({ name }) => `CREATE MATERIALIZED VIEW IF NOT EXISTS ${name}_to_rejects TO rejects AS
    SELECT ${SOURCE_NAMES}, upload_id, line, column, code, substringUTF8(value, 1, 200) AS value, version FROM ${name}_intake WHERE code NOT IN ('', 'blank')`,
  ),
  ...INTAKES.map(({ name, time }) => counts(name, time)),
];

/** Creates what is missing of the tables; any number of processes may do so at once. */
export async function migrateColumnarTables(clickhouse: ClickHouse): Promise<void> {
  await clickhouse.migrate(STATEMENTS);
}

/** Every table that holds rows of a source. */
export const SOURCE_TABLES = ['touchpoints', 'conversions', 'spend', 'paths', 'rejects', 'upload_counts', 'upload_currencies'] as const;
