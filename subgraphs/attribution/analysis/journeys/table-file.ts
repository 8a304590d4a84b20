import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { literal } from '../../../../platform/clickhouse/http-request.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import type { ExportFormat } from '../../../../schema/value-lists.ts';
import { ENGINE_FORMATS, fileText, type FileLimits } from './file-format.ts';

type Cell = string | number | boolean | null;

/** Rows that are at hand already. */
export interface Table {
  readonly columns: readonly {
    readonly name: string;
    readonly type: 'String' | 'Nullable(String)' | 'Bool' | 'Date32' | 'UInt32' | 'Float64' | 'Nullable(Float64)';
  }[];
  readonly rows: readonly (readonly Cell[])[];
}

/** The engine takes statements of 16 MiB. */
const MAX_ROWS_BYTES = 15 * 1024 ** 2;

/**
 * A table as a file, written by the columnar engine as everything that it stores itself.
 * @throws ProblemError `validation_error` (too_large)
 */
export async function tableFile(
  clickhouse: ClickHouse,
  { columns, rows }: Table,
  format: ExportFormat,
  { account, maxBytes, signal }: FileLimits,
): Promise<AsyncIterable<Uint8Array>> {
  // An opening brace would look like the start of a bound parameter.
  const text = rows
    .map((row) => JSON.stringify(row))
    .join('\n')
    .replaceAll('{', String.raw`\u007b`);
  if (Buffer.byteLength(text) > MAX_ROWS_BYTES)
    throw new ProblemError(
      'validation_error',
      'level: this has too many rows for one file. Restrict the analysis to some channels, or choose longer periods.',
      { code: 'too_large', param: 'query:level' },
    );
  const structure = columns.map(({ name, type }) => `${name} ${type}`).join(', ');
  const shown = columns.map(({ name, type }) =>
    type.includes('String') ? `${fileText(format, name)} AS ${name}` : name,
  );
  const { name, settings } = ENGINE_FORMATS[format];
  const source =
    rows.length === 0
      ? `null(${literal(structure)})`
      : `format(JSONCompactEachRow, ${literal(structure)}, ${literal(text)})`;
  // One thread keeps the order of the rows.
  return clickhouse.file(`SELECT ${shown.join(', ')} FROM ${source}`, name, {
    params: { account_id: account },
    settings: { ...settings, max_query_size: 2 * MAX_ROWS_BYTES, max_threads: 1 },
    maxBytes,
    signal,
  });
}
