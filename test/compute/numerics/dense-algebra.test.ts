import * as fc from 'fast-check';
import { cholesky, solveCholesky } from '../../../compute/numerics/cholesky.ts';
import { solveDense } from '../../../compute/numerics/linear-solve.ts';
import { seededRandom } from '../../../compute/numerics/random.ts';
import { spectralFunction, symmetricEigen } from '../../../compute/numerics/symmetric-eigen.ts';
import { relativeDifference } from '../closeness.ts';

const entry = fc.integer({ min: -1_000, max: 1_000 }).map((n) => n / 100);
const squareAndRight = fc.integer({ min: 1, max: 9 }).chain((size) =>
  fc.record({
    matrix: fc.array(entry, { minLength: size * size, maxLength: size * size }),
    right: fc.array(entry, { minLength: size, maxLength: size }),
  }),
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

describe('Cholesky factorisation', () => {
  test('A·x gives back b, from the lower triangle alone', () => {
    fc.assert(
      fc.property(squareAndRight, ({ matrix, right }) => {
        const size = right.length;
        const rowOf = (i: number): number[] => matrix.slice(i * size, (i + 1) * size);
        // M·Mᵀ is never negative; the diagonal keeps it away from 0.
        const definite = Float64Array.from({ length: size * size }, (_, e) => {
          const [i, j] = [Math.floor(e / size), e % size];
          return rowOf(i).reduce((sum, each, k) => sum + each * rowOf(j)[k]!, 0) + (i === j ? 50 : 0);
        });
        const lower = definite.map((each, e) => (e % size > Math.floor(e / size) ? Number.NaN : each));
        const x = solveCholesky(cholesky(lower, size)!, Float64Array.from(right));
        const product = right.map((_, row) => x.reduce((sum, value, k) => sum + definite[row * size + k]! * value, 0));
        expect(relativeDifference(product, right, 1e-9)).toBeLessThan(1e-9);
      }),
    );
  });

  test('what is not positive definite is recognised', () => {
    expect(cholesky(Float64Array.of(1, 2, 2, 4), 2)).toBeNull();
    expect(cholesky(Float64Array.of(1, 2, 2, 1), 2)).toBeNull();
    expect(cholesky(new Float64Array(4), 2)).toBeNull();
  });
});

describe('symmetric eigen decomposition', () => {
  test('V·D·Vᵀ gives back the matrix, and V is orthogonal', () => {
    fc.assert(
      fc.property(squareAndRight, ({ matrix, right }) => {
        const size = right.length;
        const symmetric = Float64Array.from(
          { length: size * size },
          (_, i) => matrix[i]! + matrix[(i % size) * size + Math.floor(i / size)]!,
        );
        const eigen = symmetricEigen(symmetric, size);
        expect(
          relativeDifference(
            spectralFunction(eigen, (value) => value),
            symmetric,
            1e-9,
          ),
        ).toBeLessThan(1e-9);
        const identity = Float64Array.from({ length: size * size }, (_, i) => Number(i % (size + 1) === 0));
        expect(
          relativeDifference(
            spectralFunction(eigen, () => 1),
            identity,
            1e-12,
          ),
        ).toBeLessThan(1e-12);
      }),
    );
  });

  test('a known spectrum: the path graph of five nodes', () => {
    const size = 5;
    const matrix = Float64Array.from({ length: 25 }, (_, i) =>
      Number(Math.abs(Math.floor(i / size) - (i % size)) === 1),
    );
    const expected = Array.from({ length: size }, (_, k) => 2 * Math.cos(((k + 1) * Math.PI) / (size + 1))).toSorted(
      (a, b) => a - b,
    );
    expect(relativeDifference(symmetricEigen(matrix, size).values.toSorted(), expected)).toBeLessThan(1e-14);
  });

  test('correlations of channels of which some repeat others: eigenvalues of 0 to rounding of the largest', () => {
    const [size, observations, distinct] = [150, 400, 60];
    const random = seededRandom(11);
    const base = Array.from({ length: distinct }, () =>
      Array.from({ length: observations }, () => Number(random() < 0.1) - 0.1),
    );
    const columns = Array.from({ length: size }, (_, c) => base[c % distinct]!);
    const squares = columns.map((column) => Math.sqrt(column.reduce((sum, each) => sum + each * each, 0)));
    const matrix = Float64Array.from({ length: size * size }, (_, e) => {
      const [i, j] = [Math.floor(e / size), e % size];
      return columns[i]!.reduce((sum, each, k) => sum + each * columns[j]![k]!, 0) / squares[i]! / squares[j]!;
    });
    let looks = 0;
    const eigen = symmetricEigen(matrix, size, () => (looks += 1));
    const values = eigen.values.toSorted();
    const largest = values.at(-1)!;
    expect(Math.max(...values.slice(0, size - distinct).map(Math.abs))).toBeLessThan(1e-14 * size * largest);
    expect(values[size - distinct]!).toBeGreaterThan(1e-3);
    expect(
      relativeDifference(
        spectralFunction(eigen, (value) => value),
        matrix,
        1e-6,
      ),
    ).toBeLessThan(1e-8);
    // A few steps per eigenvalue: the work grows with the cube of the size, not with it and the accuracy.
    expect(looks).toBeGreaterThan(size);
    expect(looks).toBeLessThan(8 * size);
  });

  test.each([
    ['nothing but zeros', new Float64Array(9), [0, 0, 0]],
    ['diagonal', Float64Array.of(3, 0, 0, 0, -1, 0, 0, 0, 2), [-1, 2, 3]],
    ['blocks', Float64Array.of(1, 0, 1, 0, 5, 0, 1, 0, 1), [0, 2, 5]],
    ['one channel', Float64Array.of(7), [7]],
  ])('%s', (_, matrix, expected) => {
    const values = symmetricEigen(matrix, Math.sqrt(matrix.length)).values.toSorted();
    expected.forEach((value, i) => expect(values[i]).toBeCloseTo(value, 14));
  });
});
