import * as fc from 'fast-check';
import {
  experimentDesigns,
  type DesignGround,
  type DesignedChannel,
} from '../../../compute/models/experiment-design/experiment-designs.ts';
import { seededRandom } from '../../../compute/numerics/random.ts';

const Z = 1.959_964;
const channel = (name: string, credit: number, half: number, spend: number): DesignedChannel => ({
  channel: name,
  credit,
  interval: { lower: credit - half, upper: credit + half, level: 0.95 },
  spend,
});
/** A year, so that what is of the range is of the horizon. */
const ground = (channels: readonly DesignedChannel[], changes: Partial<DesignGround> = {}): DesignGround => ({
  rangeDays: 365,
  revenue: 1_000_000,
  windows: [
    { days: 28, revenueSquares: 400_000 },
    { days: 84, revenueSquares: 1_300_000 },
  ],
  channels,
  ...changes,
});
const normal = (random: () => number): number =>
  Array.from({ length: 12 }, random).reduce((sum, each) => sum + each, 0) - 6;

describe('designs of experiments', () => {
  test('the promised error is that of the difference of two random arms', () => {
    const random = seededRandom(3);
    const revenue = Array.from({ length: 400 }, () => (random() < 0.2 ? 100 * random() : 0));
    const squares = revenue.reduce((sum, amount) => sum + amount ** 2, 0);
    const windows = [{ days: 28, revenueSquares: squares }];
    const [design] = experimentDesigns(ground([channel('a', 1_000, 50_000, 1_000)], { windows }), 0.8);
    const share = design!.shareHeldOut;
    const differences = Array.from({ length: 4_000 }, () =>
      revenue.reduce((sum, amount) => sum + (random() < share ? -amount / share : amount / (1 - share)), 0),
    );
    const spread = Math.sqrt(differences.reduce((sum, each) => sum + each ** 2, 0) / differences.length);
    expect(spread / design!.expectedStandardError).toBeGreaterThan(0.95);
    expect(spread / design!.expectedStandardError).toBeLessThan(1.05);
  });

  test('the smallest detectable effect is found with the power asked for', () => {
    const of = (power: number) => experimentDesigns(ground([channel('a', 20_000, 30_000, 15_000)]), power)[0]!;
    for (const [power, quantile] of [
      [0.5, 0],
      [0.8, 0.841_621],
      [0.9, 1.281_552],
    ] as const)
      expect(of(power).smallestDetectableEffect / of(power).expectedStandardError).toBeCloseTo(Z + quantile, 4);
  });

  test.each([
    ['the revenue lost', 1, 15_000],
    ['what of it would have been left', 0.4, 6_000],
  ])('the value is what deciding by the test gains over deciding now, less %s', (_, margin, spend) => {
    const [credit, half] = [20_000, 30_000];
    const changes = margin === 1 ? {} : { margin };
    const [design] = experimentDesigns(ground([channel('a', credit, half, spend)], changes), 0.8);
    const { expectedStandardError, durationDays, shareHeldOut, lostRevenue, decision } = design!;
    expect(lostRevenue).toBeCloseTo((shareHeldOut * credit * durationDays) / 365, 6);
    const random = seededRandom(5);
    const deviation = half / Z;
    const error = (expectedStandardError * 365) / durationDays;
    const weight = deviation ** 2 / (deviation ** 2 + error ** 2);
    const draws = 400_000;
    let gained = 0;
    for (let i = 0; i < draws; i++) {
      const truth = credit + deviation * normal(random);
      const believed = credit + weight * (truth + error * normal(random) - credit);
      gained += (margin * believed > spend ? margin * truth - spend : 0) - (margin * truth - spend);
    }
    const value = gained / draws - margin * lostRevenue;
    expect(Math.abs(decision.valueOfInformation - value)).toBeLessThan(0.02 * value + 30);
    expect(decision).toMatchObject({
      breakevenRevenue: spend / margin,
      currentInterval: { lower: -10_000, upper: 50_000 },
    });
  });

  test('a test that can change nothing is worth less than it costs, and stands behind one that can', () => {
    const sure = channel('sure', 90_000, 1_000, 10_000);
    const doubtful = channel('doubtful', 12_000, 20_000, 10_000);
    const designs = experimentDesigns(ground([sure, doubtful]), 0.8);
    const alone = designs.filter(({ channels }) => channels.length === 1);
    expect(alone.map(({ channels }) => channels)).toEqual([['doubtful'], ['sure']]);
    expect(alone[1]!.decision.valueOfInformation).toBeCloseTo(-alone[1]!.lostRevenue, 6);
    expect(designs.map(({ rank }) => rank)).toEqual([1, 2, 3]);
  });

  test('one test is of all together, and as sharp as need be for the total', () => {
    const many = [channel('a', 60_000, 40_000, 20_000), channel('b', 30_000, 30_000, 20_000)];
    const quiet = ground(many, { windows: [{ days: 84, revenueSquares: 400_000 }] });
    const together = experimentDesigns(quiet, 0.8).find(({ channels }) => channels.length > 1);
    expect(together).toMatchObject({ channels: ['a', 'b'], decision: { breakevenRevenue: 40_000 } });
    const expected = (90_000 * together!.durationDays) / 365;
    expect(1.1503 * together!.expectedStandardError).toBeLessThanOrEqual(0.1 * expected);
    // No cheaper one would do.
    expect(together!.shareHeldOut).toBeLessThan(0.5);
    const noisy = ground(many, { windows: [{ days: 84, revenueSquares: 1e9 }] });
    const sharpest = experimentDesigns(noisy, 0.8).find(({ channels }) => channels.length > 1);
    expect(sharpest!.shareHeldOut).toBe(0.5);
    const measured = experimentDesigns({ ...ground(many), totalError: 1_000 }, 0.8);
    const { lower, upper } = measured.find(({ channels }) => channels.length > 1)!.decision.currentInterval!;
    expect(upper - lower).toBeCloseTo(2 * Z * 1_000, 0);
  });

  test('of a channel that is not measurable, what such spend usually brings is believed', () => {
    const unknown: DesignedChannel = { channel: 'a', credit: 0, interval: null, spend: 10_000 };
    const [design] = experimentDesigns(ground([unknown]), 0.8);
    expect(design!.decision.currentInterval).toBeNull();
    expect(design!.lostRevenue / design!.shareHeldOut / design!.durationDays).toBeCloseTo(
      (10_000 * Math.exp(0.2)) / 365,
      6,
    );
  });

  test('nothing is designed where nothing is known of orders, and every figure is a number', () => {
    expect(experimentDesigns(ground([channel('a', 1, 1, 1)], { windows: [] }), 0.8)).toEqual([]);
    const amount = fc.integer({ min: 0, max: 1_000_000 });
    const some = fc.record({ credit: fc.integer({ min: -50_000, max: 500_000 }), half: amount, spend: amount });
    fc.assert(
      fc.property(
        fc.array(some, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 7, max: 731 }),
        (list, rangeDays) => {
          const channels = list.map(({ credit, half, spend }, c) => channel(`c${c}`, credit, half, spend));
          const designs = experimentDesigns(ground(channels, { rangeDays }), 0.8);
          expect(designs).toHaveLength(channels.length + (channels.length > 1 ? 1 : 0));
          for (const { lostRevenue, expectedStandardError, decision } of designs) {
            expect(lostRevenue).toBeGreaterThanOrEqual(0);
            expect(expectedStandardError).toBeGreaterThan(0);
            expect(Number.isFinite(decision.valueOfInformation)).toBe(true);
          }
          const values = designs.map(({ decision }) => decision.valueOfInformation);
          expect(values).toEqual(values.toSorted((a, b) => b - a));
        },
      ),
    );
  });
});
