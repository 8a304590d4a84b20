import { randomUUID } from 'node:crypto';
import { Caller } from '../house.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';

const UNKNOWN_WEBHOOK = '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10';
const UNKNOWN_KEY = 'key_0351EFTBArmmpvm2tVZ2Qh';

/** What a tenant needs before its mutations, made anew for each. */
export interface BackingServices {
  readonly dataSourceId: string;
  readonly experimentId: string;
  /** Nobody runs it. */
  readonly attributionId: string;
  readonly endedAttributionId: string;
  /** Beside the key that the tenant calls with. */
  readonly keyId: string;
  readonly workspaceId: string;
  /** Of another account. */
  readonly agentId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
}

/**
 * One request per mutation, with the members of the answer that an effect decides. A mutation that is not here fails
 * idempotent-mutations.test.ts: add it, and let it join by exactlyOnce (services/idempotency).
 */
export const SAMPLES: Readonly<
  Record<
    string,
    {
      readonly selection: string;
      readonly input: (backing: BackingServices, variant: number) => object;
      readonly isPublic?: true;
    }
  >
> = {
  registerAgent: {
    selection: 'agent { id referralCode } apiKey callbackSecret',
    input: (_ground, variant) => ({
      name: `retry-${variant}`,
      operatorId: randomUUID(),
      callbackUrl: 'http://localhost:9/',
    }),
    isPublic: true,
  },
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
    input: ({ dataSourceId }, variant) => ({
      dataSourceId,
      records: [{ user_id: `u${variant}`, timestamp: '2026-01-01T00:00:00Z', channel: 'email' }],
    }),
  },
  syncDataSource: {
    selection: 'sync { syncId }',
    input: ({ dataSourceId }, variant) => ({ id: variant === 0 ? dataSourceId : 'ds_0351EFTBArmmpvm2tVZ2Qh' }),
  },
  deleteDataSource: {
    selection: 'id deleted',
    input: ({ dataSourceId }, variant) => ({ id: variant === 0 ? dataSourceId : 'ds_0351EFTBArmmpvm2tVZ2Qh' }),
  },
  setChannelRules: {
    selection: 'channelRules { rules { channel } }',
    input: ({ dataSourceId }, variant) => ({
      dataSourceId,
      rules: [{ match: { source: 'facebook' }, channel: `meta-${variant}` }],
    }),
  },
  createExperiment: {
    selection: 'experiment { id }',
    input: ({ dataSourceId }, variant) => ({
      dataSourceId,
      channel: 'email',
      method: 'GEO',
      period: ['2026-01-01', `2026-01-${10 + variant}`],
      incrementalRevenue: 5,
      standardError: 1,
    }),
  },
  deleteExperiment: {
    selection: 'id deleted',
    input: ({ experimentId }, variant) => ({ id: variant === 0 ? experimentId : 'exp_0351EFUQxpVTZ7WdNYMSuZ' }),
  },
  updateAgent: {
    selection: 'agent { id name callbackUrl } callbackSecret',
    input: (_ground, variant) => ({ name: `renamed-${variant}`, callbackUrl: 'http://localhost:9/' }),
  },
  updateCapabilities: {
    selection: 'agent { id capabilities } updatedAt',
    input: (_ground, variant) => ({ capabilities: variant === 0 ? ['JOURNEY'] : ['HEALTH'] }),
  },
  createWorkspace: {
    selection: 'workspace { id name members { agentId addedAt } }',
    input: (_ground, variant) => ({ name: `Workspace ${variant}` }),
  },
  addWorkspaceAgent: {
    selection: 'workspaceId member { agentId role addedAt } isNew',
    input: ({ workspaceId, agentId }, variant) => ({
      workspaceId,
      agentId,
      role: variant === 0 ? 'VIEWER' : 'ANALYST',
    }),
  },
  createKey: {
    selection: 'keyPairId live { id key } test { id key }',
    input: (_ground, variant) => ({ name: `Pair ${variant}` }),
  },
  revokeKey: {
    selection: 'id status revokedAt',
    input: ({ keyId }, variant) => ({ id: variant === 0 ? keyId : UNKNOWN_KEY }),
  },
  rotateKey: {
    selection: 'id key previousKeyId previousKeyExpiresAt',
    input: ({ keyId }, variant) => ({ id: keyId, graceHours: variant }),
  },
  rotateAgentKey: {
    selection: 'id key previousKeyId',
    input: (_ground, variant) => ({ agentId: 'me', graceHours: 24 - variant }),
  },
  createWebhook: {
    selection: 'webhook { id url createdAt } secret',
    input: (_ground, variant) => ({ url: `http://localhost:9/${variant}`, events: ['*'] }),
  },
  updateWebhook: {
    selection: 'webhook { id url } secret',
    input: ({ webhookId }, variant) => ({ id: webhookId, secret: `my secret ${variant}` }),
  },
  deleteWebhook: {
    selection: 'id deleted',
    input: ({ webhookId }, variant) => ({ id: variant === 0 ? webhookId : UNKNOWN_WEBHOOK }),
  },
  testWebhook: {
    selection: 'delivered eventType delivery { id eventId sentAt completedAt }',
    input: ({ webhookId }, variant) => ({
      id: webhookId,
      eventType: variant === 0 ? 'health.alert' : 'health.recovered',
    }),
  },
  redeliverWebhook: {
    selection: 'delivery { id eventId attempt }',
    input: ({ webhookId, deliveryId }, variant) => ({
      webhookId: variant === 0 ? webhookId : UNKNOWN_WEBHOOK,
      deliveryId,
    }),
  },
  cancelAttribution: {
    selection: 'attribution { id status failure { code } }',
    input: ({ attributionId }, variant) => ({ id: variant === 0 ? attributionId : 'attr_0351EFTBArmmpvm2tVZ2Qh' }),
  },
  deleteAttribution: {
    selection: 'id deleted',
    input: ({ endedAttributionId }, variant) => ({
      id: variant === 0 ? endedAttributionId : 'attr_0351EFTBArmmpvm2tVZ2Qh',
    }),
  },
  runAttribution: {
    selection: 'attribution { id }',
    input: ({ dataSourceId }, variant) => ({
      dataSourceId,
      dateRange: ['2026-01-01', `2026-01-${20 + variant}`],
      model: 'MARKOV',
    }),
  },
};

/** Mutations that make room, or end a right: they go on while the disk is nearly full. */
export const NEEDING_NO_ROOM = new Set([
  'deleteDataSource',
  'deleteExperiment',
  'deleteWebhook',
  'revokeKey',
  'cancelAttribution',
  'deleteAttribution',
]);

/** Mutations that have no effect which could happen twice, and so need not join; each with its reason. */
export const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  verifyAuditChain: 'reads the chain; sealing what waits is the same work for whoever comes first',
};

/** A tenant with what its mutations need. */
export async function prepareTenant(root: string): Promise<{ caller: Caller; backing: BackingServices }> {
  const caller = await Caller.register(root);
  const dataSourceId = String(
    (await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content: SMALLEST_SHOP } })).body[
      'data_source_id'
    ],
  );
  const experiment = await caller.post('/experiments', {
    data_source_id: dataSourceId,
    channel: 'email',
    method: 'holdout',
    period: ['2026-01-01', '2026-01-02'],
    incremental_revenue: 5,
    standard_error: 1,
  });
  const keys = await caller.post('/keys', { name: 'Spare' });
  const keyId = String(keys.body['live']!['id']);
  const workspaceId = String((await caller.post('/workspaces', { name: 'Spring' })).body['workspace_id']);
  const agentId = String((await (await Caller.register(root)).get('/agents/me')).body['agent_id']);
  const webhookId = String((await caller.post('/webhooks', { url: 'http://localhost:9/', events: ['*'] })).body['id']);
  const deliveryId = String((await caller.post(`/webhooks/${webhookId}/test`, {})).body['delivery']!['id']);
  const analysis = await caller.post(
    '/attribution',
    { data_source_id: dataSourceId, date_range: ['2026-01-01', '2026-01-31'] },
    { prefer: 'wait=0' },
  );
  const ended = await caller.post(
    '/attribution',
    { data_source_id: dataSourceId, date_range: ['2026-01-01', '2026-01-31'] },
    { prefer: 'wait=0' },
  );
  await caller.post(`/attribution/${String(ended.body['id'])}/cancel`, {});
  return {
    caller,
    backing: {
      endedAttributionId: String(ended.body['id']),
      attributionId: String(analysis.body['id']),
      webhookId,
      deliveryId,
      dataSourceId,
      keyId,
      workspaceId,
      agentId,
      experimentId: String(experiment.body['experiment_id'] ?? experiment.body['id']),
    },
  };
}
