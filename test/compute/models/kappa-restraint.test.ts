import * as fc from 'fast-check';
import { restraintOf } from '../../../compute/models/prav/kappa-restraint.ts';
import type { PaidTotals } from '../../../compute/models/prav/kappa-restraint.ts';
import { seededRandom } from '../../../compute/numerics/random.ts';

const GROUPS = 50;
const KAPPA = 0.1;

/**
 * Totals of channels with these pulls and true effects, where selection costs `price` conversions per visit; lifts err
 * by `error` (one standard error).
 */
function totalsOf(
  pulls: readonly number[],
  effects: readonly number[],
  price: number,
  error: number,
  seed = 1,
): { all: PaidTotals; parts: PaidTotals[] } {
  const random = seededRandom(seed);
  // The jackknife error of deviations of ± d is about √G · d.
  const off = (): number => ((random() < 0.5 ? -1 : 1) * error) / Math.sqrt(GROUPS);
  const pull = Float64Array.from(pulls);
  const lift = pull.map((visits, c) => price * visits + effects[c]!);
  const parts = Array.from({ length: GROUPS }, () => ({
    kappa: KAPPA * (1 + off() / 1_000),
    doubt: 0,
    lift: lift.map((conversions) => conversions + off()),
    pull,
  }));
  return { all: { kappa: KAPPA, doubt: 0, lift, pull }, parts };
}

/** The same where κ without the first days after a visit is smaller by `doubt`, with this standard error. */
function doubted(
  { all, parts }: ReturnType<typeof totalsOf>,
  doubt: number,
  error: number,
): ReturnType<typeof totalsOf> {
  const part = (totals: PaidTotals, group: number): PaidTotals => ({
    ...totals,
    doubt: doubt + ((group % 2 === 0 ? -1 : 1) * error) / Math.sqrt(GROUPS),
  });
  return { all: { ...all, doubt }, parts: parts.map(part) };
}
const restraint = ({ all, parts }: { readonly all: PaidTotals; readonly parts: readonly PaidTotals[] }): number =>
  restraintOf(all, parts);

const PULLS = [1_000, 2_000, 3_000, 500, 1_500, 0];
const EFFECTS = [300, 0, 0, 400, 0, 900];

describe('what κ the paid channels bear', () => {
  test('one under which no channel falls below 0 is left as it is', () => {
    expect(restraint(totalsOf(PULLS, EFFECTS, KAPPA, 5))).toBeCloseTo(1, 2);
    expect(restraint(totalsOf(PULLS, EFFECTS, 1.5 * KAPPA, 5))).toBe(1);
  });

  test('where the placebos overprice selection, it goes towards the true price', () => {
    expect(restraint(totalsOf(PULLS, EFFECTS, 0.7 * KAPPA, 5))).toBeCloseTo(0.7, 1);
    expect(restraint(totalsOf(PULLS, EFFECTS, 0.01 * KAPPA, 5))).toBeGreaterThanOrEqual(0.1);
  });

  test('where nothing works, a κ that is too large is left alone: all channels tell the same', () => {
    expect(
      restraint(
        totalsOf(
          PULLS,
          PULLS.map(() => 0),
          0.7 * KAPPA,
          5,
        ),
      ),
    ).toBe(1);
  });

  test('a single channel, however far below 0, does not decide', () => {
    const withOne = (effect: number): number =>
      restraint(totalsOf(PULLS, [900, 500, 700, 400, effect, 900], KAPPA, 100));
    expect(withOne(-1_000)).toBeLessThan(0.95);
    expect(withOne(-20_000)).toBeGreaterThan(0.85);
  });

  test('the more the placebos are in doubt, the more the paid channels say', () => {
    const totals = totalsOf(PULLS, EFFECTS, 0.5 * KAPPA, 100);
    const [sure, unsure] = [restraint(totals), restraint(doubted(totals, 2 * KAPPA, KAPPA))];
    expect(unsure).toBeLessThan(sure - 0.05);
    expect(unsure).toBeGreaterThan(0.4);
  });

  test('where two readings of κ differ by more than chance, channels below 0 count though all tell the same', () => {
    const alike = totalsOf(
      PULLS,
      PULLS.map(() => 0),
      0.7 * KAPPA,
      5,
    );
    expect(restraint(doubted(alike, 0.5 * KAPPA, 0.05 * KAPPA))).toBeCloseTo(0.7, 1);
    expect(restraint(doubted(alike, 0.5 * KAPPA, 0.2 * KAPPA))).toBe(1);
    expect(restraint(doubted(alike, -0.5 * KAPPA, 0.05 * KAPPA))).toBe(1);
  });

  test('a single channel, no pull, no κ: nothing to be said', () => {
    expect(restraint(totalsOf([1_000], [-50], KAPPA, 5))).toBe(1);
    expect(restraint(totalsOf([0, 0, 0], [-50, 50, 10], KAPPA, 5))).toBe(1);
    const { all, parts } = totalsOf(PULLS, EFFECTS, KAPPA, 5);
    expect(restraintOf({ ...all, kappa: 0 }, parts)).toBe(1);
    expect(restraintOf(all, [])).toBe(1);
  });

  test('always 0.1 to 1, and the same in any unit of conversions and visits', () => {
    const channels = fc.array(
      fc.tuple(fc.double({ min: 0, max: 5_000, noNaN: true }), fc.double({ min: -500, max: 1_000, noNaN: true })),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(
        channels,
        fc.double({ min: 0.01, max: 0.5, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer(),
        (each, price, doubt, seed) => {
          const { all, parts } = doubted(
            totalsOf(
              each.map(([pull]) => pull),
              each.map(([, effect]) => effect),
              price,
              20,
              seed,
            ),
            doubt * KAPPA,
            0.05 * KAPPA,
          );
          const found = restraintOf(all, parts);
          expect(found).toBeGreaterThanOrEqual(0.1);
          expect(found).toBeLessThanOrEqual(1);
          const scaled = ({ kappa, doubt, lift, pull }: PaidTotals): PaidTotals => ({
            kappa: kappa * 4,
            doubt: doubt * 4,
            lift: lift.map((part) => part * 8),
            pull: pull.map((part) => part * 2),
          });
          expect(restraintOf(scaled(all), parts.map(scaled))).toBeCloseTo(found, 6);
        },
      ),
    );
  });
});
