import type { CellSource } from './record-layout.ts';
import { NOT_TEXT, type RowCells } from './record-reader.ts';

/** A cell of a row that was looked up: `data[start .. end)`, or {@link NOT_TEXT} as its end. Reused by each look. */
export class Located {
  data: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;

  at(source: CellSource, cells: RowCells): this {
    if ('constant' in source) {
      this.data = source.constant;
      this.start = 0;
      this.end = source.constant.length;
      return this;
    }
    const isThere = source.place < cells.count;
    this.data = cells.data;
    this.start = isThere ? cells.starts[source.place]! : 0;
    this.end = isThere ? cells.ends[source.place]! : 0;
    if (source.mark !== undefined && this.end !== NOT_TEXT) this.#cut(source.mark);
    return this;
  }

  /** Without the mark, all of the cell stands before it. */
  #cut({ bytes, side }: { readonly bytes: Uint8Array; readonly side: 'before' | 'behind' }): void {
    const at = Buffer.from(this.data.buffer, this.data.byteOffset + this.start, this.end - this.start).indexOf(bytes);
    if (side === 'before') this.end = at < 0 ? this.end : this.start + at;
    else this.start = at < 0 ? this.end : this.start + at + bytes.length;
  }
}
