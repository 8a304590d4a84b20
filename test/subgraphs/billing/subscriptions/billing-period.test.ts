import fc from 'fast-check';
import { monthAfter } from '../../../../subgraphs/billing/subscriptions/billing-period.ts';

const starts = (anchor: string, months: number): string[] =>
  Array.from({ length: months }, (_, place) => monthAfter(new Date(anchor), place).start.toISOString());

test('a month begins on the day of the first, or on the last day of a shorter one, and no later one is shorter', () => {
  expect(starts('2027-11-30T22:15:00.250Z', 5)).toEqual([
    '2027-11-30T22:15:00.250Z',
    '2027-12-30T22:15:00.250Z',
    '2028-01-30T22:15:00.250Z',
    '2028-02-29T22:15:00.250Z',
    '2028-03-30T22:15:00.250Z',
  ]);
  expect(starts('2026-01-31T00:00:00.000Z', 4).map((start) => start.slice(0, 10))).toEqual([
    '2026-01-31',
    '2026-02-28',
    '2026-03-31',
    '2026-04-30',
  ]);
});

test('months follow each other without a gap, whenever the first began', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
      fc.nat(60),
      (anchor, months) => {
        const [period, next] = [monthAfter(anchor, months), monthAfter(anchor, months + 1)];
        expect(next.start).toEqual(period.end);
        const days = (period.end.getTime() - period.start.getTime()) / 86_400_000;
        expect(days).toBeGreaterThanOrEqual(28);
        expect(days).toBeLessThanOrEqual(31);
      },
    ),
  );
});
