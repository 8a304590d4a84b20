import { deltaRCoverage, failureRows, meaningRows } from '../../../bench/truth/credit-tests-page.ts';
import { METHODS, type Estimate, type Method } from '../../../bench/truth/estimate-world.ts';
import type { ShopRecord } from '../../../bench/truth/shop-record.ts';

const none = Object.fromEntries(METHODS.map((method) => [method, { credit: [0, 0] }])) as unknown as Record<
  Method,
  Estimate
>;
/** Revenue of 1,000; channel a follows visits and brought 100, b brought 50. */
const SHOP: ShopRecord = {
  name: 'made_1',
  simulator: 'made',
  traits: ['long_horizon'],
  people: 1,
  events: 1,
  orders: 10,
  revenue: 1000,
  truthTotal: 150,
  channels: [
    { name: 'a', traits: ['reactive_targeting'], spend: 1, truth: 100 },
    { name: 'b', traits: [], spend: 1, truth: 50 },
  ],
  estimates: {
    ...none,
    causal: { credit: [300, 40], low: [200, 0], high: [400, 90] },
    last_click: { credit: [20, 60] },
  },
  deltaR: { value: 70, low: 10, high: 90 },
  tests: [
    { code: 'lead', channel: 'a', failed: true },
    { code: 'lead', channel: 'b', failed: false },
    { code: 'horizon_halved', channel: 'a', failed: false },
    { code: 'horizon_halved', channel: 'b', failed: true },
    { code: 'held_out_placebo', channel: 'direct', failed: true },
  ],
};

test('failures stand where their cause was planted, and elsewhere', () => {
  const rows = Object.fromEntries(failureRows([SHOP], ['made']).map(([name, cell]) => [name!.split(',')[0], cell]));
  expect(rows).toEqual({
    held_out_placebo: '100 %',
    lead: '100 % / 0 %',
    horizon_halved: '50 % / –',
    horizon_doubled: '– / –',
    window_halves: '–',
    overlap: '– / –',
  });
});

test('a failed test is measured by the error and the coverage of its channel, a placebo by those of the shop', () => {
  const rows = new Map(meaningRows([SHOP]).map(([code, ...cells]) => [code, cells]));
  expect(rows.get('lead')).toEqual(['2', '1', '20.0 %', '0.0 %', '1.0 %', '100.0 %']);
  expect(rows.get('held_out_placebo')).toEqual(['1', '1', '10.5 %', '50.0 %', '–', '–']);
});

test("Delta_R's interval holds what it would be by the truth, or not", () => {
  // By the truth a is hidden by 80, b is not.
  expect(deltaRCoverage([SHOP])).toBe(1);
  expect(deltaRCoverage([SHOP, { ...SHOP, deltaR: { value: 70, low: 10, high: 79 } }])).toBe(0.5);
});
