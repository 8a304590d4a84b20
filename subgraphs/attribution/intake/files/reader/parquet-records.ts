import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { parquetMetadataAsync, parquetSchema, type FileMetaData, type SchemaTree } from 'hyparquet';
import { MAX_COLUMNS, MAX_ROW_BYTES, type ReadingLimits } from '../reading-limits.ts';
import { PageAllowance } from './page-allowance.ts';
import { ParquetColumn, type RandomAccessFile } from './parquet-column.ts';
import { emptyRow, ReadingStoppedError, type RecordReader, type RowSink } from './record-reader.ts';
import { invalidFile, limitExceeded, RefusedFileError, unreadableParquet } from './refused-file.ts';

const MAGIC = 'PAR1';
const MAGIC_BYTES = 4;
const FOOTER_BYTES = 64 * 1024 * 1024;
/** So many rows are read before what has gathered is handed on. */
const ROWS_BETWEEN_PAUSES = 16_384;

/**
 * A Parquet file: its footer says what is in it, and each column is read page by page beside the others.
 * https://parquet.apache.org/docs/file-format/
 * @throws RefusedFileError, codes `unreadable_parquet`, `file_limit_exceeded`, `too_many_columns`
 */
export async function openParquet(path: string, limits: ReadingLimits): Promise<RecordReader> {
  const file = new ParquetFile(path);
  try {
    const metadata = await readable(() => footerOf(file));
    const root = await readable(() => parquetSchema(metadata));
    if (root.children.length > MAX_COLUMNS)
      throw invalidFile('too_many_columns', `The file has more than the ${MAX_COLUMNS} columns that are allowed`);
    refuseManyRows(metadata, file.bytes, limits);
    const leaves = root.children.filter(isPlain);
    const header = leaves.map(({ element }): unknown => element.name);
    if (!header.every((name) => typeof name === 'string')) throw unreadableParquet();
    return {
      header,
      hasPlainNumbers: true,
      namesColumns: false,
      async read(used, sink) {
        try {
          await readable(() => readGroups({ file, metadata, root, leaves, limits }, used, sink));
        } finally {
          file.close();
        }
      },
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Whatever goes wrong inside of the file's structure is the file's fault. */
async function readable<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedFileError || error instanceof ReadingStoppedError) throw error;
    throw unreadableParquet();
  }
}

class ParquetFile implements RandomAccessFile {
  readonly bytes: number;
  readonly #descriptor: number;

  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
    this.bytes = fstatSync(this.#descriptor).size;
  }

  read(start: number, length: number): Uint8Array<ArrayBuffer> {
    if (!(start >= 0 && length >= 0 && start + length <= this.bytes)) throw unreadableParquet();
    const content = new Uint8Array(length);
    if (readSync(this.#descriptor, content, 0, length, start) !== length) throw unreadableParquet();
    return content;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function footerOf(file: RandomAccessFile): Promise<FileMetaData> {
  if (file.bytes < 3 * MAGIC_BYTES) throw unreadableParquet();
  const tail = Buffer.from(file.read(file.bytes - 2 * MAGIC_BYTES, 2 * MAGIC_BYTES));
  const footerBytes = tail.readUInt32LE(0);
  if (tail.toString('latin1', MAGIC_BYTES) !== MAGIC || footerBytes > file.bytes) throw unreadableParquet();
  if (footerBytes > FOOTER_BYTES) throw limitExceeded('the footer of the file is too large', `${FOOTER_BYTES} bytes`);
  const slice = (start: number, end = file.bytes): Promise<ArrayBuffer> =>
    Promise.resolve(file.read(start, end - start).buffer);
  return parquetMetadataAsync({ byteLength: file.bytes, slice });
}

/** A column of single values: lists and records cannot be cells. */
const isPlain = ({ children, element }: SchemaTree): boolean =>
  children.length === 0 && element.repetition_type !== 'REPEATED';

function refuseManyRows({ row_groups: groups }: FileMetaData, bytes: number, { parquetRows }: ReadingLimits): void {
  const rows = groups.reduce((sum, group) => sum + Math.max(0, Number(group.num_rows)), 0);
  const allowed = parquetRows.free + parquetRows.perByte * bytes;
  if (rows > allowed) throw limitExceeded(`its ${bytes} bytes unfold to ${rows} rows`, `${allowed} rows`);
}

interface OpenParquet {
  readonly file: RandomAccessFile;
  readonly metadata: FileMetaData;
  readonly root: SchemaTree;
  /** The columns of the header. */
  readonly leaves: readonly SchemaTree[];
  readonly limits: ReadingLimits;
}

function readGroups(open: OpenParquet, used: ReadonlySet<number>, sink: RowSink): void {
  const bytes = Buffer.allocUnsafe(2 * MAX_ROW_BYTES);
  const row = { ...emptyRow(open.leaves.length), data: bytes, count: open.leaves.length };
  const places = [...used];
  const setting = { ...open, allowance: new PageAllowance(open.file.bytes, open.limits) };
  let line = 0;
  for (const group of open.metadata.row_groups) {
    const columns = places.map((place) => new ParquetColumn(setting, open.leaves[place]!, group));
    for (let left = Number(group.num_rows); left > 0; left -= 1) {
      line += 1;
      let at = 0;
      let isTooLong = false;
      for (let column = 0; column < columns.length; column += 1) {
        const place = places[column]!;
        const end = columns[column]!.writeNext(bytes, at);
        isTooLong ||= end < 0;
        row.starts[place] = at;
        at = Math.max(at, end);
        row.ends[place] = at;
      }
      if (isTooLong) sink.unreadable(line, 'row_too_long');
      else sink.row(row, line);
      if (line % ROWS_BETWEEN_PAUSES === 0) sink.pause();
    }
  }
  sink.pause();
}
