import * as fc from 'fast-check';
import { DecimalReader } from '../../../../../../subgraphs/attribution/intake/files/reader/decimals.ts';
import { threadTimeMs } from '../../../../../thread-time.ts';

/** The number times ten to the scale, or the fault. */
function read(text: string, scale: number): bigint | string {
  const data = Buffer.from(`9${text}9`);
  const reader = new DecimalReader(scale);
  return reader.read(data, 1, data.length - 1) ?? BigInt(reader.value);
}

test.each([
  ['0', 0n],
  ['-0', 0n],
  ['12', 120_000n],
  ['12.', 120_000n],
  ['.5', 5_000n],
  ['+1.5', 15_000n],
  ['-1.23456', -12_345n],
  ['0001.5', 15_000n],
  ['1e3', 10_000_000n],
  ['1.5E-2', 150n],
  ['1e-9', 0n],
  ['12e+1', 1_200_000n],
  ['999999999999.9999', 9_999_999_999_999_999n],
  ['1000000000000', 10_000_000_000_000_000n],
])('%s is read', (text, expected) => {
  expect(read(text, 4)).toBe(expected);
});

test.each([
  '',
  '-',
  '.',
  '+.',
  'abc',
  '1.234.567',
  '12.345.678.901',
  '1..5',
  '1,5',
  '1.258,00',
  '1 000',
  '0x10',
  '1e',
  'e5',
  '1e5.5',
  '1e5e5',
  '--1',
  '1-',
  'NaN',
  'Infinity',
  '١',
])('%j is no number', (text) => {
  expect(read(text, 4)).toBe('not_a_number');
});

test('a megabyte of digits with half an exponent is refused at once', () => {
  const startedMs = threadTimeMs();
  expect(read(`${'1'.repeat(1_000_000)}e5x`, 4)).toBe('not_a_number');
  expect(threadTimeMs() - startedMs).toBeLessThan(1_000);
});

test.each(['1000000000000.0001', '1000000000001', '99999999999999', '-1e13', '1e30', '9'.repeat(400)])(
  '%s is too large',
  (text) => {
    expect(read(text, 4)).toBe('amount_out_of_range');
  },
);

test('every amount up to the largest is exact, in both scales', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 12n) + 1n, max: 10n ** 12n - 1n }),
      fc.integer({ min: 0, max: 999_999 }),
      fc.constantFrom(4, 6),
      (integer, fraction, scale) => {
        const digits = String(fraction).padStart(6, '0');
        const sign = integer < 0n ? -1n : 1n;
        const expected = integer * 10n ** BigInt(scale) + sign * BigInt(digits.slice(0, scale));
        expect(read(`${integer}.${digits}`, scale)).toBe(expected);
      },
    ),
  );
});
