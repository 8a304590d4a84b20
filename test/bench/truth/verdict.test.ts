import { METHODS, type Estimate, type Method } from '../../../bench/truth/estimate-world.ts';
import type { ShopRecord } from '../../../bench/truth/shop-record.ts';
import { barsOn, betterThan, verdictOn } from '../../../bench/truth/verdict.ts';

/** A shop of 1,000 of revenue with channels that brought 100, 0 and −50, and cost 60, 30 and 10. */
function shop(causal: Estimate, changes: Partial<ShopRecord> = {}): ShopRecord {
  const everything = Object.fromEntries(METHODS.map((method) => [method, { credit: [0, 0, 0] }])) as unknown as Record<
    Method,
    Estimate
  >;
  return {
    name: 'made_1',
    simulator: 'made',
    traits: [],
    people: 1,
    events: 1,
    orders: 10,
    revenue: 1000,
    truthTotal: 50,
    channels: [
      { name: 'a', traits: [], spend: 60, truth: 100 },
      { name: 'b', traits: [], spend: 30, truth: 0 },
      { name: 'c', traits: [], spend: 10, truth: -50 },
    ],
    estimates: { ...everything, causal, last_click: { credit: [10, 80, 10] } },
    deltaR: { value: 50, low: 0, high: 120 },
    tests: [],
    ...changes,
  };
}
const GUESS = { credit: [60, 20, 0], low: [10, 5, -60], high: [110, 35, 40] };

describe('the verdict on a method', () => {
  const verdict = verdictOn([shop(GUESS)], 'causal');

  test('misplaced credit, shares and totals are those by hand; harm counts 0 in shares', () => {
    expect(verdict.misplaced).toBeCloseTo((40 + 20 + 50) / 1000, 12);
    expect(verdict.shareError).toBeCloseTo(0.25, 12);
    expect(verdict.totalBias).toBeCloseTo(80 / 50 - 1, 12);
  });

  test('an interval covers, alarms and scores as it should', () => {
    expect(verdict.coverage).toBeCloseTo(2 / 3, 12);
    expect(verdict.falseAlarms).toBe(1);
    expect(verdict.intervalScore).toBeCloseTo((100 + (30 + 40 * 5) + 100) / 3 / 1000, 12);
  });

  test('rules that look at no touch are judged alike', () => {
    expect(verdictOn([shop(GUESS)], 'by_spend')).toMatchObject({ totalBias: 1, coverage: null });
    expect(verdictOn([shop(GUESS)], 'nothing').misplaced).toBeCloseTo(0.15, 12);
    expect(betterThan([shop(GUESS)], 'causal', 'last_click')).toBe(1);
    expect(betterThan([shop(GUESS)], 'last_click', 'by_spend')).toBe(0);
  });

  test('where nothing works only the claim is judged, no share and no total', () => {
    const channels = shop(GUESS).channels.map((channel) => ({ ...channel, truth: 0 }));
    const idle = verdictOn([shop(GUESS, { channels, traits: ['nothing_works'] })], 'causal');
    expect(idle).toMatchObject({ shareError: null, totalError: null, claimedOfNothing: 0.08 });
  });

  test('bars count the worst simulator', () => {
    const perfect = shop({ credit: [100, 0, -50], low: [90, -1, -60], high: [110, 1, -40] });
    const bars = barsOn([{ shops: [perfect] }, { shops: [shop(GUESS)] }], [{ shops: [shop(GUESS)] }]);
    const named = (start: string) => bars.find(({ name }) => name.startsWith(start));
    expect(named('95 % intervals cover, worst')).toMatchObject({ measured: '0.67', met: false });
    expect(named('error of the total, worst')).toMatchObject({ measured: '0.60', met: false });
    expect(named('misplaced')).toMatchObject({ measured: '0.06', met: true });
  });
});
