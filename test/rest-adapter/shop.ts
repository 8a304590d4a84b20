import { ProblemError } from '../../schema/problems.ts';
import { recordEnvelope } from '../../services/trust/envelope.ts';
import type { Resolvers } from './graph.ts';

export const NOW = new Date('2026-02-01T09:30:00.000Z');

/** The record envelope as the graph has it: enum values by their GraphQL names. */
export const trust = (records = 1): object => ({ ...recordEnvelope(records, NOW, '2026-02-01'), riskLevel: 'MINIMAL' });

/** An analysis as the graph has it, with figures that need rounding. */
export function attribution(id: string, status: 'PROCESSING' | 'COMPLETED' | 'FAILED', extra: object = {}): object {
  const isCompleted = status === 'COMPLETED';
  return {
    id,
    status,
    model: 'CAUSAL',
    dataSourceId: 'ds_1',
    dateRange: ['2026-01-01', '2026-01-31'],
    channelImpact: isCompleted
      ? [
          {
            channel: 'Meta Ads',
            causalLift: 0.371_749,
            roi: 2.409_95,
            spend: 12_000.005,
            attributedRevenue: 40_920.114_9,
            confidence: 0.9,
            confidenceInterval: { lower: 36_100.005, upper: 45_890.2, level: 0.95 },
            lastclickRevenue: 28_800,
            deltaR: -1.005,
            incrementalRevenue: 1,
            conversions: 512.412_35,
            share: 0.271,
            roas: null,
            rank: 1,
            isBaseline: false,
          },
        ]
      : [],
    confidence: isCompleted ? 0.88 : null,
    createdAt: NOW,
    completedAt: isCompleted ? NOW : null,
    channels: null,
    currency: 'USD',
    conversions: 1890,
    revenue: 151_004.25,
    baselineRevenue: 1,
    unattributedRevenue: 0,
    revenueLastclickCents: 9_842_000,
    revenueCausalCents: 11_714_970,
    deltaRCents: 1_872_970,
    deltaRNetCents: -5,
    platformFeeCents: 93_649,
    progress: isCompleted ? 1 : 0.4,
    failure:
      status === 'FAILED' ? { code: 'INSUFFICIENT_DATA', message: 'There are no conversions in this range.' } : null,
    agentId: null,
    signature: isCompleted ? 'eyJ.e30.c2ln' : null,
    trust: trust(),
    timeSeries: [
      {
        periodStart: '2026-01-01',
        partial: false,
        revenue: 2000.005,
        baselineRevenue: 10,
        channels: { 'Meta Ads': 1320.405, camelCase_Channel: 1 },
      },
    ],
    campaigns: [
      {
        channel: 'Meta Ads',
        campaign: null,
        spend: 10.005,
        touches: 3,
        attributedRevenue: 20.005,
        lastclickRevenue: 30,
        deltaR: -9.995,
        roi: 0.999_55,
        roas: 1.999_55,
      },
    ],
    modelBreakdown: [{ model: 'MARKOV', shares: [{ channel: 'Meta Ads', share: 0.270_049 }] }],
    comparison: [{ rule: 'LAST_CLICK', channels: [{ channel: 'Meta Ads', revenue: 28_800.005 }] }],
    diagnostics: {
      convertingJourneys: 1,
      models: { markov: { removalEffect: 0.123_456_789 } },
      experiments: [
        {
          id: 'exp_1',
          channel: 'Meta Ads',
          channels: ['Meta Ads'],
          method: 'HOLDOUT',
          period: ['2026-01-01', '2026-01-28'],
          measuredIncrementalRevenue: 31_250.505,
          measuredStandardError: 4_800.004,
          incrementalRevenue: 34_600.205,
          standardError: 5_590.881,
          overlap: 0.903_61,
          basis: 'TOUCHES',
          modelIncrementalRevenueBefore: 44_210.755,
          modelIncrementalRevenueAfter: 40_920.111,
        },
      ],
    },
    ...extra,
  };
}

/** A source with figures that need rounding, and members that REST has elsewhere or by another name. */
export const dataSource = {
  id: 'ds_1',
  lastSync: NOW,
  healthScore: 0.912_345,
  name: 'Shop',
  error: { code: 'rate_limited', message: 'later', at: NOW, retryable: true },
  detail: {
    coverage: { earliest: '2026-01-01', latest: '2026-01-31', missingDays: ['2026-01-03'] },
    records: { touchpoints: 5, conversions: 2, spendRows: 0, paths: 0, rejected: 1 },
    currentSync: null,
  },
};

const agent = {
  id: 'agent_1',
  capabilities: ['ATTRIBUTION', 'CHANNEL_ANALYSIS'],
  totalApiCalls: 7,
  totalDeltaRCents: 345,
  rateLimits: { requestsPerMinute: 60, dailyLimit: null },
  operatorId: 'shop',
  operatorEmail: null,
};

/** Root resolvers of a small shop, as far as tests look at what it answers; single ones may be replaced. */
export function shop(replaced: Resolvers = {}): Resolvers {
  return {
    me: () => agent,
    attribution: ({ id }: { id: string }) =>
      id === 'attr_done'
        ? attribution(id, 'COMPLETED')
        : id === 'attr_failed'
          ? attribution(id, 'FAILED')
          : id.startsWith('attr_')
            ? attribution(id, 'PROCESSING')
            : null,
    attributions: ({ first, offset }: { first: number; offset: number }) => ({
      edges: Array.from({ length: Math.max(0, Math.min(first, 45 - offset)) }, (_, index) => ({
        node: attribution(`attr_${offset + index}`, 'COMPLETED'),
      })),
      totalCount: 45,
      trust: trust(45),
    }),
    runAttribution: () => ({ attribution: attribution('attr_run', 'PROCESSING') }),
    attributionProgress: async function* ({ id }: { id: string }) {
      yield { sequence: 1, kind: 'RESULT', result: attribution(id, 'COMPLETED') };
    },
    dataSource: ({ id }: { id: string }) => (id.startsWith('ds_') ? dataSource : null),
    dataSources: () => ({ edges: [{ node: dataSource }], totalCount: 1 }),
    connectDataSource: () => ({ dataSource }),
    syncDataSource: ({ input }: { input: { id: string } }) => {
      if (!input.id.startsWith('ds_')) throw new ProblemError('resource_not_found', 'There is no data source.');
      return { sync: { syncId: 'sync_1', dataSourceId: input.id } };
    },
    // Of these the examples show the success alone, and what everybody gets.
    verifyResult: () => ({ valid: false, digestMatch: false, reason: 'DIGEST_MISMATCH' }),
    verifyAuditChain: () => ({ chainIntact: false, firstBrokenSequence: 2, reason: 'HEAD_MISMATCH' }),
    registerAgent: () => ({ callbackSecret: 'whsec_abcd' }),
    plans: () => ({
      plans: [
        { planId: 'pro', interval: 'ONE_TIME' },
        { planId: 'enterprise', interval: null },
      ],
      trust: trust(2),
    }),
    events: async function* () {
      yield { position: 0, event: null };
      yield { position: 1, event: { id: 'evt_x', type: 'agent.tier_changed', data: {} } };
    },
    ...replaced,
  } as Resolvers;
}
