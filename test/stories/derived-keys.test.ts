import { once } from 'node:events';
import { Client } from 'pg';
import { WebSocket } from 'ws';
import { FrozenClock } from '../frozen-clock.ts';
import { Caller, LAYOUTS, openHouse, type Answer, type House, type Json } from '../house.ts';

const at = (answer: { readonly body: Json }, ...path: readonly string[]): string => String(path.reduce<Json | undefined>((value, member) => value?.[member], answer.body));
const problem = ({ status, body }: Answer) => ({ status, code: String(body['error']?.['code']), param: String(body['error']?.['param']) });
const works = async (caller: Caller): Promise<boolean> => (await caller.get('/agents/me')).status === 200;
const DAY_MS = 86_400_000;
/** What the contract allows between the end of a credential and that of its streams. */
const WITHIN_MS = 2_000;

describe.each(LAYOUTS)('keys that end with what made them, %s', (layout) => {
  let house: House;
  let owner: Client;
  let agent: Caller;
  let clientId: string;

  beforeAll(async () => {
    house = await openHouse(layout, { withWorker: false });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
  });
  beforeEach(async () => {
    agent = await Caller.register(house.root);
    clientId = at(await agent.get('/agents/me'), 'agent_id');
  });
  afterAll(async () => {
    await owner?.end();
    await house?.stop();
  });

  const withKey = (answer: { readonly body: Json }, ...path: readonly string[]) => new Caller(house.root, at(answer, ...path));
  const nobody = () => new Caller(house.root, null);
  /** A grant of client_credentials: what calls with its token, and the refresh token. */
  async function grant(scope = 'health:read', by = agent): Promise<{ readonly caller: Caller; readonly refreshToken: string }> {
    const answer = await nobody().post('/oauth/token', { grant_type: 'client_credentials', client_id: clientId, client_secret: by.key, scope });
    return { caller: withKey(answer, 'access_token'), refreshToken: at(answer, 'refresh_token') };
  }
  const refresh = async (refreshToken: string) => {
    const answer = await nobody().post('/oauth/token/refresh', { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken });
    return { caller: withKey(answer, 'access_token'), refreshToken: at(answer, 'refresh_token') };
  };
  const revokeToken = (token: string) => nobody().post('/oauth/revoke', { token });
  const listed = async (answer: { readonly body: Json }, ...path: readonly string[]) => {
    const id = at(answer, ...path);
    return ((await agent.get('/keys')).body['keys'] as unknown as readonly Json[]).find((key) => String(key['id']) === id)!;
  };
  const toldOf = async (type: string) =>
    (await owner.query<{ body: Json }>(`select body from events.told_audit_events where body ->> 'type' = $1 and tenant_id = (select account_id from agents.agents where id = $2) order by event_id`, [type, at(await agent.get('/agents/me'), 'agent_uuid')])).rows.map(({ body }) => body);

  test('a token for an hour and one scope leaves no key that outlives its revoked grant', async () => {
    const { caller, refreshToken } = await grant();
    const made = await caller.post('/keys', { name: 'left behind' });
    expect([made.status, made.body['scopes']]).toEqual([201, ['health:read']]);
    const [live, test] = [withKey(made, 'live', 'key'), withKey(made, 'test', 'key')];
    const next = withKey(await live.post('/keys', {}), 'live', 'key');
    const rotated = withKey(await live.post(`/keys/${at(made, 'live', 'id')}/rotate`, {}), 'key');
    expect(await Promise.all([live, test, next, rotated].map(works))).toEqual([true, true, true, true]);
    await revokeToken(refreshToken);
    expect(await Promise.all([live, test, next, rotated].map(works))).toEqual([false, false, false, false]);
    expect(await works(agent)).toBe(true);

    expect(await listed(made, 'live', 'id')).toMatchObject({ status: 'revoked', ends_with: 'grant' });
    const [told] = (await toldOf('agent.key_revoked')).toReversed();
    expect(told).toMatchObject({ severity: 'warning', details: { reason: 'grant_ended', keys: 5 } });
    expect(told!['details']!['key_ids']).toContain(at(made, 'live', 'id'));
  });

  test('a key of a grant lives for as long as the grant does, refreshed or not', async () => {
    const clock = new FrozenClock(house.ownerUrl);
    try {
      await clock.stop();
      const { caller, refreshToken } = await grant();
      const made = await caller.post('/keys', {});
      const fixed = await caller.post('/keys', { expires_at: new Date(Date.now() + 25 * DAY_MS).toISOString() });
      const end = Date.parse(at(made, 'live', 'expires_at'));
      expect(Math.abs(end - Date.now() - 30 * DAY_MS)).toBeLessThan(DAY_MS);
      await clock.stop('20 days');
      await refresh(refreshToken);
      expect(Date.parse(String((await listed(made, 'live', 'id'))['expires_at'])) - end).toBeGreaterThan(19 * DAY_MS);
      await clock.stop('40 days');
      expect([await works(withKey(made, 'live', 'key')), await works(withKey(fixed, 'live', 'key'))]).toEqual([true, false]);
      await clock.stop('51 days');
      expect(await works(withKey(made, 'live', 'key'))).toBe(false);
      expect(await listed(made, 'live', 'id')).toMatchObject({ status: 'expired', ends_with: 'grant' });
    } finally {
      await clock.run();
    }
  });

  test('nobody asks for a later end than his own', async () => {
    const { caller } = await grant();
    const later = await caller.post('/keys', { expires_at: new Date(Date.now() + 31 * DAY_MS).toISOString() });
    expect(problem(later)).toEqual({ status: 422, code: 'outlives_maker', param: '/expires_at' });
    const latest = /until (\S+Z)/.exec(at(later, 'error', 'message'))?.[1];
    expect((await caller.post('/keys', { expires_at: latest })).status).toBe(201);

    const expiring = withKey(await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' }), 'live', 'key');
    expect(problem(await expiring.post('/keys', { expires_at: '2199-01-01T00:00:01Z' }))).toEqual({ status: 422, code: 'outlives_maker', param: '/expires_at' });
    const made = await expiring.post('/keys', {});
    expect([at(made, 'live', 'expires_at'), at(made, 'test', 'expires_at')]).toEqual(['2199-01-01T00:00:00.000Z', '2199-01-01T00:00:00.000Z']);
    expect(await listed(made, 'test', 'id')).toMatchObject({ status: 'active', ends_with: 'key', expires_at: '2199-01-01T00:00:00.000Z' });
  });

  test('keys made by a key without an end stand by themselves; those of one that ends go with it', async () => {
    const forever = await agent.post('/keys', {});
    const ending = await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' });
    const [free, bound] = [await withKey(forever, 'live', 'key').post('/keys', {}), await withKey(ending, 'live', 'key').post('/keys', {})];
    const grandchild = await withKey(bound, 'live', 'key').post('/keys', {});
    await agent.delete(`/keys/${at(forever, 'live', 'id')}`);
    await agent.delete(`/keys/${at(ending, 'live', 'id')}`);
    expect(await Promise.all([free, bound, grandchild].map((made) => works(withKey(made, 'live', 'key'))))).toEqual([true, false, false]);
    expect(await listed(free, 'live', 'id')).toMatchObject({ status: 'active', ends_with: null, expires_at: null });
    expect((await toldOf('agent.key_revoked')).at(-1)).toMatchObject({ target: { id: at(ending, 'live', 'id') }, details: { derived_keys: 4 } });
  });

  test('what ends rotates nothing that does not end with it', async () => {
    const forever = await agent.post('/keys', { scopes: ['health:read'] });
    const { caller } = await grant('attribution:read attribution:write channels:read journeys:read campaigns:read health:read billing:read referrals:read referrals:write audit:read');
    const expiring = withKey(await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' }), 'live', 'key');
    for (const maker of [caller, expiring]) {
      expect(problem(await maker.post(`/keys/${at(forever, 'live', 'id')}/rotate`, {}))).toEqual({ status: 403, code: 'outlives_maker', param: 'path:id' });
      expect(problem(await maker.post('/agents/me/keys/rotate', {}))).toMatchObject({ status: 403, code: 'outlives_maker' });
      expect((await maker.graphql(`mutation { rotateKey(input: { id: "${at(forever, 'live', 'id')}" }) { key } }`)).errors?.[0]?.extensions).toMatchObject({ type: 'insufficient_permissions' });
      const made = await maker.post('/keys', {});
      const rotated = await maker.post(`/keys/${at(made, 'live', 'id')}/rotate`, {});
      expect(rotated.status).toBe(200);
      expect(await listed(rotated, 'id')).toMatchObject({ ends_with: maker === caller ? 'grant' : 'key', expires_at: at(made, 'live', 'expires_at') });
    }
    expect([await works(agent), await works(withKey(forever, 'live', 'key'))]).toEqual([true, true]);
  });

  test('a key that ends rotates itself and its twin, and neither lives longer for it', async () => {
    const made = await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' });
    const live = withKey(made, 'live', 'key');
    for (const kind of ['test', 'live'] as const) {
      const rotated = await live.post(`/keys/${at(made, kind, 'id')}/rotate`, {});
      expect([rotated.status, (await listed(rotated, 'id'))['expires_at']]).toEqual([200, '2199-01-01T00:00:00.000Z']);
    }
  });

  test('a key in its grace leaves nothing behind it', async () => {
    const made = await agent.post('/keys', {});
    const rotated = await agent.post(`/keys/${at(made, 'live', 'id')}/rotate`, { grace_hours: 2 });
    const late = await withKey(made, 'live', 'key').post('/keys', {});
    expect(at(late, 'live', 'expires_at')).toBe(at(rotated, 'previous_key_expires_at'));
    await agent.post(`/keys/${at(rotated, 'id')}/rotate`, {});
    expect(await works(withKey(late, 'live', 'key'))).toBe(false);
  });

  test('the graph makes them alike', async () => {
    const { caller, refreshToken } = await grant();
    const made = await caller.graphql(`mutation { createKey(input: {}) { live { id key expiresAt } } }`);
    const live = new Caller(house.root, String(made.data?.['createKey']?.['live']?.['key']));
    expect(Date.parse(String(made.data?.['createKey']?.['live']?.['expiresAt']))).toBeLessThan(Date.now() + 31 * DAY_MS);
    expect(JSON.stringify((await agent.graphql(`{ keys { edges { node { id endsWith } } } }`)).data)).toContain('"endsWith":"GRANT"');
    await revokeToken(refreshToken);
    expect(await works(live)).toBe(false);
  });

  test('tokens and consents that a key of a grant is shown for end with it, too', async () => {
    const { refreshToken } = await grant();
    // The key of an agent in its grace is the one that ends and still gets tokens.
    await agent.post('/agents/me/keys/rotate', { grace_hours: 1 });
    const late = await nobody().post('/oauth/token', { grant_type: 'client_credentials', client_id: clientId, client_secret: agent.key });
    expect(Number(at(late, 'expires_in'))).toBeLessThanOrEqual(3600);
    const made = await withKey(late, 'access_token').post('/keys', {});
    expect(Date.parse(at(made, 'live', 'expires_at'))).toBeLessThanOrEqual(Date.now() + 3_700_000);
    expect((await refresh(refreshToken)).refreshToken).toMatch(/^svc_rt_/);
  });

  const ALL = 'attribution:read attribution:write channels:read journeys:read campaigns:read health:read billing:read referrals:read referrals:write audit:read';

  test('webhooks end with what made them, a token of client_credentials or a key that ends, unless another key takes them over', async () => {
    const { caller, refreshToken } = await grant();
    const ending = await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' });
    const makers = [caller, withKey(ending, 'live', 'key'), caller, agent];
    const made = await Promise.all(makers.map((maker) => maker.post('/webhooks', { url: 'http://localhost:9/', events: ['health.alert'] })));
    const shown = () => Promise.all(made.map(async ({ body }) => (await agent.get(`/webhooks/${String(body['id'])}`)).body));
    expect((await shown()).map(({ active }) => active)).toEqual([true, true, true, true]);
    expect((await agent.send('PATCH', `/webhooks/${at(made[2]!, 'id')}`, JSON.stringify({ metadata: { by: 'owner' } }), { 'content-type': 'application/json' })).status).toBe(200);
    await revokeToken(refreshToken);
    await agent.delete(`/keys/${at(ending, 'live', 'id')}`);
    expect((await shown()).map(({ active, disabled_reason: reason }) => [active, reason])).toEqual([[false, 'grant_ended'], [false, 'key_ended'], [true, null], [true, null]]);
  });

  test('what ends lets nobody else in, and sends nothing elsewhere', async () => {
    const { caller } = await grant(ALL);
    const ending = withKey(await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' }), 'live', 'key');
    const workspace = at(await agent.post('/workspaces', { name: 'Spring' }), 'workspace_id');
    const guest = at(await (await Caller.register(house.root)).get('/agents/me'), 'agent_id');
    for (const maker of [caller, ending]) {
      expect(problem(await maker.post(`/workspaces/${workspace}/agents`, { agent_id: guest, role: 'viewer' }))).toMatchObject({ status: 403, code: 'outlives_maker' });
      for (const change of [{ redirect_uris: ['https://thief.example/callback'] }, { public: true }, { callback_url: 'http://localhost:9/' }]) {
        expect(problem(await maker.send('PATCH', '/agents/me', JSON.stringify(change), { 'content-type': 'application/json' }))).toMatchObject({ status: 403, code: 'outlives_maker', param: `/${Object.keys(change)[0]}` });
      }
      expect((await maker.send('PATCH', '/agents/me', JSON.stringify({ name: 'renamed-agent' }), { 'content-type': 'application/json' })).status).toBe(200);
    }
    expect((await agent.post(`/workspaces/${workspace}/agents`, { agent_id: guest, role: 'viewer' })).status).toBe(201);
  });

  test('a key is used from no more addresses than what made it', async () => {
    const account = `(select account_id from agents.agents where id = '${at(await agent.get('/agents/me'), 'agent_uuid')}')`;
    await owner.query(`update auth.accounts set plan = 'enterprise' where account_id = ${account}`);
    const maker = withKey(await agent.post('/keys', { allowed_ips: ['127.0.0.0/8', '192.0.2.0/24'], expires_at: '2199-01-01T00:00:00Z' }), 'live', 'key');
    expect(await listed(await maker.post('/keys', {}), 'live', 'id')).toMatchObject({ allowed_ips: ['127.0.0.0/8', '192.0.2.0/24'] });
    expect(await listed(await maker.post('/keys', { allowed_ips: ['127.0.0.1'] }), 'live', 'id')).toMatchObject({ allowed_ips: ['127.0.0.1/32'] });
    expect(problem(await maker.post('/keys', { allowed_ips: ['127.0.0.1', '0.0.0.0/0'] }))).toEqual({ status: 422, code: 'exceeds_maker', param: '/allowed_ips' });
  });

  test('a stored answer is not told to what ends sooner than whoever asked', async () => {
    const headers = { 'svc-idempotency-key': 'make-a-key' };
    const made = await agent.post('/keys', { name: 'once' }, headers);
    const [first, second] = [await grant(ALL), await grant(ALL)];
    const ending = withKey(await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' }), 'live', 'key');
    for (const { caller } of [first, second, { caller: ending }]) expect((await caller.post('/keys', { name: 'once' }, headers)).status).toBe(409);
    expect((await withKey(await agent.post('/keys', {}), 'live', 'key').post('/keys', { name: 'once' }, headers)).body['live']).toEqual(made.body['live']);
    const ofGrant = await first.caller.post('/keys', { name: 'once' }, { 'svc-idempotency-key': 'another' });
    expect((await second.caller.post('/keys', { name: 'once' }, { 'svc-idempotency-key': 'another' })).status).toBe(409);
    const refreshed = await refresh(first.refreshToken);
    expect((await refreshed.caller.post('/keys', { name: 'once' }, { 'svc-idempotency-key': 'another' })).body['live']).toEqual(ofGrant.body['live']);
  });

  test('however making, refreshing and revoking come together, nothing is left and nobody is told of a fault', async () => {
    for (let round = 0; round < 8; round += 1) {
      const shown = withKey(await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' }), 'live', 'key');
      const { caller, refreshToken } = await grant();
      const made = await Promise.all([
        ...[caller, shown, caller, shown].map((maker) => maker.post('/keys', {})),
        refresh(refreshToken).then(() => undefined),
        revokeToken(refreshToken).then(() => undefined),
        shown.get('/keys').then(async ({ body }) => void (await shown.delete(`/keys/${String((body['keys'] as unknown as readonly Json[]).find((key) => String(key['last4']) === shown.key!.slice(-4))!['id'])}`))),
      ]);
      // A refresh that came before leaves another token, and the one that was used ends the family when it is revoked.
      for (const answer of made.filter((one) => one !== undefined)) {
        expect([201, 401]).toContain(answer.status);
        if (answer.status === 201) expect(await works(withKey(answer, 'live', 'key'))).toBe(false);
      }
    }
  });

  test('reuse of a refresh token and revocation of the key behind the grant end its keys, sockets included', async () => {
    const openSocket = async (credential: string) => {
      const socket = new WebSocket(`${house.root.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      await once(socket, 'open');
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${credential}` } }));
      await once(socket, 'message');
      return { ended: (once(socket, 'close') as Promise<[number]>).then(([code]) => ({ code, atMs: performance.now() })) };
    };
    const [reused, rootless] = [await grant(), await grant()];
    const keys = await Promise.all([reused, rootless].map(async ({ caller }) => at(await caller.post('/keys', {}), 'live', 'key')));
    const deeper = at(await new Caller(house.root, keys[0]!).post('/keys', {}), 'live', 'key');
    const [ofReused, ofDeeper] = await Promise.all([keys[0]!, deeper].map(openSocket));
    await refresh(reused.refreshToken);
    let endedAtMs = performance.now();
    await refresh(reused.refreshToken);
    for (const { code, atMs } of await Promise.all([ofReused!.ended, ofDeeper!.ended])) {
      expect(code).toBe(4401);
      expect(atMs - endedAtMs).toBeLessThan(WITHIN_MS);
    }
    const ofRootless = await openSocket(keys[1]!);
    endedAtMs = performance.now();
    // Whoever ends a credential writes its row and nothing else (decision 12).
    await owner.query(`update auth.api_keys set revoked_at = now() where last4 = $1 and display_prefix = $2`, [agent.key!.slice(-4), agent.key!.slice(0, 16)]);
    expect((await ofRootless.ended).atMs - endedAtMs).toBeLessThan(WITHIN_MS);
  });
});
