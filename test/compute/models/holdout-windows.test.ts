import * as fc from 'fast-check';
import { holdoutWindows, TEST_DAYS } from '../../../compute/models/experiment-design/holdout-windows.ts';
import { DAY_S } from '../../../compute/run-options.ts';
import { runTask } from '../../../compute/tasks.ts';
import { eventRows } from '../event-rows.ts';
import { eventTable, type EventRow } from '../reference-data.ts';

const range = (days: number) => ({ rangeStartS: 0, rangeEndS: days * DAY_S });
const windowsOf = (rows: readonly EventRow[], days: number) =>
  holdoutWindows(eventTable(rows), range(days), () => undefined).windows;

/** Σ over people of squared revenue in `[from, to)` days. */
function squaresWithin(rows: readonly EventRow[], from: number, to: number): number {
  const spent = new Map<string, number>();
  for (const { user, timeS, conversion, value } of rows)
    if (conversion && timeS >= from * DAY_S && timeS < to * DAY_S) spent.set(user, (spent.get(user) ?? 0) + value);
  return [...spent.values()].reduce((sum, amount) => sum + amount ** 2, 0);
}

const order = (user: string, day: number, value: number): EventRow => ({
  user,
  timeS: day * DAY_S,
  channel: '',
  conversion: true,
  value,
});
const touch = (user: string): EventRow => ({ user, timeS: 0, channel: 'email', conversion: false, value: 0 });

describe('what a holdout of some weeks would stand on', () => {
  test('the mean over windows side by side, counted back from the end', () => {
    fc.assert(
      fc.property(eventRows, fc.integer({ min: 14, max: 60 }), (rows, days) => {
        const found = windowsOf(rows, days);
        for (const length of TEST_DAYS.filter((each) => each <= days)) {
          const count = Math.floor(days / length);
          const parts = Array.from({ length: count }, (_, k) =>
            squaresWithin(rows, days - (k + 1) * length, days - k * length),
          );
          const expected = parts.reduce((sum, part) => sum + part, 0) / count;
          expect(found.find((window) => window.days === length)!.revenueSquares).toBeCloseTo(expected, 4);
        }
      }),
    );
  });

  test('several orders of one person count as one sum; of several people, as several', () => {
    const one = [touch('a'), order('a', 50, 30), order('a', 52, 40)];
    const two = [touch('a'), order('a', 50, 30), touch('b'), order('b', 52, 40)];
    expect(windowsOf(one, 56).find(({ days }) => days === 56)!.revenueSquares).toBe(4900);
    expect(windowsOf(two, 56).find(({ days }) => days === 56)!.revenueSquares).toBe(2500);
  });

  test('longer than the range: once-only buyers add up by days, regulars by their square', () => {
    const strangers = Array.from({ length: 28 }, (_, day) => [touch(`u${day}`), order(`u${day}`, day, 10)]).flat();
    expect(windowsOf(strangers, 28).find(({ days }) => days === 56)!.revenueSquares).toBeCloseTo(2 * 2800, 6);
    const regular = [touch('a'), ...Array.from({ length: 28 }, (_, day) => order('a', day, 10))];
    expect(windowsOf(regular, 28).find(({ days }) => days === 84)!.revenueSquares).toBeCloseTo(9 * 280 ** 2, 4);
  });

  test('a range says nothing of tests of more than four times its length', () => {
    const rows = [touch('a'), order('a', 1, 10)];
    expect(windowsOf(rows, 7).map(({ days }) => days)).toEqual([14, 28]);
    expect(windowsOf(rows, 1)).toEqual([]);
    expect(windowsOf(rows, 120).map(({ days }) => days)).toEqual([...TEST_DAYS]);
  });

  test('as a task, it refuses a broken table', () => {
    const table = { ...eventTable([touch('a'), order('a', 1, 10)]), timeS: new Float64Array(1) };
    expect(runTask('holdout_windows', { events: table, options: range(28) }, () => undefined)).toMatchObject({
      ok: false,
      code: 'invalid_input',
    });
  });
});
