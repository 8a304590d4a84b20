import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';

/**
 * Tables of the columnar store. Layout, by measurement on 10 M touchpoints: one partition per data source, so that a
 * source is read, compacted and dropped alone; ReplacingMergeTree keeps the row with the highest version per natural
 * key, and every read says FINAL, which costs 1 to 2 s on 20 fresh parts and nothing once they are merged. Account and
 * source lead every sorting key, because FINAL takes rows of equal keys for one and the same, across partitions too:
 * without them, the rows of one tenant would replace another's. `version` is the upload's time and the block's number
 * in it: latest wins. A block of rows that is stored twice changes nothing.
 */
const SOURCE = `account_id LowCardinality(String), data_source_id LowCardinality(String)`;
const SOURCE_NAMES = 'account_id, data_source_id';
const PARTITION = 'PARTITION BY (account_id, data_source_id)';

const TOUCH = `user_id String, ts DateTime64(3, 'UTC'), event_id String, channel LowCardinality(String),
  campaign LowCardinality(String),
  source LowCardinality(String), medium LowCardinality(String), cost Decimal(18, 6), event_type LowCardinality(String)`;
const CONVERSION = `order_id String, user_id String, ts DateTime64(3, 'UTC'), event_id String, revenue Decimal(18, 4),
  currency LowCardinality(String),
  new_customer Int8, conversion_event LowCardinality(String), channel LowCardinality(String),
    campaign LowCardinality(String)`;
const SPEND =
  `date Date32, channel LowCardinality(String), campaign LowCardinality(String), spend Decimal(18, 6), ` +
  `impressions UInt64, clicks UInt64`;
const PATH =
  `path Array(LowCardinality(String)), conversions Decimal(18, 4), revenue Decimal(18, 4), nulls ` +
  `Decimal(18, 4), dated UInt8, date Date32`;

const table = (name: string, columns: string, key: string): string =>
  `CREATE TABLE IF NOT EXISTS ${name} (${SOURCE}, ${columns}, version UInt64) ENGINE = ReplacingMergeTree(version) ` +
  `${PARTITION} ORDER BY (${SOURCE_NAMES}, ${key})`;

/** Until a process of its own read the rows, the engine did, by views that stood on these. */
const FORMER = [
  'touch_to_touchpoints',
  'event_to_touchpoints',
  'event_to_conversions',
  'conversion_to_conversions',
  'spend_to_spend',
  'path_to_paths',
  ...['touch', 'event', 'conversion', 'spend', 'path'].flatMap((intake) => [
    `${intake}_to_rejects`,
    `${intake}_counts`,
    `${intake}_intake`,
  ]),
  'upload_counts',
  'upload_currencies',
];

const STATEMENTS: readonly string[] = [
  table('touchpoints', TOUCH, 'user_id, ts, channel, campaign'),
  table('conversions', CONVERSION, 'order_id'),
  table('spend', SPEND, 'date, channel, campaign'),
  // A path that stands twice in a file counts twice; of two files that name it, the later one counts (see the stored
  // paths statement).
  table('paths', `${PATH}, upload_id LowCardinality(String), line UInt64`, 'path, dated, date, line'),
  `CREATE TABLE IF NOT EXISTS rejects (${SOURCE}, upload_id String, line UInt64, column LowCardinality(String),
    code LowCardinality(String), value String,
    version UInt64) ENGINE = ReplacingMergeTree(version) ${PARTITION} ORDER BY (${SOURCE_NAMES}, upload_id, line)`,
  `DROP TABLE IF EXISTS ${FORMER.join(', ')} SYNC`,
];

/**
 * Who is one person, as files say it, and what follows for the sources that are read together (see people.ts): made
 * anew whenever it is gone, so nothing is lost when the engine forgets it. `people` outlives the note of it by a day:
 * an analysis that has found the note can still read them.
 */
const PEOPLE: readonly string[] = [
  table('identities', 'id String, same_as String', 'id, same_as'),
  `CREATE TABLE IF NOT EXISTS people (pool String, id UInt64, person UInt64, made DateTime DEFAULT now())
    ENGINE = ReplacingMergeTree ORDER BY (pool, id) TTL made + INTERVAL 2 DAY`,
  `CREATE TABLE IF NOT EXISTS people_made (pool String, facts String, made DateTime DEFAULT now())
    ENGINE = ReplacingMergeTree ORDER BY pool TTL made + INTERVAL 1 DAY`,
];

/** Units of a source's currency per unit of another, by day. */
const RATES: readonly string[] = [
  table('fx', 'date Date32, currency LowCardinality(String), rate Decimal(18, 11)', 'currency, date'),
];

/**
 * What was paid back of orders, a row for each: told apart by order, time, id and currency. Of two files that tell one,
 * the later one counts; rows of one file add up, whatever their lines (see refunded-orders.ts).
 */
const REFUNDS: readonly string[] = [
  table(
    'refunds',
    `${CONVERSION}, written Decimal(18, 4), written_currency LowCardinality(String), needs_order UInt8,
      upload_id LowCardinality(String), line UInt64`,
    'order_id, ts, event_id, written_currency, upload_id, line',
  ),
];

/** Columns that tables of earlier versions lack. */
const ADDED: readonly string[] = [
  ...['referrer', 'click_id'].map(
    (column) => `ALTER TABLE touchpoints ADD COLUMN IF NOT EXISTS ${column} LowCardinality(String)`,
  ),
  // Cost of the goods of an order; null where nobody has said it.
  `ALTER TABLE conversions ADD COLUMN IF NOT EXISTS cogs Nullable(Decimal(18, 4))`,
  // Revenue ahead of refunds that are rows of their own; null where there are none.
  `ALTER TABLE conversions ADD COLUMN IF NOT EXISTS gross Nullable(Decimal(18, 4))`,
];

/** Creates what is missing of the tables; any number of processes may do so at once. */
export async function migrateColumnarTables(clickhouse: ClickHouse): Promise<void> {
  await clickhouse.migrate([...STATEMENTS, ...ADDED, ...PEOPLE, ...RATES, ...REFUNDS]);
}

/** Every table that holds rows of a source. */
export const SOURCE_TABLES = [
  'touchpoints',
  'conversions',
  'refunds',
  'spend',
  'paths',
  'identities',
  'fx',
  'rejects',
] as const;
