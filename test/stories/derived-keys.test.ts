import { once } from 'node:events';
import { Client } from 'pg';
import { WebSocket } from 'ws';
import { FrozenClock } from '../frozen-clock.ts';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { at, GrantedAgent, problem, works } from './granted-agent.ts';

const DAY_MS = 86_400_000;
/** What the contract allows between the end of a credential and that of its streams. */
const WITHIN_MS = 2_000;

describe.each(LAYOUTS)('keys that end with what made them, %s', (layout) => {
  let house: House;
  let owner: Client;
  let agent: Caller;
  let granted: GrantedAgent;

  beforeAll(async () => {
    house = await openHouse(layout, { withWorker: false });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
  });
  beforeEach(async () => {
    granted = await GrantedAgent.register(house.root);
    agent = granted.caller;
  });
  afterAll(async () => {
    await owner?.end();
    await house?.stop();
  });

  const toldOf = async (type: string) =>
    (
      await owner.query<{ body: Json }>(
        `select body from events.told_audit_events
         where body ->> 'type' = $1 and tenant_id = (select account_id from agents.agents where id = $2)
         order by event_id`,
        [type, at(await agent.get('/agents/me'), 'agent_uuid')],
      )
    ).rows.map(({ body }) => body);

  test('a token for an hour and one scope leaves no key that outlives its revoked grant', async () => {
    const { caller, refreshToken } = await granted.grant('health:read');
    const made = await caller.post('/keys', { name: 'left behind' });
    expect([made.status, made.body['scopes']]).toEqual([201, ['health:read']]);
    const [live, test] = [granted.withKey(made, 'live', 'key'), granted.withKey(made, 'test', 'key')];
    const next = granted.withKey(await live.post('/keys', {}), 'live', 'key');
    const rotated = granted.withKey(await live.post(`/keys/${at(made, 'live', 'id')}/rotate`, {}), 'key');
    expect(await Promise.all([live, test, next, rotated].map(works))).toEqual([true, true, true, true]);
    await granted.revoke(refreshToken);
    expect(await Promise.all([live, test, next, rotated].map(works))).toEqual([false, false, false, false]);
    expect(await works(agent)).toBe(true);

    expect(await granted.listed(made, 'live', 'id')).toMatchObject({ status: 'revoked', ends_with: 'grant' });
    const [told] = (await toldOf('agent.key_revoked')).toReversed();
    expect(told).toMatchObject({ severity: 'warning', details: { reason: 'grant_ended', keys: 5 } });
    expect(told!['details']!['key_ids']).toContain(at(made, 'live', 'id'));
  });

  test('a key of a grant lives for as long as the grant does, refreshed or not', async () => {
    const clock = new FrozenClock(house.ownerUrl);
    try {
      await clock.stop();
      const { caller, refreshToken } = await granted.grant('health:read');
      const made = await caller.post('/keys', {});
      const fixed = await caller.post('/keys', { expires_at: new Date(Date.now() + 25 * DAY_MS).toISOString() });
      const end = Date.parse(at(made, 'live', 'expires_at'));
      expect(Math.abs(end - Date.now() - 30 * DAY_MS)).toBeLessThan(DAY_MS);
      await clock.stop('20 days');
      await granted.refresh(refreshToken);
      expect(Date.parse(String((await granted.listed(made, 'live', 'id'))['expires_at'])) - end).toBeGreaterThan(
        19 * DAY_MS,
      );
      await clock.stop('40 days');
      expect([
        await works(granted.withKey(made, 'live', 'key')),
        await works(granted.withKey(fixed, 'live', 'key')),
      ]).toEqual([true, false]);
      await clock.stop('51 days');
      expect(await works(granted.withKey(made, 'live', 'key'))).toBe(false);
      expect(await granted.listed(made, 'live', 'id')).toMatchObject({ status: 'expired', ends_with: 'grant' });
    } finally {
      await clock.run();
    }
  });

  test('nobody asks for a later end than his own', async () => {
    const { caller } = await granted.grant('health:read');
    const later = await caller.post('/keys', { expires_at: new Date(Date.now() + 31 * DAY_MS).toISOString() });
    expect(problem(later)).toEqual({ status: 422, code: 'outlives_maker', param: '/expires_at' });
    const latest = /until (\S+Z)/.exec(at(later, 'error', 'message'))?.[1];
    expect((await caller.post('/keys', { expires_at: latest })).status).toBe(201);

    const expiring = granted.withKey(await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' }), 'live', 'key');
    expect(problem(await expiring.post('/keys', { expires_at: '2199-01-01T00:00:01Z' }))).toEqual({
      status: 422,
      code: 'outlives_maker',
      param: '/expires_at',
    });
    const made = await expiring.post('/keys', {});
    expect([at(made, 'live', 'expires_at'), at(made, 'test', 'expires_at')]).toEqual([
      '2199-01-01T00:00:00.000Z',
      '2199-01-01T00:00:00.000Z',
    ]);
    expect(await granted.listed(made, 'test', 'id')).toMatchObject({
      status: 'active',
      ends_with: 'key',
      expires_at: '2199-01-01T00:00:00.000Z',
    });
  });

  test('keys made by a key without an end stand by themselves; those of one that ends go with it', async () => {
    const forever = await agent.post('/keys', {});
    const ending = await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' });
    const [free, bound] = [
      await granted.withKey(forever, 'live', 'key').post('/keys', {}),
      await granted.withKey(ending, 'live', 'key').post('/keys', {}),
    ];
    const grandchild = await granted.withKey(bound, 'live', 'key').post('/keys', {});
    await agent.delete(`/keys/${at(forever, 'live', 'id')}`);
    await agent.delete(`/keys/${at(ending, 'live', 'id')}`);
    expect(
      await Promise.all([free, bound, grandchild].map((made) => works(granted.withKey(made, 'live', 'key')))),
    ).toEqual([true, false, false]);
    expect(await granted.listed(free, 'live', 'id')).toMatchObject({
      status: 'active',
      ends_with: null,
      expires_at: null,
    });
    expect((await toldOf('agent.key_revoked')).at(-1)).toMatchObject({
      target: { id: at(ending, 'live', 'id') },
      details: { derived_keys: 4 },
    });
  });

  test('what ends rotates nothing that does not end with it', async () => {
    const forever = await agent.post('/keys', { scopes: ['health:read'] });
    const { caller } = await granted.grant();
    const expiring = granted.withKey(await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' }), 'live', 'key');
    for (const maker of [caller, expiring]) {
      expect(problem(await maker.post(`/keys/${at(forever, 'live', 'id')}/rotate`, {}))).toEqual({
        status: 403,
        code: 'outlives_maker',
        param: 'path:id',
      });
      expect(problem(await maker.post('/agents/me/keys/rotate', {}))).toMatchObject({
        status: 403,
        code: 'outlives_maker',
      });
      expect(
        (await maker.graphql(`mutation { rotateKey(input: { id: "${at(forever, 'live', 'id')}" }) { key } }`))
          .errors?.[0]?.extensions,
      ).toMatchObject({ type: 'insufficient_permissions' });
      const made = await maker.post('/keys', {});
      const rotated = await maker.post(`/keys/${at(made, 'live', 'id')}/rotate`, {});
      expect(rotated.status).toBe(200);
      expect(await granted.listed(rotated, 'id')).toMatchObject({
        ends_with: maker === caller ? 'grant' : 'key',
        expires_at: at(made, 'live', 'expires_at'),
      });
    }
    expect([await works(agent), await works(granted.withKey(forever, 'live', 'key'))]).toEqual([true, true]);
  });

  test('a key that ends rotates itself and its twin, and neither lives longer for it', async () => {
    const made = await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' });
    const live = granted.withKey(made, 'live', 'key');
    for (const kind of ['test', 'live'] as const) {
      const rotated = await live.post(`/keys/${at(made, kind, 'id')}/rotate`, {});
      expect([rotated.status, (await granted.listed(rotated, 'id'))['expires_at']]).toEqual([
        200,
        '2199-01-01T00:00:00.000Z',
      ]);
    }
  });

  test('a key in its grace leaves nothing behind it', async () => {
    const made = await agent.post('/keys', {});
    const rotated = await agent.post(`/keys/${at(made, 'live', 'id')}/rotate`, { grace_hours: 2 });
    const late = await granted.withKey(made, 'live', 'key').post('/keys', {});
    expect(at(late, 'live', 'expires_at')).toBe(at(rotated, 'previous_key_expires_at'));
    await agent.post(`/keys/${at(rotated, 'id')}/rotate`, {});
    expect(await works(granted.withKey(late, 'live', 'key'))).toBe(false);
  });

  test('the graph makes them alike', async () => {
    const { caller, refreshToken } = await granted.grant('health:read');
    const made = await caller.graphql(`mutation { createKey(input: {}) { live { id key expiresAt } } }`);
    const live = new Caller(house.root, String(made.data?.['createKey']?.['live']?.['key']));
    expect(Date.parse(String(made.data?.['createKey']?.['live']?.['expiresAt']))).toBeLessThan(
      Date.now() + 31 * DAY_MS,
    );
    expect(JSON.stringify((await agent.graphql(`{ keys { edges { node { id endsWith } } } }`)).data)).toContain(
      '"endsWith":"GRANT"',
    );
    await granted.revoke(refreshToken);
    expect(await works(live)).toBe(false);
  });

  test('what a key in its grace gets tokens for ends with the grace, their keys included', async () => {
    const { refreshToken } = await granted.grant('health:read');
    // The key of an agent in its grace is the one that ends and still gets tokens.
    await agent.post('/agents/me/keys/rotate', { grace_hours: 1 });
    const late = await granted.ask();
    expect(Number(at(late, 'expires_in'))).toBeLessThanOrEqual(3600);
    const made = await granted.withKey(late, 'access_token').post('/keys', {});
    expect(Date.parse(at(made, 'live', 'expires_at'))).toBeLessThanOrEqual(Date.now() + 3_700_000);
    expect((await granted.refresh(refreshToken)).refreshToken).toMatch(/^svc_rt_/);
  });

  test('a key is used from no more addresses than what made it', async () => {
    await owner.query(
      `update auth.accounts set plan = 'enterprise'
       where account_id = (select account_id from agents.agents where id = $1)`,
      [at(await agent.get('/agents/me'), 'agent_uuid')],
    );
    const maker = granted.withKey(
      await agent.post('/keys', { allowed_ips: ['127.0.0.0/8', '192.0.2.0/24'], expires_at: '2199-01-01T00:00:00Z' }),
      'live',
      'key',
    );
    expect(await granted.listed(await maker.post('/keys', {}), 'live', 'id')).toMatchObject({
      allowed_ips: ['127.0.0.0/8', '192.0.2.0/24'],
    });
    expect(await granted.listed(await maker.post('/keys', { allowed_ips: ['127.0.0.1'] }), 'live', 'id')).toMatchObject(
      {
        allowed_ips: ['127.0.0.1/32'],
      },
    );
    expect(problem(await maker.post('/keys', { allowed_ips: ['127.0.0.1', '0.0.0.0/0'] }))).toEqual({
      status: 422,
      code: 'exceeds_maker',
      param: '/allowed_ips',
    });
  });

  test('however making, refreshing and revoking come together, nothing is left, and nothing fails', async () => {
    for (let round = 0; round < 8; round += 1) {
      const ending = await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' });
      const shown = granted.withKey(ending, 'live', 'key');
      const { caller, refreshToken } = await granted.grant('health:read');
      const made = await Promise.all([
        ...[caller, shown, caller, shown].map((maker) => maker.post('/keys', {})),
        granted.refresh(refreshToken).then(() => undefined),
        granted.revoke(refreshToken).then(() => undefined),
        shown.delete(`/keys/${at(ending, 'live', 'id')}`).then(() => undefined),
      ]);
      // A refresh that came before leaves another token, and the one that was used ends the family when it is revoked.
      for (const answer of made.filter((one) => one !== undefined)) {
        expect([201, 401]).toContain(answer.status);
        if (answer.status === 201) expect(await works(granted.withKey(answer, 'live', 'key'))).toBe(false);
      }
    }
  });

  test('reuse of a refresh token, and revocation of the key behind it, end its keys and their sockets', async () => {
    const openSocket = async (credential: string) => {
      const socket = new WebSocket(`${house.root.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      await once(socket, 'open');
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${credential}` } }));
      await once(socket, 'message');
      return {
        ended: (once(socket, 'close') as Promise<[number]>).then(([code]) => ({ code, atMs: performance.now() })),
      };
    };
    const [reused, rootless] = [await granted.grant('health:read'), await granted.grant('health:read')];
    const keys = await Promise.all(
      [reused, rootless].map(async ({ caller }) => at(await caller.post('/keys', {}), 'live', 'key')),
    );
    const deeper = at(await new Caller(house.root, keys[0]!).post('/keys', {}), 'live', 'key');
    const [ofReused, ofDeeper] = await Promise.all([keys[0]!, deeper].map(openSocket));
    await granted.refresh(reused.refreshToken);
    let endedAtMs = performance.now();
    await granted.refresh(reused.refreshToken);
    for (const { code, atMs } of await Promise.all([ofReused!.ended, ofDeeper!.ended])) {
      expect(code).toBe(4401);
      expect(atMs - endedAtMs).toBeLessThan(WITHIN_MS);
    }
    const ofRootless = await openSocket(keys[1]!);
    endedAtMs = performance.now();
    // Whoever ends a credential writes its row and nothing else (decision 12).
    await owner.query(`update auth.api_keys set revoked_at = now() where last4 = $1 and display_prefix = $2`, [
      agent.key!.slice(-4),
      agent.key!.slice(0, 16),
    ]);
    expect((await ofRootless.ended).atMs - endedAtMs).toBeLessThan(WITHIN_MS);
  });
});
