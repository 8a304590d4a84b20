import type { RecordLayout } from './record-kind.ts';
import { intakeShape, type IntakeOptions } from './record-columns.ts';

/** How the bytes of an upload are laid out. */
export type RecordEncoding =
  /** `numbered`: each record starts with a cell of ours that holds its line. */
  | { readonly format: 'csv'; readonly delimiter: string; readonly numbered: boolean }
  | { readonly format: 'ndjson' }
  | { readonly format: 'parquet' };

export interface IntakeStatement {
  readonly statement: string;
  readonly params: Readonly<Record<string, string | readonly string[]>>;
  readonly settings: Readonly<Record<string, string | number>>;
}

interface Input {
  readonly structure: string;
  readonly engineFormat: string;
  readonly line: string;
  readonly cell: (index: number) => string;
  /** Faults of the row as a whole; `blank` rows are no rows. */
  readonly checks: readonly { readonly fails: string; readonly code: string }[];
  readonly params: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string | number>>;
}

/** One thread and no re-ordering: the row number within the block is the row number within the chunk. Chunks run beside each other. */
const IN_ORDER = { max_threads: 1, max_insert_threads: 1, parallelize_output_from_storages: 0, input_format_parallel_parsing: 0 };
/** One part per chunk; duplicates within it are left to reads and merges, which saves half of the insert. */
const ONE_PART = { min_insert_block_size_rows: 16_777_216, min_insert_block_size_bytes: 1_073_741_824, optimize_on_insert: 0 };
const ROW_IN_CHUNK = 'rowNumberInAllBlocks()';

/**
 * The INSERT that lets the engine parse a chunk: every column arrives as text, is parsed and checked in SQL, and goes to the
 * intake of its kind with the code of its first fault. Parameters it leaves to bind: account_id, data_source_id, version,
 * upload_id, chunk, first_line, currency, latest_time.
 */
export function intakeStatement(layout: RecordLayout, encoding: RecordEncoding, options: IntakeOptions): IntakeStatement {
  const input = inputOf(layout, encoding);
  const { intake, columns } = intakeShape(layout.kind, (canonical) => {
    const index = layout.columns.get(canonical);
    return index === undefined ? undefined : input.cell(index);
  }, options);
  const faults = [
    ...input.checks.map((check) => ({ ...check, name: '', cell: `''` })),
    ...columns.flatMap(({ checks }) => checks).map((check) => {
      const index = layout.columns.get(check.column)!;
      return { fails: check.fails, code: check.code, name: layout.header[index]!, cell: input.cell(index) };
    }),
  ];
  const stored = columns.filter(({ name }) => name !== '');
  const statement = `INSERT INTO ${intake} (account_id, data_source_id, version, upload_id, chunk, line, code, column, value, ${stored.map(({ name }) => name).join(', ')})
    WITH multiIf(${faults.map(({ fails }, index) => `${fails}, ${index + 1}`).join(', ')}, 0) AS fault
    SELECT {account_id:String}, {data_source_id:String}, {version:UInt64}, {upload_id:String}, {chunk:UInt32}, ${input.line},
      [${['', ...faults.map(({ code }) => code)].map(quoted).join(', ')}][fault + 1], {columns:Array(String)}[fault + 1],
      multiIf(${faults.map(({ cell }, index) => `fault = ${index + 1}, ${cell}`).join(', ')}, ''), ${stored.map(({ value }) => value).join(', ')}
    FROM input(${quoted(input.structure)}) FORMAT ${input.engineFormat}`;
  return {
    statement,
    params: { ...input.params, columns: ['', ...faults.map(({ name }) => name)] },
    settings: { ...IN_ORDER, ...ONE_PART, ...input.settings },
  };
}

function inputOf(layout: RecordLayout, encoding: RecordEncoding): Input {
  switch (encoding.format) {
    case 'csv': return csvInput(layout, encoding.delimiter, encoding.numbered);
    case 'ndjson': return ndjsonInput(layout);
    case 'parquet': return parquetInput(layout);
  }
}

/** A row may have fewer cells than the header (the rest is empty); one cell more is caught by a column of our own. */
function csvInput({ header }: RecordLayout, delimiter: string, numbered: boolean): Input {
  const cells = header.map((_, index) => `c${index}`);
  const nothing = [...cells, 'excess'].map((cell) => `${cell} = ''`).join(' AND ');
  return {
    structure: [...(numbered ? ['line_in_file UInt64'] : []), ...cells.map((cell) => `${cell} String`), 'excess String'].join(', '),
    engineFormat: 'CSV',
    line: numbered ? 'line_in_file' : `{first_line:UInt64} + ${ROW_IN_CHUNK}`,
    cell: (index) => cells[index]!,
    checks: [{ fails: nothing, code: 'blank' }, { fails: `excess != ''`, code: 'too_many_columns' }],
    params: {},
    settings: {
      format_csv_delimiter: delimiter,
      input_format_csv_allow_variable_number_of_columns: 1,
      input_format_csv_allow_whitespace_or_tab_as_delimiter: delimiter === '\t' ? 1 : 0,
      input_format_csv_trim_whitespaces: 1,
      input_format_csv_detect_header: 0,
      input_format_csv_use_default_on_bad_values: 0,
    },
  };
}

function ndjsonInput({ header, columns }: RecordLayout): Input {
  const used = new Map([...columns.values()].map((index) => [`key_${index}`, header[index]!]));
  return {
    structure: 'json String',
    engineFormat: 'LineAsString',
    line: `{first_line:UInt64} + ${ROW_IN_CHUNK}`,
    cell: (index) => `ifNull(JSONExtract(json, {key_${index}:String}, 'Nullable(String)'), '')`,
    checks: [{ fails: `trimBoth(json) = ''`, code: 'blank' }, { fails: `JSONType(json) != 'Object'`, code: 'malformed_json' }],
    params: Object.fromEntries(used),
    settings: {},
  };
}

function parquetInput({ header, columns }: RecordLayout): Input {
  const identifier = (name: string) => `\`${name.replaceAll(/[\\`]/g, String.raw`\$&`)}\``;
  const used = [...new Set(columns.values())].map((index) => identifier(header[index]!));
  return {
    structure: used.map((name) => `${name} String`).join(', '),
    engineFormat: 'Parquet',
    line: `{first_line:UInt64} + ${ROW_IN_CHUNK}`,
    cell: (index) => identifier(header[index]!),
    checks: [],
    params: {},
    settings: { input_format_parquet_preserve_order: 1, input_format_null_as_default: 1 },
  };
}

const quoted = (value: string): string => `'${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
