/** The columns with windows that hold the present moment, the constant first: a list without gaps, and where each column stands in it. */
export class OpenWindows {
  readonly column: Uint16Array;
  /** How many windows of the column are open. */
  readonly level: Float64Array;
  size = 1;
  /** 0 = not in the list. */
  readonly #place: Uint16Array;

  constructor(columns: number) {
    this.column = new Uint16Array(columns);
    this.level = new Float64Array(columns);
    this.#place = new Uint16Array(columns);
    this.level[0] = 1;
  }

  /** @param column not the constant, which is always open */
  open(column: number): void {
    const place = this.#place[column]!;
    if (place !== 0) {
      this.level[place]! += 1;
      return;
    }
    this.#place[column] = this.size;
    this.column[this.size] = column;
    this.level[this.size++] = 1;
  }

  /** @param column one with an open window */
  close(column: number): void {
    const place = this.#place[column]!;
    if (this.level[place]! > 1) {
      this.level[place]! -= 1;
      return;
    }
    this.#place[column] = 0;
    const last = --this.size;
    if (place === last) return;
    this.column[place] = this.column[last]!;
    this.level[place] = this.level[last]!;
    this.#place[this.column[place]!] = place;
  }

  /** Adds weight · level to the columns' entries of a row, which begins at `row`. */
  addLevels(rows: Float64Array, row: number, weight: number): void {
    const { column, level, size } = this;
    for (let p = 0; p < size; p++) rows[row + column[p]!]! += weight * level[p]!;
  }

  /** Adds weight · level · levelᵀ to a square matrix, which begins at `at`: each pair once, in either order. */
  addProducts(matrices: Float64Array, at: number, weight: number): void {
    const { column, level, size } = this;
    const columns = column.length;
    for (let p = 0; p < size; p++) {
      const row = at + column[p]! * columns;
      const share = weight * level[p]!;
      for (let q = 0; q <= p; q++) matrices[row + column[q]!]! += share * level[q]!;
    }
  }

  /** Only the constant stays. */
  clear(): void {
    for (let place = 1; place < this.size; place++) this.#place[this.column[place]!] = 0;
    this.size = 1;
  }
}
