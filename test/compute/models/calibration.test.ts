import * as fc from 'fast-check';
import { calibrate, cutAtZero, fitInto } from '../../../compute/models/causal/calibration.ts';
import type { Belief, Experiment } from '../../../compute/models/causal/calibration.ts';
import { seededRandom } from '../../../compute/numerics/random.ts';
import { relativeDifference, total } from '../closeness.ts';

const Z = 1.959964;
const CHANNELS = 4;

/** Evenly spread; fc.double would spread its exponents, so that nearly all numbers were tiny. */
const within = (low: number, high: number): fc.Arbitrary<number> =>
  fc.nat({ max: 1_000_000 }).map((part) => low + ((high - low) * part) / 1_000_000);

/** A channel as PRAV reports it: credit, half-width, and the part of the half-width that stems from κ. */
const channelCredit = fc.record({ credit: within(0, 50_000), half: within(1, 40_000), fromKappa: within(-0.3, 1) });
const KAPPA = { value: 0.05, deviation: 0.01 };

const belief: fc.Arbitrary<Belief> = fc
  .array(channelCredit, { minLength: CHANNELS, maxLength: CHANNELS })
  .map((credits) => ({
    value: Float64Array.from(credits, ({ credit }) => credit),
    low: Float64Array.from(credits, ({ credit, half }) => Math.max(0, credit - half)),
    high: Float64Array.from(credits, ({ credit, half }) => credit + half),
    kappa: {
      ...KAPPA,
      slope: Float64Array.from(credits, ({ half, fromKappa }) => (-fromKappa * half) / Z / KAPPA.deviation),
    },
    z: Z,
  }));
const channel = fc.nat({ max: CHANNELS - 1 });
const effect = within(-20_000, 80_000);
const experiment: fc.Arbitrary<Experiment> = fc.record({
  channels: fc.tuple(channel),
  incrementalRevenue: effect,
  standardError: within(10, 10_000),
});

const widthOf = ({ low, high }: Pick<Belief, 'low' | 'high'>, c: number): number => high[c]! - low[c]!;
const deviationOf = (of: Belief, c: number): number => widthOf(of, c) / (2 * Z);

describe('calibration by experiments', () => {
  test('a sure measurement pins its channel, whatever the others say', () => {
    fc.assert(
      fc.property(belief, channel, effect, (before, measured, incrementalRevenue) => {
        const { value, low, high, variance } = calibrate(before, [
          { channels: [measured], incrementalRevenue, standardError: 1e-6 },
        ]);
        expect(value[measured]).toBeCloseTo(incrementalRevenue, 4);
        expect(high[measured]! - low[measured]!).toBeLessThan(1e-3 * Math.max(1, before.high[measured]!));
        expect(variance[measured]).toBeLessThan(1e-5);
      }),
    );
  });

  test('a measurement that says nothing changes nothing, to the bit', () => {
    fc.assert(
      fc.property(belief, channel, effect, (before, measured, incrementalRevenue) => {
        const after = calibrate(before, [{ channels: [measured], incrementalRevenue, standardError: 1e18 }]);
        expect([after.value, after.low, after.high, after.kappa]).toEqual([
          before.value,
          before.low,
          before.high,
          KAPPA.value,
        ]);
        expect(after.update(before.high)).toEqual(before.high);
      }),
    );
  });

  test('a measurement of what the model said moves no credit, and widens no interval', () => {
    fc.assert(
      fc.property(belief, channel, within(1, 10_000), (before, measured, standardError) => {
        const after = calibrate(before, [
          { channels: [measured], incrementalRevenue: before.value[measured]!, standardError },
        ]);
        expect([after.value, after.kappa]).toEqual([before.value, KAPPA.value]);
        for (let c = 0; c < CHANNELS; c++)
          expect(widthOf(after, c)).toBeLessThanOrEqual(widthOf(before, c) * (1 + 1e-12));
        expect(widthOf(after, measured)).toBeLessThan(widthOf(before, measured));
      }),
    );
  });

  test('its channel takes the precision-weighted mean; another follows by half of what κ does to both', () => {
    fc.assert(
      fc.property(belief, experiment, (before, one) => {
        const {
          channels: [c = 0],
          incrementalRevenue,
          standardError,
        } = one;
        const { value } = calibrate(before, [one]);
        const [model, test] = [1 / deviationOf(before, c) ** 2, 1 / standardError ** 2];
        expect(
          relativeDifference([value[c]!], [(model * before.value[c]! + test * incrementalRevenue) / (model + test)]),
        ).toBeLessThan(1e-9);
        const ofKappa = (d: number): number =>
          Math.sign(before.kappa!.slope[d]!) *
          Math.min(deviationOf(before, d), Math.abs(before.kappa!.slope[d]!) * KAPPA.deviation);
        for (let d = 0; d < CHANNELS; d++) {
          if (d === c) continue;
          const covariance = 0.5 * ofKappa(c) * ofKappa(d);
          const expected =
            before.value[d]! +
            (covariance / (deviationOf(before, c) ** 2 + standardError ** 2)) * (incrementalRevenue - before.value[c]!);
          expect(relativeDifference([value[d]!], [expected])).toBeLessThan(1e-9);
        }
      }),
    );
  });

  test('one of several channels moves their sum to the precision-weighted mean', () => {
    const group = fc.uniqueArray(channel, { minLength: 2, maxLength: CHANNELS });
    fc.assert(
      fc.property(belief, group, effect, within(10, 10_000), (before, channels, incrementalRevenue, standardError) => {
        const unmoved = { ...before, kappa: null };
        const sum = (values: Float64Array): number => channels.reduce((all, c) => all + values[c]!, 0);
        const variance = channels.reduce((all, c) => all + deviationOf(before, c) ** 2, 0);
        const { value } = calibrate(unmoved, [{ channels, incrementalRevenue, standardError }]);
        const gain = variance / (variance + standardError ** 2);
        const expected = sum(before.value) + gain * (incrementalRevenue - sum(before.value));
        expect(Math.abs(sum(value) - expected)).toBeLessThan(1e-6 * Math.max(1, Math.abs(expected), sum(before.high)));
        for (let c = 0; c < CHANNELS; c++) if (!channels.includes(c)) expect(value[c]).toBe(before.value[c]);
      }),
    );
  });

  test('what the cut at 0 gives to some of a measured group, the others lose', () => {
    const credits = fc.array(within(-20_000, 50_000), { minLength: CHANNELS, maxLength: CHANNELS });
    fc.assert(
      fc.property(credits, (given) => {
        const [credit, variance] = [Float64Array.from(given), Float64Array.from(given, (_, c) => 1 + c)];
        const channels = [0, 1, 2];
        const cut = cutAtZero(credit, variance, [{ channels }]);
        expect(Math.min(...cut)).toBeGreaterThanOrEqual(0);
        expect(total(cut.subarray(0, 3))).toBeCloseTo(Math.max(0, total(credit.subarray(0, 3))), 4);
        expect(cut[3]).toBe(Math.max(0, credit[3]!));
      }),
    );
  });

  test('harm in a group stays, and counts in its sum', () => {
    const credit = Float64Array.of(-300, -50, 500, 0);
    const cut = cutAtZero(credit, Float64Array.of(1, 1, 1, 1), [{ channels: [0, 1, 2] }], (c) => c === 0);
    expect([...cut]).toEqual([-300, 0, 450, 0]);
  });

  test('the order of experiments makes no difference', () => {
    fc.assert(
      fc.property(belief, fc.array(experiment, { minLength: 2, maxLength: 4 }), (before, experiments) => {
        const one = calibrate(before, experiments);
        const other = calibrate(before, experiments.toReversed());
        const size = Math.max(
          ...before.high,
          ...experiments.map(({ incrementalRevenue }) => Math.abs(incrementalRevenue)),
        );
        for (const name of ['value', 'low', 'high'] as const)
          one[name].forEach((x, c) => expect(Math.abs(x - other[name][c]!)).toBeLessThan(1e-6 * size));
      }),
    );
  });

  test('without κ only the measured channel moves', () => {
    fc.assert(
      fc.property(belief, experiment, (before, one) => {
        const after = calibrate({ ...before, kappa: null }, [one]);
        for (let d = 0; d < CHANNELS; d++)
          if (d !== one.channels[0])
            expect([after.value[d], after.low[d], after.high[d]]).toEqual([
              before.value[d],
              before.low[d],
              before.high[d],
            ]);
        expect(after.kappa).toBeNull();
      }),
    );
  });

  test('a channel without effect keeps 0 in its interval when another is found to be better than thought', () => {
    const before: Belief = {
      value: Float64Array.of(20_000, 0),
      low: Float64Array.of(5_000, 0),
      high: Float64Array.of(35_000, 9_000),
      kappa: { ...KAPPA, slope: Float64Array.of(-7e5, -1.5e5) },
      z: Z,
    };
    const { value, low } = calibrate(before, [{ channels: [0], incrementalRevenue: 27_000, standardError: 2_000 }]);
    expect(value[1]).toBeGreaterThan(0);
    expect(low[1]).toBe(0);
  });

  test('true experiments: the other channels err less on average, and their intervals cover as before', () => {
    const random = seededRandom(5);
    const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const deviation = [4_000, 9_000, 6_000, 3_000];
    const fromKappa = [3_000, 8_000, 5_000, 500];
    const trials = 4_000;
    let [covered, before, after] = [0, 0, 0];
    for (let trial = 0; trial < trials; trial++) {
      const shared = normal();
      // Credits far from 0, the truth scattered around them: half of what κ leaves open is one draw for all, the rest
      // is each channel's own.
      const value = new Float64Array(CHANNELS).fill(100_000);
      const truth = value.map(
        (x, c) =>
          x -
          Math.SQRT1_2 * fromKappa[c]! * shared +
          Math.sqrt(deviation[c]! ** 2 - 0.5 * fromKappa[c]! ** 2) * normal(),
      );
      const reach = (c: number): number => Z * deviation[c]!;
      const prior: Belief = {
        value,
        low: value.map((x, c) => x - reach(c)),
        high: value.map((x, c) => x + reach(c)),
        kappa: { ...KAPPA, slope: Float64Array.from(fromKappa, (part) => -part / KAPPA.deviation) },
        z: Z,
      };
      const standardError = 1_500;
      const posterior = calibrate(prior, [
        { channels: [1], incrementalRevenue: truth[1]! + standardError * normal(), standardError },
      ]);
      for (const c of [0, 2, 3]) {
        covered += Number(posterior.low[c]! <= truth[c]! && truth[c]! <= posterior.high[c]!) / (3 * trials);
        before += Math.abs(value[c]! - truth[c]!);
        after += Math.abs(posterior.value[c]! - truth[c]!);
      }
    }
    // 12,000 intervals: 0.95 ± 0.008 is four standard errors. With all of κ shared it was 0.87.
    expect(Math.abs(covered - 0.95)).toBeLessThan(0.008);
    expect(after).toBeLessThan(before * 0.97);
  });
});

describe('fitting the credit into the revenue', () => {
  const amounts = fc.array(fc.record({ credit: within(-5_000, 20_000), variance: within(1, 1e8) }), {
    minLength: 2,
    maxLength: 8,
  });

  test('none falls below 0, the sum fits, and what is known for sure keeps its place', () => {
    fc.assert(
      fc.property(amounts, within(20_000, 60_000), (list, most) => {
        const credit = Float64Array.from(list, (each) => each.credit);
        const fitted = fitInto(
          credit,
          Float64Array.from(list, ({ variance }, c) => (c === 0 ? 1e-9 : variance)),
          most,
        );
        expect(total(fitted)).toBeLessThanOrEqual(most * (1 + 1e-9));
        fitted.forEach((part, c) => {
          expect(part).toBeGreaterThanOrEqual(0);
          expect(part).toBeLessThanOrEqual(Math.max(0, credit[c]!));
        });
        expect(fitted[0]).toBeCloseTo(Math.max(0, credit[0]!), 2);
      }),
    );
  });

  test('what fits is left as it is; what was measured beyond all revenue is scaled', () => {
    const credit = Float64Array.of(3_000, 0, 2_000);
    expect(fitInto(credit, Float64Array.of(1, 1, 1), 5_000)).toEqual(credit);
    expect([...fitInto(credit, Float64Array.of(0, 9, 0), 2_500)]).toEqual([1_500, 0, 1_000]);
    expect([...fitInto(credit, Float64Array.of(1, 1, 1), 0)]).toEqual([0, 0, 0]);
  });
});
