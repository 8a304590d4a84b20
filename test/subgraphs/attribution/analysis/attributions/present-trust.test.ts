import * as fc from 'fast-check';
import { canonicalDigest } from '../../../../../services/trust/canonical-json.ts';
import {
  brokenInvariants,
  internalInconsistency,
  INVARIANT_NAMES,
} from '../../../../../subgraphs/attribution/analysis/attributions/coherence.ts';
import { claimsOf, RESULT_CLAIM } from '../../../../../subgraphs/attribution/analysis/attributions/claims.ts';
import type {
  AnalysisFigures,
  ChannelFigures,
} from '../../../../../subgraphs/attribution/analysis/attributions/figures.ts';
import {
  presentTrust,
  type SourceNow,
} from '../../../../../subgraphs/attribution/analysis/attributions/present-trust.ts';
import type { TrustEvidence } from '../../../../../subgraphs/attribution/analysis/attributions/trust-evidence.ts';
import { verifyClaims } from '../../../../../subgraphs/attribution/analysis/attributions/verify-claims.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-02-01T12:00:00Z');

const channel = (name: string, attributedCents: number, lastclickCents: number, spend: number): ChannelFigures => ({
  channel: name,
  isBaseline: name === 'direct',
  spend,
  attributedRevenueCents: attributedCents,
  lastclickRevenueCents: lastclickCents,
  conversions: attributedCents / 5000,
  share: attributedCents / 60_000,
  confidence: 0.9,
  confidenceInterval: { lower: attributedCents / 110, upper: attributedCents / 90, level: 0.95 },
});

/** 1,000.00 of revenue, 600.00 of it credited: 400.00 to email, 200.00 to ads. */
const FIGURES = {
  currency: 'USD',
  conversions: 20,
  revenueCents: 100_000,
  baselineRevenueCents: 40_000,
  unattributedRevenueCents: 10_000,
  channels: [
    channel('email', 40_000, 30_000, 50),
    channel('ads', 20_000, 40_000, 100),
    channel('direct', 0, 20_000, 0),
  ],
  methodology: 'x',
  confidence: 0.9,
  revenueCausalCents: 40_000,
  revenueLastclickCents: 30_000,
  deltaRCents: 10_000,
  deltaRNetCents: -10_000,
  modelBreakdown: { markov: { email: 0.5, ads: 0.3, direct: 0.2 } },
  comparison: { last_click: {}, first_click: {}, linear: {}, time_decay: {}, position_based: {} },
  diagnostics: {
    journeys: 100,
    convertingJourneys: 18,
    touches: 300,
    converged: true,
    iterations: 0,
    elapsedMs: 1,
    seed: 's',
    runDigest: 'd',
    warnings: [],
    models: { prav: { touches: { email: 150, ads: 100, direct: 50 } } },
  },
} as AnalysisFigures;

const WITNESS = {
  stored: {
    touches: new Map([
      ['email', 150],
      ['ads', 100],
      ['direct', 50],
    ]),
    spend: new Map([
      ['email', 50],
      ['ads', 100],
    ]),
    orders: { conversions: 20, revenue: 1000 },
    paths: { conversions: 0, revenue: 0, touches: 0, revenueByLastStep: new Map<string, number>() },
  },
  journeys: {
    channels: ['ads', 'direct', 'email'],
    lastClick: Float64Array.from([400, 200, 300]),
    journeyTouches: Float64Array.from([1, 1, 1]),
    shapley: new Float64Array(3),
    shapleyConversions: new Float64Array(3),
    lost: null,
    lostValue: null,
    convertingJourneys: 18,
    attributedRevenue: 900,
    journeys: 100,
  },
  isPaths: false,
  secondCredit: { channels: ['ads', 'direct', 'email'], value: Float64Array.from([200, 0, 400]) },
};

function evidence(changes: Partial<TrustEvidence> = {}): TrustEvidence {
  return {
    measuredAt: NOW.toISOString(),
    detection: { semanticEntropy: 0, calibrationError: 0, perplexityAnomaly: 0 },
    reference: 'preceding_window',
    knowledgeGraphDivergence: 0,
    promptSensitivity: 0,
    perturbations: {},
    internalConsistency: internalInconsistency(FIGURES),
    crossResponseConsistency: 0,
    invariants: { checked: INVARIANT_NAMES.length, broken: brokenInvariants(FIGURES, { touchesOf: () => 1 }) },
    claims: verifyClaims(FIGURES, WITNESS),
    resultDigest: canonicalDigest(FIGURES),
    widestChannel: null,
    confidenceIntervalsIncluded: true,
    groundTruthSource: 'stored_touchpoints',
    evidence: {
      days: { '2026-01-30': 100, '2026-01-31': 300 },
      unmatched: [],
      newestAt: '2026-01-31T20:00:00Z',
      rangeEndsAt: '2026-02-01T00:00:00Z',
      syncIntervalS: 86_400,
      citationReliability: 0,
    },
    trace: { inputsDigest: 'sha256:1', seed: 's', codeVersion: 'sha256:2' },
    ...changes,
  };
}

const source = (changes: object = {}): SourceNow => ({
  source: {
    deletedAt: null,
    error: null,
    statistics: null,
    rowsAccepted: 400,
    rowsRejected: 0,
    statusAt: () => 'connected',
    healthScore: () => 1,
    ...changes,
  } as never,
  changedDays: new Set(),
});
const present = (of: TrustEvidence, at: SourceNow = source(), figures = FIGURES, now = NOW) =>
  presentTrust(of, figures, at, now, '2026-02-01');

test('perfect evidence is minimal, every claim verified', () => {
  const envelope = present(evidence());
  expect(envelope).toMatchObject({
    hreiScore: 0,
    riskLevel: 'minimal',
    components: { taxonomy: { classifications: [] } },
    verification: { claimsVerified: 19, claimsTotal: 19, modelRunTraceable: true },
  });
});

test('any figure that differs from its second derivation fails, and nothing else', () => {
  for (const [index, claim] of claimsOf(FIGURES).entries()) {
    if (claim.value === 0) continue;
    const moved = structuredClone(FIGURES) as never as {
      channels: Record<string, number>[];
      diagnostics: { touches: number; models: { prav: { touches: Record<string, number> } } };
    } & Record<string, number>;
    const [kind, name] = claim.name.split('/');
    const member = {
      spend: 'spend',
      lastclick_revenue: 'lastclickRevenueCents',
      attributed_revenue: 'attributedRevenueCents',
    }[kind!];
    const total = {
      conversions: 'conversions',
      revenue: 'revenueCents',
      unattributed_revenue: 'unattributedRevenueCents',
      baseline_revenue: 'baselineRevenueCents',
      delta_r: 'deltaRCents',
    }[kind!];
    if (member !== undefined) moved.channels.find((each) => (each['channel'] as never) === name)![member]! *= 1.05;
    else if (total !== undefined) moved[total]! *= 1.05;
    else if (name === undefined) moved.diagnostics.touches *= 1.05;
    else moved.diagnostics.models.prav.touches[name]! *= 1.05;
    const failed = verifyClaims(moved as never, WITNESS).filter(({ verified }) => !verified);
    expect([index, failed.map((each) => each.name)]).toEqual([index, [claim.name]]);
  }
});

test('without an identity that holds, no credit is verified', () => {
  const failed = verifyClaims(FIGURES, { ...WITNESS, secondCredit: null })
    .filter(({ verified }) => !verified)
    .map(({ name }) => name);
  expect(failed).toEqual([
    'attributed_revenue/email',
    'attributed_revenue/ads',
    'attributed_revenue/direct',
    'baseline_revenue',
    'delta_r',
  ]);
});

test('a stored figure that was changed is a fabrication', () => {
  const tampered = { ...FIGURES, conversions: 21 };
  expect(present(evidence(), source(), tampered)).toMatchObject({
    components: { attribution: { factualGrounding: 2 / 19 }, taxonomy: { classifications: ['fabrication'] } },
  });
  expect(claimsOf(FIGURES).map(({ name }) => name)).not.toContain(RESULT_CLAIM);
});

test('staleness, changed days, poor health and deletion each raise their metric alone', () => {
  const provenance = (of: TrustEvidence, at?: SourceNow, now?: Date) =>
    present(of, at, FIGURES, now).components.provenance;
  const stale = evidence({ evidence: { ...evidence().evidence, newestAt: '2026-01-01T00:00:00Z' } });
  // 31 days, less one between syncs.
  expect(provenance(stale)).toMatchObject({
    sourceRetrievability: 0,
    temporalDisplacement: 1 - Math.exp(-1),
    citationReliability: 0,
  });
  expect(present(stale).components.taxonomy.classifications).toEqual(['outdated_reference']);
  // The range ends: later readings find it no older.
  expect(provenance(stale, source(), new Date(NOW.getTime() + 400 * DAY_MS)).temporalDisplacement).toBeCloseTo(
    1 - Math.exp(-1),
    12,
  );
  expect(provenance(evidence(), { ...source(), changedDays: new Set(['2026-01-31', '2025-01-01']) })).toMatchObject({
    sourceRetrievability: 0.75,
    temporalDisplacement: 0,
    citationReliability: 0,
  });
  expect(provenance(evidence(), source({ healthScore: () => 0.4 }))).toMatchObject({
    sourceRetrievability: 0,
    citationReliability: 0.6,
  });
  expect(
    provenance(evidence(), source({ healthScore: () => null, rowsAccepted: 300, rowsRejected: 100 }))
      .citationReliability,
  ).toBe(0.25);
  expect(provenance(evidence(), source({ deletedAt: NOW })).sourceRetrievability).toBe(1);
  expect(present(evidence(), source({ statusAt: () => 'error' })).components.taxonomy.classifications).toEqual([
    'outdated_reference',
  ]);
});

test('a run is traceable while its rows are there as they were', () => {
  const isTraceable = (of: TrustEvidence, at?: SourceNow) => present(of, at).verification.modelRunTraceable;
  expect(isTraceable(evidence(), { ...source(), changedDays: new Set(['2026-03-01']) })).toBe(true);
  expect(isTraceable(evidence(), { ...source(), changedDays: new Set(['2026-01-31']) })).toBe(false);
  expect(isTraceable(evidence({ evidence: { ...evidence().evidence, unmatched: ['2026-01-30'] } }))).toBe(false);
  expect(isTraceable(evidence(), source({ deletedAt: NOW }))).toBe(false);
});

test('rows that are known to be bad put a floor under two scores, and accepted ones are a misattribution', () => {
  const judged = (severity: 'warning' | 'blocking') => {
    const checks = [
      {
        code: 'user_match_rate',
        severity,
        value: 0.25,
        threshold: 0.4,
        amount: 1,
        currency: 'USD',
        message: 'm',
        remedy: 'r',
      },
    ] as const;
    const figures: AnalysisFigures = { ...FIGURES, dataQuality: { status: severity, checks } };
    const { components, hreiScore, riskLevel } = present(
      evidence({ resultDigest: canonicalDigest(figures) }),
      source(),
      figures,
    );
    const { attribution, provenance, detection, taxonomy } = components;
    return {
      scores: [attribution.score, provenance.score, detection.score],
      flagged: taxonomy.classifications,
      hreiScore,
      riskLevel,
    };
  };
  expect(judged('warning')).toEqual({ scores: [0.5, 0.5, 0], flagged: [], hreiScore: 0.23, riskLevel: 'low' });
  expect(judged('blocking')).toEqual({
    scores: [1, 1, 0],
    flagged: ['misattribution'],
    hreiScore: 0.48,
    riskLevel: 'moderate',
  });
});

test('models that differ, a wide interval and a broken invariant are classified', () => {
  expect(present(evidence({ crossResponseConsistency: 0.36 })).components.taxonomy.classifications).toEqual([
    'misattribution',
  ]);
  expect(present(evidence({ widestChannel: 'ads' })).components.taxonomy.classifications).toEqual(['misattribution']);
  expect(present(evidence({ invariants: { checked: 12, broken: ['shares_sum_to_1'] } })).components).toMatchObject({
    taxonomy: { classifications: ['reasoning_failure'], score: 0.25 },
    consistency: { logicalCoherence: 1 / 12 },
  });
});

test('a test of the credit that failed is a misattribution, one that passed is none', () => {
  const classified = (status: 'pass' | 'fail') => {
    const figures = {
      ...FIGURES,
      diagnostics: {
        ...FIGURES.diagnostics,
        tests: [
          {
            code: 'overlap' as const,
            channel: 'ads',
            status,
            estimate: 0.2,
            interval: null,
            threshold: 0.1,
            message: 'Nobody to compare with.',
          },
        ],
      },
    };
    return presentTrust({ ...evidence(), resultDigest: canonicalDigest(figures) }, figures, source(), NOW, '2026-02-01')
      .components.taxonomy.classifications;
  };
  expect(classified('fail')).toEqual(['misattribution']);
  expect(classified('pass')).toEqual([]);
});

describe('invariants', () => {
  const broken = (changes: Partial<AnalysisFigures>, touchesOf = () => 1) =>
    brokenInvariants({ ...FIGURES, ...changes }, { touchesOf });
  const first = (changes: Partial<ChannelFigures>) => ({
    channels: [{ ...FIGURES.channels[0]!, ...changes }, ...FIGURES.channels.slice(1)],
  });

  test('hold for sound figures', () => expect(broken({})).toEqual([]));

  test.each([
    ['intervals_contain_their_point', first({ confidenceInterval: { lower: 401, upper: 500, level: 0.95 } })],
    ['confidences_lie_between_0_and_1', { confidence: 1.2 }],
    ['no_spend_is_negative', first({ spend: -1 })],
    ['shares_sum_to_1', first({ share: 0.5 })],
    ['shares_of_each_model_sum_to_1', { modelBreakdown: { markov: { email: 0.4 } } }],
    ['conversions_stay_within_those_observed', { conversions: 5 }],
    ['baseline_holds_what_no_touch_preceded', { baselineRevenueCents: 5_000 }],
    ['last_click_sums_to_what_had_a_touch', { unattributedRevenueCents: 9_000 }],
    ['delta_r_matches_its_parts', { deltaRCents: 9_999 }],
  ])('%s', (name, changes) => expect(broken(changes as Partial<AnalysisFigures>)).toContain(name));

  test('no_credit_without_a_touch_or_an_experiment', () =>
    expect(broken({}, () => 0)).toEqual(['no_credit_without_a_touch_or_an_experiment']));

  test('credit below 0 needs an interval that lies there; its share and orders are below 0, too', () => {
    const [email, ads, direct] = FIGURES.channels as [ChannelFigures, ChannelFigures, ChannelFigures];
    const point = { status: 'point' as const, reasons: [] };
    const harm = (upper: number) => ({
      channels: [
        { ...email, share: 4 / 3, identification: point },
        {
          ...ads,
          attributedRevenueCents: -10_000,
          conversions: -2,
          share: -1 / 3,
          identification: point,
          confidenceInterval: { lower: -150, upper, level: 0.95 },
        },
        direct,
      ],
      baselineRevenueCents: 70_000,
      deltaRNetCents: -40_000,
    });
    expect(broken(harm(-20))).toEqual([]);
    expect(broken(harm(20))).toContain('credit_below_0_only_where_the_whole_interval_is');
    expect(broken(harm(20))).toContain('shares_sum_to_1');
    expect(broken(harm(20))).toContain('conversions_stay_within_those_observed');
  });

  test('what is missing in the sum is an inconsistency in proportion', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000 }), (missing) =>
        expect(internalInconsistency({ ...FIGURES, baselineRevenueCents: 40_000 - missing })).toBeCloseTo(
          missing / 100_000,
          12,
        ),
      ),
    );
  });
});
