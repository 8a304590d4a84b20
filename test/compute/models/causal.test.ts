import type { CausalInput } from '../../../compute/models/causal/causal-input.ts';
import { failure } from '../../../compute/outcome.ts';
import { columnOf, relativeDifference, total } from '../closeness.ts';
import {
  eventTable,
  isUnpaid,
  pathTable,
  readEventRows,
  readPathRows,
  reference,
  wholeRange,
} from '../reference-data.ts';
import { figures, refusal } from '../run-in-thread.ts';

type ByChannel = Record<string, number>;
interface CausalReference {
  prav: Record<'incremental_revenue' | 'interval_low' | 'interval_high' | 'N' | 'se_revenue', ByChannel> & {
    aov: number;
  };
  weights: ByChannel;
  share_by_model: Record<'markov' | 'shapley' | 'dominance' | 'rwa' | 'prav', ByChannel>;
  share: ByChannel;
  credit: ByChannel;
  total_incremental: number;
  baseline: number;
  delta_r_vs_last_click: ByChannel;
}

const LEVEL_OF_1_96 = 0.9500042097035591;
const events = eventTable(readEventRows());
const paths = pathTable(readPathRows('events.journeys.csv'));
const TOTALS = { conversions: 145, revenue: 8952.22 };

function input(changes: Partial<CausalInput> = {}, members: Partial<CausalInput['members']> = {}): CausalInput {
  const options = wholeRange(events, { confidenceLevel: LEVEL_OF_1_96 });
  return {
    channels: events.channels,
    isBaseline: options.isBaseline,
    confidenceLevel: LEVEL_OF_1_96,
    totals: TOTALS,
    comparison: figures('comparison', { events, options }),
    spend: new Float64Array(events.channels.length),
    isOwnedMedia: new Uint8Array(events.channels.length),
    experiments: [],
    ...changes,
    members: {
      markov: figures('markov', { paths, order: 1 }),
      shapley: figures('shapley', { paths }),
      dominance: figures('dominance', { paths, seed: 1 }),
      rwa: figures('rwa', { paths }),
      prav: figures('prav', { events, options }),
      ...members,
    },
  };
}

/** Retargeting in that file follows visits, and those who click on a search come and order like direct visitors. */
const MAY_OWE_NOTHING = new Set(['retargeting', 'brand_search', 'paid_search']);

/**
 * Interval and confidence by hand, out of the reference's figures: PRAV's reach and what the unknown mechanism adds,
 * 5 % of the revenue and one order per touch at most, as independent errors; then wide enough to hold the credit and,
 * where all of it may be selection, an effect of 0 less its sampling error.
 */
function byHand({ prav, credit, share_by_model, total_incremental }: CausalReference): Record<string, ByChannel> {
  const low: ByChannel = {};
  const high: ByChannel = {};
  const confidence: ByChannel = {};
  for (const [channel, amount] of Object.entries(credit)) {
    const value = prav.incremental_revenue[channel]!;
    const mechanism = Math.min(1.96 * 0.05 * TOTALS.revenue, prav.N[channel]! * prav.aov);
    const error = 1.96 * prav.se_revenue[channel]!;
    const identified = MAY_OWE_NOTHING.has(channel) ? [-error, amount + error] : [amount, amount];
    low[channel] = Math.min(identified[0]!, amount, value - Math.hypot(value - prav.interval_low[channel]!, mechanism));
    high[channel] = Math.max(
      identified[1]!,
      amount,
      value + Math.hypot(prav.interval_high[channel]! - value, mechanism),
    );
    const shares = (['markov', 'shapley', 'prav'] as const).map((member) => share_by_model[member][channel]!);
    const mean = shares.reduce((sum, share) => sum + share, 0) / 3;
    const deviation = Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / 3);
    confidence[channel] = 1 / (1 + (high[channel]! - low[channel]!) / total_incremental + 2 * deviation);
  }
  return { low, high, confidence };
}

const paid = (share: Float64Array): number => total(share.filter((_, c) => !isUnpaid(events.channels[c]!)));
const NO_PRAV = { prav: failure('insufficient_data', 'This source holds aggregated paths.') };

describe('the causal model', () => {
  const expected = reference<CausalReference>('refs.events.json');
  const result = figures('causal', input());

  test('equals the reference program, intervals wider by the unknown mechanism', () => {
    const { low, high, confidence } = byHand(expected) as Record<'low' | 'high' | 'confidence', ByChannel>;
    expect(
      relativeDifference(
        Object.keys(expected.weights).map((member) => result.weights[member as 'prav']),
        Object.values(expected.weights),
      ),
    ).toBeLessThan(1e-4);
    const columns = [
      [result.share, expected.share],
      [result.value, expected.credit],
      [result.intervalLow, low],
      [result.intervalHigh, high],
      [result.confidence.map((confidence, c) => (isUnpaid(events.channels[c]!) ? 0 : confidence)), confidence],
      ...Object.entries(expected.share_by_model).map(
        ([member, share]) => [result.memberShare[member as 'prav']!, share] as const,
      ),
    ] as const;
    for (const [actual, record] of columns)
      expect(relativeDifference(actual, columnOf(events.channels, record))).toBeLessThan(1e-4);
    expect(
      relativeDifference(
        [result.incrementalRevenue, result.baselineRevenue],
        [expected.total_incremental, expected.baseline],
      ),
    ).toBeLessThan(1e-4);
  });

  test('Delta_R is the reference in cents, and its parts add up', () => {
    const { deltaR } = result;
    const reference = columnOf(events.channels, expected.delta_r_vs_last_click);
    deltaR.deltaCents.forEach((cents, c) =>
      expect(Math.abs(cents - (isUnpaid(events.channels[c]!) ? 0 : reference[c]! * 100))).toBeLessThan(1.5),
    );
    const under = Object.values(expected.delta_r_vs_last_click)
      .slice(0, -1)
      .filter((delta) => delta > 0);
    expect(Math.abs(deltaR.deltaRCents - total(under) * 100)).toBeLessThan(10);
    expect(deltaR.revenueCausalCents - deltaR.revenueLastClickCents).toBe(deltaR.deltaRCents);
    expect(deltaR.deltaRNetCents).toBe(total(deltaR.deltaCents));
    expect(deltaR.lowCents).toBeLessThanOrEqual(deltaR.deltaRCents);
    expect(deltaR.highCents).toBeGreaterThan(deltaR.deltaRCents);
  });

  test('cents of channels and baseline sum to the revenue', () => {
    expect(total(result.valueCents) + result.baselineCents).toBe(895_222);
    expect(result.revenueCents).toBe(895_222);
  });

  test('members may number their channels as they like', () => {
    const reversed = figures('markov', {
      paths: pathTable(readPathRows('events.journeys.csv'), paths.channels.toReversed()),
      order: 1,
    });
    const again = figures('causal', input({}, { markov: reversed }));
    expect(relativeDifference(again.value, result.value)).toBeLessThan(1e-9);
  });

  test('a member that failed is left out and named', () => {
    const without = figures('causal', input({}, { shapley: failure('insufficient_data', 'no reason') }));
    expect(without.weights.shapley).toBe(0);
    expect(total(Object.values(without.weights))).toBeCloseTo(1, 12);
    expect(without.warnings.join()).toContain('Shapley could not run: no reason');
  });

  test('without PRAV the published priors decide, T is the paid share of the paths, and the answer says so', () => {
    const fallback = figures('causal', input({}, NO_PRAV));
    expect(fallback.basis).toBe('prior');
    expect(fallback.weights).toEqual({ markov: 0.45, shapley: 0.45, dominance: 0.05, rwa: 0.05, prav: 0 });
    const { markov, shapley, dominance, rwa } = input().members;
    if (!markov.ok || !shapley.ok || !dominance.ok || !rwa.ok) throw new Error('a member failed');
    const share =
      0.45 * paid(markov.share) + 0.45 * paid(shapley.share) + 0.05 * paid(dominance.share) + 0.05 * paid(rwa.share);
    expect(fallback.incrementalRevenue).toBeCloseTo(share * markov.totals.value, 6);
    expect(total(fallback.value)).toBeCloseTo(fallback.incrementalRevenue, 8);
    expect(fallback.warnings.join(' ')).toMatch(/aggregated paths.*priors.*upper bound/);
    // Nothing rules out that a channel adds nothing; it may even do harm.
    const mechanism = 1.96 * 0.05 * markov.totals.value;
    fallback.value.forEach((value, c) => {
      expect(fallback.intervalLow[c]).toBeCloseTo(isUnpaid(events.channels[c]!) ? 0 : -mechanism, 2);
      expect(fallback.intervalHigh[c]).toBeGreaterThanOrEqual(value);
    });
  });

  test('with a prior member missing, the other priors are scaled up', () => {
    const fallback = figures(
      'causal',
      input({}, { ...NO_PRAV, dominance: failure('insufficient_data', '-'), rwa: failure('insufficient_data', '-') }),
    );
    expect(fallback.weights).toMatchObject({ markov: 0.5, shapley: 0.5 });
  });

  test('no effect at all: everything is baseline, shares and confidence are 0', () => {
    const { members } = input();
    if (!members.prav.ok) throw new Error(members.prav.message);
    const none = new Float64Array(events.channels.length);
    const nothing = figures(
      'causal',
      input({}, { prav: { ...members.prav, total: 0, value: none, conversions: none, share: none } }),
    );
    expect(nothing.incrementalRevenue).toBe(0);
    expect(nothing.baselineCents).toBe(895_222);
    expect(total(nothing.share) + paid(nothing.confidence) + nothing.overallConfidence).toBe(0);
    expect(total(nothing.confidence)).toBe(2);
  });

  test('revenue below zero (more refunds than sales) leaves nothing to credit', () => {
    const refunded = figures('causal', input({ totals: { conversions: 145, revenue: -120.5 } }));
    expect(refunded.incrementalRevenue).toBe(0);
    expect(refunded.baselineCents).toBe(-12_050);
    expect(refunded.deltaR.deltaRCents).toBe(0);
  });

  test('a member that was cancelled or broke is not silently left out', () => {
    expect(refusal('causal', input({}, { prav: failure('cancelled', 'The task was cancelled.') })).code).toBe(
      'cancelled',
    );
    expect(refusal('causal', input({}, { rwa: failure('failed', 'A defect.') })).message).toBe('A defect.');
  });

  test('a channel that last click charges with refunds has recovered nothing unless it earned something', () => {
    const { comparison, members } = input();
    const affiliate = events.channels.indexOf('affiliate');
    const value = comparison.rules.last.value.map((amount, c) => (c === affiliate ? -500 : amount));
    const refunded = { ...comparison, rules: { ...comparison.rules, last: { ...comparison.rules.last, value } } };
    if (!members.prav.ok) throw new Error(members.prav.message);
    // PRAV alone gives the affiliate channel nothing.
    const none = failure('insufficient_data', '-');
    const { deltaR, valueCents } = figures(
      'causal',
      input({ comparison: refunded }, { markov: none, shapley: none, dominance: none, rwa: none }),
    );
    expect(valueCents[affiliate]).toBe(0);
    expect(deltaR.deltaCents[affiliate]).toBe(50_000);
    expect(deltaR.underCredited).not.toContain(affiliate);
  });

  describe('calibrated by experiments', () => {
    const channel = events.channels.indexOf('retargeting');
    const measured = (incrementalRevenue: number, standardError: number, of = channel) => ({
      channels: [of],
      incrementalRevenue,
      standardError,
    });

    test('a sure measurement pins its channel, narrows its interval and moves the others through κ', () => {
      const pinned = figures('causal', input({ experiments: [measured(600, 1e-6)] }));
      expect(pinned.value[channel]).toBeCloseTo(600, 6);
      expect(pinned.intervalHigh[channel]! - pinned.intervalLow[channel]!).toBeLessThan(1e-3);
      expect(pinned.kappa!.calibrated).toBeGreaterThan(pinned.kappa!.estimated);
      const search = events.channels.indexOf('paid_search');
      expect(pinned.value[search]).toBeLessThan(result.value[search]!);
      expect(pinned.intervalHigh[search]! - pinned.intervalLow[search]!).toBeLessThan(
        result.intervalHigh[search]! - result.intervalLow[search]!,
      );
      expect(total(pinned.value)).toBeCloseTo(pinned.incrementalRevenue, 8);
      expect(total(pinned.valueCents) + pinned.baselineCents).toBe(895_222);
      expect(pinned.calibrations).toEqual([
        {
          channels: [channel],
          measured: 600,
          standardError: 1e-6,
          before: result.value[channel],
          after: pinned.value[channel],
        },
      ]);
      expect(pinned.warnings[0]).toBe('Calibrated by 1 experiment.');
    });

    test('a measurement that says nothing changes nothing', () => {
      const same = figures('causal', input({ experiments: [measured(600, 1e12)] }));
      const { warnings: said, calibrations, ...figuresAfter } = same;
      const { warnings: before, calibrations: none, ...figuresBefore } = result;
      expect(figuresAfter).toEqual(figuresBefore);
      expect([said.slice(1), calibrations.length, none]).toEqual([before, 1, []]);
    });

    test('where credit meets the revenue that touches preceded, the channels that were not measured give way', () => {
      const { comparison } = input();
      const touched = 3000;
      const narrow = {
        comparison: { ...comparison, unattributed: { conversions: 100, value: TOTALS.revenue - touched } },
      };
      const before = figures('causal', input(narrow));
      const wanted = before.value[channel]! + 500;
      const pinned = figures('causal', input({ ...narrow, experiments: [measured(wanted, 5)] }));
      expect(Math.abs(pinned.value[channel]! - wanted)).toBeLessThan(5);
      expect(pinned.incrementalRevenue).toBeLessThanOrEqual(touched * (1 + 1e-9));
    });

    test('several experiments: their order makes no difference; a channel takes the precision-weighted mean', () => {
      const email = events.channels.indexOf('email');
      const list = [measured(900, 150), measured(500, 300), measured(200, 80, email)];
      const one = figures('causal', input({ experiments: list }));
      const other = figures('causal', input({ experiments: list.toReversed() }));
      expect(relativeDifference(one.value, other.value)).toBeLessThan(1e-9);
      const alone = figures('causal', input({ experiments: list.slice(0, 2) }));
      const deviation = (result.intervalHigh[channel]! - result.intervalLow[channel]!) / (2 * 1.96);
      const precision = [1 / deviation ** 2, 1 / 150 ** 2, 1 / 300 ** 2];
      expect(alone.value[channel]).toBeCloseTo(
        (result.value[channel]! * precision[0]! + 900 * precision[1]! + 500 * precision[2]!) / total(precision),
        1,
      );
    });

    const paid = [...events.channels.keys()].filter((c) => !isUnpaid(events.channels[c]!));

    test('a sure measurement of all paid channels together pins the total, and no channel falls below 0', () => {
      for (const total of [300, 2500]) {
        const experiment = { channels: paid, incrementalRevenue: total, standardError: 0.01 };
        const pinned = figures('causal', input({ experiments: [experiment] }));
        expect(pinned.incrementalRevenue).toBeCloseTo(total, 1);
        expect(Math.min(...pinned.value)).toBeGreaterThanOrEqual(0);
        expect(pinned.calibrations[0]).toMatchObject({ channels: paid, after: pinned.incrementalRevenue });
      }
    });

    test('a small test of a channel and a sure one of all agree: the tested channel keeps its place', () => {
      const all = { channels: paid, incrementalRevenue: 2000, standardError: 0.01 };
      const both = figures('causal', input({ experiments: [measured(700, 0.01), all] }));
      expect(both.value[channel]).toBeCloseTo(700, 1);
      expect(both.incrementalRevenue).toBeCloseTo(2000, 1);
    });

    test('an experiment on an unpaid or unknown channel, or without an error, is refused', () => {
      for (const bad of [
        { channels: [], incrementalRevenue: 1, standardError: 1 },
        { channels: [channel, channel], incrementalRevenue: 1, standardError: 1 },
        measured(1, 1, events.channels.indexOf('direct')),
        measured(1, 1, 99),
        measured(1, 0),
        measured(NaN, 1),
      ]) {
        expect(refusal('causal', input({ experiments: [bad] })).code).toBe('invalid_input');
      }
    });
  });

  describe('spend that leaves no touches', () => {
    const channels = [...events.channels, 'television'];
    const television = channels.length - 1;
    const withTelevision = (changes: Partial<CausalInput> = {}): CausalInput =>
      input({
        channels,
        isBaseline: Uint8Array.from(channels, (channel) => Number(isUnpaid(channel))),
        isOwnedMedia: new Uint8Array(channels.length),
        spend: Float64Array.from(channels, (channel) => (channel === 'television' ? 800 : 0)),
        ...changes,
      });

    test('is credited nothing, which is not to say that it brings nothing', () => {
      const unknown = figures('causal', withTelevision());
      expect(unknown.identification[television]).toMatchObject({
        status: 'none',
        reasons: [{ code: 'untracked_spend' }],
      });
      const { value, confidence, spendWeight } = unknown;
      expect([value, confidence, spendWeight].map((of) => of[television])).toEqual([0, 0, 0]);
      expect(value.subarray(0, television)).toEqual(result.value);
      expect(unknown.deltaR).toMatchObject({ deltaRCents: result.deltaR.deltaRCents });
    });

    test('is measured by an experiment alone, weighed against what such spend usually brings', () => {
      const experiment = { channels: [television], incrementalRevenue: 2000, standardError: 100 };
      const settled = figures('causal', withTelevision({ experiments: [experiment] }));
      expect(settled.identification[television]).toEqual({ status: 'point', reasons: [] });
      // Log-normal (0.2, 0.9) times the spend: median 977, standard deviation 1641.
      const prior = { value: 800 * Math.exp(0.2), variance: (Math.exp(0.81) - 1) * Math.exp(0.4 + 0.81) * 800 ** 2 };
      const weight = prior.variance / (prior.variance + 100 ** 2);
      expect(settled.value[television]).toBeCloseTo(prior.value + weight * (2000 - prior.value), 6);
      expect(settled.calibrations[0]).toMatchObject({ before: 0, after: settled.value[television] });
      expect(total(settled.valueCents) + settled.baselineCents).toBe(895_222);
    });

    test('stays unknown after an experiment that says little', () => {
      const experiment = { channels: [television], incrementalRevenue: 2000, standardError: 50_000 };
      const unsettled = figures('causal', withTelevision({ experiments: [experiment] }));
      expect(unsettled.identification[television]!.status).toBe('none');
      expect([unsettled.value[television], unsettled.intervalHigh[television]]).toEqual([0, 0]);
    });
  });

  test('less is known without users: prior weights report lower confidence than placebos do', () => {
    const prior = figures('causal', input({}, NO_PRAV));
    expect(prior.overallConfidence).toBeLessThan(result.overallConfidence);
  });

  test('revenue that no touch preceded stays baseline', () => {
    const { comparison, members } = input();
    if (!members.prav.ok) throw new Error(members.prav.message);
    const touched = 3000;
    const capped = figures(
      'causal',
      input({ comparison: { ...comparison, unattributed: { conversions: 100, value: TOTALS.revenue - touched } } }),
    );
    expect(capped.incrementalRevenue).toBeCloseTo(touched, 6);
    expect(capped.incrementalConversions).toBeLessThanOrEqual(45);
  });

  test('where nothing ran there is nothing to combine', () => {
    const none = failure('insufficient_data', 'There are no journeys.');
    expect(
      refusal('causal', input({}, { markov: none, shapley: none, dominance: none, rwa: none, prav: none })).code,
    ).toBe('insufficient_data');
  });
});
