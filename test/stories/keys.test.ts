import { Client } from 'pg';
import type { House, Json } from '../house.ts';
import { Caller, LAYOUTS, openHouse } from '../house.ts';

const at = (answer: { readonly body: Json }, ...path: readonly string[]): string =>
  String(path.reduce<Json | undefined>((value, member) => value?.[member], answer.body));
const problem = ({ status, body }: { readonly status: number; readonly body: Json }) => ({
  status,
  type: String(body['error']?.['type']),
  code: String(body['error']?.['code']),
  param: String(body['error']?.['param']),
});
const works = async (caller: Caller): Promise<boolean> => (await caller.get('/agents/me')).status === 200;

describe.each(LAYOUTS)('the life of keys, %s', (layout) => {
  let house: House;
  let owner: Client;
  let agent: Caller;

  const withKey = (answer: { readonly body: Json }, ...path: readonly string[]) =>
    new Caller(house.root, at(answer, ...path));
  const agentId = async (caller: Caller) => at(await caller.get('/agents/me'), 'agent_uuid');
  const events = async (caller: Caller) => {
    const { rows } = await owner.query<{ type: string; body: Json }>(
      `select body ->> 'type' as type, body from events.told_audit_events where tenant_id = (select account_id from ` +
        `agents.agents where id = $1) order by event_id`,
      [await agentId(caller)],
    );
    return rows;
  };

  beforeAll(async () => {
    house = await openHouse(layout, { withWorker: false });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
  });
  beforeEach(async () => {
    agent = await Caller.register(house.root);
  });
  afterAll(async () => {
    await owner?.end();
    await house?.stop();
  });

  test('a pair acts for the agent that made it, in both environments', async () => {
    const made = await agent.post('/keys', { name: 'ci', scopes: ['attribution:read', 'health:read'] });
    expect(made.status).toBe(201);
    expect(Object.keys(made.body)).toEqual(['key_pair_id', 'name', 'scopes', 'live', 'test', 'trust']);
    expect(at(made, 'key_pair_id')).toMatch(/^kp_[0-9A-Za-z]{22}$/);
    expect(made.body['live']).toMatchObject({
      env: 'live',
      type: 'sk',
      key: expect.stringMatching(/^svc_live_sk_[A-Za-z0-9]{24}$/) as never,
      id: expect.stringMatching(/^key_/) as never,
    });
    expect(at(made, 'live', 'prefix')).toBe(at(made, 'live', 'key').slice(0, 16));
    expect(at(made, 'test', 'last4')).toBe(at(made, 'test', 'key').slice(-4));
    const [live, test] = [withKey(made, 'live', 'key'), withKey(made, 'test', 'key')];
    const profiles = await Promise.all([agent, live, test].map((caller) => caller.get('/agents/me')));
    expect(new Set(profiles.map((profile) => at(profile, 'agent_id'))).size).toBe(1);
    expect(profiles.map(({ headers }) => headers.get('svc-environment'))).toEqual([null, null, 'sandbox']);

    const listed = await agent.get('/keys');
    expect(listed.body['meta']).toEqual({ page: 1, per_page: 20, total: 3, total_pages: 1 });
    const keys = listed.body['keys'] as unknown as readonly Json[];
    expect(keys.map((key) => `${String(key['env'])} ${String(key['status'])}`).toSorted()).toEqual([
      'live active',
      'live active',
      'test active',
    ]);
    expect(keys.map((key) => key['key_pair_id'])).toEqual([at(made, 'key_pair_id'), at(made, 'key_pair_id'), null]);
    const shown = JSON.stringify(listed.body);
    for (const secret of [agent.key, live.key, test.key]) expect(shown).not.toContain(secret!.slice(16));
    expect(shown).not.toMatch(/hash|salt|lookup/);
    // A test key knows of its own kind alone, and makes nothing.
    expect((await test.get('/keys')).body['meta']).toMatchObject({ total: 1 });
    expect(problem(await test.post('/keys', {}))).toMatchObject({
      status: 403,
      type: 'insufficient_permissions',
      code: 'live_key_required',
    });
    expect((await test.delete(`/keys/${at(made, 'live', 'id')}`)).status).toBe(404);
    expect((await test.post('/agents/me/keys/rotate', {})).status).toBe(404);
    expect((await test.delete(`/keys/${at(made, 'test', 'id')}`)).status).toBe(200);
  });

  test('nobody gets more out of a key than it has', async () => {
    const narrow = withKey(await agent.post('/keys', { scopes: ['health:read'] }), 'live', 'key');
    expect(problem(await narrow.post('/keys', { scopes: ['health:read', 'billing:read'] }))).toEqual({
      status: 403,
      type: 'insufficient_permissions',
      code: 'missing_scope',
      param: '/scopes',
    });
    expect((await narrow.post('/keys', {})).body['scopes']).toEqual(['health:read']);
    expect(problem(await narrow.post('/agents/me/keys/rotate', {}))).toMatchObject({
      status: 403,
      code: 'missing_scope',
    });
    expect(await works(agent)).toBe(true);
  });

  test.each([
    [{ scopes: [] }, 'too_small', '/scopes'],
    [{ scopes: ['everything'] }, 'invalid_value', '/scopes/0'],
    [{ name: '' }, 'too_small', '/name'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'in_the_past', '/expires_at'],
    [{ expires_at: 'soon' }, 'invalid_format', '/expires_at'],
    [{ api_version: '2020-01-01' }, 'invalid_value', '/api_version'],
    [{ allowed_ips: ['192.0.2.0/33'] }, 'invalid_value', '/allowed_ips/0'],
    [{ allowed_ips: ['192.0.2.0/24'] }, 'requires_enterprise', '/allowed_ips'],
  ])('%j makes no key', async (body, code, param) => {
    expect(problem(await agent.post('/keys', body))).toEqual({ status: 422, type: 'validation_error', code, param });
  });

  test('on the plan enterprise a key may carry an allowlist; it holds, as do pinned version and end', async () => {
    await owner.query(
      `update auth.accounts set plan = 'enterprise' where account_id = (select account_id from agents.agents where ` +
        `id = $1)`,
      [await agentId(agent)],
    );
    const made = await agent.post('/keys', {
      allowed_ips: ['127.0.0.1', '10.1.2.3/8', '2001:db8::/32'],
      expires_at: '2199-01-01T01:00:00+01:00',
      api_version: '2025-11-01',
    });
    expect(made.status).toBe(201);
    const inside = await withKey(made, 'live', 'key').get('/agents/me');
    expect([inside.status, inside.headers.get('svc-api-version')]).toEqual([200, '2025-11-01']);
    const elsewhere = withKey(
      await agent.post('/keys', { allowed_ips: ['192.0.2.0/24', '2001:db8::1'], name: 'elsewhere' }),
      'live',
      'key',
    );
    expect(problem(await elsewhere.get('/agents/me'))).toMatchObject({ status: 403, type: 'ip_not_allowed' });
    const rotated = await agent.post(`/keys/${at(made, 'live', 'id')}/rotate`, {});
    expect((await withKey(rotated, 'key').get('/agents/me')).headers.get('svc-api-version')).toBe('2025-11-01');
    await agent.delete(`/keys/${at(rotated, 'id')}`);
    const test = ((await agent.get('/keys')).body['keys'] as unknown as readonly Json[]).find(
      (key) => String(key['id']) === at(made, 'test', 'id'),
    );
    expect(test).toMatchObject({
      allowed_ips: ['127.0.0.1/32', '10.0.0.0/8', '2001:db8::/32'],
      expires_at: '2199-01-01T00:00:00.000Z',
    });
  });

  test('rotation: both keys work for the grace, a second one ends the older; revocation is for good', async () => {
    const made = await agent.post('/keys', {});
    const [first, firstId] = [withKey(made, 'live', 'key'), at(made, 'live', 'id')];
    const rotated = await agent.post(`/keys/${firstId}/rotate`, {});
    expect(rotated.status).toBe(200);
    expect(Object.keys(rotated.body)).toEqual([
      'id',
      'key',
      'prefix',
      'last4',
      'previous_key_id',
      'previous_key_expires_at',
      'rotated_at',
      'trust_score',
      'trust',
    ]);
    expect(at(rotated, 'previous_key_id')).toBe(firstId);
    expect(Date.parse(at(rotated, 'previous_key_expires_at')) - Date.parse(at(rotated, 'rotated_at'))).toBe(
      24 * 3_600_000,
    );
    const second = withKey(rotated, 'key');
    expect([await works(first), await works(second)]).toEqual([true, true]);

    // Without a body, by the key in its grace itself: its successor is replaced, its own grace is over.
    const again = await first.send('POST', `/keys/${firstId}/rotate`);
    expect(at(again, 'previous_key_id')).toBe(at(rotated, 'id'));
    const third = withKey(again, 'key');
    expect([await works(first), await works(second), await works(third)]).toEqual([false, true, true]);
    expect(problem(await first.get('/agents/me'))).toMatchObject({ status: 401, type: 'expired_api_key' });
    expect(problem(await agent.post(`/keys/${firstId}/rotate`, {}))).toEqual({
      status: 422,
      type: 'validation_error',
      code: 'key_ended',
      param: 'path:id',
    });
    const { errors } = await agent.graphql(`mutation { rotateKey(input: { id: "${firstId}" }) { id } }`);
    expect(errors?.[0]?.extensions).toMatchObject({
      reason: 'key_ended',
      param: '/id',
      errors: [{ param: '/id', code: 'key_ended' }],
    });

    const gone = await third.delete(`/keys/${at(again, 'id')}`);
    expect({ status: gone.status, id: at(gone, 'id'), state: at(gone, 'status') }).toEqual({
      status: 200,
      id: at(again, 'id'),
      state: 'revoked',
    });
    expect(await works(third)).toBe(false);
    const repeated = await agent.delete(`/keys/${at(again, 'id')}`);
    expect([repeated.status, at(repeated, 'revoked_at')]).toEqual([200, at(gone, 'revoked_at')]);

    const keys = (await agent.get('/keys')).body['keys'] as unknown as readonly Json[];
    const statusOf = (id: string) => String(keys.find((key) => String(key['id']) === id)?.['status']);
    expect([firstId, at(rotated, 'id'), at(again, 'id'), at(made, 'test', 'id')].map(statusOf)).toEqual([
      'expired',
      'rotating',
      'revoked',
      'active',
    ]);
    const told = (await events(agent)).filter(({ type }) => type.startsWith('agent.'));
    expect(told.map(({ type }) => type)).toEqual([
      'agent.registered',
      'agent.scope_changed',
      'agent.key_rotated',
      'agent.key_rotated',
      'agent.key_revoked',
    ]);
    expect(told.at(-1)!.body).toMatchObject({
      severity: 'warning',
      actor: { type: 'agent' },
      target: { type: 'key', id: at(again, 'id') },
      details: { own: true },
    });
  });

  test.each(['me', 'agent id', 'UUID'])(
    'an agent rotates the key that it was registered with, named by %s',
    async (form) => {
      const { body } = await agent.get('/agents/me');
      const id = { me: 'me', 'agent id': String(body['agent_id']), UUID: String(body['agent_uuid']) }[form]!;
      const rotated = await agent.post(`/agents/${id}/keys/rotate`, { grace_hours: 0 });
      expect([rotated.status, at(rotated, 'key').slice(0, 13)]).toEqual([200, 'svc_agent_sk_']);
      expect([await works(agent), await works(withKey(rotated, 'key'))]).toEqual([false, true]);
      expect((await withKey(rotated, 'key').post(`/agents/${id}/keys/rotate`, { grace_hours: 25 })).status).toBe(422);
      const stranger = await Caller.register(house.root);
      expect(
        (await stranger.post(`/agents/${id === 'me' ? 'agent_0351EFSwMCuWsp5CADuBq8' : id}/keys/rotate`, {})).status,
      ).toBe(404);
    },
  );

  test('tokens end with the key that they were shown for', async () => {
    const made = await agent.post('/keys', {});
    const uuids = await owner.query<{ id: string; account_id: string; agent_id: string }>(
      `select id, account_id, agent_id from auth.api_keys where last4 = $1 and display_prefix = $2`,
      [at(made, 'live', 'last4'), at(made, 'live', 'prefix')],
    );
    const { id, account_id: account, agent_id: agentUuid } = uuids.rows[0]!;
    const issue = async () => {
      const { rows } = await owner.query<{ id: string; ends: Date; revoked: Date | null }>(
        `insert into auth.tokens (id, account_id, agent_id, use, proof, family_id, key_id, lookup, salt, hash, scopes,
          environment, expires_at)
         values (gen_random_uuid(), $1, $2, 'access', 'secret', gen_random_uuid(), $3, '', '', '', '{}', 'live',
           now() + interval '30 days') returning id, expires_at as ends, revoked_at as revoked`,
        [account, agentUuid, id],
      );
      return rows[0]!;
    };
    const read = async (token: string) =>
      (
        await owner.query<{ ends: Date; revoked: Date | null }>(
          `select expires_at as ends, revoked_at as revoked from auth.tokens where id = $1`,
          [token],
        )
      ).rows[0]!;
    const before = await issue();
    const rotated = await agent.post(`/keys/${at(made, 'live', 'id')}/rotate`, { grace_hours: 2 });
    const end = at(rotated, 'previous_key_expires_at');
    expect((await read(before.id)).ends.toISOString()).toBe(end);
    // One that is refreshed in the grace does not outlive it either.
    expect((await issue()).ends.toISOString()).toBe(end);
    await agent.delete(`/keys/${at(made, 'live', 'id')}`);
    expect((await read(before.id)).revoked).not.toBeNull();
    expect((await issue()).revoked).not.toBeNull();
  });

  test('care is rewarded: fewer scopes once, rotation once a quarter', async () => {
    const score = async () => Number((await agent.get('/agents/me')).body['trust_score']);
    await agent.post('/keys', {});
    expect(await score()).toBe(0.5);
    await agent.post('/keys', {
      scopes: [
        'attribution:read',
        'attribution:write',
        'channels:read',
        'journeys:read',
        'campaigns:read',
        'health:read',
        'billing:read',
        'audit:read',
      ],
    });
    expect(await score()).toBe(0.52);
    const made = await agent.post('/keys', { scopes: ['health:read'] });
    expect(await score()).toBe(0.52);
    const [test, live] = [at(made, 'test', 'id'), at(made, 'live', 'id')];
    expect((await agent.post(`/keys/${test}/rotate`, {})).body['trust_score']).toBe(0.52);
    expect((await agent.post(`/keys/${live}/rotate`, {})).body['trust_score']).toBe(0.57);
    expect((await agent.post('/agents/me/keys/rotate', {})).body['trust_score']).toBe(0.57);
    await owner.query(
      `update agents.agents set trust_score = 0.98, rotation_rewarded_at = date_trunc('quarter', now(), 'UTC') - ` +
        `interval '1 microsecond' where id = $1`,
      [await agentId(agent)],
    );
    expect((await agent.post('/agents/me/keys/rotate', {})).body['trust_score']).toBe(1);
  });

  test('the graph does the same', async () => {
    const made = await agent.graphql(
      `mutation { createKey(input: { name: "graph", scopes: ["health:read"] }) { keyPairId scopes live { id key env ` +
        `} test { key env } trust { riskLevel } } }`,
    );
    expect(made.data?.['createKey']).toMatchObject({
      scopes: ['health:read'],
      live: { env: 'LIVE' },
      test: { env: 'TEST' },
    });
    const id = String(made.data?.['createKey']?.['live']?.['id']);
    const rotated = await agent.graphql(
      `mutation ($id: ID!) { rotateKey(input: { id: $id, graceHours: 1 }) { id key previousKeyId trustScore } }`,
      { id },
    );
    expect(rotated.data?.['rotateKey']).toMatchObject({ previousKeyId: id, trustScore: 0.6 });
    const own = await agent.graphql(`mutation { rotateAgentKey(input: { agentId: "me" }) { key } }`);
    expect(String(own.data?.['rotateAgentKey']?.['key'])).toMatch(/^svc_agent_sk_/);
    const revoked = await agent.graphql(`mutation ($id: ID!) { revokeKey(input: { id: $id }) { status revokedAt } }`, {
      id,
    });
    expect(revoked.data?.['revokeKey']).toMatchObject({ status: 'REVOKED' });
    const listed = await agent.graphql(
      `{ keys(first: 2) { totalCount pageInfo { hasNextPage } edges { node { status env rotatedTo name } } } }`,
    );
    expect(listed.data?.['keys']).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: true } });
    const refused = await agent.graphql(`mutation { rotateKey(input: { id: "${id}" }) { id } }`);
    expect(refused.errors?.[0]?.extensions).toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  test('no key is ever in the log', () => {
    expect(house.log()).not.toMatch(/svc_(?:live|test|agent)_sk_[A-Za-z0-9]/);
  });
});
