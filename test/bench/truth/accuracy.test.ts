import { intervalScore, medianOf, sharesOf, totalVariation, wilson } from '../../../bench/truth/accuracy.ts';
import { METHODS } from '../../../bench/truth/estimate-world.ts';
import type { Estimate, Method } from '../../../bench/truth/estimate-world.ts';
import { barsOf, errorsOf, intervalsOf } from '../../../bench/truth/summary.ts';
import type { WorldRecord } from '../../../bench/truth/world-record.ts';

/** Two channels that earned 300 and 100, a third that earned nothing; every method says `estimate`. */
function recordWith(estimate: Estimate, truth: readonly number[] = [300, 100, 0]): WorldRecord {
  return {
    name: 'made up',
    family: 'made_up',
    seed: 1,
    users: 1,
    days: 1,
    events: 1,
    conversions: 1,
    revenue: 1_000,
    channels: ['a', 'b', 'c'],
    touches: [1, 1, 1],
    truth,
    truthTotal: truth.reduce((sum, part) => sum + part, 0),
    deltaR: 0,
    warnings: [],
    estimates: Object.fromEntries(METHODS.map((method) => [method, estimate])) as Record<Method, Estimate>,
  };
}
const TRUE: Estimate = { credit: [300, 100, 0], low: [200, 50, 0], high: [400, 150, 10] };

describe('measures of accuracy', () => {
  it('count the share that stands at the wrong channel', () => {
    expect(totalVariation([0.5, 0.5, 0], [0.5, 0, 0.5])).toBe(0.5);
    expect(totalVariation([1, 0], [1, 0])).toBe(0);
    expect(sharesOf([3, -2, 1])).toEqual([0.75, 0, 0.25]);
    expect(sharesOf([0, -1])).toEqual([0, 0]);
    expect(medianOf([3, 1, 2])).toBe(2);
    expect(medianOf([4, 1, 2, 3])).toBe(2.5);
  });

  it('score an interval by its width and, 40-fold, by what it misses', () => {
    expect(intervalScore(1, 3, 2)).toBe(2);
    expect(intervalScore(1, 3, 3.5)).toBe(2 + 40 * 0.5);
    expect(intervalScore(1, 3, 0)).toBe(2 + 40);
  });

  it('give the interval of a proportion', () => {
    // statsmodels proportion_confint(90, 100, method='wilson')
    const [low, high] = wilson(90, 100);
    expect(low).toBeCloseTo(0.825634, 5);
    expect(high).toBeCloseTo(0.944771, 5);
  });

  it('see a planted error of shares, total, coverage, power and false positives', () => {
    const right = recordWith(TRUE);
    expect(errorsOf([right, right], 'causal')).toMatchObject({ shareError: 0, totalError: 0, totalBias: 0 });
    expect(intervalsOf([right], 'causal')).toMatchObject({
      coverage: 1,
      power: 1,
      large: 2,
      falsePositives: 0,
      nulls: 1,
    });
    expect(intervalsOf([right], 'causal').width).toBeCloseTo((200 + 100 + 10) / 3 / 1_000, 12);

    const wrong = recordWith({ credit: [100, 100, 200], low: [0, 50, 5], high: [250, 150, 300] });
    expect(errorsOf([wrong, wrong], 'causal')).toMatchObject({ shareError: 0.5, totalError: 0 });
    expect(intervalsOf([wrong], 'causal')).toMatchObject({ covered: 1, power: 0.5, falsePositives: 1 });

    const inflated = recordWith({ ...TRUE, credit: [600, 200, 0] });
    expect(errorsOf([inflated, recordWith({ ...TRUE, credit: [0, 0, 0] })], 'causal')).toMatchObject({
      totalError: 1,
      totalBias: 0,
    });
  });

  it('hold the causal model to its bars', () => {
    const idle = recordWith({ credit: [30, 0, 0], low: [0, 0, 0], high: [60, 1, 1] }, [0, 0, 0]);
    const missed = (record: WorldRecord, last: WorldRecord = idle): string[] =>
      barsOf([record, record, last])
        .filter((bar) => !bar.met)
        .map(({ name }) => name);
    // Intervals that always cover are too wide to be honest ones.
    expect(missed(recordWith(TRUE))).toEqual(['coverage of the 0.95 intervals']);
    expect(missed(recordWith({ ...TRUE, credit: [350, 150, 0] }))).toContain('error of the incremental total');
    expect(missed(recordWith({ ...TRUE, low: [0, 0, 5] }))).toEqual(
      expect.arrayContaining(['channels without effect called significant']),
    );
    expect(
      missed(recordWith(TRUE), recordWith({ credit: [60, 0, 0], low: [0, 0, 0], high: [90, 1, 1] }, [0, 0, 0])),
    ).toContain('claimed where nothing works, as a part of revenue');
  });
});
