/** A = V·diag(values)·Vᵀ; eigenvector k is column k of `vectors` (row-major). Not sorted. */
export interface Eigen {
  readonly values: Float64Array;
  readonly vectors: Float64Array;
}

const MOST_SWEEPS = 60;

/** Turns rows or columns p and q (entries `step` apart) by the rotation (c, s). */
function rotate(a: Float64Array, size: number, p: number, q: number, step: number, c: number, s: number): void {
  for (let k = 0, i = p, j = q; k < size; k++, i += step, j += step) {
    const x = a[i]!;
    const y = a[j]!;
    a[i] = c * x - s * y;
    a[j] = s * x + c * y;
  }
}

/**
 * Eigen decomposition of a symmetric matrix (size × size, row-major; left as it is) by cyclic Jacobi rotations
 * (Golub & Van Loan, Matrix Computations, 8.5): slower than tridiagonalisation, but small eigenvalues come out accurate.
 * `tick` runs once per row of a sweep.
 */
export function symmetricEigen(matrix: Float64Array, size: number, tick?: () => void): Eigen {
  const a = matrix.slice();
  const vectors = new Float64Array(size * size);
  for (let i = 0; i < size; i++) vectors[i * size + i] = 1;
  let scale = 0;
  for (let i = 0; i < a.length; i++) scale += a[i]! * a[i]!;
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let offDiagonal = 0;
    for (let p = 0; p < size; p++) for (let q = p + 1; q < size; q++) offDiagonal += a[p * size + q]! * a[p * size + q]!;
    if (offDiagonal <= scale * 1e-34) break;
    for (let p = 0; p < size - 1; p++) {
      tick?.();
      for (let q = p + 1; q < size; q++) {
        const apq = a[p * size + q]!;
        if (apq === 0) continue;
        const theta = (a[q * size + q]! - a[p * size + p]!) / (2 * apq);
        const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        const s = t * c;
        rotate(a, size, p, q, size, c, s);
        rotate(a, size, p * size, q * size, 1, c, s);
        a[p * size + q] = 0;
        a[q * size + p] = 0;
        rotate(vectors, size, p, q, size, c, s);
      }
    }
  }
  const values = new Float64Array(size);
  for (let i = 0; i < size; i++) values[i] = a[i * size + i]!;
  return { values, vectors };
}

/** V·f(D)·Vᵀ: a function of a symmetric matrix, from its eigen decomposition. `tick` runs once per eigenvalue. */
export function spectralFunction({ values, vectors }: Eigen, of: (value: number) => number, tick?: () => void): Float64Array {
  const size = values.length;
  const result = new Float64Array(size * size);
  for (let k = 0; k < size; k++) {
    tick?.();
    const factor = of(values[k]!);
    if (factor === 0) continue;
    for (let i = 0; i < size; i++) {
      const left = factor * vectors[i * size + k]!;
      for (let j = 0; j < size; j++) result[i * size + j]! += left * vectors[j * size + k]!;
    }
  }
  return result;
}
