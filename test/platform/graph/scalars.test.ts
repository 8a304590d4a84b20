import fc from 'fast-check';
import { Kind } from 'graphql';
import { CentsScalar, DateScalar, DateTimeScalar, UrlScalar } from '../../../platform/graph/scalars.ts';

describe('scalars', () => {
  test('Cents are exact over the whole range of safe integers', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (cents) => CentsScalar.parseValue(CentsScalar.serialize(cents)) === cents),
    );
    for (const bad of [1.5, 2 ** 53, 'many', Number.NaN, Number.POSITIVE_INFINITY, {}])
      expect(() => CentsScalar.serialize(bad)).toThrow();
  });

  test('DateTime is RFC 3339 text outside and a Date inside', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date('2200-01-01T00:00:00Z'), noInvalidDate: true }),
        (moment) => {
          const text = DateTimeScalar.serialize(moment);
          expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
          expect(DateTimeScalar.parseValue(text)).toEqual(moment);
        },
      ),
    );
    for (const bad of ['2026-02-30T00:00:00Z', '2026-01-01', 'yesterday'])
      expect(() => DateTimeScalar.parseValue(bad)).toThrow();
    // Beyond what the database knows.
    for (const bad of ['0000-12-31T23:59:59Z', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00']) {
      expect(() => DateTimeScalar.parseValue(bad)).toThrow();
      expect(() => DateTimeScalar.parseLiteral({ kind: Kind.STRING, value: bad })).toThrow();
    }
    expect(DateTimeScalar.parseLiteral({ kind: Kind.STRING, value: '0001-01-01T00:00:00Z' })).toEqual(
      new Date('0001-01-01T00:00:00Z'),
    );
  });

  test('Date is a day that exists', () => {
    expect(DateScalar.parseValue('2024-02-29')).toBe('2024-02-29');
    for (const bad of ['2026-02-29', '2026-1-1', '2026-01-01T00:00:00Z', 20_260_101])
      expect(() => DateScalar.parseValue(bad)).toThrow();
  });

  test('URL is absolute', () => {
    expect(String(UrlScalar.parseValue('https://shop.example/a?b=c'))).toBe('https://shop.example/a?b=c');
    expect(() => UrlScalar.parseValue('/relative')).toThrow();
  });
});
