import { identifyChannels } from '../../../compute/models/causal/channel-identification.ts';
import type { IdentificationCode } from '../../../compute/models/causal/channel-identification.ts';
import { failure } from '../../../compute/outcome.ts';
import { plantedShop } from '../planted-shop.ts';
import type { Plants } from '../planted-shop.ts';
import { eventTable, wholeRange } from '../reference-data.ts';
import type { EventRow } from '../reference-data.ts';
import { figures } from '../run-in-thread.ts';

/** Status and codes per paid channel of rows; `spend` adds channels that leave no touches. */
function identify(rows: readonly EventRow[], spend: Readonly<Record<string, number>> = {}) {
  const events = eventTable(rows);
  const options = wholeRange(events);
  const prav = figures('prav', { events, options });
  const { unattributed } = figures('comparison', { events, options });
  const channels = [...new Set([...events.channels, ...Object.keys(spend)])];
  const found = identifyChannels({
    channels,
    isBaseline: Uint8Array.from(channels, (channel) => Number(channel === 'direct')),
    spend: Float64Array.from(channels, (channel) => spend[channel] ?? 0),
    touched: new Set(events.channels),
    prav,
    conversions: prav.rangeConversions,
    unseenConversions: unattributed.conversions,
  });
  return Object.fromEntries(
    channels.map((channel, c) => [
      channel,
      found[c] === null ? null : [found[c]!.status, ...found[c]!.reasons.map(({ code }) => code)],
    ]),
  );
}

const planted = (plants: Plants, spend?: Readonly<Record<string, number>>) =>
  identify(plantedShop(6_000, plants), spend);

test('where nothing is planted, the effect is a point, and unpaid visits have none to identify', () => {
  expect(planted({})).toEqual({ direct: null, display: ['point'] });
});

const PLANTED: readonly (readonly [IdentificationCode, Plants, string])[] = [
  ['reactive_targeting', { retargeting: true }, 'retargeting'],
  ['navigational_click', { brandClicks: true }, 'brand'],
  ['placebo_contains_effect', { video: true }, 'video'],
];

test.each(PLANTED)('%s is found where it was planted, and nowhere else', (code, plants, channel) => {
  const found = planted(plants);
  expect(found[channel]).toEqual(['partial', code]);
  expect(found['display']).toEqual(['point']);
});

test('ids_split and horizon_exceeds_data concern every channel of the shop', () => {
  expect(planted({ splitOrders: 0.3 })['display']).toEqual(['partial', 'ids_split']);
  expect(planted({ splitOrders: 0.02 })['display']).toEqual(['point']);
  expect(planted({ days: 24 })['display']).toEqual(['partial', 'horizon_exceeds_data']);
});

test('what left no touches, or hardly any, cannot be measured', () => {
  expect(planted({}, { television: 4_000, display: 100 })['television']).toEqual(['none', 'untracked_spend']);
  expect(planted({}, { print: 0 })['print']).toEqual(['point']);
  expect(planted({ rareTouches: 9 })['podcast']).toEqual(['none', 'too_few_exposures']);
  expect(planted({ rareTouches: 11 })['podcast']?.[0]).not.toBe('none');
});

test('without placebos every paid channel with touches is known in part', () => {
  const found = identifyChannels({
    channels: ['ads', 'direct', 'television'],
    isBaseline: Uint8Array.of(0, 1, 0),
    spend: Float64Array.of(100, 0, 100),
    touched: new Set(['ads', 'direct']),
    prav: failure('insufficient_data', 'This source holds aggregated paths.'),
    conversions: 10,
    unseenConversions: 0,
  });
  expect(found.map((each) => each?.reasons.map(({ code }) => code))).toEqual([
    ['no_placebo'],
    undefined,
    ['untracked_spend'],
  ]);
});
