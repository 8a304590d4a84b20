import fc from 'fast-check';
import { platformFeeCents } from '../../schema/platform-fee.ts';
import { sized } from '../run-length.ts';

const CASES = sized({ short: 10_000, long: 1_000_000 });
const FLOOR = 10n;

/** Five per cent as a decimal fraction, rounded half up by its digits: shares no arithmetic with the code. */
function oracle(deltaRCents: bigint): bigint {
  const digits = String(deltaRCents * 5n).padStart(3, '0');
  const [whole, hundredths] = [digits.slice(0, -2), digits.slice(-2)];
  const rounded = BigInt(whole) + (hundredths >= '50' ? 1n : 0n);
  return rounded < FLOOR ? FLOOR : rounded;
}

describe('platform fee', () => {
  test.each([
    [0n, 10n],
    [1n, 10n],
    [199n, 10n],
    [209n, 10n],
    [210n, 11n],
    [1_872_970n, 93_649n],
    [9_007_199_254_740_991n, 450_359_962_737_050n],
  ])('a recovered revenue of %i cents costs %i cents', (deltaRCents, feeCents) => {
    expect(platformFeeCents(deltaRCents)).toBe(feeCents);
  });

  test(`follows the rational oracle in ${CASES} random cases, of any size and about each half cent`, () => {
    const halves = fc.tuple(fc.bigInt(0n, 10n ** 14n), fc.bigInt(-1n, 1n)).map(([n, by]) => 20n * n + 10n + by);
    const any = fc.oneof(fc.bigInt(0n, 1_000n), fc.bigInt(0n, 2n ** 53n), halves);
    fc.assert(
      fc.property(any, (cents) => platformFeeCents(cents) === oracle(cents)),
      { numRuns: CASES },
    );
  });

  test('less than nothing is no amount', () => {
    expect(() => platformFeeCents(-1n)).toThrow(RangeError);
  });
});
