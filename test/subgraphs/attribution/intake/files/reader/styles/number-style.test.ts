import * as fc from 'fast-check';
import {
  NumberEvidence,
  PLAIN_BYTES,
  WrittenNumber,
  type DecimalSign,
} from '../../../../../../../subgraphs/attribution/intake/files/reader/styles/number-style.ts';

const SEPARATORS = {
  point: [',', ' ', '\u00A0', '\u202F', "'", '’', ''],
  comma: ['.', ' ', '\u00A0', '\u202F', "'", ''],
};

interface Style {
  readonly decimal: DecimalSign;
  readonly separator: string;
  readonly around: readonly [string, string];
  readonly negative: 'minus' | 'brackets';
}

const style: fc.Arbitrary<Style> = fc.constantFrom<DecimalSign>('point', 'comma').chain((decimal) =>
  fc.record({
    decimal: fc.constant(decimal),
    separator: fc.constantFrom(...SEPARATORS[decimal]),
    around: fc.constantFrom<readonly [string, string]>(
      ['', ''],
      ['$', ''],
      ['', ' €'],
      ['US$ ', ''],
      ['', '\u00A0CHF'],
    ),
    negative: fc.constantFrom<Style['negative']>('minus', 'brackets'),
  }),
);

function written(cents: number, { decimal, separator, around, negative }: Style): string {
  const [whole, decimals] = (Math.abs(cents) / 100).toFixed(2).split('.') as [string, string];
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, separator);
  const amount = `${around[0]}${grouped}${decimal === 'point' ? '.' : ','}${decimals}${around[1]}`;
  if (cents >= 0) return amount;
  return negative === 'minus' ? `-${amount}` : `(${amount})`;
}

function readBack(text: string, decimal: DecimalSign): number {
  const [number, plain] = [new WrittenNumber(), Buffer.alloc(PLAIN_BYTES)];
  const data = Buffer.from(text);
  number.take(data, 0, data.length);
  return Number(plain.toString('latin1', 0, number.writePlain(decimal, plain)));
}

const amounts = fc.array(fc.integer({ min: -1e13, max: 1e13 }), { minLength: 1, maxLength: 20 });

test('a column of amounts settles its sign by itself, and reads back the same', () => {
  fc.assert(
    fc.property(style, amounts, (how, cents) => {
      const texts = cents.map((amount) => written(amount, how));
      const evidence = new NumberEvidence();
      for (const text of texts) evidence.add(Buffer.from(text), 0, Buffer.byteLength(text));
      expect(evidence.decimalSign()).toBe(how.decimal);
      expect(evidence.readableShare).toBe(1);
      expect(texts.map((text) => readBack(text, how.decimal))).toEqual(cents.map((amount) => amount / 100));
    }),
  );
});

test('whatever stands in a cell, it is a number or none', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."0123456789.,-+() €%eE\u00A0_'"), maxLength: 70 }), (text) => {
      const evidence = new NumberEvidence();
      evidence.add(Buffer.from(text), 0, Buffer.byteLength(text));
      for (const decimal of ['point', 'comma'] as const) expect(typeof readBack(text, decimal)).toBe('number');
    }),
    { numRuns: 2_000 },
  );
});
