import * as fc from 'fast-check';
import { KeyIndex } from '../../../compute/numerics/key-index.ts';
import { largestRemainder, toCents } from '../../../compute/numerics/largest-remainder.ts';
import { total } from '../closeness.ts';

describe('largest remainder', () => {
  test('sums to the total and moves no amount by a cent or more', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1e7, max: 1e7, noNaN: true }), { minLength: 1, maxLength: 12 }),
        (amounts) => {
          const sum = Math.round(total(amounts)) + 0; // no −0
          const rounded = largestRemainder(Float64Array.from(amounts), sum);
          expect(total(rounded)).toBe(sum);
          rounded.forEach((cents, i) => {
            expect(Number.isInteger(cents)).toBe(true);
            expect(Math.abs(cents - amounts[i]!)).toBeLessThan(1 + 1e-6);
          });
        },
      ),
    );
  });

  test('gives the cents left over to the largest fractions, ties to the first, and nothing to zeros', () => {
    expect([...largestRemainder(Float64Array.of(0, 1.5, 1.5, 2.2, 0.8), 6)]).toEqual([0, 2, 1, 2, 1]);
    expect([...largestRemainder(Float64Array.of(0, 0.4, 0.4), 2)]).toEqual([0, 1, 1]);
    expect([...largestRemainder(Float64Array.of(5.5, 5, 5.2), 14)]).toEqual([5, 4, 5]);
    expect([...largestRemainder(new Float64Array(2), 3)]).toEqual([2, 1]);
  });

  test('cents are rounded half away from zero, as written in decimals', () => {
    expect([1.005, -1.005, 8952.22, 0, 1e-9, 0.285, 1e9].map(toCents)).toEqual([101, -101, 895_222, 0, 0, 29, 1e11]);
  });
});

describe('key index', () => {
  test.each([
    ['plain table', 5_000],
    ['hash table', 2 ** 52],
  ])('%s numbers keys in order of appearance', (_, universe) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4_999 }), { maxLength: 20_000, size: 'max' }), (draws) => {
        const spread = Math.floor(universe / 5_000);
        const index = new KeyIndex(universe);
        const expected = new Map<number, number>();
        for (const draw of draws) {
          const key = draw * spread;
          if (!expected.has(key)) expected.set(key, expected.size);
          expect(index.numberOf(key)).toBe(expected.get(key));
        }
        expect(index.size).toBe(expected.size);
      }),
      { numRuns: 5 },
    );
  });
});
