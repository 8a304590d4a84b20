import fc from 'fast-check';
import type { CreditSetting, IncrementalCredit } from '../../../compute/models/causal/incremental-credit.ts';
import { leanOnSpend } from '../../../compute/models/causal/spend-prior.ts';
import { total } from '../closeness.ts';

const Z = 1.959963984540054;
const SETTING: CreditSetting = {
  channels: 3,
  isBaseline: Uint8Array.of(0, 0, 1),
  confidenceLevel: 0.95,
  mostRevenue: 10_000,
  mostConversions: 100,
};
/** search, social and direct; 20 orders of 50 each */
const CREDIT: IncrementalCredit = {
  basis: 'placebo_adjusted',
  weights: { markov: 0, shapley: 0, dominance: 0, rwa: 0, prav: 1 },
  value: Float64Array.of(900, 100, 0),
  conversions: 20,
  low: Float64Array.of(800, -300, 0),
  high: Float64Array.of(1000, 500, 0),
  replicates: Float64Array.of(880, 90, 0, 920, 110, 0),
  groups: 2,
  ends: [Float64Array.of(850, 80, 0), Float64Array.of(950, 120, 0)],
  kappa: null,
  warnings: [],
};
const everywhere = Uint8Array.of(1, 1, 1);
const lean = (spend: readonly number[], isOnJourney = everywhere, credit = CREDIT, setting = SETTING) =>
  leanOnSpend(credit, { spend: Float64Array.from(spend), isOnJourney }, setting);
const creditOf = ({ credit }: ReturnType<typeof lean>): Float64Array => credit.value;

test('two pieces of evidence meet by their precision; the usual return is log-normal (0.2, 0.9)', () => {
  // Moments of a log-normal distribution: median e^m, variance (e^(s²) − 1)·e^(2m + s²).
  const prior = { value: Math.exp(0.2) * 50, variance: (Math.exp(0.81) - 1) * Math.exp(0.4 + 0.81) * 50 ** 2 };
  const rows = { value: 100, variance: (800 / (2 * Z)) ** 2 };
  const leaned = lean([0, 50, 0]);
  expect(creditOf(leaned)[1]).toBeCloseTo(
    (rows.value / rows.variance + prior.value / prior.variance) / (1 / rows.variance + 1 / prior.variance),
    6,
  );
  expect(leaned.spendWeight[1]).toBeCloseTo(rows.variance / (rows.variance + prior.variance), 9);
  expect(creditOf(leaned)[0]).toBeCloseTo(900, 9);
});

test('totals follow, at the value of an order; intervals stay, replicates and ends shift along', () => {
  const { credit } = lean([0, 50, 0]);
  const shift = total(credit.value) - 1000;
  expect(credit.conversions).toBeCloseTo(total(credit.value) / 50, 9);
  expect([credit.low, credit.high]).toEqual([CREDIT.low, CREDIT.high]);
  [880, 90 + shift, 0, 920, 110 + shift, 0].forEach((amount, i) => expect(credit.replicates[i]).toBeCloseTo(amount, 9));
  [850, 80 + shift, 0].forEach((amount, c) => expect(credit.ends[0]![c]).toBeCloseTo(amount, 9));
});

test('without spend, on no journey, or as baseline, a channel is what the rows say', () => {
  expect(lean([0, 0, 0]).credit).toBe(CREDIT);
  expect(lean([500, 500, 500], Uint8Array.of(0, 0, 1)).credit).toBe(CREDIT);
  expect(lean([500, 500, 500]).spendWeight[2]).toBe(0);
});

test('what is known exactly does not move', () => {
  const exact = { ...CREDIT, low: Float64Array.of(900, 100, 0), high: Float64Array.of(900, 100, 0) };
  expect(lean([500, 500, 0], everywhere, exact).credit).toBe(exact);
});

test('of harm the usual return knows nothing: a channel whose whole interval lies below 0 stays there', () => {
  const harm = { ...CREDIT, value: Float64Array.of(900, -400, 0), high: Float64Array.of(1000, -100, 0) };
  const { credit, spendWeight } = lean([50, 50, 0], everywhere, harm);
  expect(spendWeight[1]).toBe(0);
  expect(credit.value[1]).toBe(-400);
  expect(credit.value[0]).toBeLessThan(900);
});

test('where the rows show no effect, the credit stands on the spend', () => {
  const none = { ...CREDIT, conversions: 0, value: new Float64Array(3), replicates: new Float64Array(6) };
  const { credit } = lean([0, 50, 0], everywhere, none);
  expect(total(credit.value)).toBeGreaterThan(0);
  expect(credit.conversions).toBeCloseTo(total(credit.value) / (SETTING.mostRevenue / SETTING.mostConversions), 9);
});

test('the credit lies between that of the rows and the usual return, within the revenue that touches preceded', () => {
  const amount = fc.double({ min: 0, max: 20_000, noNaN: true });
  fc.assert(
    fc.property(amount, amount, fc.double({ min: 900, max: 20_000, noNaN: true }), (search, social, mostRevenue) => {
      const leaned = lean([search, social, 0], everywhere, CREDIT, { ...SETTING, mostRevenue });
      const values = creditOf(leaned);
      expect(total(values)).toBeLessThanOrEqual(mostRevenue * (1 + 1e-9));
      [900, 100].forEach((rows, c) => {
        const usual = Math.exp(0.2) * [search, social][c]!;
        expect(values[c]).toBeLessThanOrEqual(Math.max(rows, usual) * (1 + 1e-9));
        if (mostRevenue > 900 + 100 + Math.exp(0.2) * (search + social))
          expect(values[c]).toBeGreaterThanOrEqual((spent([search, social][c]!) ? Math.min(rows, usual) : rows) - 1e-6);
      });
    }),
  );
});

const spent = (amount: number): boolean => amount > 0;
