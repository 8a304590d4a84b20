import type { CreditTest } from '../../../compute/models/causal/credit-test.ts';
import { analysePlanted } from '../planted-analysis.ts';
import type { Plants } from '../planted-shop.ts';
import { eventTable, readEventRows, wholeRange } from '../reference-data.ts';
import { figures, refusal } from '../run-in-thread.ts';

const PEOPLE = 8_000;
const SOUND: Plants = { organic: true, days: 140 };
const nameOf = ({ code, channel }: CreditTest): string => `${code} ${channel ?? ''}`.trim();
const having = (plants: Plants, status: CreditTest['status']): readonly string[] =>
  analysePlanted(PEOPLE, plants)
    .result.tests.filter((test) => test.status === status)
    .map(nameOf);

test('where nothing is planted, every test is made and passes', () => {
  const { tests } = analysePlanted(PEOPLE, SOUND).result;
  expect(tests.map(({ status }) => status)).toEqual(tests.map(() => 'pass'));
  expect(tests.map(nameOf)).toEqual([
    'held_out_placebo organic_search',
    'held_out_placebo direct',
    'lead display',
    'horizon_halved display',
    'horizon_doubled display',
    'window_halves display',
    'overlap display',
  ]);
});

const PLANTED: readonly (readonly [failing: readonly string[], cause: string, Plants])[] = [
  [['held_out_placebo magazine'], 'unpaid visits that bring orders', { ...SOUND, magazine: 0.2 }],
  [['lead retargeting', 'overlap retargeting'], 'ads that follow visits', { organic: true, retargeting: true }],
  [['horizon_halved display'], 'effects of the second week', { ...SOUND, displayDelay: [8, 13] }],
  [['horizon_doubled display'], 'effects that come after the horizon', { ...SOUND, displayDelay: [15, 27] }],
  [['window_halves display'], 'ads that work from the middle on', { ...SOUND, displayWorksFrom: 70 }],
  [['lead list', 'overlap list'], 'a list that hardly anybody is left out of', { organic: true, listLeavesOut: 0.03 }],
];

test.each(PLANTED)('%s fails for %s, and nothing else does', (failing, _cause, plants) => {
  expect(having(plants, 'fail')).toEqual(failing);
});

test('a magazine without effect passes as a placebo, a list that leaves out half has counterparts', () => {
  expect(having({ ...SOUND, magazine: 0 }, 'fail')).toEqual([]);
  expect(having({ organic: true, listLeavesOut: 0.5 }, 'fail')).toEqual(['lead list']);
});

test('a failed test lowers the confidence of its channel, one of a placebo that of all paid channels', () => {
  const { result, input } = analysePlanted(PEOPLE, { organic: true, retargeting: true });
  const { measurements: _left, ...untested } = input;
  const before = figures('causal', untested);
  const at = (channel: string): number => result.channels.indexOf(channel);
  expect(before.tests).toEqual([]);
  // Two of its tests failed: 1 / (1 + doubt) becomes 1 / (1 + doubt + 2).
  expect(1 / result.confidence[at('retargeting')]! - 1 / before.confidence[at('retargeting')]!).toBeCloseTo(2, 9);
  expect(result.confidence[at('display')]).toBe(before.confidence[at('display')]);
  const spoiled = analysePlanted(PEOPLE, { ...SOUND, magazine: 0.2 });
  const { measurements: _spoiled, ...unspoiled } = spoiled.input;
  const display = spoiled.result.channels.indexOf('display');
  expect(1 / spoiled.result.confidence[display]! - 1 / figures('causal', unspoiled).confidence[display]!).toBeCloseTo(
    1,
    9,
  );
});

test('what cannot be tested says why', () => {
  const { result } = analysePlanted(PEOPLE, { days: 50 });
  const unmade = result.tests.filter(({ status }) => status === 'not_applicable');
  expect(unmade.map(({ code }) => code)).toEqual(['held_out_placebo', 'horizon_doubled', 'window_halves']);
  expect(unmade[0]!.message).toContain('two unpaid channels');
  expect(unmade[1]!.message).toContain('50 days');
});

test('aggregated paths are refused; the same rows give the same figures', () => {
  const events = eventTable(readEventRows());
  const options = wholeRange(events);
  expect(refusal('credit_measurement', { events: null, options }).code).toBe('insufficient_data');
  expect(figures('credit_measurement', { events, options })).toEqual(
    figures('credit_measurement', { events, options }),
  );
});
