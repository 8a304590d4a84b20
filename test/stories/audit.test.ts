import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { Client } from 'pg';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { SCOPES } from '../../schema/principal.ts';
import { uuidFromPublicId } from '../../platform/identifiers.ts';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';

describe.each(LAYOUTS)('the audit log, %s', (layout) => {
  let house: House;
  let caller: Caller;
  let attributionId: string;

  beforeAll(async () => {
    house = await openHouse(layout, { clock });
    caller = await Caller.register(house.root);
    const source = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: SMALLEST_SHOP },
    });
    const run = await caller.post('/attribution', {
      data_source_id: source.body['data_source_id'],
      date_range: ['2026-01-01', '2026-01-31'],
    });
    attributionId = String(run.body['id']);
  });
  afterAll(() => house?.stop());

  const events = async (query = '') =>
    (await caller.get(`/audit/events${query}`)).body['events'] as unknown as readonly Json[];

  test('tells of the registration, of reads once an hour, and of every export', async () => {
    for (let again = 0; again < 3; again += 1) await caller.get(`/attribution/${attributionId}`);
    for (let again = 0; again < 2; again += 1)
      await (await caller.open('GET', `/attribution/${attributionId}/export?level=channels&format=csv`)).text();
    const types = (await events()).map(
      (event) => `${String(event['event_type'])} ${String(event['severity'])} ${String(event['target']?.['id'])}`,
    );
    const reads = (await events('?event_type=data.accessed')).map((event) => [
      String(event['severity']),
      String(event['target']?.['id']),
      String(event['occurred_at']).slice(0, '2026-01-01T00'.length),
    ]);
    // One for each hour that they fell into.
    const hours = [...new Set(reads.map(([, , hour]) => hour))];
    expect(hours.length).toBeGreaterThan(0);
    expect(reads).toEqual(hours.map((hour) => ['info', attributionId, hour]));
    expect(types.filter((type) => type.startsWith('data.exported'))).toEqual(
      Array.from({ length: 2 }, () => `data.exported warning ${attributionId}`),
    );
    expect(types.at(-1)).toMatch(/^agent\.registered info agent_/);
    expect((await events()).at(-1)!['actor']?.['ip_hash']).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
    expect((await events('?event_type=data.exported'))[0]!['details']).toEqual({ level: 'channels', format: 'csv' });
  });

  test('serves entries that anybody can hash again', async () => {
    const { status, body } = await caller.get('/audit/events');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      chain_verified: true,
      total_count: (body['events'] as unknown as readonly Json[]).length,
      meta: { page: 1, per_page: 50, total_pages: 1 },
    });
    let previous = `sha256:${'0'.repeat(64)}`;
    for (const event of (body['events'] as unknown as Json[]).toReversed()) {
      const { hash, ...content } = event as Record<string, unknown>;
      expect(content['previous_hash']).toBe(previous);
      expect(hash).toBe(
        `sha256:${createHash('sha256')
          .update(`${previous}\n${canonicalize(content)}`)
          .digest('hex')}`,
      );
      previous = String(hash);
    }
  });

  test('pages and filters, and names a parameter that it does not take', async () => {
    const all = await events();
    expect(await events('?limit=1&page=2')).toEqual([all[1]]);
    expect(await events(`?before_sequence=${String(all[0]!['sequence'])}&limit=1`)).toEqual([all[1]]);
    expect(await events(`?actor_id=${String(all[0]!['actor']?.['id'])}&per_page=100`)).toEqual(
      all.filter((event) => event['actor']?.['id'] === all[0]!['actor']?.['id']),
    );
    // An agent also by its UUID, as wherever one is named.
    const { agent_id: agent, agent_uuid: uuid } = (await caller.get('/agents/me')).body;
    const ofAgent = await events(`?actor_id=${String(agent)}&per_page=100`);
    expect(ofAgent.length).toBeGreaterThan(0);
    expect(await events(`?actor_id=${String(uuid).toUpperCase()}&per_page=100`)).toEqual(ofAgent);
    expect(await events(`?since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
    for (const [query, param] of [
      ['limit=501', 'limit'],
      ['limit=0', 'limit'],
      ['severity=loud', 'severity'],
      ['event_type=nothing', 'event_type'],
      ['since=yesterday', 'since'],
      ['before_sequence=0', 'before_sequence'],
      ['page=2001', 'page'],
    ] as const) {
      const refused = await caller.get(`/audit/events?${query}`);
      expect({ query, status: refused.status, param: refused.body['error']?.['param'] }).toEqual({
        query,
        status: 422,
        param: `query:${param}`,
      });
    }
    expect((await caller.get('/audit/events?limit=500')).status).toBe(200);
  });

  test('verifies, over REST and the graph', async () => {
    const length = (await events()).length;
    const answer = await caller.post('/audit/verify', {});
    expect(answer.body).toMatchObject({
      chain_intact: true,
      entries_verified: length,
      first_broken_sequence: null,
      reason: null,
    });
    expect((await caller.send('POST', '/audit/verify')).body).toMatchObject({
      chain_intact: true,
      entries_verified: length,
    });
    expect((await caller.post('/audit/verify', { start_sequence: 2, end_sequence: 9_999 })).body).toMatchObject({
      entries_verified: length - 1,
    });
    const refused = await caller.post('/audit/verify', { start_sequence: 3, end_sequence: 2 });
    expect([refused.status, refused.body['error']?.['param']]).toEqual([422, '/start_sequence']);
    const { data } = await caller.graphql('mutation { verifyAuditChain(input: {}) { chainIntact entriesVerified } }');
    expect(data).toEqual({ verifyAuditChain: { chainIntact: true, entriesVerified: length } });
    const page = await caller.graphql(
      '{ auditEvents(first: 1, filter: { severity: WARNING }) { edges { node { eventType severity actor { type } } ' +
        'cursor } pageInfo { hasNextPage endCursor } chainVerified totalCount } }',
    );
    expect(page.data?.['auditEvents']).toMatchObject({
      edges: [{ node: { eventType: 'data.exported', severity: 'WARNING', actor: { type: 'AGENT' } } }],
      pageInfo: { hasNextPage: true },
      chainVerified: true,
      totalCount: 2,
    });
  });

  test('is for those who may read it, and shows each tenant its own', async () => {
    const stranger = await Caller.register(house.root);
    const theirs = await stranger.get('/audit/events');
    expect(theirs.body['total_count']).toBe(1);
    expect(JSON.stringify(theirs.body)).not.toContain(attributionId);
    const agent = await caller.get('/agents/me');
    const agentId = uuidFromPublicId('agent', String(agent.body['agent_id']))!;
    const accountId = (await events())[0]!['chain_id'] as unknown as string;
    const key = await house.backing.database.asTenant(accountId, (em) =>
      house.keys.issue(em, {
        accountId: accountId as never,
        agentId,
        kind: 'svc_agent_sk',
        bond: UNBOUND,
        scopes: SCOPES.filter((scope) => scope !== 'audit:read'),
      }),
    );
    const narrow = new Caller(house.root, key);
    for (const refused of [await narrow.get('/audit/events'), await narrow.post('/audit/verify', {})])
      expect([refused.status, refused.body['error']?.['code']]).toEqual([403, 'missing_scope']);
    for (const document of [
      '{ auditEvents { totalCount } }',
      'mutation { verifyAuditChain(input: {}) { chainIntact } }',
    ]) {
      expect((await narrow.graphql(document)).errors?.[0]?.extensions['code']).toBe('INSUFFICIENT_PERMISSIONS');
    }
  });

  test('shows a test key what happened in the sandbox, and nothing of the shop', async () => {
    const accountId = (await events())[0]!['chain_id'] as unknown as string;
    const key = await house.backing.database.asTenant(accountId, (em) =>
      house.keys.issue(em, { accountId: accountId as never, agentId: null, kind: 'svc_test_sk', bond: UNBOUND }),
    );
    const tester = new Caller(house.root, key);
    expect((await tester.get('/audit/events')).body).toMatchObject({
      events: [],
      total_count: 0,
      chain_verified: true,
    });
    await tester.get('/attribution');
    const seen = (await tester.get('/audit/events')).body;
    expect(seen).toMatchObject({
      events: [{ event_type: 'data.accessed', environment: 'sandbox' }],
      total_count: 1,
      chain_verified: true,
    });
    expect((await tester.post('/audit/verify', {})).body).toMatchObject({ chain_intact: true });
  });

  test('says so when it was tampered with, and tells that too', async () => {
    const owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    await owner.query(
      `begin; alter table events.audit_entries disable trigger all; update events.audit_entries set entry = ` +
        `replace(entry, 'data.exported', 'data.accessed'); alter table events.audit_entries enable trigger all; commit`,
    );
    await owner.end();
    expect((await caller.get('/audit/events')).body['chain_verified']).toBe(false);
    const verified = await caller.post('/audit/verify', {});
    expect(verified.body).toMatchObject({ chain_intact: false, reason: 'altered' });
    const [newest] = await events('?severity=critical');
    expect(newest).toMatchObject({
      event_type: 'audit.verification_failed',
      details: { first_broken_sequence: verified.body['first_broken_sequence'] },
    });
  });
});
