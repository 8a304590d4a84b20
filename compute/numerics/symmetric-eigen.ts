import { dot } from './dot.ts';

/** A = Vᵀ·diag(values)·V; eigenvector k is row k of `vectors` (row-major). Not sorted. */
export interface Eigen {
  readonly values: Float64Array;
  readonly vectors: Float64Array;
}

/** A = Qᵀ·T·Q with T tridiagonal. */
interface Tridiagonal {
  readonly diagonal: Float64Array;
  /** entry i couples rows i and i + 1; the last is 0 */
  readonly beside: Float64Array;
  /** Q, row-major */
  readonly basis: Float64Array;
}

/** Hardly ever are more than two steps needed for an eigenvalue. */
const MOST_STEPS = 60;

/**
 * Householder tridiagonalisation (Golub & Van Loan, Matrix Computations, 8.3.1): reflection k clears column k below the
 * entry beside the diagonal. Only the lower triangle is read and kept up. `tick` runs once per column.
 */
function tridiagonalise(matrix: Float64Array, size: number, tick?: () => void): Tridiagonal {
  const a = matrix.slice();
  const diagonal = new Float64Array(size);
  const beside = new Float64Array(size);
  /** row k: vector of reflection k, I − v·vᵀ */
  const reflections = new Float64Array(size * size);
  const image = new Float64Array(size);
  for (let k = 0; k < size; k++) {
    tick?.();
    diagonal[k] = a[k * size + k]!;
    if (k + 1 === size) break;
    const v = reflections.subarray(k * size, (k + 1) * size);
    beside[k] = reflect(a, size, k, v);
    if (v[k + 1] === 0) continue;
    image.fill(0);
    for (let i = k + 1; i < size; i++) {
      const row = i * size;
      const vi = v[i]!;
      let sum = 0;
      for (let j = k + 1; j < i; j++) {
        sum += a[row + j]! * v[j]!;
        image[j]! += a[row + j]! * vi;
      }
      image[i]! += sum + a[row + i]! * vi;
    }
    let half = 0;
    for (let i = k + 1; i < size; i++) half += image[i]! * v[i]!;
    half /= 2;
    for (let i = k + 1; i < size; i++) image[i]! -= half * v[i]!;
    for (let i = k + 1; i < size; i++) {
      const row = i * size;
      const vi = v[i]!;
      const wi = image[i]!;
      for (let j = k + 1; j <= i; j++) a[row + j]! -= vi * image[j]! + wi * v[j]!;
    }
  }
  return { diagonal, beside, basis: productOf(reflections, size, tick) };
}

/**
 * Writes into `v` the vector, of length √2, of the reflection that turns column k below the diagonal into a multiple of
 * its first entry, which is returned; zeros where nothing is to be turned.
 */
function reflect(a: Float64Array, size: number, k: number, v: Float64Array): number {
  let below = 0;
  for (let i = k + 2; i < size; i++) below += a[i * size + k]! * a[i * size + k]!;
  const first = a[(k + 1) * size + k]!;
  if (below === 0) return first;
  const length = Math.sqrt(first * first + below);
  // Away from the first entry, so that nothing cancels.
  const turned = first > 0 ? -length : length;
  const scale = 1 / Math.sqrt(length * (length + Math.abs(first)));
  v[k + 1] = (first - turned) * scale;
  for (let i = k + 2; i < size; i++) v[i] = a[i * size + k]! * scale;
  return turned;
}

/**
 * The product of the reflections, the last one first (Golub & Van Loan 5.1.6, backward accumulation): reflection k
 * moves what lies behind k only.
 */
function productOf(reflections: Float64Array, size: number, tick?: () => void): Float64Array {
  const product = new Float64Array(size * size);
  for (let i = 0; i < size; i++) product[i * size + i] = 1;
  for (let k = size - 3; k >= 0; k--) {
    tick?.();
    const v = reflections.subarray(k * size, (k + 1) * size);
    if (v[k + 1] === 0) continue;
    for (let i = k + 1; i < size; i++) {
      const row = i * size;
      const along = dot(product, row + k + 1, v, k + 1, size - k - 1);
      for (let j = k + 1; j < size; j++) product[row + j]! -= along * v[j]!;
    }
  }
  return product;
}

/** Turns rows p and p + 1 by the rotation (c, s). */
function rotate(rows: Float64Array, size: number, p: number, c: number, s: number): void {
  for (let i = p * size, j = i + size, end = j; i < end; i++, j++) {
    const x = rows[i]!;
    const y = rows[j]!;
    rows[i] = c * x - s * y;
    rows[j] = s * x + c * y;
  }
}

/**
 * Eigen decomposition of a symmetric matrix (size × size, row-major; left as it is): Householder tridiagonalisation,
 * then QL steps with implicit Wilkinson shifts (Golub & Van Loan 8.3; Bowdler, Martin, Reinsch & Wilkinson 1968,
 * `tql2`). Eigenvalues are right to rounding of the largest. `tick` runs once per row of each part.
 */
export function symmetricEigen(matrix: Float64Array, size: number, tick?: () => void): Eigen {
  const { diagonal: d, beside: e, basis } = tridiagonalise(matrix, size, tick);
  let scale = 0;
  for (let i = 0; i < size; i++) scale = Math.max(scale, Math.abs(d[i]!) + Math.abs(e[i]!));
  const negligible = scale * Number.EPSILON;
  for (let first = 0; first < size; first++) {
    for (let step = 0; step < MOST_STEPS; step++) {
      tick?.();
      let last = first;
      while (last + 1 < size && Math.abs(e[last]!) > negligible) last++;
      if (last === first) break;
      qlStep(d, e, basis, size, first, last);
    }
  }
  return { values: d, vectors: basis };
}

/** One QL step on the block first … last: chases the bulge of the shift up from its lower end. */
function qlStep(
  d: Float64Array,
  e: Float64Array,
  basis: Float64Array,
  size: number,
  first: number,
  last: number,
): void {
  const half = (d[first + 1]! - d[first]!) / (2 * e[first]!);
  const shift = d[first]! - e[first]! / (half + (half < 0 ? -1 : 1) * Math.hypot(half, 1));
  let g = d[last]! - shift;
  let [s, c, moved] = [1, 1, 0];
  for (let i = last - 1; i >= first; i--) {
    const f = s * e[i]!;
    const b = c * e[i]!;
    const r = Math.sqrt(f * f + g * g);
    e[i + 1] = r;
    if (r === 0) {
      // The block falls apart here.
      d[i + 1]! -= moved;
      e[last] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1]! - moved;
    const turned = (d[i]! - g) * s + 2 * c * b;
    moved = s * turned;
    d[i + 1] = g + moved;
    g = c * turned - b;
    rotate(basis, size, i, c, s);
  }
  d[first]! -= moved;
  e[first] = g;
  e[last] = 0;
}

/** Vᵀ·f(D)·V: a function of a symmetric matrix, from its eigen decomposition. `tick` runs once per eigenvalue. */
export function spectralFunction(
  { values, vectors }: Eigen,
  of: (value: number) => number,
  tick?: () => void,
): Float64Array {
  const size = values.length;
  const result = new Float64Array(size * size);
  for (let k = 0; k < size; k++) {
    tick?.();
    const factor = of(values[k]!);
    if (factor === 0) continue;
    const vector = vectors.subarray(k * size, (k + 1) * size);
    for (let i = 0; i < size; i++) {
      const row = i * size;
      const left = factor * vector[i]!;
      for (let j = 0; j <= i; j++) result[row + j]! += left * vector[j]!;
    }
  }
  for (let i = 0; i < size; i++) for (let j = 0; j < i; j++) result[j * size + i] = result[i * size + j]!;
  return result;
}
