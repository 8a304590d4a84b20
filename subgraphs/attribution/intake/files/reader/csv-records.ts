import { readCsvHead, type Delimiter } from './csv-head.ts';
import { CsvScanner } from './csv-scanner.ts';
import type { RecognisesHeader } from './header-search.ts';
import { MAX_ROW_BYTES } from '../reading-limits.ts';
import type { RecordReader, RowCells, RowSink } from './record-reader.ts';
import { Window } from './window.ts';

/** @throws RefusedFileError when the file has no header that could be read */
export async function openCsv(
  content: AsyncIterable<Uint8Array>,
  delimiter: Delimiter | 'auto',
  recognises: RecognisesHeader,
): Promise<RecordReader> {
  const window = new Window(content, MAX_ROW_BYTES);
  return new CsvRecords(window, await readCsvHead(window, delimiter, recognises));
}

/** The rows of a CSV file behind its header. */
class CsvRecords implements RecordReader {
  readonly header: readonly string[];
  readonly hasPlainNumbers = false;
  readonly namesColumns = false;
  readonly #window: Window;
  readonly #scanner: CsvScanner;
  readonly #firstLine: number;

  constructor(window: Window, head: Awaited<ReturnType<typeof readCsvHead>>) {
    this.#window = window;
    this.header = head.names;
    this.#firstLine = head.firstLine;
    this.#scanner = new CsvScanner(head.delimiter);
  }

  async read(_used: ReadonlySet<number>, sink: RowSink): Promise<void> {
    const window = this.#window;
    const scanner = this.#scanner;
    let line = this.#firstLine;
    for (;;) {
      if (!window.isFull) {
        await window.fill();
        sink.pause();
      }
      scanner.position = window.position;
      while (window.left > 0 && window.isFull) {
        const found = scanner.next(window.data, window.end, window.isLast);
        if (found !== 'row') sink.unreadable(line, found === 'long' ? 'row_too_long' : 'malformed_row');
        else if (!isBlank(scanner.cells)) sink.row(scanner.cells, line);
        if (found === 'long') {
          await window.skipLine();
          scanner.position = window.position;
          line += 1;
        } else {
          window.position = scanner.position;
          line += scanner.lines;
        }
      }
      if (window.isLast) return;
    }
  }
}

/** A row of empty cells is no row. */
function isBlank({ starts, ends, count, hasExcess }: RowCells): boolean {
  for (let cell = 0; cell < count; cell += 1) if (starts[cell] !== ends[cell]) return false;
  return !hasExcess;
}
