import { createPrivateKey } from 'node:crypto';
import fc from 'fast-check';
import { restAttribution } from '../../../../../schema/attribution-result.ts';
import { RESULT_SECTIONS } from '../../../../../schema/contract/attribution-result.ts';
import type { ShownFee } from '../../../../../schema/platform-fee.ts';
import { newUuid, type Uuid } from '../../../../../platform/identifiers.ts';
import { checkSignedResult, resultDigest, signClaims } from '../../../../../services/trust/signed-result.ts';
import { newSigningKey } from '../../../../../services/trust/signing-key.ts';
import { attributionResult } from '../../../../../rest-adapter/representations/attribution-result.ts';
import { Attribution } from '../../../../../subgraphs/attribution/analysis/attributions/attribution.ts';
import type { AnalysisFigures } from '../../../../../subgraphs/attribution/analysis/attributions/figures.ts';
import {
  presentAttribution,
  presentChannels,
} from '../../../../../subgraphs/attribution/analysis/attributions/present-attribution.ts';
import { resultSigner } from '../../../../../subgraphs/attribution/analysis/attributions/sign-result.ts';

const COMPLETED_AT = new Date('2026-11-21T12:00:00.123Z');

/** As the first release with signatures kept it. */
const FIGURES: AnalysisFigures = {
  currency: 'USD',
  conversions: 1890,
  revenueCents: 15_100_425,
  baselineRevenueCents: 3_385_455,
  unattributedRevenueCents: 521_040,
  methodology: 'markov+shapley/stacked-on-placebo-adjusted-lift',
  confidence: 0.880_049_9,
  channels: [
    {
      channel: 'Größe "ä" 広告',
      isBaseline: false,
      spend: 12_000.005,
      attributedRevenueCents: 11_714_970,
      lastclickRevenueCents: 9_842_000,
      conversions: 512.412_35,
      share: 0.7757,
      confidence: 0.91,
      confidenceInterval: { lower: 36_100.005, upper: 120_000, level: 0.95 },
    },
    {
      channel: 'direct',
      isBaseline: true,
      spend: 0,
      attributedRevenueCents: 0,
      lastclickRevenueCents: 1,
      conversions: 0,
      share: 0,
      confidence: null,
      confidenceInterval: null,
    },
  ],
  revenueCausalCents: 11_714_970,
  revenueLastclickCents: 9_842_000,
  deltaRCents: 1_872_970,
  deltaRNetCents: 1_872_969,
  modelBreakdown: {},
  comparison: { last_click: {}, first_click: {}, linear: {}, time_decay: {}, position_based: {} },
  diagnostics: {
    journeys: 2,
    convertingJourneys: 1,
    touches: 3,
    converged: true,
    iterations: 0,
    elapsedMs: 1,
    seed: 's',
    runDigest: 'sha256:00',
    warnings: [],
    models: {},
  },
};

function completed(figures: AnalysisFigures = FIGURES, more: Partial<Attribution> = {}): Attribution {
  return Object.assign(new Attribution(), {
    id: '019a8f3e-5d0e-7c3a-9b1f-0d2f6a4c8e10' as Uuid,
    accountId: '019a8f3e-0000-7c3a-9b1f-0d2f6a4c8e11' as Uuid,
    agentId: '019a8f3e-0000-7c3a-9b1f-0d2f6a4c8e12' as Uuid,
    dataSourceId: '019a8f3e-0000-7c3a-9b1f-0d2f6a4c8e13' as Uuid,
    model: 'causal',
    status: 'completed',
    dateStart: '2026-01-01',
    dateEnd: '2026-01-31',
    granularity: 'daily',
    channels: null,
    baselineChannels: null,
    lookbackWindowDays: 30,
    conversionEvent: 'purchase',
    confidenceLevel: 0.95,
    markovOrder: 1,
    environment: 'live',
    revision: 1,
    result: figures,
    failure: null,
    signature: null,
    createdAt: new Date('2026-11-21T11:59:58Z'),
    completedAt: COMPLETED_AT,
    ...more,
  });
}

/** What it was charged is shown beside what is signed. */
const FEE = { platformFeeCents: 93_649, billed: null };
const shown = (row: Attribution, fee: ShownFee = FEE) =>
  restAttribution(presentAttribution(row, 1, new Date(), '2026-02-01'), fee);

const SIGNED_NOW = 'sha256:93d9591dc12f9bee4df309431d40ac6f3d6a7bec0694f7e8b0ea02f9bdb6c03b';
const SIGNED_WITH_FEE = 'sha256:b62d1c51fc118b06070b2a700fb6f9288b3f5d9f036ad255a90e39d5281ca66b';

const key = await newSigningKey('live');
const privateKey = createPrivateKey({ key: key.privateKey, format: 'der', type: 'pkcs8' });

/** Whether a signature over this digest goes with the result. */
async function isSigned(digest: string, result: object): Promise<boolean | null> {
  const claims = { iss: 'https://api.example', sub: 'attr_0351EFUQxpVTZ7WdNYMSuY', iat: 1, jti: 'j', revision: 1 };
  const jws = await signClaims({ ...claims, delta_r_cents: 1_872_970, digest }, { kid: key.kid, privateKey });
  const anchors = { findKey: async () => ({ x: key.x, status: 'current' as const }) };
  return (await checkSignedResult(jws, result as never, anchors)).digestMatch;
}

describe('what is signed', () => {
  test('are the always-present members of the contract, no more and no fewer', () => {
    const always = Object.entries(attributionResult.shape)
      .filter(([, schema]) => !schema.isOptional())
      .map(([name]) => name);
    expect(Object.keys(shown(completed())).toSorted()).toEqual(always.toSorted());
    expect(
      Object.keys(attributionResult.shape)
        .filter((name) => !always.includes(name))
        .toSorted(),
    ).toEqual(
      [
        ...RESULT_SECTIONS,
        'auto_refresh',
        'billed',
        'data_quality',
        'data_source_ids',
        'profitability',
        'workspace_id',
      ].toSorted(),
    );
    expect(shown(completed(), { platformFeeCents: 0, billed: false })).toMatchObject({
      platform_fee_cents: 0,
      billed: false,
    });
    expect(shown(completed(FIGURES, { autoRefresh: true }))).toMatchObject({ auto_refresh: true });
    expect(attributionResult.parse({ ...shown(completed()), trust: null })).toMatchObject({
      platform_fee_cents: 93_649,
      channel_impact: [{ spend: 12_000.01, confidence_interval: { lower: 36_100.01 }, conversions: 512.4124 }, {}],
    });
  });

  test('is what earlier releases signed: results of two years must go on verifying', async () => {
    // When this differs, every result that was signed before fails as digest_mismatch. A member that is added must be
    // absent from results that were computed without it, or be a section of include=.
    expect(resultDigest(shown(completed()))).toBe(SIGNED_NOW);
    // Releases that charged nobody signed the fee that followed from the recovered revenue, whatever is shown today.
    for (const fee of [FEE, { platformFeeCents: 0, billed: false } as const]) {
      const result = shown(completed(), fee);
      expect(await isSigned(SIGNED_WITH_FEE, result)).toBe(true);
      expect(await isSigned(SIGNED_WITH_FEE, { ...result, delta_r_cents: 1_872_969 })).toBe(false);
      expect(await isSigned(SIGNED_WITH_FEE, { ...result, revenue: 1 })).toBe(false);
      expect(await isSigned(SIGNED_WITH_FEE, { ...result, delta_r_cents: 'much' })).toBe(false);
    }
  });

  test('the quality of the rows is covered where it was measured, and absent where it was not', () => {
    const quality = { status: 'warning', checks: [] } as const;
    const measured = shown(completed({ ...FIGURES, dataQuality: quality }));
    expect(measured).toMatchObject({ data_quality: quality });
    expect(Object.hasOwn(shown(completed()), 'data_quality')).toBe(false);
    const digests = [measured, { ...measured, data_quality: { status: 'good', checks: [] } }, shown(completed())];
    expect(new Set(digests.map((each) => resultDigest(each as never))).size).toBe(3);
  });

  test('a margin and the profits that stand on it are covered, of paid channels alone, and absent without one', () => {
    const profitability = { margin: 0.4, origin: 'setting' } as const;
    const profitable = shown(completed({ ...FIGURES, profitability }));
    expect(profitable).toMatchObject({ profitability });
    const [paid, unpaid] = profitable['channel_impact'] as readonly Record<string, unknown>[];
    // 0.4 · 117,149.70 − 12,000.005, and so on; to the cent, half up.
    expect(paid).toMatchObject({
      profit: 34_859.88,
      profit_interval: { lower: 2_440, upper: 36_000, level: 0.95 },
      profit_roas: 3.905,
    });
    expect(Object.keys(unpaid!).filter((name) => name.startsWith('profit'))).toEqual([]);
    const before = shown(completed());
    expect(JSON.stringify(before)).not.toContain('profit');
    const other = shown(completed({ ...FIGURES, profitability: { ...profitability, margin: 0.41 } }));
    expect(new Set([before, profitable, other].map((each) => resultDigest(each))).size).toBe(3);
  });

  test('of what is not measurable there is no profit', () => {
    const [channel, direct] = FIGURES.channels;
    const unknown = {
      ...channel!,
      attributedRevenueCents: 0,
      confidenceInterval: null,
      identification: { status: 'none', reasons: [] },
    } as const;
    const [, first] = presentChannels([unknown, direct!], FIGURES.revenueCents, 0.5);
    expect(first).toMatchObject({ profit: null, profitInterval: null, profitRoas: null });
    const [free] = presentChannels([{ ...channel!, spend: 0 }], FIGURES.revenueCents, 0.5);
    expect(free).toMatchObject({ profit: 58_574.85, profitRoas: null });
  });

  test('is also what earlier releases signed of a result in a workspace, which did not name it', async () => {
    const placed = shown(completed(FIGURES, { workspaceId: newUuid(0) }));
    expect(placed['workspace_id']).toMatch(/^ws_/);
    const isRight = (signed: object, given: object) => isSigned(resultDigest(signed as never), given);
    const { workspace_id: _, ...before } = placed;
    expect(await isRight(before, placed)).toBe(true);
    expect(await isRight(placed, placed)).toBe(true);
    expect(await isRight(placed, { ...placed, workspace_id: 'ws_another' })).toBe(false);
    expect(await isRight(placed, before)).toBe(false);
    expect(await isRight(before, { ...placed, revenue: 1 })).toBe(false);
  });

  test('does not depend on the way through the database', () => {
    const number = fc.double({ noDefaultInfinity: true, noNaN: true, min: -1e12, max: 1e12 });
    fc.assert(
      fc.property(number, number, number, (spend, conversions, share) => {
        const figures = {
          ...FIGURES,
          channels: FIGURES.channels.map((channel) => ({ ...channel, spend, conversions, share })),
        };
        const kept = JSON.parse(JSON.stringify(figures)) as AnalysisFigures;
        expect(resultDigest(shown(completed(kept)))).toBe(resultDigest(shown(completed(figures))));
      }),
    );
  });

  test('any figure that a reader sees is covered', () => {
    const digest = resultDigest(shown(completed()));
    for (const name of [
      'conversions',
      'revenueCents',
      'baselineRevenueCents',
      'unattributedRevenueCents',
      'revenueCausalCents',
      'revenueLastclickCents',
      'deltaRCents',
      'deltaRNetCents',
    ] as const) {
      expect(resultDigest(shown(completed({ ...FIGURES, [name]: FIGURES[name] + 1 })))).not.toBe(digest);
    }
    for (const change of [
      { revision: 2 },
      { environment: 'sandbox' as const },
      { channels: ['direct'] },
      { agentId: null },
      { completedAt: new Date(COMPLETED_AT.getTime() + 1) },
      { confidenceLevel: 0.9 },
    ]) {
      expect(resultDigest(shown(completed(FIGURES, change)))).not.toBe(digest);
    }
    expect(resultDigest(shown(completed({ ...FIGURES, modelBreakdown: { markov: { direct: 1 } } })))).toBe(digest);
  });
});

describe('the signer', () => {
  const asked: string[] = [];
  const signAs = async (row: Attribution) => {
    const key = await newSigningKey(row.environment);
    const keys = {
      current: async (_em: unknown, environment: string) => (
        asked.push(environment),
        { kid: key.kid, privateKey: createPrivateKey({ key: key.privateKey, format: 'der', type: 'pkcs8' }) }
      ),
    };
    const signature = await resultSigner(keys, 'https://api.example')({} as never, row);
    return checkSignedResult(signature, shown(row), { findKey: async () => ({ x: key.x, status: 'current' }) });
  };

  test('signs a live result by the live key and a sandbox result by the sandbox key', async () => {
    expect(await signAs(completed())).toMatchObject({
      valid: true,
      environment: 'live',
      payload: { iss: 'https://api.example', iat: 1_795_262_400, revision: 1, delta_r_cents: 1_872_970 },
    });
    expect(await signAs(completed(FIGURES, { environment: 'sandbox' }))).toMatchObject({
      valid: true,
      environment: 'sandbox',
    });
    expect(asked).toEqual(['live', 'sandbox']);
  });

  test.each(['pending', 'processing', 'failed'] as const)('signs nothing that is %s', async (status) => {
    await expect(signAs(completed(FIGURES, { status }))).rejects.toThrow('nothing to sign');
  });

  test('an analysis is signed once, when it is complete', () => {
    expect(() => completed(FIGURES, { status: 'processing' }).sign('s')).toThrow('cannot sign');
    const row = completed();
    row.sign('s');
    expect(() => row.sign('t')).toThrow('cannot sign');
  });
});
