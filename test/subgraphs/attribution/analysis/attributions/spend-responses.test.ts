import { NO_CHANNEL } from '../../../../../compute/journey-tables.ts';
import type { EventTable } from '../../../../../compute/journey-tables.ts';
import { seededRandom } from '../../../../../compute/numerics/random.ts';
import { runTask } from '../../../../../compute/tasks.ts';
import type { Credit } from '../../../../../subgraphs/attribution/analysis/attributions/compose-figures.ts';
import { withSpendResponses } from '../../../../../subgraphs/attribution/analysis/attributions/spend-responses.ts';

const DAYS = 90;
const START_S = Date.parse('2026-01-01') / 1000;
const PARAMETERS = { rangeStartS: START_S, rangeEndS: START_S + DAYS * 86_400, confidenceLevel: 0.95 };
/** Each channel is switched on and off by chance, three days at a time; revenue is 1000 a day and what follows. */
const random = seededRandom(3);
const flights = Object.fromEntries(
  ['television', 'podcast', 'search'].map((channel) => [
    channel,
    Array.from({ length: DAYS / 3 }, () => (random() < 0.5 ? 0 : 100)),
  ]),
);
const spendOn = (channel: string, day: number): number => flights[channel]![Math.floor(day / 3)]!;
const dayName = (day: number): string => new Date((START_S + day * 86_400) * 1000).toISOString().slice(0, 10);

function ordersOf(revenueOn: (day: number) => number): EventTable {
  return {
    channels: [],
    userStart: Uint32Array.from({ length: DAYS + 1 }, (_, n) => n),
    userHash: Uint32Array.from({ length: DAYS }, (_, n) => n),
    timeS: Float64Array.from({ length: DAYS }, (_, day) => START_S + day * 86_400 + 3600),
    channel: new Uint16Array(DAYS).fill(NO_CHANNEL),
    conversion: new Uint8Array(DAYS).fill(1),
    value: Float64Array.from({ length: DAYS }, (_, day) => revenueOn(day)),
  };
}

const figures = (channel: string, code?: 'untracked_spend' | 'too_few_exposures') => ({
  channel,
  isBaseline: false,
  spend: 1,
  attributedRevenueCents: 0,
  lastclickRevenueCents: 0,
  conversions: 0,
  share: 0,
  confidence: 0,
  confidenceInterval: null,
  identification:
    code === undefined
      ? ({ status: 'point', reasons: [] } as const)
      : ({ status: 'none', reasons: [{ code, message: 'Why.' }] } as const),
});
const credit: Credit = {
  channels: [figures('television', 'untracked_spend'), figures('podcast', 'too_few_exposures'), figures('search')],
  baselineRevenueCents: 0,
  revenueCents: 0,
  confidence: 0,
};
const spendDays = ['television', 'podcast', 'search'].flatMap((channel) =>
  Array.from({ length: DAYS }, (_, day) => ({ channel, day: dayName(day), spend: spendOn(channel, day) })),
);
const responses = async (events: EventTable | null, days = spendDays) => {
  const { channels } = await withSpendResponses(credit, { events, spendDays: days, ...PARAMETERS }, (input) =>
    Promise.resolve(runTask('spend_response', input, () => undefined)),
  );
  return channels.map((each) => each.spendResponse);
};
const noise = (day: number): number => 40 * Math.sin(day * day);

test('revenue that follows untracked spend stands beside it, of that channel alone', async () => {
  const [response, ...others] = await responses(ordersOf((day) => 1000 + 2 * spendOn('television', day) + noise(day)));
  const spent = Array.from({ length: DAYS }, (_, day) => spendOn('television', day)).reduce(
    (sum, each) => sum + each,
    0,
  );
  expect(others).toEqual([undefined, undefined]);
  expect(response!.method).toBe('time_series');
  expect(response!.pValue).toBeLessThan(0.05);
  expect(response!.confidenceInterval.lower).toBeLessThan(2 * spent);
  expect(response!.confidenceInterval.upper).toBeGreaterThan(2 * spent);
});

test('nothing is said where revenue does not follow, falls, or has no times', async () => {
  expect((await responses(ordersOf((day) => 1000 + noise(day))))[0]).toBeUndefined();
  expect((await responses(ordersOf((day) => 1000 - 2 * spendOn('television', day) + noise(day))))[0]).toBeUndefined();
  expect((await responses(null))[0]).toBeUndefined();
  const flat = ordersOf(() => 1000);
  expect((await responses(flat, []))[0]).toBeUndefined();
});
