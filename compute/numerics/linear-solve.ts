import { dot } from './dot.ts';

/** A square matrix in row-major order, factored in place as P·A = L·U (Doolittle with partial pivoting). */
export interface Factorisation {
  readonly size: number;
  readonly lu: Float64Array;
  /** row order after pivoting */
  readonly order: Int32Array;
}

/**
 * Factors `matrix` (size × size, row-major) in place; null where it is singular to working precision. `tick` runs once
 * per column.
 */
export function factorise(matrix: Float64Array, size: number, tick?: () => void): Factorisation | null {
  const order = Int32Array.from({ length: size }, (_, i) => i);
  let largest = 0;
  for (let i = 0; i < matrix.length; i++) largest = Math.max(largest, Math.abs(matrix[i]!));
  const smallestPivot = largest * size * Number.EPSILON;
  for (let column = 0; column < size; column++) {
    tick?.();
    let pivotRow = column;
    for (let row = column + 1; row < size; row++) {
      if (Math.abs(matrix[row * size + column]!) > Math.abs(matrix[pivotRow * size + column]!)) pivotRow = row;
    }
    const pivot = matrix[pivotRow * size + column]!;
    if (!(Math.abs(pivot) > smallestPivot)) return null;
    if (pivotRow !== column) {
      for (let k = 0; k < size; k++) {
        const held = matrix[column * size + k]!;
        matrix[column * size + k] = matrix[pivotRow * size + k]!;
        matrix[pivotRow * size + k] = held;
      }
      const held = order[column]!;
      order[column] = order[pivotRow]!;
      order[pivotRow] = held;
    }
    for (let row = column + 1; row < size; row++) {
      const factor = matrix[row * size + column]! / pivot;
      matrix[row * size + column] = factor;
      if (factor === 0) continue;
      const end = (row + 1) * size;
      let above = column * size + column;
      for (let at = row * size + column + 1; at < end; at++) matrix[at]! -= factor * matrix[++above]!;
    }
  }
  return { size, lu: matrix, order };
}

/** Writes the solution of A·x = b into `x`; `x` and `b` must be different arrays. */
export function solveInto({ size, lu, order }: Factorisation, b: Float64Array, x: Float64Array): void {
  // Before the first entry of b that is not 0 there is nothing to do: half of the work for the columns of an inverse.
  let first = size;
  for (let row = 0; row < size; row++) {
    const right = b[order[row]!]!;
    if (first === size && right !== 0) first = row;
    x[row] = first < row ? right - dot(lu, row * size + first, x, first, row - first) : right;
  }
  for (let row = size - 1; row >= 0; row--) {
    x[row] = (x[row]! - dot(lu, row * size + row + 1, x, row + 1, size - row - 1)) / lu[row * size + row]!;
  }
}

/** Solves A·x = b for a small dense system, leaving A and b as they are; null where A is singular. */
export function solveDense(matrix: Float64Array, b: Float64Array): Float64Array | null {
  const factored = factorise(matrix.slice(), b.length);
  if (factored === null) return null;
  const x = new Float64Array(b.length);
  solveInto(factored, b, x);
  return x;
}
