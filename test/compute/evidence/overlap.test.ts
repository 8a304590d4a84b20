import { measureOverlap } from '../../../compute/evidence/overlap.ts';
import { DAY_S, DEFAULT_RUN_PARAMETERS } from '../../../compute/run-options.ts';
import { eventTable } from '../reference-data.ts';
import type { EventRow } from '../reference-data.ts';

type Life = readonly (readonly [day: number, channel: string])[];

/** People and the part of them without a counterpart, of `ads`. */
function overlapOf(lives: readonly Life[]) {
  const rows = lives.flatMap((life, person) =>
    life.map(([day, channel]): EventRow => ({
      user: `u${person}`,
      timeS: day * DAY_S,
      channel,
      conversion: channel === '',
      value: channel === '' ? 10 : 0,
    })),
  );
  const events = eventTable(rows);
  const isBaseline = Uint8Array.from(events.channels, (channel) => Number(channel === 'direct'));
  const options = {
    ...DEFAULT_RUN_PARAMETERS,
    rangeStartS: 0,
    rangeEndS: 100 * DAY_S,
    observedUntilS: 100 * DAY_S,
    isBaseline,
  };
  return measureOverlap(events, options, () => undefined)[events.channels.indexOf('ads')];
}

const times = (count: number, life: Life): Life[] => Array.from({ length: count }, () => life);
const EXPOSED: Life = [
  [1, 'direct'],
  [2, 'direct'],
  [3, 'ads'],
];
const UNEXPOSED: Life = [
  [1, 'direct'],
  [2, 'direct'],
  [3, 'direct'],
];

test('nine exposed people need one who was as active and went without; eighteen need two', () => {
  expect(overlapOf([...times(9, EXPOSED), UNEXPOSED])).toEqual({ people: 9, withoutCounterpart: 0 });
  expect(overlapOf([...times(18, EXPOSED), UNEXPOSED])).toEqual({ people: 18, withoutCounterpart: 1 });
});

test('somebody who was less active, or ordered before, is no counterpart', () => {
  expect(overlapOf([...times(5, EXPOSED), ...times(5, [[1, 'direct']])])).toEqual({ people: 5, withoutCounterpart: 1 });
  const ordered: Life = [[0, ''], ...UNEXPOSED];
  expect(overlapOf([...times(5, EXPOSED), ...times(5, ordered)])).toEqual({ people: 5, withoutCounterpart: 1 });
});

test('nor is somebody who meets the channel within a horizon; later on, it is the same person met anew', () => {
  const soon: Life = [...UNEXPOSED, [10, 'ads']];
  const late: Life = [...UNEXPOSED, [30, 'ads']];
  expect(overlapOf([...times(5, EXPOSED), soon])).toEqual({ people: 6, withoutCounterpart: 1 });
  // At day 3 a counterpart of the five; at day 30 compared with what happened to the same person at day 1.
  expect(overlapOf([...times(5, EXPOSED), late])).toEqual({ people: 6, withoutCounterpart: 0 });
});

test('a second touch within a horizon exposes nobody anew', () => {
  const twice: Life = [...EXPOSED, [5, 'ads'], [9, 'ads']];
  expect(overlapOf([...times(5, twice), UNEXPOSED])).toEqual({ people: 5, withoutCounterpart: 0 });
});
