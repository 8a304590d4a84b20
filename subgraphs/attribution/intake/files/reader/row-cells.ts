import type { RowCells } from './record-reader.ts';

/** Where a value of a row is found: in a column, or the same in all rows. */
export type CellSource = PlacedSource | { readonly constant: Uint8Array };

export interface PlacedSource {
  readonly place: number;
  /** What of the cell counts. */
  readonly part?: CellPart;
  /** Where the value stands in rows that have nothing here. */
  readonly otherwise?: CellSource;
}

/** Takes of a cell that was looked up what counts. */
export type CellPart = (cell: Located) => void;

/** A cell of a row that was looked up: `data[start .. end)`, or `NOT_TEXT` as its end. Reused by each look. */
export class Located {
  data: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;

  /** The first of the places of a value where something stands. */
  at(source: CellSource, cells: RowCells): this {
    for (let each = source; ; each = each.otherwise) {
      if ('constant' in each) return this.put(each.constant);
      this.#look(each, cells);
      if (each.otherwise === undefined || this.end > this.start) return this;
    }
  }

  put(data: Uint8Array): this {
    this.data = data;
    this.start = 0;
    this.end = data.length;
    return this;
  }

  #look({ place, part }: PlacedSource, cells: RowCells): void {
    const isThere = place < cells.count;
    this.data = cells.data;
    this.start = isThere ? cells.starts[place]! : 0;
    this.end = isThere ? cells.ends[place]! : 0;
    if (part !== undefined && this.end > this.start) part(this);
  }
}
