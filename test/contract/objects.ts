import { randomUUID } from 'node:crypto';
import type { NOUNS } from '../../schema/contract/contract.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';
import { unknownId } from './example-requests.ts';
import type { NounObjects } from './noun-objects.ts';

/** Nothing listens there. */
const NOWHERE = 'http://localhost:9/';

/** A day of the form `YYYY-MM-DD`, so many days later. */
const later = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);

/**
 * How an object of each noun is made, and a sample of each mutation: all that the generated tests know of nouns beside
 * the contract. What a noun hangs on stands above it. A mutation that has no sample here fails
 * idempotent-mutations.test.ts: add it, and let it join by exactlyOnce (services/idempotency).
 */
export const OBJECTS: Readonly<Record<(typeof NOUNS)[number]['many'], NounObjects>> = {
  agents: {
    kind: 'agent',
    isOfNoEnvironment: true,
    make: async ({ get }) => String((await get('/agents/me'))['agent_id']),
    mutations: {
      registerAgent: {
        selection: 'agent { id referralCode } apiKey callbackSecret',
        input: (_ground, variant) => ({ name: `retry-${variant}`, operatorId: randomUUID(), callbackUrl: NOWHERE }),
      },
      updateAgent: {
        selection: 'agent { id name callbackUrl } callbackSecret',
        input: (_ground, variant) => ({ name: `renamed-${variant}`, callbackUrl: NOWHERE }),
      },
      closeAgent: {
        withoutEffect: 'ends the key that asks: there is nobody left to try again; stories/closing.test.ts',
      },
      updateCapabilities: {
        selection: 'agent { id capabilities } updatedAt',
        input: (_ground, variant) => ({ capabilities: variant === 0 ? ['JOURNEY'] : ['HEALTH'] }),
      },
    },
  },

  keys: {
    kind: 'key',
    isOfNoEnvironment: true,
    // One half of each pair is live.
    notIn: ['sandbox', 'workspace'],
    make: async ({ post, index }) => String((await post('/keys', { name: `key-${index}` }))['live']!['id']),
    mutations: {
      createKey: {
        selection: 'keyPairId live { id key } test { id key }',
        input: (_ground, variant) => ({ name: `Pair ${variant}` }),
      },
      revokeKey: {
        selection: 'id status revokedAt',
        input: ({ id }, variant) => ({ id: variant === 0 ? id('key') : unknownId('key') }),
      },
      rotateKey: {
        selection: 'id key previousKeyId previousKeyExpiresAt',
        input: ({ id }, variant) => ({ id: id('key'), graceHours: variant }),
      },
      rotateAgentKey: {
        selection: 'id key previousKeyId',
        input: (_ground, variant) => ({ agentId: 'me', graceHours: 24 - variant }),
      },
    },
  },

  workspaces: {
    kind: 'ws',
    notIn: ['workspace'],
    make: async ({ post, index }) => String((await post('/workspaces', { name: `Team ${index}` }))['workspace_id']),
    mutations: {
      createWorkspace: {
        selection: 'workspace { id name members { agentId addedAt } }',
        input: (_ground, variant) => ({ name: `Workspace ${variant}` }),
      },
      addWorkspaceAgent: {
        selection: 'workspaceId member { agentId role addedAt } isNew',
        before: async ({ register }) => ({ agent: String((await register({}))['agent_id']) }),
        input: ({ id }, variant) => ({
          workspaceId: id('ws'),
          agentId: id('agent'),
          role: variant === 0 ? 'VIEWER' : 'ANALYST',
        }),
      },
    },
  },

  referrals: {
    make: async ({ get, register }) => {
      await register({ referral_code: (await get('/agents/me'))['referral_code'] });
    },
  },

  webhooks: {
    kind: 'webhook',
    make: async ({ post }) => String((await post('/webhooks', { url: NOWHERE, events: ['*'] }))['id']),
    mutations: {
      createWebhook: {
        selection: 'webhook { id url createdAt } secret',
        input: (_ground, variant) => ({ url: `${NOWHERE}${variant}`, events: ['*'] }),
      },
      updateWebhook: {
        selection: 'webhook { id url } secret',
        input: ({ id }, variant) => ({ id: id('webhook'), secret: `my secret ${variant}` }),
      },
      deleteWebhook: {
        selection: 'id deleted',
        input: ({ id }, variant) => ({ id: variant === 0 ? id('webhook') : unknownId('webhook') }),
      },
      testWebhook: {
        selection: 'delivered eventType delivery { id eventId sentAt completedAt }',
        input: ({ id }, variant) => ({
          id: id('webhook'),
          eventType: variant === 0 ? 'health.alert' : 'health.recovered',
        }),
      },
    },
  },

  deliveries: {
    kind: 'dlv',
    make: async ({ post, id }) => String((await post(`/webhooks/${await id('webhook')}/test`, {}))['delivery']!['id']),
    mutations: {
      redeliverWebhook: {
        selection: 'delivery { id eventId attempt }',
        input: ({ id }, variant) => ({
          webhookId: variant === 0 ? id('webhook') : unknownId('webhook'),
          deliveryId: id('dlv'),
        }),
      },
    },
  },

  'data-sources': {
    kind: 'ds',
    make: async ({ post, index, rows }) =>
      String(
        (
          await post('/data-sources/connect', {
            type: 'csv_upload',
            name: `Shop ${index}`,
            credentials: { filename: 'rows.csv', content: rows },
          })
        )['data_source_id'],
      ),
    mutations: {
      connectDataSource: {
        selection: 'dataSource { id name } ingest { accepted }',
        input: (_ground, variant) => ({
          type: 'CSV_UPLOAD',
          name: `Shop ${variant}`,
          credentials: { content: SMALLEST_SHOP },
        }),
      },
      addRecords: {
        selection: 'ingest { accepted }',
        input: ({ id }, variant) => ({
          dataSourceId: id('ds'),
          records: [{ user_id: `u${variant}`, timestamp: '2026-01-01T00:00:00Z', channel: 'email' }],
        }),
      },
      syncDataSource: {
        selection: 'sync { syncId }',
        input: ({ id }, variant) => ({ id: variant === 0 ? id('ds') : unknownId('ds') }),
      },
      deleteDataSource: {
        selection: 'id deleted',
        input: ({ id }, variant) => ({ id: variant === 0 ? id('ds') : unknownId('ds') }),
      },
    },
  },

  rejects: {
    make: async ({ post, id }) => {
      const unreadable = { user_id: 'u', timestamp: 'yesterday', channel: 'email' };
      await post(`/data-sources/${await id('ds')}/records`, [unreadable]);
    },
  },

  'data-quality': {
    // Enough orders of somebody with touches to be judged, and a few that cannot be read. What is said is remembered.
    make: async ({ post, id }) => {
      const orders = Array.from({ length: 62 }, (_, place) => ({
        order_id: `judged-${place}`,
        user_id: 'u1',
        timestamp: place < 60 ? `2026-01-03T00:${String(place).padStart(2, '0')}:00Z` : 'yesterday',
        revenue: 10,
      }));
      await post(`/data-sources/${await id('ds')}/records?timezone=Europe%2FBerlin`, orders);
    },
  },

  'channel-rules': {
    make: async ({ put, id }) => {
      await put(`/data-sources/${await id('ds')}/channel-rules`, {
        rules: [{ match: { channel: 'mail' }, channel: 'email' }],
      });
    },
    mutations: {
      setChannelRules: {
        selection: 'channelRules { rules { channel } }',
        input: ({ id }, variant) => ({
          dataSourceId: id('ds'),
          rules: [{ match: { source: 'facebook' }, channel: `meta-${variant}` }],
        }),
      },
    },
  },

  attributions: {
    kind: 'attr',
    make: async ({ post, id, range, preferring }) =>
      String(
        (
          await post('/attribution', { data_source_id: await id('ds'), date_range: range, model: 'markov' }, preferring)
        )['id'],
      ),
    mutations: {
      runAttribution: {
        selection: 'attribution { id }',
        input: ({ id }, variant) => ({
          dataSourceId: id('ds'),
          dateRange: ['2026-01-01', `2026-01-${20 + variant}`],
          model: 'MARKOV',
        }),
      },
      cancelAttribution: {
        selection: 'attribution { id status failure { code } }',
        needsNoRoom: 'it ends work',
        input: ({ id }, variant) => ({ id: variant === 0 ? id('attr') : unknownId('attr') }),
      },
      deleteAttribution: {
        selection: 'id deleted',
        // Only what has ended can be deleted.
        before: async ({ post, id }) => {
          await post(`/attribution/${await id('attr')}/cancel`, {});
          return {};
        },
        input: ({ id }, variant) => ({ id: variant === 0 ? id('attr') : unknownId('attr') }),
      },
    },
  },

  experiments: {
    kind: 'exp',
    make: async ({ post, id, index, range }) =>
      String(
        (
          await post('/experiments', {
            data_source_id: await id('ds'),
            channel: 'email',
            method: 'holdout',
            period: [range[0], later(range[0], 13 + index)],
            incremental_revenue: 5,
            standard_error: 1,
          })
        )['id'],
      ),
    mutations: {
      createExperiment: {
        selection: 'experiment { id }',
        input: ({ id }, variant) => ({
          dataSourceId: id('ds'),
          channel: 'email',
          method: 'GEO',
          period: ['2026-01-01', `2026-01-${10 + variant}`],
          incrementalRevenue: 5,
          standardError: 1,
        }),
      },
      deleteExperiment: {
        selection: 'id deleted',
        input: ({ id }, variant) => ({ id: variant === 0 ? id('exp') : unknownId('exp') }),
      },
    },
  },

  'experiment-designs': {
    // A read that begins a run where no analysis is there to answer it.
    make: async ({ get, id, preferring }) => {
      await get(`/experiments/designs?data_source_id=${await id('ds')}`, preferring);
    },
  },
  plans: { comesWith: 'the service' },
  commissions: {
    comesWith: 'fees that are charged',
    mutations: {
      verifyCommission: {
        withoutEffect: 'reads the ledger; what it tells the audit log is that it was asked',
      },
    },
  },
  'value-proofs': { comesWith: 'analyses that have completed' },
  'billing-summaries': { comesWith: 'analyses that have completed' },
  'agent-usages': { comesWith: 'calls' },
  invoices: { kind: 'inv', comesWith: 'the end of a month that cost something' },
  'billing-usages': { comesWith: 'analyses that have completed' },
  subscriptions: {
    // A plan is of the account.
    notIn: ['workspace'],
    kind: 'sub',
    // An account has one at a time.
    make: async ({ index, get, post }) => {
      const subscribed =
        index === 0
          ? await post('/billing/subscribe', { plan_id: 'pay_per_analysis', accept_terms: true })
          : await get('/billing/subscription');
      return String(subscribed['subscription_id']);
    },
    mutations: {
      subscribe: {
        selection: 'subscription { id planId status startedAt }',
        input: (_ground, variant) => ({ planId: variant === 0 ? 'enterprise' : 'pro_trial', acceptTerms: true }),
      },
    },
  },
  'spend-limits': {
    // A limit is of the account.
    notIn: ['workspace'],
    make: async ({ post }) => void (await post('/billing/spend-limit', { monthly_limit_cents: 100_000_000 })),
    mutations: {
      setSpendLimit: {
        selection: 'spendLimit { monthlyLimitCents action alertThresholds }',
        input: (_ground, variant) => ({ monthlyLimitCents: 100_000_000 + variant, action: 'NOTIFY' }),
      },
    },
  },
  'audit-events': {
    comesWith: 'everything that is done',
    mutations: {
      verifyAuditChain: {
        withoutEffect: 'reads the chain; sealing what waits is the same work for whoever comes first',
      },
    },
  },
};
