import * as fc from 'fast-check';
import type { BreakdownResult, SegmentCredits } from '../../../compute/models/breakdown/breakdown-result.ts';
import type { PeriodTable } from '../../../compute/models/breakdown/period-segments.ts';
import { NO_CHANNEL, type EventTable } from '../../../compute/journey-tables.ts';
import { DAY_S } from '../../../compute/run-options.ts';
import { relativeDifference, total } from '../closeness.ts';
import { eventRows } from '../event-rows.ts';
import { eventTable, readEventRows, wholeRange } from '../reference-data.ts';
import { figures, refusal } from '../run-in-thread.ts';

const DAYS = 60;
const CAMPAIGNS = ['spring', 'summer', 'autumn'];

/** Weeks from the first day on. */
const weeks = (days: number): PeriodTable => ({
  count: Math.ceil(days / 7),
  ofDay: Uint16Array.from({ length: days }, (_, day) => Math.floor(day / 7)),
});
/** A campaign for every event, drawn from where it stands in the table. */
const slotsOf = (events: EventTable, seed: number): Uint16Array =>
  Uint16Array.from(events.timeS, (timeS, i) => (timeS / 3600 + 7 * i + seed) % (CAMPAIGNS.length + 1));

interface Cell {
  linear: number;
  lastClick: number;
  touches: number;
}

/** The definition, journey by journey, into cells by name. */
function naive(
  events: EventTable,
  options: { rangeStartS: number; rangeEndS: number; lookbackS: number },
  periods: PeriodTable,
  slots: Uint16Array,
) {
  const cells = new Map<string, Cell>();
  const cell = (kind: string, segment: number, channel: number): Cell => {
    const key = `${kind} ${segment} ${channel}`;
    if (!cells.has(key)) cells.set(key, { linear: 0, lastClick: 0, touches: 0 });
    return cells.get(key)!;
  };
  const revenue = Array.from({ length: periods.count }, () => 0);
  const unattributed = Array.from({ length: periods.count }, () => 0);
  let conversions = 0;
  for (let user = 0; user < events.userHash.length; user++) {
    let journey: number[] = [];
    for (let i = events.userStart[user]!; i < events.userStart[user + 1]!; i++) {
      const t = events.timeS[i]!;
      const period = periods.ofDay[Math.floor((t - options.rangeStartS) / DAY_S)]!;
      const inRange = t >= options.rangeStartS && t < options.rangeEndS;
      if (events.channel[i] !== NO_CHANNEL) journey.push(i);
      if (events.conversion[i] === 0) {
        if (inRange)
          for (const [kind, segment] of [
            ['period', period],
            ['campaign', slots[i]!],
          ] as const)
            cell(kind, segment, events.channel[i]!).touches += 1;
        continue;
      }
      const value = events.value[conversions++]!;
      if (inRange) {
        revenue[period]! += value;
        const reached = journey.filter((touch) => t - events.timeS[touch]! <= options.lookbackS);
        if (reached.length === 0) unattributed[period]! += value;
        for (const [place, touch] of reached.entries()) {
          for (const [kind, segment] of [
            ['period', period],
            ['campaign', slots[touch]!],
          ] as const) {
            const into = cell(kind, segment, events.channel[touch]!);
            into.linear += value / reached.length;
            if (place === reached.length - 1) into.lastClick += value;
          }
        }
      }
      journey = [];
    }
  }
  return { cells, revenue, unattributed };
}

function expectCells(kind: string, credits: SegmentCredits, channels: number, cells: ReadonlyMap<string, Cell>): void {
  for (let segment = 0; segment < credits.count; segment++) {
    for (let channel = 0; channel < channels; channel++) {
      const at = segment * channels + channel;
      const expected = cells.get(`${kind} ${segment} ${channel}`) ?? { linear: 0, lastClick: 0, touches: 0 };
      expect(credits.linear[at]).toBeCloseTo(expected.linear, 8);
      expect(credits.lastClick[at]).toBeCloseTo(expected.lastClick, 8);
      expect(credits.touches[at]).toBe(expected.touches);
    }
  }
}

describe('credit by period and campaign', () => {
  test('is the slow, obvious count of any history, range and lookback', () => {
    fc.assert(
      fc.property(
        eventRows,
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 20 }),
        fc.nat(3),
        (rows, firstDay, days, lookbackDays, seed) => {
          const events = eventTable(rows);
          const options = {
            rangeStartS: firstDay * DAY_S,
            rangeEndS: (firstDay + days) * DAY_S,
            lookbackS: lookbackDays * DAY_S,
          };
          const slot = slotsOf(events, seed);
          const result = figures('breakdown', {
            events,
            options,
            periods: weeks(days),
            campaigns: { names: CAMPAIGNS, slot },
          });
          const { cells, revenue, unattributed } = naive(events, options, weeks(days), slot);
          expectCells('period', result.periods, events.channels.length, cells);
          expectCells('campaign', result.campaigns, events.channels.length, cells);
          for (const [period, amount] of revenue.entries()) expect(result.revenue[period]).toBeCloseTo(amount, 8);
          for (const [period, amount] of unattributed.entries())
            expect(result.unattributedRevenue[period]).toBeCloseTo(amount, 8);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('sums over either to the linear and last-click credit of the comparison', () => {
    const events = eventTable(readEventRows());
    const startS = Math.floor(Math.min(...events.timeS) / DAY_S) * DAY_S;
    const options = { ...wholeRange(events), rangeStartS: startS };
    const days = (options.rangeEndS - startS) / DAY_S;
    const comparison = figures('comparison', { events, options });
    const breakdown = figures('breakdown', {
      events,
      options,
      periods: weeks(days),
      campaigns: { names: CAMPAIGNS, slot: slotsOf(events, 0) },
    });
    const sumOver = (credits: SegmentCredits, matrix: Float64Array) =>
      events.channels.map((_, channel) =>
        total(
          Array.from({ length: credits.count }, (__, segment) => matrix[segment * events.channels.length + channel]!),
        ),
      );
    for (const credits of [breakdown.periods, breakdown.campaigns] satisfies BreakdownResult['periods'][]) {
      expect(relativeDifference(sumOver(credits, credits.linear), comparison.rules.linear.value)).toBeLessThan(1e-9);
      expect(relativeDifference(sumOver(credits, credits.lastClick), comparison.rules.last.value)).toBeLessThan(1e-9);
    }
    expect(total(breakdown.revenue)).toBeCloseTo(comparison.attributed.value + comparison.unattributed.value, 6);
  });

  test('PRAV splits by what follows the touches of a segment, counted touch by touch', () => {
    const events = eventTable(readEventRows());
    const options = wholeRange(events);
    const monthOf = (timeS: number) => new Date(timeS * 1000).getUTCMonth();
    const result = figures('prav', {
      events,
      options,
      segments: [{ of: Uint16Array.from(events.timeS, monthOf), count: 4 }],
    });
    const end = result.estimationEndS;
    const count = () => ({ exposures: 0, conversions: 0, visits: 0, touches: 0 });
    const sums = Array.from({ length: 4 }, () => events.channels.map(count));
    for (let user = 0; user < events.userHash.length; user++) {
      const own = Array.from(
        { length: events.userStart[user + 1]! - events.userStart[user]! },
        (_, i) => events.userStart[user]! + i,
      );
      const after = (from: number, to: number, counts: (i: number) => boolean) =>
        own.filter((i) => counts(i) && events.timeS[i]! > from && events.timeS[i]! <= to && events.timeS[i]! <= end)
          .length;
      for (const i of own.filter((event) => events.conversion[event] === 0)) {
        const t = events.timeS[i]!;
        const sum = sums[monthOf(t)]![events.channel[i]!]!;
        sum.touches += 1;
        if (t > end - options.horizonS) continue;
        sum.exposures += 1;
        sum.conversions += after(t, t + options.horizonS, (event) => events.conversion[event] === 1);
        sum.visits += after(
          t + options.gapS,
          t + options.gapS + options.placeboWindowS,
          (event) => events.conversion[event] === 0 && options.isBaseline[events.channel[event]!] === 1,
        );
      }
    }
    const contribution = (month: number, channel: number): number => {
      const { exposures, conversions, visits, touches } = sums[month]![channel]!;
      const [lift, pull] =
        exposures >= 30
          ? [conversions / exposures - result.y0, visits / exposures - result.v0]
          : [result.lift[channel]!, result.pull[channel]!];
      return Math.max(0, lift - result.kappa * Math.max(0, pull)) * touches;
    };
    let split = 0;
    for (const channel of events.channels.keys()) {
      const contributions = [0, 1, 2, 3].map((month) => contribution(month, channel));
      const whole = total(contributions);
      if (whole === 0) continue;
      split += 1;
      for (const [month, part] of contributions.entries())
        expect(result.segments[0]!.split[month * events.channels.length + channel]).toBeCloseTo(part / whole, 10);
    }
    expect(split).toBeGreaterThan(4);
  });

  test('PRAV split over periods is PRAV split over the same segments, event by event', () => {
    const events = eventTable(readEventRows());
    const startS = Math.floor(Math.min(...events.timeS) / DAY_S) * DAY_S;
    const options = { ...wholeRange(events), rangeStartS: startS };
    const periods = weeks((options.rangeEndS - startS) / DAY_S);
    const of = Uint32Array.from(events.timeS, (timeS) => Math.floor((timeS - startS) / (7 * DAY_S)));
    const byPeriod = figures('prav', { events, options, segments: [periods, { of: slotsOf(events, 0), count: 4 }] });
    expect(byPeriod.segments[0]).toEqual(
      figures('prav', { events, options, segments: [{ of, count: periods.count }] }).segments[0],
    );
    expect(byPeriod.segments[1]).toEqual(
      figures('prav', { events, options, segments: [{ of: slotsOf(events, 0), count: 4 }] }).segments[0],
    );
    expect(byPeriod.value).toEqual(figures('prav', { events, options }).value);
  });

  test('refuses periods that do not cover the range, and campaigns of other events', () => {
    const events = eventTable(readEventRows());
    const options = { rangeStartS: 0, rangeEndS: DAYS * DAY_S, lookbackS: DAY_S };
    expect(refusal('breakdown', { events, options, periods: weeks(DAYS - 1), campaigns: null }).message).toContain(
      'one entry per day',
    );
    expect(
      refusal('breakdown', {
        events,
        options,
        periods: weeks(DAYS),
        campaigns: { names: CAMPAIGNS, slot: new Uint16Array(1) },
      }).message,
    ).toContain('one entry per event');
  });
});
