import * as fc from 'fast-check';
import { adStockOf, touchCalendar } from '../../../compute/models/prav/ad-stock.ts';
import { DAY_S } from '../../../compute/run-options.ts';
import { eventTable, wholeRange } from '../reference-data.ts';

const HORIZON_DAYS = 14;

/** One channel, one touch at the start of each of these days; the range ends after 100 days, with the data. */
function touchesOn(days: readonly number[], rangeStartDay = 0) {
  const table = eventTable(
    days.map((day) => ({ user: 'u', timeS: day * DAY_S, channel: 'display', conversion: false, value: 0 })),
  );
  return touchCalendar(
    table,
    wholeRange(table, { rangeStartS: rangeStartDay * DAY_S, rangeEndS: 100 * DAY_S, observedUntilS: 100 * DAY_S }),
  );
}

describe('geometric ad-stock', () => {
  test('an effect that halves every week goes on to do so: a third more than within 14 days', () => {
    const { ratio, beyond } = adStockOf(0.5, 0, touchesOn([10]), Float64Array.of(1), HORIZON_DAYS);
    expect(ratio).toBe(0.5);
    // 1 + 1/2 within the horizon; 1/4 + 1/8 + … = 1/2 beyond it.
    expect(beyond).toBeCloseTo(2 / 1.5, 12);
  });

  test('what is not beyond chance is not carried on', () => {
    expect(adStockOf(0.3, 0.4, touchesOn([10]), Float64Array.of(1), HORIZON_DAYS)).toMatchObject({
      ratio: 0,
      beyond: 1,
    });
    expect(adStockOf(-0.2, 0, touchesOn([10]), Float64Array.of(1), HORIZON_DAYS)).toMatchObject({
      ratio: 0,
      beyond: 1,
    });
  });

  test('a touch counts by the part of its effect that falls into the range', () => {
    const reachAt = (ratio: number, day: number, rangeStartDay = 0) =>
      adStockOf(ratio, 0, touchesOn([day], rangeStartDay), Float64Array.of(1), HORIZON_DAYS).reach[0]!;
    // Whole days are counted at their middle.
    expect(reachAt(0.5, 90)).toBeCloseTo(1 - 0.5 ** (10.5 / 7), 12);
    expect(reachAt(0.5, 0)).toBeCloseTo(1, 3);
    expect(reachAt(0.5, 40, 50)).toBeCloseTo(0.5 ** (10.5 / 7), 12);
    expect(reachAt(0, 90)).toBe(1);
  });

  test('holds for any ratio: no touch counts more than once, and a longer effect reaches less of the range', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 20 }),
        fc.double({ min: 0.01, max: 0.24, noNaN: true }),
        (days, ratio) => {
          const calendar = touchesOn(days);
          const reach = (at: number) =>
            adStockOf(at, 0, calendar, Float64Array.of(days.length), HORIZON_DAYS).reach[0]!;
          expect(reach(ratio)).toBeLessThanOrEqual(1);
          expect(reach(ratio * 2)).toBeLessThanOrEqual(reach(ratio));
        },
      ),
    );
  });
});
