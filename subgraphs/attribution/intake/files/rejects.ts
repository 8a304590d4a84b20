import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { isUuid, publicId, type Uuid } from '../../../../platform/identifiers.ts';
import type { RejectedRow } from '../data-sources/records.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from '../touchpoints/source-key.ts';
import { MAX_PATH_STEPS, MAX_TEXT_BYTES } from './reading-limits.ts';
import { printable } from './printable.ts';

/** The sentence for each reject code; `value` is the offending cell, cut to 200 characters. */
const MESSAGES = {
  missing_value: () => 'the cell is empty, but a value is required',
  not_a_date: (value: string) =>
    `"${value}" is not a date or time; expected ISO 8601, YYYY-MM-DD HH:MM:SS, or epoch seconds or milliseconds`,
  date_out_of_range: (value: string) =>
    `"${value}" lies outside the dates that rows may have: from 2000-01-01 to two days ahead, unless this service ` +
    `has narrowed them`,
  offset_out_of_range: (value: string) => `"${value}" has an offset beyond ±14:00`,
  not_a_number: (value: string) =>
    `"${value}" is not a number; expected digits with one point as decimal sign and no separators`,
  amount_out_of_range: (value: string) => `"${value}" is larger than 1,000,000,000,000`,
  negative_value: (value: string) => `"${value}" is negative`,
  unparseable_flag: (value: string) => `"${value}" is neither 0 nor 1`,
  value_too_long: () => `the value is longer than ${MAX_TEXT_BYTES} bytes`,
  path_too_long: () => `the path has more than ${MAX_PATH_STEPS.toLocaleString('en-US')} steps`,
  invalid_encoding: () => 'the value is not valid UTF-8',
  nul_character: () => 'the value holds a NUL character',
  control_character: (value: string) => `"${value}" holds a control character`,
  not_text: () => 'an object or a list stands where text or a number is expected',
  not_a_rate: (value: string) => `"${value}" is not a rate of exchange; expected a number above 0, at most 5,000,000`,
  not_a_currency: (value: string) => `"${value}" is not a currency; expected three letters such as EUR`,
  wrong_currency: (value: string) => `"${value}" is not the currency of this source`,
  too_many_columns: () => 'the row has more cells than the header has columns',
  malformed_row: () => 'the quotes of this row do not match',
  malformed_json: () => 'the line is not a JSON object',
  row_too_long: () => 'the row is longer than 1 MiB',
} satisfies Record<string, (value: string) => string>;

export type RejectCode = keyof typeof MESSAGES;

/**
 * Why a row was not stored. `line` counts from 1 in the uploaded file, the header included (the row number for JSON and
 * Parquet).
 */
export interface RowReject {
  readonly line: number;
  /** The file's own column name; empty when the row as a whole is at fault. */
  readonly column: string;
  readonly code: string;
  readonly message: string;
}

/** Rejects of earlier versions may have codes that are no longer given. */
export const rejectMessage = (code: string, value: string): string =>
  Object.hasOwn(MESSAGES, code) ? MESSAGES[code as RejectCode](printable(value)) : code;

const Count = z.coerce.number();
const RejectRow = z.object({
  upload_id: z.string(),
  line: Count,
  column: z.string(),
  code: z.string(),
  value: z.string(),
});

/** Rejected rows, those of the newest upload first, in the order of its lines; the first thousand of one are kept. */
export async function listRejects(
  clickhouse: ClickHouse,
  key: SourceKey,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: RejectedRow[]; total: number }> {
  const params = sourceParams(key);
  const [[count], rows] = await Promise.all([
    clickhouse.rows(`SELECT count() AS total FROM rejects FINAL WHERE ${OF_SOURCE}`, z.object({ total: Count }), {
      params,
    }),
    clickhouse.rows(
      `SELECT upload_id, line, column, code, value FROM rejects FINAL WHERE ${OF_SOURCE} ` +
        `ORDER BY upload_id DESC, line LIMIT {limit:UInt64} OFFSET {offset:UInt64}`,
      RejectRow,
      { params: { ...params, ...page } },
    ),
  ]);
  return {
    total: count?.total ?? 0,
    rows: rows.map(({ upload_id, line, column, code, value }) => ({
      uploadId: isUuid(upload_id) ? publicId('upload', upload_id) : upload_id,
      line,
      column,
      code,
      message: rejectMessage(code, value),
    })),
  };
}

/** How many rejected rows stand before one of them. */
export async function rejectsBefore(
  clickhouse: ClickHouse,
  key: SourceKey,
  { uploadId, line }: { readonly uploadId: Uuid; readonly line: number },
): Promise<number> {
  const [count] = await clickhouse.rows(
    `SELECT count() AS total FROM rejects FINAL WHERE ${OF_SOURCE} AND ` +
      `(upload_id > {uploadId:String} OR (upload_id = {uploadId:String} AND line < {line:UInt64}))`,
    z.object({ total: Count }),
    { params: { ...sourceParams(key), uploadId, line } },
  );
  return count?.total ?? 0;
}

/** Rejects of one upload: how many are kept, and which of them are there for their currency. */
export interface KeptRejects {
  readonly uploadId: string;
  readonly kept: number;
  readonly foreignRows: ReadonlyMap<string, number>;
}

/** Currencies of one upload that are told apart. */
const MOST_CURRENCIES = 20;

/** What was rejected for its currency, by upload; uploads without rejects are left out. */
export async function rejectedCurrencies(
  clickhouse: ClickHouse,
  key: SourceKey,
  uploadIds: readonly string[],
): Promise<readonly KeptRejects[]> {
  if (uploadIds.length === 0) return [];
  const rows = await clickhouse.rows(
    `SELECT upload_id, if(code = 'wrong_currency', upper(value), '') AS currency, count() AS rejects
      FROM rejects FINAL WHERE ${OF_SOURCE} AND upload_id IN {uploads:Array(String)}
      GROUP BY upload_id, currency ORDER BY upload_id, rejects DESC, currency LIMIT ${MOST_CURRENCIES} BY upload_id`,
    z.object({ upload_id: z.string(), currency: z.string(), rejects: Count }),
    { params: { ...sourceParams(key), uploads: [...uploadIds] } },
  );
  return [...Map.groupBy(rows, ({ upload_id }) => upload_id)].map(([uploadId, group]) => ({
    uploadId,
    kept: group.reduce((sum, { rejects }) => sum + rejects, 0),
    foreignRows: new Map(group.flatMap(({ currency, rejects }) => (currency === '' ? [] : [[currency, rejects]]))),
  }));
}
