import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createClient, type Client as SocketClient } from 'graphql-ws';
import { Client } from 'pg';
import { pino } from 'pino';
import WebSocket from 'ws';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { SCOPES, type Scope } from '../../schema/principal.ts';
import type { Uuid } from '../../platform/identifiers.ts';
import { DiskWatch } from '../../processes/disk-watch.ts';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';

const ROOT = new URL('../..', import.meta.url);
const ROWS =
  'user_id,timestamp,channel,conversion,revenue\nu1,2026-01-01T00:00:00Z,email,0,0\nu1,2026-01-02T00:00:00Z,,1,10\nu2,2026-01-01T00:00:00Z,direct,0,0\n';

const UNKNOWN_WEBHOOK = '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10';
const UNKNOWN_KEY = 'key_0351EFTBArmmpvm2tVZ2Qh';

/** What a tenant needs before its mutations, made anew for each. */
interface BackingServices {
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
 * the test: add it, and let it join by exactlyOnce (services/idempotency).
 */
const SAMPLES: Readonly<
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
    input: (_ground, variant) => ({ type: 'CSV_UPLOAD', name: `Shop ${variant}`, credentials: { content: ROWS } }),
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
const NEEDING_NO_ROOM = new Set([
  'deleteDataSource',
  'deleteExperiment',
  'deleteWebhook',
  'revokeKey',
  'cancelAttribution',
  'deleteAttribution',
]);

/** Mutations that have no effect which could happen twice, and so need not join; each with its reason. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  verifyAuditChain: 'reads the chain; sealing what waits is the same work for whoever comes first',
};

const supergraph = readFileSync(new URL('schema/supergraph.graphql', ROOT), 'utf8');
const mutationType = /^type Mutation\b[^{]*\{([\s\S]*?)^\}/m.exec(supergraph)![1]!;
const MUTATIONS = [...mutationType.matchAll(/^ {2}(\w+)\(/gm)]
  .map(([, name]) => name!)
  .filter((name) => WITHOUT_EFFECT[name] === undefined);

/** Methods of resolvers that are mutations and do not join. */
function unjoined(text: string): string[] {
  const members = text.split(/\n {2}(?=@(?:\w+\.)?(?:Mutation|Query|FieldResolver|Subscription)\()/);
  return members
    .filter((member) => /^@(?:\w+\.)?Mutation\(/.test(member) && !member.includes('exactlyOnce('))
    .map((member) => /\n {2}async (\w+)/.exec(member)?.[1] ?? member);
}

test('every mutation has a sample', () => {
  expect(MUTATIONS.length).toBeGreaterThan(5);
  expect(MUTATIONS.filter((name) => SAMPLES[name] === undefined)).toEqual([]);
});

test('every mutation joins', () => {
  const namesIn = (room: string) =>
    readdirSync(new URL(room, ROOT), { recursive: true, encoding: 'utf8' }).map((name) => `${room}/${name}`);
  const resolvers = ['subgraphs', 'services'].flatMap(namesIn).filter((name) => name.endsWith('-resolver.ts'));
  expect(
    resolvers
      .flatMap((name) => unjoined(readFileSync(new URL(name, ROOT), 'utf8')))
      .filter((name) => WITHOUT_EFFECT[name] === undefined),
  ).toEqual([]);
  expect(
    unjoined(
      'class X {\n  @Mutation(() => A)\n  async forgets() {\n    return act();\n  }\n\n  @ofX.Mutation("x")\n  async ' +
        'forgetsToo() {\n    return act();\n  }\n\n  @Query(() => A)\n  async reads() {\n    return exactlyOnce();\n  }\n}',
    ),
  ).toEqual(['forgets', 'forgetsToo']);
});

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly replayed: string | null;
  readonly body: {
    readonly data?: Json | null;
    readonly errors?: readonly { readonly extensions: Readonly<Record<string, unknown>> }[];
  };
}

describe.each(LAYOUTS)('mutations with an idempotency key, %s', (layout) => {
  let house: House;
  let owner: Client;
  let freeBytes = 2;
  const disk = new DiskWatch({
    folders: ['/data'],
    reserveBytes: 1,
    logger: pino({ level: 'silent' }),
    freeBytesOf: async () => freeBytes,
  });
  const withoutRoom = async <T>(work: () => Promise<T>): Promise<T> => {
    freeBytes = 0;
    await disk.look();
    try {
      return await work();
    } finally {
      freeBytes = 2;
      await disk.look();
    }
  };

  beforeAll(async () => {
    house = await openHouse(layout, { withWorker: false, clock, disk });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await owner.end();
    await house.stop();
  });

  const say = async (
    caller: Caller,
    key: string,
    query: string,
    variables: object,
    headers: Record<string, string> = {},
  ): Promise<Answered> => {
    const response = await fetch(`${house.root}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json',
        ...(caller.key === null ? {} : { authorization: `Bearer ${caller.key}` }),
        'x-nonce': randomUUID(),
        'svc-idempotency-key': key,
        ...headers,
      },
      body: JSON.stringify({ query, variables }),
    });
    const text = await response.text();
    return {
      status: response.status,
      text,
      replayed: response.headers.get('svc-idempotent-replayed'),
      body: JSON.parse(text) as Answered['body'],
    };
  };
  const codeOf = ({ body }: Answered) => body.errors?.[0]!.extensions['code'];
  /** What a crash between the commit and the answer leaves behind. */
  const forgetAnswers = () =>
    owner.query(`update idempotency.claims set answer = null, lease_until = now() - interval '1 second'`);

  const prepare = async (): Promise<{ caller: Caller; backing: BackingServices }> => {
    const caller = await Caller.register(house.root);
    const dataSourceId = String(
      (await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content: ROWS } })).body[
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
    const agentId = String((await (await Caller.register(house.root)).get('/agents/me')).body['agent_id']);
    const webhookId = String(
      (await caller.post('/webhooks', { url: 'http://localhost:9/', events: ['*'] })).body['id'],
    );
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
  };

  test.each(MUTATIONS)('%s', async (name) => {
    const sample = SAMPLES[name]!;
    const { caller: tenant, backing } = await prepare();
    const caller = sample.isPublic === true ? new Caller(house.root, null) : tenant;
    const query =
      `mutation Once($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ` +
      `${sample.selection} } }`;
    const key = randomUUID();
    const input = sample.input(backing, 0);

    const first = await say(caller, key, query, { input });
    expect(first.body.errors).toBeUndefined();
    expect(await say(caller, key, query, { input })).toEqual({ ...first, replayed: 'true' });

    const other = await say(caller, key, query, { input: sample.input(backing, 1) });
    expect([other.status, codeOf(other)]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);

    await forgetAnswers();
    const recalled = await say(caller, key, query, { input });
    expect([recalled.replayed, recalled.body]).toEqual([null, first.body]);
    expect((await say(caller, key, query, { input })).replayed).toBe('true');
  });

  // Refused below both doors, wherever the subgraphs are: once is enough.
  if (layout === 'one process') {
    test.each(MUTATIONS)('%s on a nearly full disk', async (name) => {
      const sample = SAMPLES[name]!;
      const { caller: tenant, backing } = await prepare();
      const caller = sample.isPublic === true ? new Caller(house.root, null) : tenant;
      const query =
        `mutation Full($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) ` +
        `{ ${sample.selection} } }`;
      const [key, earlier] = [randomUUID(), randomUUID()];
      const input = sample.input(backing, 0);

      const refused = await withoutRoom(() => say(caller, key, query, { input }));
      if (NEEDING_NO_ROOM.has(name)) return expect(refused.body.errors).toBeUndefined();
      expect(refused.body.errors![0]!.extensions).toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        reason: 'disk_nearly_full',
        retry_after: 30,
      });
      // Nothing was done, nothing is kept: the same request succeeds when there is room.
      expect((await say(caller, key, query, { input })).body.errors).toBeUndefined();
      if (sample.isPublic === true) return undefined;

      // What an earlier attempt has stored is told all the same.
      const again = await prepare();
      const first = await say(again.caller, earlier, query, { input: sample.input(again.backing, 0) });
      await forgetAnswers();
      const recalled = await withoutRoom(() =>
        say(again.caller, earlier, query, { input: sample.input(again.backing, 0) }),
      );
      return expect(recalled.body).toEqual(first.body);
    });
  }

  test('refusals: kept where they are of business, with their request id', async () => {
    const { caller } = await prepare();
    const query = 'mutation { syncDataSource(input: { id: "ds_0351EFTBArmmpvm2tVZ2Qh" }) { sync { syncId } } }';
    const key = randomUUID();
    const first = await say(caller, key, query, {});
    expect(codeOf(first)).toBe('RESOURCE_NOT_FOUND');
    expect(await say(caller, key, query, {})).toEqual({ ...first, replayed: 'true' });

    const malformed = randomUUID();
    const refused = await say(
      caller,
      malformed,
      'mutation { connectDataSource(input: { type: GA4, credentials: {} }) { dataSource { id } } }',
      {},
    );
    expect(codeOf(refused)).toBe('VALIDATION_ERROR');
    expect(
      (
        await say(
          caller,
          malformed,
          'mutation { connectDataSource(input: { type: CSV_UPLOAD, credentials: {} }) { dataSource { id } } }',
          {},
        )
      ).body.errors,
    ).toBeUndefined();
  });

  test('another credential gets the answer if it may do as much, else a conflict', async () => {
    const { caller, backing } = await prepare();
    const query = 'mutation Sync($id: ID!) { syncDataSource(input: { id: $id }) { sync { syncId } } }';
    const key = randomUUID();
    const first = await say(caller, key, query, { id: backing.dataSourceId });
    const { rows } = await owner.query<{ account_id: Uuid; agent_id: Uuid }>(
      'select account_id, agent_id from auth.api_keys where last4 = $1 order by created_at desc limit 1',
      [caller.key!.slice(-4)],
    );
    const { account_id: accountId, agent_id: agentId } = rows[0]!;
    const issue = (scopes: readonly Scope[]) =>
      house.backing.database.asTenant(accountId, (em) =>
        house.keys.issue(em, { accountId, agentId, kind: 'svc_agent_sk', bond: UNBOUND, scopes }),
      );
    expect(await say(new Caller(house.root, await issue(SCOPES)), key, query, { id: backing.dataSourceId })).toEqual({
      ...first,
      replayed: 'true',
    });
    expect(
      codeOf(
        await say(new Caller(house.root, await issue(['attribution:read'])), key, query, { id: backing.dataSourceId }),
      ),
    ).toBe('IDEMPOTENCY_CONFLICT');
  });

  test('one key covers one mutation; a query takes no notice of it', async () => {
    const { caller, backing } = await prepare();
    const two = await say(
      caller,
      randomUUID(),
      `mutation Two($id: ID!) { ...A b: syncDataSource(input: { id: $id }) { sync { syncId } } } fragment A on ` +
        `Mutation { a: syncDataSource(input: { id: $id }) { sync { syncId } } }`,
      { id: backing.dataSourceId },
    );
    expect([two.status, codeOf(two), two.body.errors![0]!.extensions['reason']]).toEqual([
      400,
      'INVALID_REQUEST',
      'one_mutation_per_key',
    ]);
    const key = randomUUID();
    expect((await say(caller, key, '{ me { id } }', {})).replayed).toBeNull();
    expect((await say(caller, key, '{ me { id } }', {})).replayed).toBeNull();
    const bad = await say(caller, 'x'.repeat(256), '{ me { id } }', {});
    expect([bad.status, bad.body.errors![0]!.extensions['reason']]).toEqual([400, 'invalid_idempotency_key']);
    // Clients that take plain JSON only are told by the body alone.
    expect(
      (
        await say(
          caller,
          randomUUID(),
          'mutation { a: __typename x: syncDataSource(input: { id: "" }) { __typename } y: syncDataSource(input: { ' +
            'id: "" }) { __typename } }',
          {},
          { accept: 'application/json' },
        )
      ).status,
    ).toBe(200);
  });

  test('a WebSocket asks the same store', async () => {
    const { caller, backing } = await prepare();
    const socket = createClient({
      url: `${house.root.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${caller.key}` },
      retryAttempts: 0,
    });
    const query = 'mutation Once($input: SyncDataSourceInput!) { syncDataSource(input: $input) { sync { syncId } } }';
    const variables = { input: { id: backing.dataSourceId } };
    const key = randomUUID();
    try {
      const first = await overSocket(socket, query, variables, key);
      expect(first['extensions']).toBeUndefined();
      const again = await overSocket(socket, query, variables, key);
      expect(again).toEqual({ ...first, extensions: { idempotentReplayed: true } });
      const overHttp = await say(caller, key, query, variables, {});
      // The operation's name is part of the request; this client sent none either.
      expect([overHttp.replayed, overHttp.body.data]).toEqual(['true', first['data']]);
      const conflict = await overSocket(socket, query, { input: { id: 'ds_0351EFTBArmmpvm2tVZ2Qh' } }, key);
      expect((conflict['errors'] as unknown as Answered['body']['errors'])![0]!.extensions['code']).toBe(
        'IDEMPOTENCY_CONFLICT',
      );
    } finally {
      await socket.dispose();
    }
  });
});

function overSocket(
  socket: SocketClient,
  query: string,
  variables: Record<string, unknown>,
  idempotencyKey: string,
): Promise<Json> {
  return new Promise((resolve, reject) => {
    socket.subscribe<Json>(
      { query, variables, extensions: { nonce: randomUUID(), idempotencyKey } },
      { next: (result) => resolve(result as unknown as Json), error: reject, complete: () => undefined },
    );
  });
}
