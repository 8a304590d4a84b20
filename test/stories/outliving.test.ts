import { Caller, LAYOUTS, openHouse, type House } from '../house.ts';
import { at, GrantedAgent, problem } from './granted-agent.ts';

describe.each(LAYOUTS)('what a credential that ends leaves behind it, %s', (layout) => {
  let house: House;
  let agent: Caller;
  let granted: GrantedAgent;

  beforeAll(async () => {
    house = await openHouse(layout, { withWorker: false });
  });
  beforeEach(async () => {
    granted = await GrantedAgent.register(house.root);
    agent = granted.caller;
  });
  afterAll(() => house?.stop());

  test('webhooks end with the token or key that made them, unless a key without an end takes them over', async () => {
    const { caller, refreshToken } = await granted.grant('health:read');
    const ending = await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' });
    const makers = [caller, granted.withKey(ending, 'live', 'key'), caller, agent];
    const made = await Promise.all(
      makers.map((maker) => maker.post('/webhooks', { url: 'http://localhost:9/', events: ['health.alert'] })),
    );
    const shown = () =>
      Promise.all(made.map(async ({ body }) => (await agent.get(`/webhooks/${String(body['id'])}`)).body));
    expect((await shown()).map(({ active }) => active)).toEqual([true, true, true, true]);
    const taken = await granted.change(agent, `/webhooks/${at(made[2]!, 'id')}`, { metadata: { by: 'owner' } });
    expect(taken.status).toBe(200);
    await granted.revoke(refreshToken);
    await agent.delete(`/keys/${at(ending, 'live', 'id')}`);
    expect((await shown()).map(({ active, disabled_reason: reason }) => [active, reason])).toEqual([
      [false, 'grant_ended'],
      [false, 'key_ended'],
      [true, null],
      [true, null],
    ]);
  });

  test('what ends lets nobody else in, and sends nothing elsewhere', async () => {
    const { caller } = await granted.grant();
    const ending = granted.withKey(await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' }), 'live', 'key');
    const workspace = at(await agent.post('/workspaces', { name: 'Spring' }), 'workspace_id');
    const guest = at(await (await Caller.register(house.root)).get('/agents/me'), 'agent_id');
    for (const maker of [caller, ending]) {
      expect(
        problem(await maker.post(`/workspaces/${workspace}/agents`, { agent_id: guest, role: 'viewer' })),
      ).toMatchObject({ status: 403, code: 'outlives_maker' });
      for (const change of [
        { redirect_uris: ['https://thief.example/callback'] },
        { public: true },
        { callback_url: 'http://localhost:9/' },
      ]) {
        const refused = problem(await granted.change(maker, '/agents/me', change));
        expect(refused).toEqual({ status: 403, code: 'outlives_maker', param: `/${Object.keys(change)[0]}` });
      }
      expect((await granted.change(maker, '/agents/me', { name: 'renamed-agent' })).status).toBe(200);
    }
    expect((await agent.post(`/workspaces/${workspace}/agents`, { agent_id: guest, role: 'viewer' })).status).toBe(201);
  });

  test('a stored answer is not told to what ends sooner than whoever asked', async () => {
    const make = (by: Caller, key: string) => by.post('/keys', { name: 'once' }, { 'svc-idempotency-key': key });
    const [first, second] = [await granted.grant(), await granted.grant()];
    const ending = granted.withKey(await agent.post('/keys', { expires_at: '2199-01-01T00:00:00Z' }), 'live', 'key');
    const other = granted.withKey(await agent.post('/keys', {}), 'live', 'key');
    const made = await make(agent, 'a-key');
    for (const caller of [first.caller, second.caller, ending]) expect((await make(caller, 'a-key')).status).toBe(409);
    expect((await make(other, 'a-key')).body['live']).toEqual(made.body['live']);

    const ofGrant = await make(first.caller, 'another');
    expect((await make(second.caller, 'another')).status).toBe(409);
    const refreshed = await granted.refresh(first.refreshToken);
    expect((await make(refreshed.caller, 'another')).body['live']).toEqual(ofGrant.body['live']);
  });
});
