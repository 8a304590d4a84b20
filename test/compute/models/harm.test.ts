import fc from 'fast-check';
import type { CausalResult } from '../../../compute/models/causal/causal-result.ts';
import { journeysAsPaths } from '../../../compute/evidence/journeys.ts';
import { secondCredit } from '../../../compute/evidence/second-credit.ts';
import { total } from '../closeness.ts';
import { analysePlanted } from '../planted-analysis.ts';
import { figures } from '../run-in-thread.ts';

const PEOPLE = 6_000;
const CANNIBAL = { organic: true, couponTakesAway: 1 } as const;
const { result, input, events, options } = analysePlanted(PEOPLE, CANNIBAL);
const at = (channel: string): number => result.channels.indexOf(channel);

test('a channel that takes orders away is credited below 0, where its whole interval is', () => {
  const { prav } = input.members;
  if (!prav.ok) throw new Error(prav.message);
  const coupon = at('coupon');
  expect(result.value[coupon]).toBeLessThan(-0.2 * result.revenue);
  expect(result.value[coupon]).toBeCloseTo(prav.signedRevenue[prav.channels.indexOf('coupon')]!, 6);
  expect(result.intervalHigh[coupon]).toBeLessThan(0);
  expect(result.intervalLow[coupon]).toBeLessThan(result.value[coupon]!);
  expect(result.spendWeight[coupon]).toBe(0);
  expect(result.deltaR.underCredited).not.toContain(coupon);
});

test('one that takes none away is not', () => {
  const harmless = analysePlanted(PEOPLE, { ...CANNIBAL, couponTakesAway: 0 }).result;
  expect(harmless.value.every((amount) => amount >= 0)).toBe(true);
});

describe('a second derivation', () => {
  const window = { startS: options.rangeStartS, endS: options.rangeEndS, lookbackS: options.lookbackS };
  const paths = journeysAsPaths(events, window);
  const evidence = figures('evidence', { paths, events, ...options, preceding: null, seed: 1 });
  const touches = new Map(
    events.channels.map((name, c) => [
      name,
      events.channel.filter((x, i) => x === c && events.conversion[i] === 0).length,
    ]),
  );
  const baseline = new Set(['direct', 'organic_search']);
  const witness = { journeys: evidence.witness, touches, ...input.totals, baseline };
  const expectConfirmed = (members: typeof input.members): void => {
    const causal = figures('causal', { ...input, members });
    secondCredit('causal', { ...members, causal }, witness)!.forEach((amount, c) =>
      expect(amount / causal.revenue).toBeCloseTo(causal.value[c]! / causal.revenue, 9),
    );
  };

  test('leads to the same credit, harm included', () => expectConfirmed(input.members));

  test('confirms what is claimed in part', () => {
    const { prav } = input.members;
    if (!prav.ok) throw new Error(prav.message);
    const half = (column: Float64Array): Float64Array => column.map((amount) => amount / 2);
    expectConfirmed({
      ...input.members,
      prav: { ...prav, claimed: 0.5, value: half(prav.value), total: prav.total / 2 },
    });
  });
});

/** What has to hold of any credit, harm or not. */
function expectSound(credit: CausalResult): void {
  const sum = total(credit.value);
  credit.value.forEach((amount, c) => {
    expect(amount < 0).toBe(credit.intervalHigh[c]! < 0);
    expect(credit.intervalLow[c]).toBeLessThanOrEqual(amount);
    expect(credit.intervalHigh[c]).toBeGreaterThanOrEqual(amount);
    expect(credit.share[c]).toBeCloseTo(sum > 0 ? amount / sum : 0, 9);
    expect(credit.confidence[c]).toBeGreaterThanOrEqual(0);
    expect(credit.confidence[c]).toBeLessThanOrEqual(1);
  });
  expect(total(credit.valueCents) + credit.baselineCents).toBe(credit.revenueCents);
  expect(credit.incrementalRevenue).toBeCloseTo(sum, 6);
  expect(credit.baselineRevenue).toBeCloseTo(credit.revenue - sum, 6);
  expect(credit.overallConfidence).toBeLessThanOrEqual(1);
  expect(credit.overallConfidence).toBeGreaterThanOrEqual(0);
  const { deltaR } = credit;
  expect(deltaR.deltaRCents).toBeGreaterThanOrEqual(0);
  expect(deltaR.deltaRCents).toBe(deltaR.revenueCausalCents - deltaR.revenueLastClickCents);
  expect(deltaR.lowCents).toBeLessThanOrEqual(deltaR.deltaRCents);
  expect(deltaR.highCents).toBeGreaterThanOrEqual(deltaR.deltaRCents);
  deltaR.underCredited.forEach((c) => expect(credit.valueCents[c]).toBeGreaterThan(0));
}

test('credit is below 0 exactly where the whole interval is, whatever PRAV measures; sums hold to the cent', () => {
  const { prav } = input.members;
  if (!prav.ok) throw new Error(prav.message);
  const { revenue } = input.totals;
  const part = fc.double({ min: -0.8, max: 0.8, noNaN: true });
  const error = fc.double({ min: 0, max: 0.3, noNaN: true });
  fc.assert(
    fc.property(part, part, error, fc.boolean(), fc.boolean(), (coupon, display, reach, isJoint, isMeasured) => {
      const measured: Record<string, number> = { coupon, display };
      const signed = Float64Array.from(prav.channels, (name) => (measured[name] ?? 0) * revenue);
      const positive = signed.map((amount) => Math.max(0, amount));
      const taken = isJoint ? Math.max(0, total(signed)) / Math.max(total(positive), 1e-9) : 1;
      const value = positive.map((amount) => amount * Math.min(1, taken));
      const ends = (by: number): Float64Array =>
        signed.map((amount, c) => (input.isBaseline[c] === 1 ? 0 : amount + by * reach * revenue));
      const outcome = {
        ...prav,
        estimator: isJoint ? ('joint' as const) : ('plain' as const),
        signedRevenue: signed,
        value,
        total: total(value),
        signedLow: ends(-1),
        signedHigh: ends(1),
        intervalLow: ends(-1).map((end, c) => Math.min(Math.max(0, end), value[c]!)),
        intervalHigh: ends(1).map((end, c) => Math.max(0, end, value[c]!)),
      };
      expectSound(
        figures('causal', {
          ...input,
          members: { ...input.members, prav: outcome },
          spend: input.spend.map((_, c) => (input.isBaseline[c] === 1 ? 0 : 0.1 * revenue)),
          experiments: isMeasured
            ? [{ channels: [at('display')], incrementalRevenue: display * revenue, standardError: 0.02 * revenue }]
            : [],
        }),
      );
    }),
  );
});

test('an experiment that measures harm shows it; one that measures gain ends it', () => {
  const measuring = (channel: string, part: number): CausalResult =>
    figures('causal', {
      ...input,
      experiments: [
        { channels: [at(channel)], incrementalRevenue: part * result.revenue, standardError: 0.01 * result.revenue },
      ],
    });
  const harmed = measuring('display', -0.3);
  expectSound(harmed);
  expect(harmed.value[at('display')]).toBeLessThan(-0.2 * result.revenue);
  const gained = measuring('coupon', 0.1);
  expectSound(gained);
  expect(gained.value[at('coupon')]).toBeGreaterThan(0);
});
