import { printable } from './printable.ts';
import type { RecordKind } from './record-kind.ts';

/** Why a row was not stored. `line` counts from 1 in the uploaded file, the header included (the row number for JSON and Parquet). */
export interface RowReject {
  readonly line: number;
  /** The file's own column name; empty when the row as a whole is at fault. */
  readonly column: string;
  readonly code: string;
  readonly message: string;
}

export interface StoredReject extends RowReject {
  readonly uploadId: string;
}

/** What became of one upload. `rowsAccepted + rowsRejected` is the number of rows in the file. */
export interface IngestReport {
  readonly uploadId: string;
  readonly kind: RecordKind;
  readonly rowsAccepted: number;
  readonly rowsRejected: number;
  readonly touchpoints: number;
  readonly conversions: number;
  readonly spendRows: number;
  readonly paths: number;
  /** ISO 4217 code of the amounts, null when the file carries none. */
  readonly currency: string | null;
  /** The first 100 rejects by line. */
  readonly firstErrors: readonly RowReject[];
  /** Size of the decoded content (after gzip). */
  readonly bytes: number;
  /** `sha256:` + hex over the decoded content. */
  readonly contentDigest: string;
  /** Time span of the accepted rows, RFC 3339; null when none carries a time. */
  readonly earliest: string | null;
  readonly latest: string | null;
}

const MESSAGES: Record<string, (value: string) => string> = {
  missing_value: () => 'the cell is empty, but a value is required',
  unparseable_timestamp: (value) => `"${value}" is not a time; expected ISO 8601, YYYY-MM-DD HH:MM:SS, or epoch seconds or milliseconds`,
  timestamp_out_of_range: (value) => `"${value}" lies before 1990 or more than a year in the future`,
  unparseable_date: (value) => `"${value}" is not a date; expected YYYY-MM-DD`,
  unparseable_number: (value) => `"${value}" is not a number; expected digits with a point as decimal sign`,
  unparseable_flag: (value) => `"${value}" is neither 0 nor 1`,
  negative_value: (value) => `"${value}" is negative`,
  value_too_long: () => 'the value is longer than 512 bytes',
  invalid_encoding: () => 'the value is not valid UTF-8',
  nul_character: () => 'the value holds a NUL character',
  control_character: (value) => `"${value}" holds a control character`,
  offset_out_of_range: (value) => `"${value}" has an offset beyond ±14:00`,
  wrong_currency: (value) => `"${value}" is not the currency of this source`,
  too_many_columns: () => 'the row has more cells than the header has columns',
  malformed_row: () => 'the quotes of this row do not match',
  malformed_json: () => 'the line is not a JSON object',
  row_too_long: () => 'the row is longer than 1 MiB',
};

/** The sentence for a reject code; `value` is the offending cell, cut to 200 characters. */
export function rejectMessage(code: string, value: string): string {
  return (MESSAGES[code] ?? (() => code))(printable(value));
}
