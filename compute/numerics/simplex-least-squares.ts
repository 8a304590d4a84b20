import { solveDense } from './linear-solve.ts';

/** Gram form of a least-squares problem: minimise wᵀ·gram·w − 2·wᵀ·projection over the simplex. */
export interface SimplexProblem {
  /** size × size, row-major */
  readonly gram: Float64Array;
  readonly projection: Float64Array;
}

/** The function that is minimised, at w. */
export function simplexObjective({ gram, projection }: SimplexProblem, w: Float64Array): number {
  let value = 0;
  for (let i = 0; i < w.length; i++) {
    value -= 2 * w[i]! * projection[i]!;
    for (let j = 0; j < w.length; j++) value += w[i]! * w[j]! * gram[i * w.length + j]!;
  }
  return value;
}

/** Equality-constrained minimum on one face (KKT system of the face); null where it is not unique. */
function minimumOnFace({ gram, projection }: SimplexProblem, face: readonly number[]): Float64Array | null {
  const free = face.length;
  const side = free + 1;
  const matrix = new Float64Array(side * side);
  const right = new Float64Array(side);
  const size = projection.length;
  // The multiplier's rows are scaled to the problem, so that the singularity test sees one magnitude.
  const scale = face.reduce((most, i) => Math.max(most, gram[i * size + i]!), 0) || 1;
  face.forEach((i, row) => {
    face.forEach((j, column) => (matrix[row * side + column] = gram[i * size + j]!));
    matrix[row * side + free] = scale;
    matrix[free * side + row] = scale;
    right[row] = projection[i]!;
  });
  right[free] = scale;
  const solution = solveDense(matrix, right);
  if (solution === null) return null;
  const w = new Float64Array(size);
  face.forEach((i, row) => (w[i] = solution[row]!));
  return w;
}

/**
 * Weights ≥ 0 with sum 1 that minimise the problem, exactly: the optimum is the equality-constrained minimum of the
 * face it lies on, so every face is tried (2^size − 1 of them: meant for a handful of candidates). Where several
 * weights are equally good, the smaller face that comes first wins.
 */
export function simplexLeastSquares(problem: SimplexProblem): Float64Array {
  const size = problem.projection.length;
  if (size > 12) throw new RangeError(`${size} candidates are more than the 12 that faces are enumerated for`);
  const faces = Array.from({ length: 2 ** size - 1 }, (_, code) =>
    Array.from({ length: size }, (_, i) => i).filter((i) => ((code + 1) >> i) & 1),
  );
  faces.sort((left, right) => left.length - right.length);
  let best: Float64Array = new Float64Array(size);
  let least = Infinity;
  for (const face of faces) {
    const w = minimumOnFace(problem, face);
    if (w === null || w.some((weight) => !(weight >= 0))) continue;
    const value = simplexObjective(problem, w);
    if (value < least - Math.abs(least === Infinity ? 0 : least) * 1e-12) {
      least = value;
      best = w;
    }
  }
  return best;
}
