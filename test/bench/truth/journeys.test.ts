import * as fc from 'fast-check';
import { journeysOf } from '../../../bench/truth/journeys.ts';
import type { PathTable } from '../../../compute/journey-tables.ts';
import { DAY_S } from '../../../compute/run-options.ts';
import { eventRows } from '../../compute/event-rows.ts';
import {
  eventTable,
  journeysOf as obviousJourneys,
  pathTable,
  readEventRows,
  readPathRows,
} from '../../compute/reference-data.ts';

/** Path → conversions, revenue in cents, nulls. */
function countsOf({ channels, offsets, steps, conversions, value, nulls }: PathTable): Map<string, readonly number[]> {
  return new Map(
    Array.from(conversions, (count, p) => [
      Array.from(steps.subarray(offsets[p]!, offsets[p + 1]!), (step) => channels[step]!).join(' > '),
      [count, Math.round(value[p]! * 100), nulls[p]!] as const,
    ]),
  );
}

describe('journeys of an event table', () => {
  it('are the reference journeys of the event sample', () => {
    const rows = readPathRows('events.journeys.csv');
    const { paths, totals } = journeysOf(eventTable(readEventRows()), 30 * DAY_S);
    expect(countsOf(paths)).toEqual(countsOf(pathTable(rows)));
    const empty = rows.filter(({ path }) => path.length === 0);
    expect(totals.unattributedConversions).toBe(empty.reduce((sum, { conversions }) => sum + conversions, 0));
    expect(totals.unattributedRevenue).toBeCloseTo(
      empty.reduce((sum, { value }) => sum + value, 0),
      6,
    );
    expect(totals.conversions).toBe(145);
    expect(totals.journeys).toBe(
      rows.reduce((sum, { path, conversions, nulls }) => sum + (path.length === 0 ? 0 : conversions + nulls), 0),
    );
  });

  it('are those that the slow, obvious way finds, for any events and lookback', () => {
    fc.assert(
      fc.property(eventRows, fc.integer({ min: 1, max: 40 }), (rows, days) => {
        const obvious = obviousJourneys(rows, days * DAY_S);
        expect(countsOf(journeysOf(eventTable(rows), days * DAY_S).paths)).toEqual(countsOf(pathTable(obvious)));
      }),
      { numRuns: 60 },
    );
  });
});
