import type { RejectCode } from '../rejects.ts';
import { STORED_TABLES, type StoredTable } from '../stored-tables.ts';
import { IntegerColumn, NullableIntegerColumn, TextColumn, TextListColumn, type BlockColumn } from './block-columns.ts';

/** A table that rows of a file go to, with the columns of its next block. */
export interface RecordTable {
  readonly name: StoredTable;
  readonly columns: readonly BlockColumn[];
  /** Rows in the columns. */
  readonly rows: number;
  /**
   * Adds the row whose cells have been read.
   * @returns what is wrong with it beside others of the file, null when it was added
   */
  add(line: number): RejectCode | null;
  /** Writes rows that were held back into the columns, as many as make a block; when it writes none, none are left. */
  release(blockBytes: number): void;
  clear(): void;
}

type Adds = Readonly<Record<string, (column: never, line: number) => void>>;

/** A table whose columns are filled by one function each. */
export function tableFilledBy<Name extends StoredTable>(
  name: Name,
  fill: { readonly [Column in keyof (typeof STORED_TABLES)[Name]]: FillOf<(typeof STORED_TABLES)[Name][Column]> },
): RecordTable {
  const fills = fill as unknown as Adds;
  const columns = Object.entries(STORED_TABLES[name]).map(([column, type]) => {
    const block =
      type === 'String'
        ? new TextColumn(column)
        : type === 'Array(String)'
          ? new TextListColumn(column)
          : type === 'Nullable(Decimal(18, 4))'
            ? new NullableIntegerColumn(column, type)
            : new IntegerColumn(column, type);
    return { block, add: fills[column] as (block: BlockColumn, line: number) => void };
  });
  return {
    name,
    columns: columns.map(({ block }) => block),
    rows: 0,
    add(line) {
      for (let index = 0; index < columns.length; index += 1) columns[index]!.add(columns[index]!.block, line);
      this.rows += 1;
      return null;
    },
    release: () => undefined,
    clear() {
      for (const { block } of columns) block.clear();
      this.rows = 0;
    },
  } satisfies RecordTable & { rows: number };
}

type FillOf<Type> = (
  column: Type extends 'String'
    ? TextColumn
    : Type extends 'Array(String)'
      ? TextListColumn
      : Type extends `Nullable(${string})`
        ? NullableIntegerColumn
        : IntegerColumn,
  line: number,
) => void;

export function bytesOf({ columns }: Pick<RecordTable, 'columns'>): number {
  let bytes = 0;
  for (let index = 0; index < columns.length; index += 1) bytes += columns[index]!.bytes;
  return bytes;
}
