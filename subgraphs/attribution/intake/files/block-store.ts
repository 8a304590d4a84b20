import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from '../touchpoints/source-key.ts';
import type { BlockHead, ReadingFinding } from './reading-messages.ts';
import { STORED_TABLES, type StoredTable } from './stored-tables.ts';

/**
 * One thread, and one part for each block; duplicates within it are left to reads and merges, which saves half of the
 * insert.
 */
const ONE_PART = {
  max_threads: 1,
  max_insert_threads: 1,
  parallelize_output_from_storages: 0,
  min_insert_block_size_rows: 16_777_216,
  min_insert_block_size_bytes: 1_073_741_824,
  optimize_on_insert: 0,
};
const BLOCK_TIMEOUT_MS = 120_000;
const CLEAR_TIMEOUT_MS = 120_000;
/** One row repeats none. */
const LEAST_CONVERSIONS = 2;

/**
 * In a single table of events a conversion may have no order id: what tells it from others of its user and instant
 * gives it one that stays the same.
 */
const ORDER_ID =
  `if(order_id = '', concat('row-', lower(hex(sipHash128(user_id, toUnixTimestamp64Milli(ts), ` +
  `channel, campaign, revenue, conversion_event)))), order_id)`;

/** What a table needs beside the columns of its blocks: bound values, and columns that follow from others. */
const BOUND: Readonly<Record<StoredTable, Readonly<Record<string, string>>>> = {
  touchpoints: {},
  conversions: { currency: '{currency:String}' },
  refunds: { currency: '{currency:String}', upload_id: '{upload_id:String}' },
  spend: {},
  paths: { upload_id: '{upload_id:String}' },
  identities: {},
  fx: {},
};

interface VersionSpan {
  readonly from: string;
  readonly until: string;
}

/** The rows of one upload on their way into their tables. Storing a block twice changes nothing. */
export class BlockStore {
  readonly #clickhouse: ClickHouse;
  readonly #params: Readonly<Record<string, string>>;

  constructor(clickhouse: ClickHouse, key: SourceKey, uploadId: string) {
    this.#clickhouse = clickhouse;
    this.#params = { ...sourceParams(key), upload_id: uploadId };
  }

  /** Forgets the rejects of an earlier attempt of this upload. */
  async clear(): Promise<void> {
    const [kept] = await this.#clickhouse.rows(
      `SELECT count() AS rows FROM rejects WHERE ${OF_SOURCE} AND upload_id = {upload_id:String}`,
      z.object({ rows: z.coerce.number() }),
      { params: this.#params },
    );
    if (kept === undefined || kept.rows === 0) return;
    await this.#clickhouse.command(`DELETE FROM rejects WHERE ${OF_SOURCE} AND upload_id = {upload_id:String}`, {
      params: this.#params,
      timeoutMs: CLEAR_TIMEOUT_MS,
    });
  }

  /** @param version of two rows with one natural key, the one of the higher version counts */
  async store({ table, currency }: BlockHead, rows: Uint8Array, version: string): Promise<void> {
    await this.#clickhouse.insert(STATEMENTS[table], rows, {
      params: { ...this.#params, currency, version },
      settings: ONE_PART,
      timeoutMs: BLOCK_TIMEOUT_MS,
    });
  }

  /**
   * How many of the conversions of this upload repeat the order id of another of them: of each id one row stays.
   * @param versions the first, and that behind the last, of its blocks
   */
  async repeatedOrders(conversions: number, versions: VersionSpan): Promise<number> {
    if (conversions < LEAST_CONVERSIONS) return 0;
    const [stored] = await this.#clickhouse.rows(
      `SELECT uniqExact(order_id) AS orders FROM conversions
        WHERE ${OF_SOURCE} AND version >= {from:UInt64} AND version < {until:UInt64}`,
      z.object({ orders: z.coerce.number() }),
      { params: { ...this.#params, ...versions }, timeoutMs: BLOCK_TIMEOUT_MS },
    );
    return Math.max(0, conversions - (stored?.orders ?? 0));
  }

  async reject(rejects: ReadingFinding['rejects'], version: string): Promise<void> {
    if (rejects.length === 0) return;
    await this.#clickhouse.insert(
      `INSERT INTO rejects (account_id, data_source_id, upload_id, line, column, code, value, version)
        SELECT {account_id:String}, {data_source_id:String}, {upload_id:String}, line, column, code, value,
          {version:UInt64}
        FROM input('line UInt64, column String, code String, value String') FORMAT JSONEachRow`,
      Buffer.from(rejects.map((reject) => JSON.stringify(reject)).join('\n')),
      { params: { ...this.#params, version } },
    );
  }
}

function insertStatement(table: StoredTable): string {
  const columns = Object.entries(STORED_TABLES[table]);
  const structure = columns
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')
    .replaceAll("'", String.raw`\'`);
  const bound = Object.entries({
    account_id: '{account_id:String}',
    data_source_id: '{data_source_id:String}',
    ...BOUND[table],
    version: '{version:UInt64}',
  });
  const values = columns.map(([name]) => (table === 'conversions' && name === 'order_id' ? ORDER_ID : name));
  return `INSERT INTO ${table} (${[...bound, ...columns].map(([name]) => name).join(', ')})
    SELECT ${[...bound.map(([, value]) => value), ...values].join(', ')} FROM input('${structure}') FORMAT Native`;
}

const STATEMENTS = Object.fromEntries(
  Object.keys(STORED_TABLES).map((table) => [table, insertStatement(table as StoredTable)]),
) as Readonly<Record<StoredTable, string>>;
