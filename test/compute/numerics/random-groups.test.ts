import * as fc from 'fast-check';
import { seededRandom } from '../../../compute/numerics/random.ts';
import { RandomGroups } from '../../../compute/numerics/random-groups.ts';
import { SystematicSample } from '../../../compute/numerics/systematic-sample.ts';
import { total } from '../closeness.ts';

const GROUPS = 10;

/** Parts and their values by group. */
function split(
  random: RandomGroups,
  count: number,
  mean: number,
  deviation: number,
): { counts: number[]; values: number[] } {
  const counts = Array.from({ length: GROUPS }, () => 0);
  const values = Array.from({ length: GROUPS }, () => 0);
  random.split(count, mean, deviation, (group, part, value) => {
    counts[group]! += part;
    values[group]! += value;
  });
  return { counts, values };
}

describe('a split among random groups', () => {
  test('adds up, and gives no group less than nothing', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        fc.double({ min: -1e4, max: 1e4, noNaN: true }),
        fc.nat(),
        (count, mean, seed) => {
          const { counts, values } = split(new RandomGroups(GROUPS, seed), count, mean, 0);
          expect(total(counts)).toBeCloseTo(count, 6);
          expect(Math.abs(total(values) - count * mean)).toBeLessThan(1e-9 * (1 + Math.abs(count * mean)));
          expect(Math.min(...counts)).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });

  test.each([4, 37, 5_000])(
    'of %d observations has the mean and covariance of a multinomial draw, and the spread of the values',
    (count) => {
      const random = new RandomGroups(GROUPS, 1);
      const [mean, deviation, draws] = [3, 2, 20_000];
      const sums = { first: 0, squares: 0, products: 0, values: 0 };
      for (let draw = 0; draw < draws; draw++) {
        const { counts, values } = split(random, count, mean, deviation);
        const [a, b] = [counts[0]! - count / GROUPS, counts[1]! - count / GROUPS];
        sums.first += a;
        sums.squares += a * a;
        sums.products += a * b;
        sums.values += (values[0]! - mean * counts[0]!) ** 2;
      }
      const variance = (count / GROUPS) * (1 - 1 / GROUPS);
      expect(Math.abs(sums.first / draws)).toBeLessThan(5 * Math.sqrt(variance / draws));
      expect(sums.squares / draws / variance).toBeCloseTo(1, 1);
      expect(sums.products / draws / (-count / GROUPS ** 2)).toBeGreaterThan(0.8);
      expect(sums.products / draws / (-count / GROUPS ** 2)).toBeLessThan(1.2);
      expect(sums.values / draws / ((count / GROUPS) * deviation ** 2)).toBeGreaterThan(0.85);
      expect(sums.values / draws / ((count / GROUPS) * deviation ** 2)).toBeLessThan(1.15);
    },
  );

  test('is the same for the same seed', () => {
    const once = (seed: number): number[] => split(new RandomGroups(GROUPS, seed), 7, 1, 1).values;
    expect(once(3)).toEqual(once(3));
    expect(once(3)).not.toEqual(once(4));
  });
});

describe('a systematic sample', () => {
  test('takes everything where one in one is asked for, and always what counts a step or more', () => {
    const all = new SystematicSample(1, seededRandom(1));
    expect([1, 2, 0, 7].map((count) => all.weightOf(count))).toEqual([1, 1, 0, 1]);
    const few = new SystematicSample(50, seededRandom(1));
    expect([50, 3_000].map((count) => few.weightOf(count))).toEqual([1, 1]);
  });

  test('stands for the whole: squared weights add up to the counts', () => {
    const random = seededRandom(2);
    const sample = new SystematicSample(40, random);
    let drawn = 0;
    let counted = 0;
    let stands = 0;
    for (let i = 0; i < 100_000; i++) {
      const count = 1 + Math.floor(random() * 5);
      const weight = sample.weightOf(count);
      counted += count;
      stands += weight ** 2;
      drawn += Number(weight > 0);
    }
    expect(stands / counted).toBeCloseTo(1, 2);
    expect(drawn).toBeLessThan(100_000 / 10);
  });
});
