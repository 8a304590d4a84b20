/** The cells of one row: cell `i` is `data[starts[i] .. ends[i])`. They stay as they are until the next row is read. */
export interface RowCells {
  data: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** How many cells the row has; cells beyond the header's are not told apart. */
  count: number;
  /** Something stands in a cell beyond the header's. */
  hasExcess: boolean;
}

/** End of a cell in which an object or a list stands instead of text. */
export const NOT_TEXT = -1;

/** Why a row has no cells. */
export type UnreadableCode = 'malformed_row' | 'malformed_json' | 'row_too_long';

/** What a sink throws when it needs no more rows: no reader takes it for a fault of the file. */
export class ReadingStoppedError extends Error {
  override readonly name: string = 'ReadingStoppedError';
}

/** Takes the rows of a file in order. `line` counts from 1, the header included (the row for JSON and Parquet). */
export interface RowSink {
  row(cells: RowCells, line: number): void;
  unreadable(line: number, code: UnreadableCode): void;
  /** Called every few megabytes: time to hand on what has gathered. */
  pause(): void;
}

/**
 * A file whose first rows were looked at: what its columns are called, and the way to its rows. One for each format.
 */
export interface RecordReader {
  readonly header: readonly string[];
  /** Programs wrote the numbers: a point stands before decimals, and nothing parts thousands. */
  readonly hasPlainNumbers: boolean;
  /** Rows name their columns themselves: the header has those of the first rows, and more may come. */
  readonly namesColumns: boolean;
  /**
   * @param used places in the header of the columns that are read; the others may stay empty
   * @param names the header, and behind it columns that rows may name later
   * @throws RefusedFileError when the file turns out to be damaged
   */
  read(used: ReadonlySet<number>, sink: RowSink, names: readonly string[]): Promise<void>;
}

export function emptyRow(columns: number): RowCells {
  return {
    data: new Uint8Array(0),
    starts: new Int32Array(columns),
    ends: new Int32Array(columns),
    count: 0,
    hasExcess: false,
  };
}
