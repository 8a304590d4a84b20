import { createClient } from 'graphql-ws';
import pg from 'pg';
import WebSocket from 'ws';
import { Caller, LAYOUTS, openHouse, type Answer, type House } from '../house.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';
import { withTestKey } from '../test-key.ts';

const RANGE = ['2026-01-01', '2026-01-31'];
const clock = () => new Date('2026-02-11T12:00:00Z');

const id = (answer: Answer, member: string) => String(answer.body[member]);
/** Sorted, since the clock stands still. */
const ids = (answer: Answer, list: string, member: string) =>
  (answer.body[list] as unknown as Record<string, string>[]).map((entry) => entry[member]).toSorted();
const refusal = ({ status, body }: Answer) => [status, body['error']?.['type'], body['error']?.['code']];
const connect = (caller: Caller, extra: object = {}) =>
  caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content: SMALLEST_SHOP }, ...extra });
const run = (caller: Caller, source: string, extra: object = {}) =>
  caller.post('/attribution', { data_source_id: source, date_range: RANGE, model: 'markov', ...extra });
const agentOf = async (caller: Caller) => id(await caller.get('/agents/me'), 'agent_id');

describe.each(LAYOUTS)('workspaces, %s', (layout) => {
  let house: House;
  let owner: Caller;
  let guest: Caller;
  let guestId: string;
  let workspace: string;

  const add = (caller: Caller, agentId: string, role: string, to = workspace) =>
    caller.post(`/workspaces/${to}/agents`, { agent_id: agentId, role });

  beforeAll(async () => {
    house = await openHouse(layout, { clock });
    [owner, guest] = await Promise.all([Caller.register(house.root), Caller.register(house.root)]);
    guestId = await agentOf(guest);
    workspace = id(
      await owner.post('/workspaces', { name: ' Spring ', brand_ids: ['b1', 'b1', 'b2'] }),
      'workspace_id',
    );
  });
  afterAll(() => house?.stop());

  test('whoever makes one owns it, and it lies where the deployment does', async () => {
    const [listed] = (await owner.get('/workspaces')).body['workspaces'] as unknown as Record<string, unknown>[];
    const me = await agentOf(owner);
    expect(listed).toEqual({
      workspace_id: workspace,
      name: 'Spring',
      region: 'eu',
      brand_ids: ['b1', 'b2'],
      role: 'owner',
      members: [{ agent_id: me, role: 'owner', added_by: me, added_at: clock().toISOString() }],
      created_at: clock().toISOString(),
    });
    expect(refusal(await owner.post('/workspaces', { name: 'x', region: 'us' }))).toEqual([
      422,
      'validation_error',
      'region_not_served',
    ]);
    for (const body of [
      {},
      { name: ' ' },
      { name: 'x'.repeat(81) },
      { name: 'x', region: 'mars' },
      { name: 'x', brand_ids: [''] },
    ])
      expect((await owner.post('/workspaces', body)).status).toBe(422);
  });

  test('a stranger hears of a workspace what it hears of none', async () => {
    const unknown = 'ws_0351EFTBArmmpvm2tVZ2Qh';
    const stranger = await Caller.register(house.root);
    for (const caller of [stranger.in(workspace), stranger.in(unknown), stranger.in('nonsense')]) {
      const answer = await caller.get('/attribution');
      expect(refusal(answer)).toEqual([404, 'resource_not_found', undefined]);
      expect(answer.body['error']!['param']).toBe('header:SVC-Workspace');
    }
    expect(refusal(await add(stranger, guestId, 'viewer'))).toEqual([404, 'resource_not_found', undefined]);
    expect(refusal(await add(stranger, guestId, 'viewer', unknown))).toEqual([404, 'resource_not_found', undefined]);
    expect((await stranger.get('/workspaces')).body).toMatchObject({ workspaces: [], meta: { total: 0 } });
  });

  test('members are added once, and change their role; the last owner stays', async () => {
    const first = await add(owner, guestId, 'viewer');
    expect([first.status, first.body['role'], first.body['workspace_id']]).toEqual([201, 'viewer', workspace]);
    const again = await add(owner, guestId, 'analyst');
    expect([again.status, again.body['role'], again.body['added_at']]).toEqual([
      200,
      'analyst',
      first.body['added_at'],
    ]);
    expect((await add(owner, guestId, 'analyst')).status).toBe(200);
    expect(ids(await guest.get('/workspaces'), 'workspaces', 'role')).toEqual(['analyst']);
    const { agent_id: ownerId, agent_uuid: ownerUuid } = (await owner.get('/agents/me')).body;
    for (const name of [ownerId, ownerUuid, String(ownerUuid).toUpperCase()])
      expect(refusal(await add(owner, String(name), 'viewer'))).toEqual([409, 'conflict', 'last_owner']);
    expect(refusal(await add(owner, 'agent_0351EFSwMCuWsp5CADuBq8', 'viewer'))).toEqual([
      422,
      'validation_error',
      'unknown_agent',
    ]);
    expect((await owner.post(`/workspaces/${workspace}/agents`, { agent_id: guestId, role: 'king' })).status).toBe(422);
    expect(refusal(await add(guest, guestId, 'owner'))).toEqual([403, 'insufficient_permissions', 'role']);
  });

  test('two owners that demote each other at once leave one', async () => {
    const shared = id(await owner.post('/workspaces', { name: 'Shared' }), 'workspace_id');
    const ownerId = await agentOf(owner);
    await add(owner, guestId, 'owner', shared);
    await Promise.all([add(owner, guestId, 'viewer', shared), add(guest, ownerId, 'viewer', shared)]);
    const workspaces = (await owner.get('/workspaces')).body['workspaces'] as unknown as {
      workspace_id: string;
      members: { role: string }[];
    }[];
    expect(
      workspaces.find((each) => each.workspace_id === shared)!.members.filter(({ role }) => role === 'owner'),
    ).toHaveLength(1);
  });

  test('a test key has workspaces of its own, and lets nobody into those of production', async () => {
    const test = await withTestKey(house, owner);
    expect(refusal(await add(test, guestId, 'owner'))).toEqual([404, 'resource_not_found', undefined]);
    expect(refusal(await test.in(workspace).get('/data-sources'))).toEqual([404, 'resource_not_found', undefined]);
    const toy = id(await test.post('/workspaces', { name: 'Toy' }), 'workspace_id');
    expect((await add(test, guestId, 'viewer', toy)).status).toBe(201);
    expect(ids(await test.get('/workspaces'), 'workspaces', 'workspace_id')).toEqual([toy]);
    expect((await (await withTestKey(house, guest)).in(toy).get('/data-sources')).status).toBe(200);
    for (const live of [owner, guest]) {
      expect(ids(await live.get('/workspaces'), 'workspaces', 'workspace_id')).not.toContain(toy);
      expect((await live.in(toy).get('/data-sources')).status).toBe(404);
      expect(refusal(await connect(live, { workspace_id: toy }))).toEqual([
        422,
        'validation_error',
        'unknown_workspace',
      ]);
    }
  });

  test('a key gives away no role that allows more than its own scopes', async () => {
    const { body } = await owner.post('/keys', { scopes: ['attribution:read'] });
    const narrow = new Caller(house.root, String(body['live']!['key']));
    const shared = id(await narrow.post('/workspaces', { name: 'Narrow' }), 'workspace_id');
    for (const role of ['owner', 'analyst', 'auditor'])
      expect(refusal(await add(narrow, guestId, role, shared))).toEqual([
        403,
        'insufficient_permissions',
        'missing_scope',
      ]);
    expect((await add(narrow, guestId, 'viewer', shared)).status).toBe(201);
    expect((await add(owner, guestId, 'owner', shared)).status).toBe(200);
  });

  test('every change of a role is told to the audit log of the owner, a repetition is not', async () => {
    const client = new pg.Client({ connectionString: house.ownerUrl });
    await client.connect();
    try {
      const { rows } = await client.query<{ body: { details: object; target: object } }>(
        `select body from events.told_audit_events where body ->> 'type' = 'agent.scope_changed' and body -> ` +
          `'details' ->> 'workspace_id' = $1 order by event_id`,
        [workspace],
      );
      expect(rows.map(({ body }) => body.details)).toEqual([
        { workspace_id: workspace, role: 'viewer', previous_role: null },
        { workspace_id: workspace, role: 'analyst', previous_role: 'viewer' },
      ]);
      expect(rows[0]!.body.target).toEqual({ type: 'agent', id: guestId });
    } finally {
      await client.end();
    }
  });

  test('a member sees and makes what lies in the workspace, and nothing else of the account', async () => {
    await add(owner, guestId, 'analyst');
    const outside = id(await connect(owner), 'data_source_id');
    const inside = id(await connect(owner, { workspace_id: workspace }), 'data_source_id');
    const member = guest.in(workspace);
    expect(ids(await member.get('/data-sources'), 'sources', 'data_source_id')).toEqual([inside]);
    expect((await member.get(`/data-sources/${outside}/status`)).status).toBe(404);
    expect(refusal(await run(member, outside))).toEqual([404, 'resource_not_found', undefined]);
    expect(refusal(await run(member, outside, { channels: ['guess'] }))).toEqual([
      404,
      'resource_not_found',
      undefined,
    ]);
    const made = await connect(member, { name: 'by the guest' });
    expect([made.status, made.body['agent_id']]).toEqual([201, guestId]);
    expect(ids(await owner.get('/data-sources'), 'sources', 'data_source_id')).toEqual(
      [id(made, 'data_source_id'), inside, outside].toSorted(),
    );
    expect(ids(await owner.get('/data-sources'), 'sources', 'workspace_id')).toEqual([null, workspace, workspace]);
    expect(ids(await guest.get('/data-sources'), 'sources', 'data_source_id')).toEqual([]);

    const [analysis, hidden, placed] = [
      await run(member, inside),
      await run(owner, outside),
      await run(owner, outside, { workspace_id: workspace }),
    ];
    expect([analysis.status, analysis.body['status'], hidden.body['status']]).toEqual([200, 'completed', 'completed']);
    expect(ids(await member.get('/attribution'), 'data', 'id')).toEqual(
      [id(placed, 'id'), id(analysis, 'id')].toSorted(),
    );
    expect((await member.get(`/attribution/${id(hidden, 'id')}`)).status).toBe(404);
    expect([placed.body['workspace_id'], hidden.body['workspace_id']]).toEqual([workspace, undefined]);
    const { data } = await owner.graphql(`{ attribution(id: "${id(placed, 'id')}") { workspaceId billed } }`);
    // The account has paid for the same question outside of the workspace.
    expect(data).toEqual({ attribution: { workspaceId: workspace, billed: false } });
    const verified = await new Caller(house.root, null).post('/verify', { result: placed.body });
    expect(verified.body).toMatchObject({ valid: true, digest_match: true });
    // An analysis of a source in a workspace lies there, too, whoever asks for it.
    const theirs = id(await run(owner, inside), 'id');
    expect(ids(await member.get('/attribution'), 'data', 'id')).toContain(theirs);

    const measured = { channel: 'email', method: 'holdout', period: RANGE, incremental_revenue: 5, standard_error: 1 };
    const [outer, ours] = [
      await owner.post('/experiments', { data_source_id: outside, ...measured }),
      await member.post('/experiments', { data_source_id: inside, ...measured }),
    ];
    expect(ids(await member.get('/experiments'), 'experiments', 'id')).toEqual([id(ours, 'id')]);
    expect((await member.get(`/experiments/${id(outer, 'id')}`)).status).toBe(404);
    expect((await member.delete(`/experiments/${id(outer, 'id')}`)).status).toBe(404);
  });

  test('rows go to a workspace of the account, or to the one that is acted in', async () => {
    const foreign = id(await guest.post('/workspaces', { name: 'of the guest' }), 'workspace_id');
    const other = id(await owner.post('/workspaces', { name: 'another' }), 'workspace_id');
    for (const refused of [
      await connect(owner, { workspace_id: foreign }),
      await connect(owner.in(workspace), { workspace_id: other }),
      await connect(owner, { workspace_id: 'ws_0351EFTBArmmpvm2tVZ2Qh' }),
      await connect(guest, { workspace_id: workspace }),
    ]) {
      expect(refusal(refused)).toEqual([422, 'validation_error', 'unknown_workspace']);
    }
    expect((await connect(owner.in(workspace), { workspace_id: workspace })).status).toBe(201);
  });

  test('roles allow what the table of the contract says', async () => {
    const inside = id(await connect(owner, { workspace_id: workspace }), 'data_source_id');
    const analysis = id(await run(owner, inside), 'id');
    const member = guest.in(workspace);
    const can = async () => ({
      read: (await member.get(`/attribution/${analysis}`)).status,
      journeys: (await member.open('GET', `/attribution/${analysis}/export?level=paths`)).status,
      figures: (await member.open('GET', `/attribution/${analysis}/export?level=channels`)).status,
      run: (await run(member, inside)).status,
      billing: (await member.get('/billing/plans')).status,
      members: (await add(member, guestId, 'owner')).status,
      account: (await member.post('/workspaces', { name: 'x' })).status,
      self: (await member.get('/agents/me')).body['agent_id'],
    });
    const seen: Record<string, unknown> = {};
    for (const role of ['viewer', 'auditor', 'analyst', 'owner']) {
      await add(owner, guestId, role);
      seen[role] = await can();
    }
    expect(seen).toEqual({
      viewer: {
        read: 200,
        journeys: 200,
        figures: 200,
        run: 403,
        billing: 403,
        members: 403,
        account: 403,
        self: guestId,
      },
      auditor: {
        read: 200,
        journeys: 403,
        figures: 200,
        run: 403,
        billing: 403,
        members: 403,
        account: 403,
        self: guestId,
      },
      analyst: {
        read: 200,
        journeys: 200,
        figures: 200,
        run: 200,
        billing: 403,
        members: 403,
        account: 403,
        self: guestId,
      },
      owner: {
        read: 200,
        journeys: 200,
        figures: 200,
        run: 200,
        billing: 200,
        members: 200,
        account: 403,
        self: guestId,
      },
    });
    await add(owner, guestId, 'analyst');
  });

  test('the graph is acted in the same way, over HTTP and over a socket', async () => {
    const member = guest.in(workspace);
    const everything =
      '{ workspaces { edges { node { id role } } } dataSources { edges { node { workspaceId } } } me { id } }';
    const { data } = await member.graphql(everything);
    expect(
      (data!['dataSources']!['edges'] as unknown as { node: { workspaceId: string } }[]).every(
        ({ node }) => node.workspaceId === workspace,
      ),
    ).toBe(true);
    expect(data!['me']!['id']).toBe(guestId);

    const inside = id(await connect(member), 'data_source_id');
    const analysis = id(await run(member, inside), 'id');
    const watch = async (caller: Caller, connectionParams: object) => {
      const client = createClient({
        url: `${house.root.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        connectionParams: { authorization: `Bearer ${caller.key}`, ...connectionParams },
      });
      try {
        for await (const result of client.iterate({
          query: `subscription { attributionProgress(id: "${analysis}", after: 0) { kind result { id } } }`,
        })) {
          if (result.errors !== undefined) return result.errors[0]!.extensions?.['code'];
          if ((result.data as { attributionProgress: { kind: string } }).attributionProgress.kind === 'RESULT')
            return 'RESULT';
        }
        return 'ended';
      } catch (error) {
        return Array.isArray(error)
          ? (error[0] as { extensions: { code: string } }).extensions.code
          : (error as { code: number }).code;
      } finally {
        await client.dispose();
      }
    };
    expect(await watch(guest, { workspace })).toBe('RESULT');
    expect(await watch(guest, {})).toBe('RESOURCE_NOT_FOUND');
    expect(await watch(await Caller.register(house.root), { workspace })).toBe(4403);
  });

  test('agents see each other by their public face', async () => {
    const seen = await owner.get(`/agents/${guestId}`);
    expect(Object.keys(seen.body)).toEqual([
      'agent_id',
      'name',
      'capabilities',
      'tier',
      'trust_score',
      'created_at',
      'trust',
    ]);
    const { body: me } = await guest.get('/agents/me');
    for (const name of [guestId, String(me['agent_uuid']), 'me'])
      expect((await guest.get(`/agents/${name}`)).body['operator_id']).toBe(me['operator_id']);
    expect((await owner.get(`/agents/${String(me['agent_uuid'])}`)).body['agent_id']).toBe(guestId);
    for (const unknown of ['agent_0351EFSwMCuWsp5CADuBq8', '0198aaaa-0000-7000-8000-000000000000', 'nobody'])
      expect((await owner.get(`/agents/${unknown}`)).status).toBe(404);
    const { data } = await owner.graphql(
      `{ agent(id: "${guestId}") { id name operatorId status agentUuid referralCode } }`,
    );
    expect(data!['agent']).toMatchObject({
      id: guestId,
      operatorId: null,
      status: null,
      agentUuid: null,
      referralCode: null,
    });
  });

  test('an agent says what it does', async () => {
    const put = (body: unknown) =>
      guest.send('PUT', '/agents/me/capabilities', JSON.stringify(body), { 'content-type': 'application/json' });
    const updated = await put({ capabilities: ['journey', 'health', 'journey'] });
    expect(updated.body).toMatchObject({
      agent_id: guestId,
      capabilities: ['journey', 'health'],
      updated_at: clock().toISOString(),
    });
    expect((await owner.get(`/agents/${guestId}`)).body['capabilities']).toEqual(['journey', 'health']);
    for (const body of [{}, { capabilities: [] }, { capabilities: ['flying'] }, { capabilities: 'journey' }]) {
      const { status, body: answer } = await put(body);
      expect([
        status,
        answer['error']?.['type'],
        String(answer['error']?.['param']).startsWith('/capabilities'),
      ]).toEqual([400, 'validation_error', true]);
    }
  });
});
