import { MAX_KEPT_REJECTS } from '../reading-limits.ts';
import type { BlockHead, ReadingFinding, ReadingOrder } from '../reading-messages.ts';
import type { RejectCode } from '../rejects.ts';
import { nativeBlock } from './block-columns.ts';
import type { Cell } from './cells.ts';
import { openCsv } from './csv-records.ts';
import { FileContent } from './file-content.ts';
import { openJsonArray, openJsonLines } from './json-records.ts';
import { detectLayout, type RecordLayout } from './record-kind.ts';
import { NOT_TEXT, type RecordReader, type RowCells, type RowSink, type UnreadableCode } from './record-reader.ts';
import { recordShape, type RecordShape, type RecordTable } from './record-tables.ts';

/** Takes what the reader hands on; returns when it has been taken. */
export interface Handover {
  progress(bytes: number): void;
  /** Waits until so many bytes in all may be unpacked onto the disk. */
  room(bytes: number): Promise<void>;
  block(head: BlockHead, parts: readonly Uint8Array[]): void;
}

/**
 * Large enough that a block becomes one part of decent size, small enough that a few fit into memory on both sides: the
 * engine takes up to twenty times of it while it stores names that are all unlike. At most one row is beyond it.
 */
const BLOCK_BYTES = 8 * 1024 * 1024;
const DEFAULT_CURRENCY = 'USD';
const QUOTED_CHARACTERS = 200;

/**
 * Reads one file: every row is checked, and handed on as a block of its table or kept as a reject.
 * @throws RefusedFileError when the file as a whole cannot be used; rows handed on before stay
 */
export async function readRecords(order: ReadingOrder, handover: Handover): Promise<ReadingFinding> {
  const content = await FileContent.open(order.path, order.contentEncoding, order.maxBytes, order.limits);
  const reader = await openFormat(order, content, handover);
  const layout = detectLayout(reader.header, order.mapping);
  const table = new RecordTables(layout, order, content, handover);
  await reader.read(new Set(layout.columns.values()), table);
  table.handOnAll();
  return table.finding(content);
}

async function openFormat(order: ReadingOrder, content: FileContent, handover: Handover): Promise<RecordReader> {
  switch (order.mediaType) {
    case 'application/vnd.apache.parquet': {
      // Loaded for those who need it: most files are read in less time than it takes.
      const { openParquet } = await import('./parquet-records.ts');
      return openParquet(await content.asPlainFile(order.unpackedPath, (bytes) => handover.room(bytes)), order.limits);
    }
    case 'application/x-ndjson':
      return openJsonLines(content);
    case 'application/json':
      return openJsonArray(content);
    default:
      return openCsv(content, order.delimiter);
  }
}

/** A cell that the file has, and where it stands in a row. */
interface ReadCell {
  readonly place: number;
  readonly cell: Cell;
}

/** The tables of one file: takes its rows and counts them. */
class RecordTables implements RowSink {
  readonly #layout: RecordLayout;
  readonly #content: FileContent;
  readonly #handover: Handover;
  readonly #sourceCurrency: string | null;
  readonly #shape: RecordShape;
  readonly #cells: readonly ReadCell[];
  readonly #rows = new Map<RecordTable, number>();
  readonly #rejects: { line: number; column: string; code: string; value: string }[] = [];
  #accepted = 0;
  #rejected = 0;
  #conversions = 0;
  #earliestMs = Infinity;
  #latestMs = -Infinity;

  constructor(layout: RecordLayout, order: ReadingOrder, content: FileContent, handover: Handover) {
    this.#layout = layout;
    this.#content = content;
    this.#handover = handover;
    this.#sourceCurrency = order.currency;
    this.#shape = recordShape(layout.kind, { bounds: order, currency: order.currency });
    this.#cells = this.#shape.cells.flatMap(({ column, cell }) => {
      const place = layout.columns.get(column);
      return place === undefined ? [] : [{ place, cell }];
    });
  }

  row(cells: RowCells, line: number): void {
    if (cells.hasExcess || hasMoreThan(cells, this.#layout.header.length))
      return this.#reject(line, '', 'too_many_columns', '');
    for (let index = 0; index < this.#cells.length; index += 1) {
      const { place, cell } = this.#cells[index]!;
      const isThere = place < cells.count;
      const start = isThere ? cells.starts[place]! : 0;
      const end = isThere ? cells.ends[place]! : 0;
      const fault = end === NOT_TEXT ? 'not_text' : cell.read(cells.data, start, end);
      if (fault !== null) return this.#rejectCell(line, fault, cells, place);
    }
    const fault = this.#shape.fault();
    if (fault !== null) return this.#rejectFault(line, fault, cells);
    this.#take(line);
  }

  unreadable(line: number, code: UnreadableCode): void {
    this.#reject(line, '', code, '');
  }

  pause(): void {
    this.#handover.progress(this.#content.bytes);
  }

  handOnAll(): void {
    for (const table of this.#shape.tables) this.#handOn(table);
  }

  finding(content: FileContent): ReadingFinding {
    const isTimed = this.#latestMs >= this.#earliestMs;
    return {
      kind: this.#layout.kind,
      accepted: this.#accepted,
      rejected: this.#rejected,
      conversions: this.#conversions,
      earliestMs: isTimed ? this.#earliestMs : null,
      latestMs: isTimed ? this.#latestMs : null,
      currency: this.#shape.currency?.currency ?? this.#sourceCurrency,
      rejects: this.#rejects,
      bytes: content.bytes,
      digest: content.digest(),
    };
  }

  #take(line: number): void {
    const table = this.#shape.tableOf();
    table.add(line);
    this.#rows.set(table, (this.#rows.get(table) ?? 0) + 1);
    this.#accepted += 1;
    if (table.name === 'conversions') this.#conversions += 1;
    if (bytesOf(table) >= BLOCK_BYTES) this.#handOn(table);
    const ms = this.#shape.timeMs();
    if (ms < this.#earliestMs) this.#earliestMs = ms;
    if (ms > this.#latestMs) this.#latestMs = ms;
  }

  #handOn(table: RecordTable): void {
    const rows = this.#rows.get(table) ?? 0;
    if (rows === 0) return;
    const { currency } = this.#shape;
    currency?.settle(DEFAULT_CURRENCY);
    this.#handover.block(
      { table: table.name, rows, currency: currency?.settled ?? DEFAULT_CURRENCY },
      nativeBlock(table.columns, rows),
    );
    for (const column of table.columns) column.clear();
    this.#rows.set(table, 0);
  }

  /** A column that the file does not have is not to blame: the row as a whole is. */
  #rejectFault(line: number, { column, code }: NonNullable<ReturnType<RecordShape['fault']>>, cells: RowCells): void {
    const place = this.#layout.columns.get(column);
    if (place === undefined) this.#reject(line, '', code, '');
    else this.#rejectCell(line, code, cells, place);
  }

  #rejectCell(line: number, code: RejectCode, cells: RowCells, place: number): void {
    const [start, end] = place < cells.count ? [cells.starts[place]!, cells.ends[place]!] : [0, 0];
    const value = this.#rejected < MAX_KEPT_REJECTS && end > start ? quoted(cells.data, start, end) : '';
    this.#reject(line, this.#layout.header[place] ?? '', code, value);
  }

  #reject(line: number, column: string, code: RejectCode, value: string): void {
    this.#rejected += 1;
    if (this.#rejects.length < MAX_KEPT_REJECTS) this.#rejects.push({ line, column, code, value });
  }
}

function bytesOf({ columns }: RecordTable): number {
  let bytes = 0;
  for (let index = 0; index < columns.length; index += 1) bytes += columns[index]!.bytes;
  return bytes;
}

/** Empty cells behind the last column do no harm. */
function hasMoreThan({ starts, ends, count }: RowCells, columns: number): boolean {
  for (let cell = columns; cell < count; cell += 1) if (starts[cell] !== ends[cell]) return true;
  return false;
}

function quoted(data: Uint8Array, start: number, end: number): string {
  return Buffer.from(data.subarray(start, Math.min(end, start + 4 * QUOTED_CHARACTERS)))
    .toString()
    .slice(0, QUOTED_CHARACTERS)
    .toWellFormed();
}
