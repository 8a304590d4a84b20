import type { RowForm } from './record-layout.ts';
import type { RowCells } from './record-reader.ts';
import type { RecordShape } from './record-tables.ts';
import { textAt } from './row-tests.ts';

/** Rows that are shown as they stand and as they are read. */
const SHOWN_ROWS = 20;
/** Ids that are looked for among those that are stored. */
const KEPT_IDS = 2_000;
const LONGEST_SHOWN = 200;

/** What a look at a file shows of it, before anything is stored. */
export interface SampledRows {
  readonly rows: readonly {
    readonly line: number;
    readonly raw: Readonly<Record<string, string>>;
    readonly read: Readonly<Record<string, string>>;
  }[];
  /** Of the rows of the file, the first users that are unlike. */
  readonly userIds: readonly string[];
  /** The users of the first orders, one for each. */
  readonly buyers: readonly string[];
}

/** Collects the first rows of a file, and the ids by which it may belong to what is stored. */
export class ReadSample {
  readonly #shape: RecordShape;
  readonly #header: readonly string[];
  readonly #rows: SampledRows['rows'][number][] = [];
  readonly #userIds = new Set<string>();
  readonly #buyers: string[] = [];

  constructor(shape: RecordShape, header: readonly string[]) {
    this.#shape = shape;
    this.#header = header;
  }

  /** Takes the row that has just been read, in this form. */
  take(cells: RowCells, line: number, { columns }: RowForm): void {
    const user = this.#shape.cells.find(({ column }) => column === 'user_id')?.cell.shown() ?? '';
    if (user !== '' && this.#userIds.size < KEPT_IDS) this.#userIds.add(user);
    const isOrder = this.#shape.tableOf().name === 'conversions';
    if (user !== '' && isOrder && this.#buyers.length < KEPT_IDS) this.#buyers.push(user);
    if (this.#rows.length === SHOWN_ROWS) return;
    const raw = Object.fromEntries(
      this.#header.map((name, place) => [name, textAt(cells, place).slice(0, LONGEST_SHOWN).toWellFormed()]),
    );
    const read = Object.fromEntries(
      this.#shape.cells.flatMap(({ column, cell }) => {
        const shown = columns.has(column) ? cell.shown() : '';
        return shown === '' ? [] : [[column, shown.slice(0, LONGEST_SHOWN).toWellFormed()]];
      }),
    );
    this.#rows.push({ line, raw, read });
  }

  shown(): SampledRows {
    return { rows: this.#rows, userIds: [...this.#userIds], buyers: this.#buyers };
  }
}
