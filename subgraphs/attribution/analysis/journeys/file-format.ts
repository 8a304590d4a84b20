import type { ExportFormat } from '../../../../schema/value-lists.ts';

interface EngineFormat {
  readonly name: 'CSVWithNames' | 'JSONEachRow' | 'Parquet';
  readonly settings: Readonly<Record<string, string | number>>;
}

/** Whose file it is, and how large it may become. */
export interface FileLimits {
  readonly account: string;
  readonly maxBytes: number;
  /** Ends the work when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

const JSON_SETTINGS = {
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 0,
  output_format_json_escape_forward_slashes: 0,
} as const;

/** The engine holds a group in memory until it is whole: with its own million, four million paths were too many. */
const PARQUET_GROUP_ROWS = 100_000;

/**
 * How the columnar engine writes each. CSV by RFC 4180, with the column names in the first line and nothing for a value
 * that is not there.
 */
export const ENGINE_FORMATS: Readonly<Record<ExportFormat, EngineFormat>> = {
  csv: {
    name: 'CSVWithNames',
    settings: { output_format_csv_crlf_end_of_line: 1, format_csv_null_representation: '' },
  },
  ndjson: { name: 'JSONEachRow', settings: JSON_SETTINGS },
  json: { name: 'JSONEachRow', settings: { ...JSON_SETTINGS, output_format_json_array_of_rows: 1 } },
  parquet: { name: 'Parquet', settings: { output_format_parquet_row_group_size: PARQUET_GROUP_ROWS } },
};

/** What a spreadsheet takes for the start of a formula (OWASP, CSV injection). */
const FORMULA_START = String.raw`^[=+\\-@\t\r\n＝＋－＠]`;

/**
 * A text column as the format may carry it: in CSV, what a spreadsheet would execute gets an apostrophe ahead, which
 * makes it a text.
 */
export function fileText(format: ExportFormat, column: string): string {
  return format === 'csv' ? `if(match(${column}, '${FORMULA_START}'), concat('\\'', ${column}), ${column})` : column;
}
