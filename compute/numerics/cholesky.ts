import { dot } from './dot.ts';

/** A symmetric positive definite matrix, factored as A = L·Lᵀ; L is lower triangular, row-major. */
export interface Cholesky {
  readonly size: number;
  readonly lower: Float64Array;
}

/**
 * Factors `matrix` (size × size, row-major) in place, of which only the lower triangle is read (Golub & Van Loan,
 * Matrix Computations, 4.2); null where it is not positive definite to working precision. `tick` runs once per row.
 */
export function cholesky(matrix: Float64Array, size: number, tick?: () => void): Cholesky | null {
  for (let i = 0; i < size; i++) {
    tick?.();
    const row = i * size;
    for (let j = 0; j < i; j++) {
      matrix[row + j] = (matrix[row + j]! - dot(matrix, row, matrix, j * size, j)) / matrix[j * size + j]!;
    }
    const square = matrix[row + i]! - dot(matrix, row, matrix, row, i);
    if (!(square > matrix[row + i]! * Number.EPSILON)) return null;
    matrix[row + i] = Math.sqrt(square);
  }
  return { size, lower: matrix };
}

/** The solution of A·x = b. */
export function solveCholesky({ size, lower }: Cholesky, b: Float64Array): Float64Array {
  const x = b.slice();
  for (let i = 0; i < size; i++) x[i] = (x[i]! - dot(lower, i * size, x, 0, i)) / lower[i * size + i]!;
  for (let i = size - 1; i >= 0; i--) {
    const each = x[i]! / lower[i * size + i]!;
    x[i] = each;
    for (let j = 0; j < i; j++) x[j]! -= each * lower[i * size + j]!;
  }
  return x;
}
