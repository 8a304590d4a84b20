import fc from 'fast-check';
import { toCents } from '../../../../../compute/numerics/largest-remainder.ts';
import {
  comparisonOf,
  creditOf,
  recoveredRevenue,
  type RunTotals,
} from '../../../../../subgraphs/attribution/analysis/attributions/compose-figures.ts';
import type { ChannelFigures } from '../../../../../subgraphs/attribution/analysis/attributions/figures.ts';
import { presentChannels } from '../../../../../subgraphs/attribution/analysis/attributions/present-attribution.ts';

function figuresOf(
  channel: string,
  attributedRevenueCents: number,
  lastclickRevenueCents: number,
  isBaseline = false,
): ChannelFigures {
  return {
    channel,
    isBaseline,
    spend: 0,
    attributedRevenueCents,
    lastclickRevenueCents,
    conversions: 0,
    share: 0,
    confidence: null,
    confidenceInterval: null,
  };
}

/** Credit that is known without error. */
const exactly = (value: Float64Array) => ({
  replicates: new Float64Array(2 * value.length),
  groups: 2,
  intervalLow: value,
  intervalHigh: value,
});

const anyChannels = fc.array(
  fc.record({
    attributed: fc.integer({ min: 0, max: 1e12 }),
    lastClick: fc.integer({ min: 0, max: 1e12 }),
    isBaseline: fc.boolean(),
  }),
  { maxLength: 30 },
);

describe('recovered revenue', () => {
  test('counts what last click hid from the paid channels that it under-credits', () => {
    const channels = [
      figuresOf('meta_ads', 4000, 1000),
      figuresOf('email', 500, 900),
      figuresOf('direct', 9000, 100, true),
    ];
    expect(recoveredRevenue(channels)).toEqual({
      revenueCausalCents: 4000,
      revenueLastclickCents: 1000,
      deltaRCents: 3000,
      deltaRNetCents: 2600,
    });
  });

  test('is never negative, never less than the signed sum, and zero where last click is right', () => {
    fc.assert(
      fc.property(anyChannels, (given) => {
        const channels = given.map(({ attributed, lastClick, isBaseline }, index) =>
          figuresOf(`c${index}`, attributed, lastClick, isBaseline),
        );
        const { deltaRCents, deltaRNetCents, revenueCausalCents, revenueLastclickCents } = recoveredRevenue(channels);
        expect(deltaRCents).toBeGreaterThanOrEqual(Math.max(0, deltaRNetCents));
        expect(deltaRCents).toBe(revenueCausalCents - revenueLastclickCents);
        const right = channels.map((channel) => ({
          ...channel,
          attributedRevenueCents: channel.lastclickRevenueCents,
        }));
        expect(recoveredRevenue(right).deltaRCents).toBe(0);
      }),
    );
  });
});

describe('the credit of a model', () => {
  test('is whole cents that sum with the baseline to the revenue, whatever the shares', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.001, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 1e11 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (weights, revenueCents, unattributedShare) => {
          const channels = weights.map((_, index) => `c${index}`);
          const revenue = revenueCents / 100;
          const unattributedRevenue = revenue * unattributedShare;
          const sum = weights.reduce((total, weight) => total + weight, 0);
          const value = Float64Array.from(weights, (weight) => ((revenue - unattributedRevenue) * weight) / sum);
          const columns = {
            channels,
            conversions: new Float64Array(weights.length),
            value,
            share: Float64Array.from(weights, (weight) => weight / sum),
          };
          const totals: RunTotals = {
            channels,
            isBaseline: new Uint8Array(weights.length),
            conversions: 1,
            revenue,
            unattributedRevenue,
            spend: new Map(),
            confidenceLevel: 0.95,
            comparison: {
              ok: true,
              model: 'comparison',
              channels,
              rules: { last: columns, first: columns, linear: columns, position: columns, timeDecay: columns },
              attributed: { conversions: 1, value: revenue - unattributedRevenue },
              unattributed: { conversions: 0, value: unattributedRevenue },
            },
          };
          const shapley = {
            ok: true as const,
            model: 'shapley' as const,
            ...columns,
            totals: { paths: 1, conversions: 1, value: revenue, nulls: 0 },
            ...exactly(value),
            warnings: [],
          };
          const credit = creditOf('shapley', shapley, totals, null);
          const published = credit.channels.reduce(
            (total, channel) => total + channel.attributedRevenueCents,
            credit.baselineRevenueCents,
          );
          expect(published).toBe(credit.revenueCents);
          expect(credit.channels.every((channel) => Number.isSafeInteger(channel.attributedRevenueCents))).toBe(true);
        },
      ),
    );
  });
});

const anyAmounts = fc.array(fc.double({ min: -1000, max: 1e7, noNaN: true }), { minLength: 1, maxLength: 12 });

/** A run in which every rule gives the channels c0, c1, … the amounts of `value`. */
function totalsOf(value: readonly number[], unattributedRevenue: number, others: Partial<RunTotals> = {}): RunTotals {
  const channels = value.map((_, index) => `c${index}`);
  const columns = {
    conversions: new Float64Array(value.length),
    value: Float64Array.from(value),
    share: new Float64Array(value.length),
  };
  const attributed = value.reduce((sum, amount) => sum + amount, 0);
  return {
    channels,
    isBaseline: new Uint8Array(value.length),
    conversions: 1,
    revenue: attributed + unattributedRevenue,
    unattributedRevenue,
    spend: new Map(),
    confidenceLevel: 0.95,
    comparison: {
      ok: true,
      model: 'comparison',
      channels,
      rules: { last: columns, first: columns, linear: columns, position: columns, timeDecay: columns },
      attributed: { conversions: 1, value: attributed },
      unattributed: { conversions: 0, value: unattributedRevenue },
    },
    ...others,
  };
}

function shapleyOf(totals: RunTotals) {
  const { channels, rules } = totals.comparison;
  return {
    ok: true as const,
    model: 'shapley' as const,
    channels,
    ...rules.linear,
    totals: { paths: 1, conversions: 1, value: totals.revenue, nulls: 0 },
    ...exactly(rules.linear.value),
    warnings: [],
  };
}

describe('the comparison', () => {
  test('is whole cents that sum with the unattributed revenue to the revenue, by every rule', () => {
    fc.assert(
      fc.property(anyAmounts, fc.double({ min: 0, max: 1e6, noNaN: true }), (value, unattributedRevenue) => {
        const totals = totalsOf(value, unattributedRevenue);
        const comparison = comparisonOf(totals);
        const { channels, revenueCents } = creditOf('shapley', shapleyOf(totals), totals, null);
        for (const credits of Object.values(comparison)) {
          const cents = Object.values(credits).map((amount) => Math.round(amount * 100));
          expect(cents.reduce((sum, amount) => sum + amount, toCents(unattributedRevenue))).toBe(revenueCents);
          expect(Object.values(credits)).toEqual(cents.map((amount) => amount / 100));
        }
        expect(
          Object.fromEntries(channels.map((figures) => [figures.channel, figures.lastclickRevenueCents / 100])),
        ).toEqual(comparison.last_click);
      }),
    );
  });

  test('gives nothing to a channel with spend alone, whatever its name', () => {
    const totals = totalsOf([3], 0, {
      channels: ['__proto__', 'c0', 'constructor'],
      isBaseline: new Uint8Array(3),
      spend: new Map([
        ['constructor', 5],
        ['__proto__', 5],
      ]),
    });
    expect(
      creditOf('shapley', shapleyOf(totals), totals, null).channels.map((figures) => figures.lastclickRevenueCents),
    ).toEqual([0, 300, 0]);
  });
});

describe('an interval', () => {
  test('contains the credit that is published, the cent of rounding included', () => {
    const totals = totalsOf([10 / 3, 10 / 3, 10 / 3], 0);
    const third = new Float64Array(3).fill(10 / 3);
    const outcome = {
      ...shapleyOf(totals),
      model: 'causal' as const,
      intervalLow: third,
      intervalHigh: third,
      identification: [null, null, null],
      baselineRevenue: 0,
      confidence: third,
      overallConfidence: 1,
    };
    for (const { attributedRevenueCents, confidenceInterval } of creditOf(
      'causal',
      outcome as unknown as Parameters<typeof creditOf>[1],
      totals,
      null,
    ).channels) {
      expect(confidenceInterval!.lower).toBeLessThanOrEqual(attributedRevenueCents / 100);
      expect(confidenceInterval!.upper).toBeGreaterThanOrEqual(attributedRevenueCents / 100);
    }
  });
});

test('what is not measurable has no interval, and no part in Delta_R', () => {
  const totals = totalsOf([600, 300, 100], 0);
  const known = { status: 'point', reasons: [] };
  const outcome = {
    ...shapleyOf(totals),
    model: 'causal' as const,
    value: Float64Array.of(700, 300, 0),
    intervalLow: new Float64Array(3),
    intervalHigh: Float64Array.of(800, 400, 0),
    identification: [known, known, { status: 'none', reasons: [{ code: 'untracked_spend', message: 'Why.' }] }],
    baselineRevenue: 0,
    confidence: new Float64Array(3),
    overallConfidence: 1,
  };
  const { channels } = creditOf('causal', outcome as unknown as Parameters<typeof creditOf>[1], totals, null);
  expect(channels.map(({ confidenceInterval }) => confidenceInterval === null)).toEqual([false, false, true]);
  expect(channels[2]).toMatchObject({ attributedRevenueCents: 0, identification: { status: 'none' } });
  const measured = channels.slice(0, 2);
  expect(recoveredRevenue(channels).deltaRNetCents).toBe(
    measured.reduce((sum, each) => sum + each.attributedRevenueCents - each.lastclickRevenueCents, 0),
  );
  expect(
    presentChannels(
      channels.map((each) => ({ ...each, spend: 10 })),
      100_000,
    ).map(({ roi, roas }) => [roi, roas])[2],
  ).toEqual([null, null]);
});

describe('confidence', () => {
  const totals = totalsOf([600, 300, 100], 0, { isBaseline: Uint8Array.of(0, 0, 1) });
  const failed = { ok: false as const, code: 'insufficient_data' as const, message: 'No users.' };
  const shapley = {
    ...shapleyOf(totals),
    share: Float64Array.of(0.6, 0.3, 0.1),
    intervalLow: Float64Array.of(500, 250, 80),
    intervalHigh: Float64Array.of(700, 350, 120),
  };
  const markov = { ...shapley, model: 'markov', share: Float64Array.of(0.5, 0.4, 0.1) };
  const prav = {
    ...shapley,
    model: 'prav',
    share: Float64Array.of(0.75, 0.25, 0),
    value: Float64Array.of(300, 100, 0),
    total: 400,
    intervalLow: Float64Array.of(200, 0, 0),
    intervalHigh: Float64Array.of(400, 200, 0),
  };
  const outcomes = { markov, shapley, dominance: failed, rwa: failed, prav, causal: failed } as unknown as NonNullable<
    Parameters<typeof creditOf>[3]
  >;
  const spread = (...shares: number[]): number => {
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    return Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / shares.length);
  };

  test('falls with the width of the interval and with what Markov, Shapley and PRAV disagree on', () => {
    const { channels, confidence } = creditOf('shapley', shapley, totals, outcomes);
    const expected = [
      1 / (1 + 200 / 1000 + 2 * spread(5 / 9, 6 / 9, 0.75)),
      1 / (1 + 100 / 1000 + 2 * spread(4 / 9, 3 / 9, 0.25)),
      1 / (1 + 40 / 1000 + 2 * spread(0.1, 0.1)),
    ];
    channels.forEach((figures, index) => expect(figures.confidence).toBeCloseTo(expected[index]!, 12));
    expect(confidence).toBeCloseTo(0.6 * expected[0]! + 0.3 * expected[1]! + 0.1 * expected[2]!, 12);
  });

  test(
    'is complete and certain of nothing for a baseline channel under PRAV, which credits it with nothing by ' +
      'definition',
    () => {
      const { channels } = creditOf('prav', outcomes.prav as Parameters<typeof creditOf>[1], totals, outcomes);
      expect(channels[2]).toMatchObject({ confidence: 1, confidenceInterval: { lower: 0, upper: 0, level: 0.95 } });
      expect(channels[0]!.confidence).toBeCloseTo(1 / (1 + 200 / 400 + 2 * spread(5 / 9, 6 / 9, 0.75)), 12);
    },
  );

  test('is 0 where nothing was credited, and unknown until all models have run', () => {
    const nothing = { ...shapley, value: new Float64Array(3) };
    expect(creditOf('shapley', nothing, totals, outcomes).channels.map((figures) => figures.confidence)).toEqual([
      0, 0, 0,
    ]);
    expect(creditOf('shapley', shapley, totals, null)).toMatchObject({
      confidence: null,
      channels: [{ confidence: null }, { confidence: null }, { confidence: null }],
    });
  });
});

describe('channel figures as they are shown', () => {
  test('are ranked by attributed revenue, ties by name, with ratios that match their parts', () => {
    const shown = presentChannels(
      [{ ...figuresOf('b', 5000, 1000), spend: 20 }, figuresOf('a', 5000, 7000), figuresOf('direct', 2000, 0, true)],
      20_000,
    );
    expect(shown.map(({ channel, rank }) => [channel, rank])).toEqual([
      ['a', 1],
      ['b', 2],
      ['direct', 3],
    ]);
    expect(shown[1]).toMatchObject({
      roi: 1.5,
      roas: 2.5,
      deltaR: 40,
      causalLift: 5000 / 15_000,
      incrementalRevenue: 50,
    });
    expect(shown[0]).toMatchObject({ roi: null, roas: null, deltaR: -20 });
    expect(shown[2]).toMatchObject({ incrementalRevenue: 0, attributedRevenue: 20 });
  });

  test('a channel that is all of the revenue has the largest lift that is published', () => {
    expect(presentChannels([figuresOf('a', 100, 0)], 100)[0]!.causalLift).toBe(10);
  });
});
