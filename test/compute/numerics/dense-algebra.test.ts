import * as fc from 'fast-check';
import { solveDense } from '../../../compute/numerics/linear-solve.ts';
import { spectralFunction, symmetricEigen } from '../../../compute/numerics/symmetric-eigen.ts';
import { relativeDifference } from '../closeness.ts';

const entry = fc.integer({ min: -1_000, max: 1_000 }).map((n) => n / 100);
const squareAndRight = fc.integer({ min: 1, max: 9 }).chain((size) =>
  fc.record({ matrix: fc.array(entry, { minLength: size * size, maxLength: size * size }), right: fc.array(entry, { minLength: size, maxLength: size }) }),
);

describe('dense solve', () => {
  test('A·x gives back b', () => {
    fc.assert(
      fc.property(squareAndRight, ({ matrix, right }) => {
        const size = right.length;
        // A dominant diagonal keeps the problem well conditioned; its rows are turned so that pivoting has work to do.
        const dominant = matrix.map((value, i) => (Math.floor(i / size) === (i + 1) % size ? value + 200 : value));
        const x = solveDense(Float64Array.from(dominant), Float64Array.from(right))!;
        const product = right.map((_, row) => x.reduce((sum, value, k) => sum + dominant[row * size + k]! * value, 0));
        expect(relativeDifference(product, right, 1e-9)).toBeLessThan(1e-9);
      }),
    );
  });

  test('a singular matrix is recognised', () => {
    expect(solveDense(Float64Array.of(1, 2, 2, 4), Float64Array.of(1, 2))).toBeNull();
    expect(solveDense(new Float64Array(4), new Float64Array(2))).toBeNull();
  });
});

describe('symmetric eigen decomposition', () => {
  test('V·D·Vᵀ gives back the matrix, and V is orthogonal', () => {
    fc.assert(
      fc.property(squareAndRight, ({ matrix, right }) => {
        const size = right.length;
        const symmetric = Float64Array.from({ length: size * size }, (_, i) => matrix[i]! + matrix[(i % size) * size + Math.floor(i / size)]!);
        const eigen = symmetricEigen(symmetric, size);
        expect(relativeDifference(spectralFunction(eigen, (value) => value), symmetric, 1e-9)).toBeLessThan(1e-9);
        const identity = Float64Array.from({ length: size * size }, (_, i) => Number(i % (size + 1) === 0));
        expect(relativeDifference(spectralFunction(eigen, () => 1), identity, 1e-12)).toBeLessThan(1e-12);
      }),
    );
  });

  test('a known spectrum: the path graph of five nodes', () => {
    const size = 5;
    const matrix = Float64Array.from({ length: 25 }, (_, i) => Number(Math.abs(Math.floor(i / size) - (i % size)) === 1));
    const expected = Array.from({ length: size }, (_, k) => 2 * Math.cos(((k + 1) * Math.PI) / (size + 1))).toSorted((a, b) => a - b);
    expect(relativeDifference(symmetricEigen(matrix, size).values.toSorted(), expected)).toBeLessThan(1e-14);
  });
});
