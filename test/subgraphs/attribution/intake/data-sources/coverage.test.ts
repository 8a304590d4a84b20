import fc from 'fast-check';
import { daysBetween, MAX_RANGE_DAYS } from '../../../../../schema/day-range.ts';
import { completenessOf, coverageOf } from '../../../../../subgraphs/attribution/intake/data-sources/coverage.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
const dayOf = (number: number): string => new Date(number * 86_400_000).toISOString().slice(0, 10);
/** From 1900 to the last day that four digits can write, most of them near now. */
const anyDay = fc
  .oneof(fc.integer({ min: -25_567, max: 2_932_896 }), fc.integer({ min: 19_500, max: 20_800 }))
  .map(dayOf);

test('whatever the days: at most 731 are missing, none outside of what rows may be dated; others have a row', () => {
  fc.assert(
    fc.property(fc.array(anyDay, { maxLength: 80 }), (some) => {
      const days = [...new Set(some)].toSorted();
      const coverage = coverageOf(days, NOW);
      const { earliest, latest, missingDays } = coverage;
      const counted = days.filter((day) => day >= '2000-01-01' && day <= '2026-11-23');
      expect([earliest, latest]).toEqual([counted[0] ?? null, counted.at(-1) ?? null]);
      expect(missingDays.length).toBeLessThanOrEqual(MAX_RANGE_DAYS);
      expect(missingDays).toEqual([...new Set(missingDays)].toSorted());
      if (earliest === null || latest === null) return;
      const span = Math.min(MAX_RANGE_DAYS, daysBetween(earliest, latest));
      const listed = counted.filter((day) => daysBetween(day, latest) <= span);
      expect(missingDays.length).toBe(span - listed.length);
      expect(missingDays.filter((day) => day < earliest || day > latest || counted.includes(day))).toEqual([]);
      expect(completenessOf(coverage)).toBeCloseTo(listed.length / span, 12);
    }),
  );
});

test('a source without a day that rows may have covers nothing', () => {
  expect(coverageOf(['1900-01-01', '1999-12-31', '2026-11-24', '9999-12-31'], NOW)).toEqual({
    earliest: null,
    latest: null,
    missingDays: [],
  });
});
