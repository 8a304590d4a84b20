import { readFile } from 'node:fs/promises';
import readWorkbook from 'read-excel-file/universal';
import { MAX_COLUMNS, MAX_ROW_BYTES, type ReadingLimits } from '../reading-limits.ts';
import { findHeader, type RecognisesHeader } from './header-search.ts';
import { emptyRow, type RecordReader, type RowSink } from './record-reader.ts';
import { invalidFile, limitExceeded } from './refused-file.ts';
import { ArchiveTooLargeError, repackedArchive } from './repacked-archive.ts';

/** What a cell of a sheet is; numbers stay as they are written in the file. */
type SheetCell = string | boolean | Date | NumberText | null;

class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

interface Sheet {
  readonly name: string;
  readonly rows: readonly (readonly string[])[];
}

/**
 * A workbook of Excel (Office Open XML, ECMA-376): of its sheets the one whose header is recognised best, else the
 * first that has rows. A row's line is its number in the sheet.
 * @throws RefusedFileError `unreadable_workbook`, `empty_file`, `too_many_columns`, `file_limit_exceeded`
 */
export async function openWorkbook(
  path: string,
  recognises: RecognisesHeader,
  limits: Pick<ReadingLimits, 'unfoldedBytes'>,
): Promise<RecordReader> {
  const sheets = await sheetsOf(path, limits);
  const [best] = sheets
    .map((sheet) => ({ ...sheet, ...findHeader(sheet.rows, recognises) }))
    .filter(({ rows }) => rows.some((row) => row.some((cell) => cell !== '')))
    .toSorted((a, b) => b.certainty - a.certainty);
  if (best === undefined) throw invalidFile('empty_file', 'No sheet of the workbook has rows');
  const header = best.names;
  if (header.length > MAX_COLUMNS)
    throw invalidFile('too_many_columns', `The header has more than the ${MAX_COLUMNS} columns that are allowed`);
  const rows = best.rows.slice(best.at + 1);
  return {
    header,
    hasPlainNumbers: false,
    namesColumns: false,
    read(_used, sink) {
      takeRows(rows, best.at + 2, sink);
      return Promise.resolve();
    },
  };
}

async function sheetsOf(path: string, { unfoldedBytes }: Pick<ReadingLimits, 'unfoldedBytes'>): Promise<Sheet[]> {
  const archive = await readFile(path);
  const maxBytes = unfoldedBytes.free + unfoldedBytes.perByte * archive.length;
  try {
    // The library alone would read from front to back, and without a bound.
    const { buffer } = repackedArchive(archive, isMarkup, maxBytes);
    const sheets = await readWorkbook(buffer, { parseNumber: (text: string) => new NumberText(text) });
    return sheets.map(({ sheet, data }) => ({
      name: sheet,
      rows: data.map((row) => (row as readonly SheetCell[]).map(textOf)),
    }));
  } catch (error) {
    if (error instanceof ArchiveTooLargeError)
      throw limitExceeded('its compressed content unfolds too far', `${maxBytes} bytes`);
    // Whatever goes wrong inside of the file's structure is the file's fault.
    throw invalidFile('unreadable_workbook', 'The file is not a readable workbook. Save it again as .xlsx, or as CSV.');
  }
}

/** Pictures and what else a workbook may hold are nothing to read. */
const isMarkup = (name: string): boolean => name.endsWith('.xml') || name.endsWith('.rels');

function textOf(cell: SheetCell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'string') return cell.trim();
  if (cell instanceof Date) return timeText(cell);
  if (cell instanceof NumberText) return numberText(cell.text);
  return String(cell);
}

/** What the clock on the wall says: sheets know no zones. */
function timeText(time: Date): string {
  if (Number.isNaN(time.getTime())) return '';
  // Fractions of a day are seldom whole seconds.
  const text = new Date(Math.round(time.getTime() / 1000) * 1000).toISOString();
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 19).replace('T', ' ');
}

/** A number has a point before its decimals, also where three of them look like thousands. */
const numberText = (text: string): string => (/\.\d{3}$/.test(text) ? `${text}0` : text);

function takeRows(rows: readonly (readonly string[])[], firstLine: number, sink: RowSink): void {
  const bytes = Buffer.allocUnsafe(MAX_ROW_BYTES);
  const row = { ...emptyRow(MAX_COLUMNS + 1), data: bytes };
  for (const [index, cells] of rows.entries()) {
    if (cells.every((cell) => cell === '')) continue;
    let at = 0;
    row.count = Math.min(cells.length, MAX_COLUMNS + 1);
    const isTooLong = cells.reduce((sum, cell) => sum + 3 * cell.length, 0) > MAX_ROW_BYTES;
    if (isTooLong) {
      sink.unreadable(firstLine + index, 'row_too_long');
      continue;
    }
    for (let place = 0; place < row.count; place += 1) {
      row.starts[place] = at;
      at += bytes.write(cells[place]!, at);
      row.ends[place] = at;
    }
    sink.row(row, firstLine + index);
  }
  sink.pause();
}
