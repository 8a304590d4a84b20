import * as fc from 'fast-check';
import { claimedPart } from '../../../compute/models/prav/claim.ts';

/**
 * The part claimed of a total, where selection is worth `priced` in all: two paid channels, one of them without pull,
 * and an unpaid one between.
 */
function claimed(total: number, priced: number): number {
  const estimate = {
    kappa: 0.5,
    pull: Float64Array.of(2, 9, -4),
    incrementalRevenue: Float64Array.of(total / 4, 1e6, (total * 3) / 4),
  };
  return claimedPart(estimate, Float64Array.of(priced, 1e6, 1e6), Uint8Array.of(0, 1, 0));
}

test(
  'a total is claimed by how it compares with a quarter of what selection is worth: nothing below half of that, ' +
    'everything from all of it',
  () => {
    expect([20, 49, 50, 75, 100, 700].map((total) => claimed(total, 400))).toEqual([0, 0, 0, 0.5, 1, 1]);
  },
);

test('where there is nothing to claim, or no price to be wrong, nothing is cut', () => {
  expect([claimed(0, 400), claimed(5, 0)]).toEqual([1, 1]);
});

test('the more a total is, and the less selection, the more of it is claimed', () => {
  const amount = fc.double({ min: 0.1, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(amount, amount, fc.double({ min: 1, max: 10, noNaN: true }), (total, priced, more) => {
      const part = claimed(total, priced);
      expect(part).toBeGreaterThanOrEqual(0);
      expect(part).toBeLessThanOrEqual(1);
      expect(claimed(total * more, priced)).toBeGreaterThanOrEqual(part - 1e-9);
      expect(claimed(total, priced * more)).toBeLessThanOrEqual(part + 1e-9);
    }),
  );
});
