import fc from 'fast-check';
import { deltaRInterval } from '../../../compute/models/causal/delta-r.ts';
import type { CreditDoubt } from '../../../compute/models/causal/delta-r.ts';
import { normalQuantile, twoSidedZ } from '../../../compute/numerics/normal-quantile.ts';
import { seededRandom } from '../../../compute/numerics/random.ts';

const SETTING = {
  channels: 3,
  isBaseline: Uint8Array.of(0, 0, 1),
  isLeftOut: Uint8Array.of(0, 0, 1),
  confidenceLevel: 0.95,
  mostRevenue: 10_000,
  mostConversions: 100,
};
const Z = twoSidedZ(0.95);
const LAST_CLICK = Float64Array.of(400, 900, 700);
/** Two channels known up to their own normal error, without sampling error and κ. */
const known = (centre: readonly number[], deviation: readonly number[]): CreditDoubt => ({
  replicates: new Float64Array(0),
  groups: 0,
  ends: [],
  low: Float64Array.from([...centre, 0], (each, c) => each - Z * (deviation[c] ?? 0)),
  high: Float64Array.from([...centre, 0], (each, c) => each + Z * (deviation[c] ?? 0)),
});

test('mean and spread are those of drawn truths', () => {
  const doubt = known([500, 800], [200, 300]);
  const random = seededRandom(7);
  const draws = Array.from({ length: 200_000 }, () => {
    const drawn = [500 + 200 * normalQuantile(random()), 800 + 300 * normalQuantile(random())];
    return drawn.reduce((sum, credit, c) => sum + Math.max(0, credit - LAST_CLICK[c]!), 0);
  });
  const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
  const deviation = Math.sqrt(draws.reduce((sum, draw) => sum + (draw - mean) ** 2, 0) / draws.length);
  const [low, high] = deltaRInterval(doubt, LAST_CLICK, SETTING);
  expect((low + high) / 2 / mean).toBeCloseTo(1, 2);
  expect((high - low) / (2 * Z) / deviation).toBeCloseTo(1, 2);
});

test('what is known exactly leaves no doubt; unpaid and unmeasurable channels none either', () => {
  expect(deltaRInterval(known([500, 800], [0, 0]), LAST_CLICK, SETTING)).toEqual([100, 100]);
  const [low, high] = deltaRInterval(known([500, 800], [0, 300]), LAST_CLICK, {
    ...SETTING,
    isLeftOut: Uint8Array.of(0, 1, 1),
  });
  expect([low, high]).toEqual([100, 100]);
});

test('sampling error that an interval holds is not counted twice', () => {
  const groups = 50;
  const replicates = Float64Array.from({ length: groups * 3 }, (_, i) => (i % 3 === 0 ? 1500 + (i % 2) * 4 : 0));
  const spread = { ...known([1502, 0], [0, 0]), replicates, groups, ends: [Float64Array.of(1502, 0, 0)] };
  const [low, high] = deltaRInterval(spread, LAST_CLICK, SETTING);
  const sampling = (high - low) / 2;
  const whole = {
    ...spread,
    low: Float64Array.of(1502 - sampling, 0, 0),
    high: Float64Array.of(1502 + sampling, 0, 0),
  };
  const [lower, higher] = deltaRInterval(whole, LAST_CLICK, SETTING);
  expect((higher - lower) / 2).toBeCloseTo(sampling, 6);
});

test('a wider interval of a channel never narrows that of Delta_R', () => {
  const amount = fc.double({ min: -2000, max: 3000, noNaN: true });
  const deviation = fc.double({ min: 0, max: 800, noNaN: true });
  fc.assert(
    fc.property(amount, amount, deviation, deviation, (one, two, narrow, more) => {
      const widthOf = (own: number): number => {
        const [low, high] = deltaRInterval(known([one, two], [own, 100]), LAST_CLICK, SETTING);
        return high - low;
      };
      expect(widthOf(narrow + more)).toBeGreaterThanOrEqual(widthOf(narrow) - 1e-6);
    }),
  );
});
