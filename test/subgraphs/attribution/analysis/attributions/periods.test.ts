import fc from 'fast-check';
import { calendarOf } from '../../../../../subgraphs/attribution/analysis/attributions/periods.ts';

const DAY_S = 86_400;
const rangeOf = (start: string, end: string) => ({
  rangeStartS: Date.parse(start) / 1000,
  rangeEndS: Date.parse(end) / 1000 + DAY_S,
});

describe('the calendar of a range', () => {
  test('days are never partial, leap days and the nights when clocks change included', () => {
    const { periods, table } = calendarOf(rangeOf('2024-02-28', '2024-04-01'), 'daily');
    expect(periods).toHaveLength(2 + 31 + 1);
    expect(periods.slice(0, 3).map(({ start }) => start)).toEqual(['2024-02-28', '2024-02-29', '2024-03-01']);
    expect(periods.some(({ partial }) => partial)).toBe(false);
    expect([...table.ofDay]).toEqual([...periods.keys()]);
  });

  test('weeks start on Monday, and those that the range cuts are partial', () => {
    // 2026-01-01 is a Thursday, 2026-01-31 a Saturday.
    const { periods, table } = calendarOf(rangeOf('2026-01-01', '2026-01-31'), 'weekly');
    expect(periods).toEqual([
      { start: '2025-12-29', partial: true },
      { start: '2026-01-05', partial: false },
      { start: '2026-01-12', partial: false },
      { start: '2026-01-19', partial: false },
      { start: '2026-01-26', partial: true },
    ]);
    expect(
      [...table.ofDay].map((period, day) => [day + 1, period]).filter(([day]) => [1, 4, 5, 11, 12, 31].includes(day!)),
    ).toEqual([
      [1, 0],
      [4, 0],
      [5, 1],
      [11, 1],
      [12, 2],
      [31, 4],
    ]);
    expect(calendarOf(rangeOf('2026-01-05', '2026-01-11'), 'weekly').periods).toEqual([
      { start: '2026-01-05', partial: false },
    ]);
  });

  test('months start on the first, and one that lacks a day is partial', () => {
    expect(calendarOf(rangeOf('2025-12-31', '2026-02-28'), 'monthly').periods).toEqual([
      { start: '2025-12-01', partial: true },
      { start: '2026-01-01', partial: false },
      { start: '2026-02-01', partial: false },
    ]);
    expect(calendarOf(rangeOf('2024-02-01', '2024-02-28'), 'monthly').periods).toEqual([
      { start: '2024-02-01', partial: true },
    ]);
  });

  test('every day lies in its period, periods come in order, and at most the first and last are partial', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 30_000 }),
        fc.integer({ min: 1, max: 800 }),
        fc.constantFrom('daily', 'weekly', 'monthly'),
        (firstDay, days, granularity) => {
          const { periods, table } = calendarOf(
            { rangeStartS: firstDay * DAY_S, rangeEndS: (firstDay + days) * DAY_S },
            granularity,
          );
          expect([table.count, table.ofDay.length]).toEqual([periods.length, days]);
          const starts = periods.map(({ start }) => Date.parse(start) / 1000);
          expect(starts).toEqual(starts.toSorted((a, b) => a - b));
          for (let day = 0; day < days; day += 1) {
            const at = (firstDay + day) * DAY_S;
            const period = table.ofDay[day]!;
            expect(starts[period]! <= at && (period + 1 === periods.length || at < starts[period + 1]!)).toBe(true);
          }
          expect(periods.slice(1, -1).some(({ partial }) => partial)).toBe(false);
        },
      ),
    );
  });
});
