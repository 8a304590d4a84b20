import * as fc from 'fast-check';
import { z } from 'zod';
import { NOUNS } from '../../../schema/contract/contract.ts';
import type { Row } from '../../../schema/contract/noun.ts';
import { namedDay } from '../../../schema/contract/terms.ts';

/** The members in a shape that take days, by their place in it. */
function daysIn(schema: unknown, place: string): (readonly [place: string, day: z.ZodType])[] {
  if (!(schema instanceof z.ZodType)) return [];
  if (schema instanceof z.ZodISODate) return [[place, schema]];
  const inner = schema instanceof z.ZodObject ? schema.shape : schema.def;
  return Object.entries(inner as object).flatMap(([name, member]: [string, unknown]) =>
    (Array.isArray(member) ? member : [member]).flatMap((each) => daysIn(each, `${place}/${name}`)),
  );
}

/** Places of a row's input and filter that take the year 0. */
const takingYearZero = (id: string, { input, filter, named }: Pick<Row, 'input' | 'filter' | 'named'>): string[] =>
  [input, filter, named]
    .flatMap((shape) => daysIn(shape, id))
    .filter(([, day]) => day.safeParse('0000-01-01').success)
    .map(([place]) => `${place} takes the year 0, which PostgreSQL does not have: make it of namedDay`);

describe('a day that a caller names', () => {
  test('is a day that PostgreSQL has', () => {
    const moments = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(moments, (moment) => {
        expect(namedDay.safeParse(moment.toISOString().slice(0, 10)).success).toBe(true);
      }),
    );
    for (const none of ['0000-01-01', '0000-12-31', '2026-02-30', '2026-1-1', '+10000-01-01', ''])
      expect([none, namedDay.safeParse(none).success]).toEqual([none, false]);
  });

  test('is made of namedDay in every row of the contract', () => {
    expect(
      NOUNS.flatMap(({ operations }) =>
        Object.entries<Row>(operations).flatMap(([id, row]) => takingYearZero(id, row)),
      ),
    ).toEqual([]);
    const input = z.object({ on: z.iso.date().optional(), also: z.array(z.tuple([z.iso.date()])), well: namedDay });
    expect(takingYearZero('note', { input })).toEqual(
      ['note/on/innerType', 'note/also/element/items'].map(
        (place) => `${place} takes the year 0, which PostgreSQL does not have: make it of namedDay`,
      ),
    );
  });
});
