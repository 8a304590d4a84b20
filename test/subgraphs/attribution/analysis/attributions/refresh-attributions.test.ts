import fc from 'fast-check';
import { hasMoved } from '../../../../../subgraphs/attribution/analysis/attributions/refresh-attributions.ts';

describe('whether revenue has moved far enough', () => {
  test.each([
    [100_000, 100_099, false],
    [100_000, 100_100, true],
    [100_000, 99_901, false],
    [100_000, 99_900, true],
    [-100_000, -100_100, true],
    [0, 0, false],
    [0, 1, true],
    [1, 1, false],
  ])('%d cents, then %d: %s', (before, now, expected) => expect(hasMoved(before, now)).toBe(expected));

  test('a thousandth, exactly, for amounts of any size', () => {
    const cents = fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 });
    fc.assert(
      fc.property(cents, cents, (before, now) => {
        const [change, whole] = [BigInt(Math.abs(now - before)), BigInt(Math.abs(before))];
        expect(hasMoved(before, now)).toBe(change > 0n && change * 1000n >= whole);
      }),
    );
  });
});
