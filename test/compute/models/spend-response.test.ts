import fc from 'fast-check';
import { FEWEST_DAYS, spendResponse, type SpendDays } from '../../../compute/models/spend-response/spend-response.ts';
import { seededRandom } from '../../../compute/numerics/random.ts';

const DAYS = 120;
/** Sum of twelve uniforms less six: nearly standard normal. */
const noise = (random: () => number): number =>
  Array.from({ length: 12 }, random).reduce((sum, each) => sum + each, 0) - 6;

/** Spend in flights of five days; revenue 1000 a day, more at weekends, and `effect` per unit of spend. */
function flights(effect: number, seed: number, changes: Partial<SpendDays> = {}): SpendDays {
  const random = seededRandom(seed);
  let level = 0;
  const spend = Float64Array.from({ length: DAYS }, (_, day) => {
    if (day % 5 === 0) level = random() < 0.5 ? 0 : 50 + 100 * random();
    return level;
  });
  const revenue = spend.map((amount, day) => 1000 + (day % 7 > 4 ? 300 : 0) + effect * amount + 60 * noise(random));
  return { revenue, spend, otherSpend: new Float64Array(DAYS), ...changes };
}
const total = (values: Float64Array): number => values.reduce((sum, each) => sum + each, 0);

test('what spend brought is found, whatever the day of the week adds', () => {
  const shops = Array.from({ length: 60 }, (_, seed) => flights(1.5, seed));
  const covered = shops.filter((days) => {
    const found = spendResponse(days, 0.95);
    return found !== null && found.low <= 1.5 * total(days.spend) && 1.5 * total(days.spend) <= found.high;
  });
  expect(covered.length / shops.length).toBeGreaterThan(0.8);
});

test('where spend brings nothing, hardly any shop is told otherwise', () => {
  const alarms = Array.from({ length: 100 }, (_, seed) => spendResponse(flights(0, 1000 + seed), 0.95)).filter(
    (found) => found !== null && found.pValue < 0.05,
  );
  expect(alarms.length).toBeLessThanOrEqual(10);
});

test('nothing is said of few days, of spend that never moves, or of budgets that follow demand', () => {
  const days = flights(1.5, 1);
  const short = (column: Float64Array) => column.subarray(0, FEWEST_DAYS - 1);
  expect(
    spendResponse({ revenue: short(days.revenue), spend: short(days.spend), otherSpend: short(days.otherSpend) }, 0.95),
  ).toBeNull();
  expect(spendResponse({ ...days, spend: days.spend.map(() => 100) }, 0.95)).toBeNull();
  expect(spendResponse({ ...days, spend: new Float64Array(DAYS) }, 0.95)).toBeNull();
  // Next week's budget is a share of this week's revenue.
  const random = seededRandom(7);
  const demand = Float64Array.from({ length: DAYS }, () => 1000 + 200 * noise(random));
  const budget = demand.map((_, day) => 0.1 * demand[Math.max(0, day - 3)]!);
  expect(spendResponse({ revenue: demand, spend: budget, otherSpend: new Float64Array(DAYS) }, 0.95)).toBeNull();
});

test('amounts in another unit give the same answer in that unit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), fc.double({ min: 0.001, max: 1e6, noNaN: true }), (seed, unit) => {
      const days = flights(1, seed);
      const [one, other] = [
        spendResponse(days, 0.95)!,
        spendResponse(
          { ...days, revenue: days.revenue.map((x) => x * unit), spend: days.spend.map((x) => x * unit) },
          0.95,
        )!,
      ];
      if (one === null) return other === null;
      expect(other.incrementalRevenue / unit).toBeCloseTo(one.incrementalRevenue, 3);
      expect(other.pValue).toBeCloseTo(one.pValue, 6);
      return true;
    }),
    { numRuns: 30 },
  );
});
