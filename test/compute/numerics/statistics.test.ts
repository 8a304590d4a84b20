import * as fc from 'fast-check';
import { jackknifeError } from '../../../compute/numerics/jackknife.ts';
import { normalQuantile, twoSidedZ } from '../../../compute/numerics/normal-quantile.ts';
import { seededRandom, shuffle } from '../../../compute/numerics/random.ts';
import { simplexLeastSquares } from '../../../compute/numerics/simplex-least-squares.ts';
import { twoSidedT } from '../../../compute/numerics/student-quantile.ts';
import { relativeDifference, total } from '../closeness.ts';

describe('normal quantile', () => {
  // Published values (Wichura 1988, algorithm AS 241, and standard tables).
  test.each([
    [0.975, 1.959963984540054],
    [0.995, 2.5758293035489004],
    [0.25, -0.6744897501960817],
    [0.001, -3.090232306167813],
    [1e-20, -9.26234008979841],
  ])('Φ⁻¹(%d)', (probability, z) => {
    expect(relativeDifference([normalQuantile(probability)], [z])).toBeLessThan(1e-12);
  });
  test('two-sided', () => expect(twoSidedZ(0.9)).toBeCloseTo(1.6448536269514722, 12));
  test('the median is 0, and nothing lies beyond certainty', () => {
    expect(normalQuantile(0.5)).toBe(0);
    for (const wrong of [0, 1, Number.NaN]) expect(() => normalQuantile(wrong)).toThrow(RangeError);
  });
});

describe("Student's quantile", () => {
  // Published tables: t for 9, 24 and 49 degrees of freedom, both tails together.
  test.each([
    [0.95, 9, 2.2622],
    [0.99, 9, 3.2498],
    [0.9, 24, 1.7109],
    [0.95, 49, 2.0096],
    [0.99, 49, 2.68],
  ])('%d within ± of %d degrees of freedom', (level, degrees, t) => {
    expect(twoSidedT(level, degrees)).toBeCloseTo(t, 3);
  });
  test('becomes the normal one', () => expect(twoSidedT(0.95, 1e9)).toBeCloseTo(twoSidedZ(0.95), 8));
});

describe('delete-a-group jackknife', () => {
  test('of a mean is its textbook standard error', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -99, max: 99 }), { minLength: 2, maxLength: 30 }), (sample) => {
        const n = sample.length;
        const mean = total(sample) / n;
        const replicates = Float64Array.from(sample, (x) => (total(sample) - x) / (n - 1));
        const expected = Math.sqrt(total(sample.map((x) => (x - mean) ** 2)) / (n - 1) / n);
        expect(jackknifeError(replicates, n)).toBeCloseTo(expected, 9);
      }),
    );
  });
  test('reads one column of a table', () => expect(jackknifeError(Float64Array.of(1, 9, 3, 9), 2, 0, 2)).toBe(1));
});

describe('least squares over the simplex', () => {
  const problem = fc.integer({ min: 1, max: 5 }).chain((size) =>
    fc.record({
      rows: fc.array(fc.array(fc.integer({ min: -20, max: 20 }), { minLength: size, maxLength: size }), {
        minLength: 6,
        maxLength: 12,
      }),
      target: fc.array(fc.integer({ min: -30, max: 30 }), { minLength: 12, maxLength: 12 }),
    }),
  );

  test('weights lie on the simplex and no shift between two of them improves the fit', () => {
    fc.assert(
      fc.property(problem, ({ rows, target }) => {
        const size = rows[0]!.length;
        const gram = Float64Array.from({ length: size * size }, (_, e) =>
          total(rows.map((row) => row[Math.floor(e / size)]! * row[e % size]!)),
        );
        const projection = Float64Array.from({ length: size }, (_, m) =>
          total(rows.map((row, r) => row[m]! * target[r]!)),
        );
        const w = simplexLeastSquares({ gram, projection });
        expect(total(w)).toBeCloseTo(1, 9);
        expect(Math.min(...w)).toBeGreaterThanOrEqual(0);
        // Karush–Kuhn–Tucker: the gradient is smallest, and equal, where there is weight.
        const gradient = Array.from(
          w,
          (_, m) => total(Array.from(w, (weight, n) => gram[m * size + n]! * weight)) - projection[m]!,
        );
        const least = Math.min(...gradient);
        w.forEach(
          (weight, m) =>
            weight > 1e-9 &&
            expect(gradient[m]! - least).toBeLessThan(1e-6 * (1 + Math.max(...gradient.map(Math.abs)))),
        );
      }),
      { numRuns: 300 },
    );
  });

  test('of two identical candidates the first is taken', () => {
    expect([...simplexLeastSquares({ gram: Float64Array.of(4, 4, 4, 4), projection: Float64Array.of(3, 3) })]).toEqual([
      1, 0,
    ]);
  });
});

const take = (seed: number): number[] => Array.from({ length: 20 }, seededRandom(seed));

describe('seeded random numbers', () => {
  test('the same seed, the same numbers; another seed, others', () => {
    expect(take(5)).toEqual(take(5));
    expect(take(5)).not.toEqual(take(6));
  });

  test('uniform: every one of twenty bins gets its share of 200,000', () => {
    const random = seededRandom(1);
    const bins = new Float64Array(20);
    for (let i = 0; i < 200_000; i++) bins[Math.floor(random() * 20)]! += 1;
    const chiSquare = total(bins.map((count) => (count - 10_000) ** 2 / 10_000));
    // 99.99 % quantile of χ² with 19 degrees of freedom.
    expect(chiSquare).toBeLessThan(50.8);
  });

  test('a shuffle keeps everything and puts each item everywhere', () => {
    const random = seededRandom(2);
    const firstPlaces = new Float64Array(4);
    for (let i = 0; i < 8_000; i++) {
      const items = Int32Array.of(0, 1, 2, 3);
      shuffle(items, random);
      expect([...items].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
      firstPlaces[items[0]!]! += 1;
    }
    firstPlaces.forEach((count) => expect(Math.abs(count - 2_000)).toBeLessThan(200));
  });
});
