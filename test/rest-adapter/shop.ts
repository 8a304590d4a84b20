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
    methodology: 'markov',
    confidence: isCompleted ? 0.88 : null,
    createdAt: NOW,
    completedAt: isCompleted ? NOW : null,
    granularity: 'DAILY',
    channels: null,
    currency: 'USD',
    environment: 'LIVE',
    revision: 1,
    conversions: 1890,
    revenue: 151_004.25,
    baselineRevenue: 1,
    unattributedRevenue: 0,
    lookbackWindowDays: 30,
    conversionEvent: 'purchase',
    confidenceLevel: 0.95,
    revenueLastclickCents: 9_842_000,
    revenueCausalCents: 11_714_970,
    deltaRCents: 1_872_970,
    deltaRNetCents: -5,
    platformFeeCents: 93_649,
    progress: isCompleted ? 1 : 0.4,
    failure:
      status === 'FAILED' ? { code: 'insufficient_data', message: 'There are no conversions in this range.' } : null,
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
    modelBreakdown: { markov: { 'Meta Ads': 0.270_049 } },
    comparison: { last_click: { 'Meta Ads': 28_800.005 } },
    diagnostics: {
      journeys: 2,
      convertingJourneys: 1,
      touches: 3,
      converged: true,
      iterations: 4,
      elapsedMs: 5.5,
      seed: 'a',
      runDigest: 'sha256:00',
      warnings: [],
      models: { markov: { removalEffect: 0.123_456_789 } },
      experiments: [
        {
          id: 'exp_1',
          channel: 'Meta Ads',
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

export const dataSource = {
  id: 'ds_1',
  type: 'CSV_UPLOAD',
  status: 'CONNECTED',
  firstSyncEta: null,
  lastSync: NOW,
  nextSync: null,
  recordsSynced: 7,
  healthScore: 0.912_345,
  name: 'Shop',
  syncSchedule: 'DAILY',
  agentId: 'agent_1',
  workspaceId: null,
  currency: 'USD',
  baselineChannels: ['direct'],
  createdAt: NOW,
  error: { code: 'rate_limited', message: 'later', at: NOW, retryable: true },
  detail: {
    coverage: { earliest: '2026-01-01', latest: '2026-01-31', missingDays: ['2026-01-03'] },
    freshnessSeconds: 4021,
    records: { touchpoints: 5, conversions: 2, spendRows: 0, paths: 0, rejected: 1 },
    quality: { touchpointMatchRate: 0.93, unattributedShare: 0.11, duplicateRate: 0 },
    currentSync: null,
    recentSyncs: [{ syncId: 'sync_1', status: 'completed', rows: 7, startedAt: NOW, completedAt: NOW }],
  },
  trust: trust(),
};

const channelRules = {
  rules: [
    { match: { channel: null, source: 'facebook', clickId: 'fbclid', campaignRegex: null }, channel: 'meta_ads' },
  ],
  trust: trust(),
};
const experiment = {
  id: 'exp_1',
  dataSourceId: 'ds_1',
  channel: 'Meta Ads',
  method: 'HOLDOUT',
  period: ['2026-01-01', '2026-01-28'],
  incrementalRevenue: 31_250.505,
  standardError: 4_800.004,
  currency: 'USD',
  notes: null,
  environment: 'LIVE',
  createdAt: NOW,
  trust: trust(),
};

const agent = {
  id: 'agent_1',
  agentUuid: '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10',
  name: 'shop-agent',
  capabilities: ['ATTRIBUTION', 'CHANNEL_ANALYSIS'],
  referralCode: 'REF_ABCD',
  tier: 'DISCOVERY',
  trustScore: 0.5,
  totalApiCalls: 12,
  totalDeltaRCents: 345,
  activeReferrals: 2,
  nextTier: { name: 'PARTNER', referralsNeeded: 3 },
  totalCommissionEarnedCents: 6,
  rateLimits: { requestsPerMinute: 60, dailyLimit: null },
  callbackUrl: null,
  redirectUris: ['https://spring.example/callback'],
  public: false,
  status: 'ACTIVE',
  createdAt: NOW,
  operatorId: 'shop',
  operatorEmail: null,
  trust: trust(),
};

const referral = {
  referredAgentId: 'agent_3',
  referredAgentName: 'their-agent',
  status: 'PENDING',
  chainDepth: 2,
  accumulatedDeltaR: 310.255,
  activationProgress: 0.310_25,
  createdAt: NOW,
  activatedAt: null,
  expiresAt: null,
};

const member = { agentId: 'agent_2', role: 'ANALYST', addedBy: 'agent_1', addedAt: NOW };

const workspace = {
  id: 'ws_1',
  name: 'Spring',
  region: 'EU',
  brandIds: [],
  role: 'OWNER',
  members: [member],
  createdAt: NOW,
  trust: trust(),
};

const plan = {
  planId: 'pro',
  name: 'Pro',
  priceCents: 29_900,
  currency: 'USD',
  interval: 'ONE_TIME',
  trialDays: null,
  perAnalysisFee: { rate: 0.05, floorCents: 10 },
  limits: { requestsPerMinute: 500, dailyLimit: null },
  features: ['All'],
  selfServe: true,
  current: false,
};

const apiKey = {
  id: 'key_1',
  keyPairId: 'kp_1',
  name: 'ci',
  env: 'LIVE',
  type: 'SK',
  prefix: 'svc_live_sk_Ab12',
  last4: '9xYz',
  scopes: ['attribution:read'],
  allowedIps: ['192.0.2.0/24'],
  status: 'ROTATING',
  createdAt: NOW,
  lastUsedAt: null,
  expiresAt: null,
  endsWith: 'GRANT',
  rotatedTo: 'key_2',
  graceEndsAt: NOW,
};
const newApiKey = {
  id: 'key_1',
  key: 'svc_live_sk_ABCDEFGHIJKLMNOPQRSTUVWX',
  prefix: 'svc_live_sk_ABCD',
  last4: 'UVWX',
  env: 'LIVE',
  type: 'SK',
  createdAt: NOW,
  expiresAt: null,
};
const keyRotation = {
  ...newApiKey,
  previousKeyId: 'key_0',
  previousKeyExpiresAt: NOW,
  rotatedAt: NOW,
  trustScore: 0.55,
};

const webhook = {
  id: '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10',
  url: 'https://hooks.example/x',
  events: ['attribution.completed', '*'],
  active: true,
  metadata: { camelCase_key: 'as given' },
  secretPrefix: 'whsec_ab…',
  apiVersion: '2026-02-01',
  environment: 'LIVE',
  createdAt: NOW,
  updatedAt: NOW,
  disabledReason: 'CONSECUTIVE_FAILURES',
  stats: { delivered: 3, failed: 20, lastSuccessAt: NOW, lastFailureAt: null },
  trust: trust(),
};
const delivery = {
  id: 'dlv_1',
  eventId: 'evt_1',
  eventType: 'attribution.completed',
  attempt: 2,
  status: 'FAILED',
  url: webhook.url,
  responseStatus: null,
  responseTimeMs: 15_001,
  responseBody: null,
  error: 'BLOCKED_ADDRESS',
  scheduledAt: NOW,
  sentAt: NOW,
  completedAt: NOW,
  nextAttemptAt: NOW,
  requestHeaders: { 'X-SVC-Event': 'attribution.completed' },
  test: false,
};

const missing = (what: string) => new ProblemError('resource_not_found', `There is no ${what}.`);

const one = (id: string) => (id.startsWith('ds_') ? dataSource : null);

/** Root resolvers of a small shop; single ones may be replaced. */
export function shop(replaced: Resolvers = {}): Resolvers {
  return {
    me: () => agent,
    agent: ({ id }: { id: string }) =>
      id.startsWith('agent_') ? { ...agent, agentUuid: id === 'agent_1' ? agent.agentUuid : null } : null,
    updateCapabilities: ({ input }: { input: { capabilities: string[] } }) => ({
      agent: { ...agent, capabilities: input.capabilities },
      updatedAt: NOW,
      trust: trust(),
    }),
    referrals: ({ agentId }: { agentId: string | null }) => {
      if (agentId != null && !agentId.startsWith('agent_')) throw missing('agent');
      return {
        edges: [{ node: referral }],
        totalActive: 0,
        totalPending: 1,
        totalChurned: 2,
        totalCount: 1,
        trust: trust(),
      };
    },
    workspaces: () => ({ edges: [{ node: workspace }], totalCount: 1, trust: trust() }),
    createWorkspace: () => ({ workspace, trust: trust() }),
    addWorkspaceAgent: ({ input }: { input: { workspaceId: string } }) => {
      if (!input.workspaceId.startsWith('ws_')) throw missing('workspace');
      return { workspaceId: input.workspaceId, member, isNew: true, trust: trust() };
    },
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
    verifyResult: () => ({
      valid: false,
      signatureValid: true,
      digestMatch: false,
      reason: 'DIGEST_MISMATCH',
      algorithm: 'EdDSA',
      keyId: 'k',
      issuer: 'https://api.example',
      subject: { type: 'attribution_result', id: 'attr_1', revision: 1 },
      signedAt: NOW,
      environment: 'LIVE',
      payload: { delta_r_cents: 1 },
      verifiedAt: NOW,
      trust: trust(),
    }),
    dataSource: ({ id }: { id: string }) => one(id),
    dataSources: () => ({ edges: [{ node: dataSource }], totalCount: 1, trust: trust() }),
    dataSourceRejects: ({ id }: { id: string }) => {
      if (one(id) === null) throw missing('data source');
      return {
        edges: [{ node: { uploadId: 'upload_1', line: 3, column: 'timestamp', code: 'not_a_date', message: 'no' } }],
        totalCount: 1,
        trust: trust(),
      };
    },
    channelRules: ({ dataSourceId }: { dataSourceId: string }) => (one(dataSourceId) === null ? null : channelRules),
    setChannelRules: ({ input }: { input: { dataSourceId: string; rules: readonly object[] } }) => {
      if (one(input.dataSourceId) === null) throw missing('data source');
      return { channelRules: { rules: input.rules, trust: trust() }, trust: trust() };
    },
    experiment: ({ id }: { id: string }) => (id.startsWith('exp_') ? experiment : null),
    experiments: () => ({ edges: [{ node: experiment }], totalCount: 1, trust: trust() }),
    createExperiment: () => ({ experiment, trust: trust() }),
    deleteExperiment: ({ input }: { input: { id: string } }) => {
      if (!input.id.startsWith('exp_')) throw missing('experiment');
      return { id: input.id, deleted: true, trust: trust() };
    },
    auditEvents: () => ({
      edges: [
        {
          node: {
            chainId: 'installation',
            sequence: 2,
            eventId: 'aud_1',
            eventType: 'auth.failed',
            severity: 'WARNING',
            occurredAt: NOW,
            actor: { type: 'ANONYMOUS', id: null, ipHash: 'hmac-sha256:00', userAgent: null },
            target: null,
            outcome: 'FAILURE',
            environment: 'LIVE',
            requestId: 'req_1',
            details: { some_Member: 1.23456 },
            previousHash: 'sha256:00',
            hash: 'sha256:01',
          },
        },
      ],
      chainVerified: true,
      totalCount: 2,
      trust: trust(),
    }),
    verifyAuditChain: () => ({
      chainIntact: false,
      entriesVerified: 1,
      verifiedAt: NOW,
      firstBrokenSequence: 2,
      reason: 'HEAD_MISMATCH',
      headsMatched: 0,
      signedThrough: 2,
      trust: trust(),
    }),
    webhook: ({ id }: { id: string }) => (id === webhook.id ? webhook : null),
    webhooks: () => ({ edges: [{ node: webhook }], totalCount: 1, trust: trust() }),
    webhookDeliveries: () => ({ edges: [{ node: delivery }], totalCount: 1, trust: trust() }),
    createWebhook: () => ({ webhook, secret: 'whsec_abcd', trust: trust() }),
    updateWebhook: () => ({ webhook, secret: null, trust: trust() }),
    deleteWebhook: ({ input }: { input: { id: string } }) => ({ id: input.id, deleted: true, trust: trust() }),
    testWebhook: ({ input }: { input: { eventType: string } }) => ({
      delivered: false,
      eventType: input.eventType ?? 'attribution.completed',
      delivery,
      trust: trust(),
    }),
    redeliverWebhook: () => ({ delivery: { ...delivery, status: 'PENDING' }, trust: trust() }),
    plans: () => ({
      plans: [plan, { ...plan, planId: 'enterprise', interval: null, perAnalysisFee: null }],
      trust: trust(2),
    }),
    updateAgent: () => ({ agent, trust: trust() }),
    registerAgent: () => ({
      agent,
      apiKey: 'svc_agent_sk_ABCDEFGHIJKLMNOPQRSTUVWX',
      scopes: ['attribution:read'],
      callbackSecret: 'whsec_abcd',
      trust: trust(),
    }),
    keys: () => ({ edges: [{ node: apiKey }], totalCount: 1, trust: trust() }),
    createKey: () => ({
      keyPairId: 'kp_1',
      name: null,
      scopes: ['attribution:read'],
      live: newApiKey,
      test: { ...newApiKey, env: 'TEST' },
      trust: trust(2),
    }),
    revokeKey: ({ input }: { input: { id: string } }) => {
      if (!input.id.startsWith('key_')) throw missing('key');
      return { id: input.id, status: 'REVOKED', revokedAt: NOW, trust: trust() };
    },
    rotateKey: ({ input }: { input: { id: string } }) => {
      if (!input.id.startsWith('key_')) throw missing('key');
      return { ...keyRotation, trust: trust() };
    },
    rotateAgentKey: ({ input }: { input: { agentId: string } }) => {
      if (!input.agentId.startsWith('agent_')) throw missing('agent');
      return { ...keyRotation, trust: trust() };
    },
    connectDataSource: () => ({
      dataSource,
      ingest: { kind: 'touchpoints', accepted: 1, rejected: 0, errors: [], warnings: [] },
      trust: trust(),
    }),
    syncDataSource: ({ input }: { input: { id: string } }) => {
      if (one(input.id) === null) throw missing('data source');
      return { sync: { syncId: 'sync_1', dataSourceId: input.id, status: 'QUEUED', requestedAt: NOW }, trust: trust() };
    },
    deleteDataSource: ({ input }: { input: { id: string } }) => {
      if (one(input.id) === null) throw missing('data source');
      return { id: input.id, deleted: true, trust: trust() };
    },
    cancelAttribution: ({ input }: { input: { id: string } }) => {
      if (!input.id.startsWith('attr_'))
        throw new ProblemError('resource_not_found', 'There is no such attribution, or it is not yours.');
      return { attribution: attribution(input.id, 'FAILED') };
    },
    deleteAttribution: ({ input }: { input: { id: string } }) => {
      if (!input.id.startsWith('attr_')) throw missing('attribution');
      return { id: input.id, deleted: true, trust: trust() };
    },
    runAttribution: () => ({ attribution: attribution('attr_run', 'PROCESSING') }),
    attributionProgress: async function* ({ id }: { id: string }) {
      yield { sequence: 1, kind: 'RESULT', result: attribution(id, 'COMPLETED') };
    },
    events: async function* () {
      yield { position: 0, event: null };
      yield {
        position: 1,
        event: {
          id: 'evt_x',
          type: 'agent.tier_changed',
          timestamp: '2026-01-31T17:58:00.000Z',
          environment: 'LIVE',
          subject: 'agent_x',
          data: {},
        },
      };
    },
    ...replaced,
  } as Resolvers;
}
