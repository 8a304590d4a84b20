import * as fc from 'fast-check';
import { COMPARISON_RULES } from '../../../compute/models/comparison/comparison-result.ts';
import type { ComparisonRule } from '../../../compute/models/comparison/comparison-result.ts';
import { DAY_S } from '../../../compute/run-options.ts';
import { columnOf, relativeDifference, total } from '../closeness.ts';
import {
  eventTable,
  journeysOf,
  pathTable,
  readEventRows,
  readPathRows,
  reference,
  wholeRange,
} from '../reference-data.ts';
import type { EventRow } from '../reference-data.ts';
import { figures } from '../run-in-thread.ts';
import { eventRows } from '../event-rows.ts';

const NOTHING = { conversions: 0, value: 0 };
const NAME_IN_REFERENCE: Record<ComparisonRule, string> = {
  last: 'last',
  first: 'first',
  linear: 'linear',
  position: 'position',
  timeDecay: 'time_decay',
};

const row = (day: number, channel: string, conversion = false): EventRow => ({
  user: 'u',
  timeS: day * DAY_S,
  channel,
  conversion,
  value: conversion ? 10 : 0,
});

describe('comparison rules', () => {
  const cases = ['tiny', 'events.journeys'].flatMap((file) => COMPARISON_RULES.map((rule) => [file, rule] as const));
  test.each(cases)('%s: %s equals the reference program', (file, rule) => {
    const table = pathTable(readPathRows(`${file}.csv`));
    const { heuristics } = reference<{
      heuristics: Record<string, Record<'conversions' | 'value', Record<string, number>>>;
    }>(`refs.${file}.json`);
    const credits = figures('comparison', { paths: table, unattributed: NOTHING }).rules[rule];
    for (const column of ['conversions', 'value'] as const) {
      expect(
        relativeDifference(credits[column], columnOf(table.channels, heuristics[NAME_IN_REFERENCE[rule]]![column])),
      ).toBeLessThan(1e-9);
    }
  });

  test.each(['last', 'first', 'linear', 'position'] as const)(
    '%s on events equals the rule on the journeys cut from them',
    (rule) => {
      const events = eventTable(readEventRows());
      const { heuristics } = reference<{
        heuristics: Record<string, Record<'conversions' | 'value', Record<string, number>>>;
      }>('refs.events.journeys.json');
      const result = figures('comparison', { events, options: wholeRange(events) });
      expect(result.unattributed.conversions).toBe(2);
      expect(result.unattributed.value).toBeCloseTo(74.67, 9);
      expect(
        relativeDifference(result.rules[rule].value, columnOf(events.channels, heuristics[rule]!['value'])),
      ).toBeLessThan(1e-9);
    },
  );

  test('time decay halves with every seven days before the last touch', () => {
    const events = eventTable([row(0, 'a'), row(7, 'b'), row(21, 'c'), { ...row(22, '', true), value: 150 }]);
    const { timeDecay } = figures('comparison', {
      events,
      options: { rangeStartS: 0, rangeEndS: 30 * DAY_S, lookbackS: 30 * DAY_S },
    }).rules;
    expect(
      relativeDifference(
        timeDecay.value,
        [1 / 8, 1 / 4, 1].map((weight) => (150 * weight) / (1 + 1 / 4 + 1 / 8)),
      ),
    ).toBeLessThan(1e-12);
  });

  test('a conversion outside the range cuts journeys but is not credited', () => {
    const events = eventTable([
      row(1, 'a'),
      row(2, '', true),
      row(3, 'b'),
      row(4, 'c', true),
      row(5, 'd'),
      row(6, '', true),
    ]);
    const result = figures('comparison', {
      events,
      options: { rangeStartS: 2.5 * DAY_S, rangeEndS: 5.5 * DAY_S, lookbackS: 30 * DAY_S },
    });
    expect(result.attributed).toEqual({ conversions: 1, value: 10 });
    expect([...result.rules.linear.conversions]).toEqual(columnOf(events.channels, { b: 0.5, c: 0.5 }));
  });

  test('every rule pays out exactly what was attributed, on events and on paths', () => {
    fc.assert(
      fc.property(eventRows, (rows) => {
        const events = eventTable(rows);
        const onEvents = figures('comparison', { events, options: wholeRange(events, { lookbackS: 20 * DAY_S }) });
        const journeys = journeysOf(rows, 20 * DAY_S);
        const onPaths = figures('comparison', { paths: pathTable(journeys, events.channels), unattributed: NOTHING });
        for (const rule of COMPARISON_RULES) {
          expect(total(onEvents.rules[rule].conversions)).toBeCloseTo(onEvents.attributed.conversions, 9);
          expect(total(onPaths.rules[rule].value)).toBeCloseTo(onPaths.attributed.value, 6);
          if (rule !== 'timeDecay')
            expect(relativeDifference(onEvents.rules[rule].value, onPaths.rules[rule].value, 1e-9)).toBeLessThan(1e-9);
        }
      }),
    );
  });
});
