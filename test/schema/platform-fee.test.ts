import fc from 'fast-check';
import { platformFeeCents } from '../../schema/platform-fee.ts';

/** Five per cent in exact rational arithmetic: twentieths of a cent, rounded half up. */
function oracle(deltaRCents: bigint): bigint {
  const whole = deltaRCents / 20n;
  const rounded = deltaRCents % 20n >= 10n ? whole + 1n : whole;
  return rounded < 10n ? 10n : rounded;
}

describe('platform fee', () => {
  test.each([
    [0, 10],
    [1, 10],
    [199, 10],
    [209, 10],
    [210, 11],
    [1_872_970, 93_649],
  ])('a recovered revenue of %i cents costs %i cents', (deltaRCents, feeCents) => {
    expect(platformFeeCents(deltaRCents)).toBe(feeCents);
  });

  test('follows the rational oracle for any amount', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (cents) => BigInt(platformFeeCents(cents)) === oracle(BigInt(cents))),
      { numRuns: 20_000 },
    );
  });

  test.each([-1, 0.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1])('%p is no amount', (cents) => {
    expect(() => platformFeeCents(cents)).toThrow(RangeError);
  });
});
