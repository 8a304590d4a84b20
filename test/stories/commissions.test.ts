import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { GraphSocket } from '../graph-socket.ts';
import { Caller, LAYOUTS, type Json } from '../house.ts';
import { withTestKey } from '../test-key.ts';
import { openReceiver, type Receiver } from '../webhook-receiver.ts';
import { openBilledHouse, type BilledHouse } from './billed-shop.ts';

const GENESIS = `sha256:${'0'.repeat(64)}`;
const entriesOf = (body: Json): readonly Json[] => body['commissions'] as unknown as readonly Json[];
/** As a reader of the contract computes it, from the body alone. */
const hashOf = ({ ledger_hash: _hash, status: _status, paid_at: _paid, ...entry }: Json): string =>
  `sha256:${createHash('sha256')
    .update(`${String(entry['previous_hash'])}\n${canonicalize(entry)}`)
    .digest('hex')}`;

describe.each(LAYOUTS)('commissions, %s', (layout) => {
  let shop: BilledHouse;
  let receiver: Receiver;
  let brand: Caller;
  let agent: Caller;
  let referrer: Caller;
  let ids: { readonly agent: string; readonly referrer: string };
  let analysis: Json;
  beforeAll(async () => {
    [shop, receiver] = await Promise.all([openBilledHouse(layout), openReceiver()]);
    [brand, referrer] = [await shop.brand(), await Caller.register(shop.house.root)];
    const { referral_code: code, agent_id: referrerId } = (await referrer.get('/agents/me')).body;
    const registered = await referrer.registerAnother({
      referral_code: code,
      callback_url: `${receiver.url}/callback`,
    });
    agent = new Caller(shop.house.root, String(registered.body['api_key']));
    ids = { agent: String(registered.body['agent_id']), referrer: String(referrerId) };
    await shop.owner.query(`update agents.referrals set status = 'active', activated_at = now()`);
    analysis = await shop.analyse(brand, await shop.connect(brand, 'USD', { agent_id: ids.agent }));
  });
  afterAll(async () => {
    await shop?.stop();
    await receiver?.close();
  });

  const ledger = async (caller: Caller, query = ''): Promise<Json> => {
    const { status, body } = await caller.get(`/commissions${query}`);
    expect(status).toBe(200);
    return body;
  };
  const verify = async (caller: Caller, body: object): Promise<Json> =>
    (await caller.post('/commissions/verify', body)).body;

  test('a fee earns the agent that serves the brand and its referrer, and nobody else', async () => {
    const fee = Number(analysis['platform_fee_cents']);
    const served = await ledger(agent);
    expect(served).toMatchObject({
      total_earned_cents: Math.round(fee * 0.2),
      total_provisional_cents: 0,
      currency: 'USD',
      other_currencies: [],
      next_payout: expect.stringMatching(/^\d{4}-\d{2}-01$/),
      period: expect.stringMatching(/^\d{4}-\d{2}$/),
      meta: { page: 1, per_page: 50, total: 1, total_pages: 1 },
    });
    expect(entriesOf(served)).toEqual([
      expect.objectContaining({
        agent_id: ids.agent,
        source_agent_id: ids.agent,
        type: 'brand_serving',
        status: 'payable',
        amount_cents: Math.round(fee * 0.2),
        analysis_id: analysis['id'],
        delta_r_cents: analysis['delta_r_cents'],
        rate: 0.2,
        sequence: 1,
        previous_hash: GENESIS,
        paid_at: null,
      }),
    ]);
    expect(entriesOf(await ledger(referrer))).toEqual([
      expect.objectContaining({ type: 'l1_referral', status: 'provisional', rate: 0.1, source_agent_id: ids.agent }),
    ]);
    expect(entriesOf(await ledger(brand))).toEqual([]);
    expect((await referrer.get('/agents/me')).body).toMatchObject({ total_commission_earned_cents: 1 });
    expect((await referrer.get('/referrals')).body['referrals']).toEqual([
      expect.objectContaining({ referred_agent_id: ids.agent, commission_earned: 0.01 }),
    ]);
  });

  test('hashes can be computed from what is answered, and verify in both forms', async () => {
    const [entry] = entriesOf(await ledger(agent));
    expect(hashOf(entry!)).toBe(entry!['ledger_hash']);
    const right = { valid: true, chain_intact: true, commission_id: entry!['id'], chain_length: 1 };
    expect(await verify(agent, { commission_id: entry!['id'], ledger_hash: entry!['ledger_hash'] })).toMatchObject(
      right,
    );
    expect(await verify(agent, { receipt_id: entry!['id'], expected_hash: hashOf(entry!) })).toMatchObject(right);
    expect(await verify(agent, { receipt_id: entry!['id'] })).toMatchObject(right);
    expect(await verify(agent, { commission_id: entry!['id'], ledger_hash: GENESIS })).toMatchObject({
      valid: false,
      chain_intact: true,
      computed_hash: entry!['ledger_hash'],
    });
    // A receipt of a value proof verifies by the same call.
    const [proof] = (await brand.get('/billing/value-proofs')).body['proofs'] as unknown as readonly Json[];
    const digest = createHash('sha256').update(String(proof!['signed_receipt'])).digest('hex');
    expect(await verify(brand, { receipt_id: proof!['receipt_id'], expected_hash: `sha256:${digest}` })).toMatchObject({
      valid: true,
      chain_intact: true,
      chain_length: 0,
    });
    for (const id of [entry!['id'], 'com_0351EFUQxpVTZ7WdNYMSuY', 'nonsense'])
      expect((await referrer.post('/commissions/verify', { commission_id: id })).status).toBe(404);
    for (const body of [{}, { commission_id: entry!['id'], receipt_id: entry!['id'] }])
      expect((await agent.post('/commissions/verify', body)).body['error']).toMatchObject({
        type: 'validation_error',
        param: '/commission_id',
      });
    const { events } = (await agent.get('/audit/events?event_type=commission.verified')).body as never as {
      events: Json[];
    };
    expect(events.map(({ outcome }) => String(outcome))).toEqual(['failure', 'success', 'success', 'success']);
  });

  test('the ledger can be narrowed, and only its agent reads it', async () => {
    const total = async (query: string) => (await ledger(agent, query))['meta']!['total'];
    expect(await total('?period=all&status=payable&type=brand_serving')).toBe(1);
    expect([await total('?status=paid'), await total('?type=l1_referral'), await total('?period=2024-01')]).toEqual([
      0, 0, 0,
    ]);
    expect(await ledger(agent, '?currency=EUR')).toMatchObject({
      total_earned_cents: 0,
      currency: 'EUR',
      other_currencies: ['USD'],
    });
    for (const [query, param] of [
      ['period=nonsense', 'query:period'],
      ['limit=201', 'query:limit'],
      ['status=lost', 'query:status'],
      ['currency=1.5', 'query:currency'],
    ])
      expect((await agent.get(`/commissions?${query}`)).body['error']).toMatchObject({ param });
    for (const named of [ids.agent, 'me'])
      expect((await agent.get(`/agents/${named}/commissions`)).body).toMatchObject({ meta: { total: 1 } });
    expect((await agent.get(`/agents/${ids.referrer}/commissions`)).status).toBe(404);
    expect(entriesOf(await ledger(await withTestKey(shop.house, agent), '?period=all'))).toEqual([]);
  });

  test('whoever owns a workspace of another account sees his own ledger there, not that of the account', async () => {
    const guest = await Caller.register(shop.house.root);
    const { agent_id: guestId } = (await guest.get('/agents/me')).body;
    const { workspace_id: id } = (await agent.post('/workspaces', { name: 'Shared' })).body;
    expect((await agent.post(`/workspaces/${String(id)}/agents`, { agent_id: guestId, role: 'owner' })).status).toBe(
      201,
    );
    const there = { 'svc-workspace': String(id) };
    expect((await guest.get('/commissions?period=all', there)).body).toMatchObject({
      commissions: [],
      total_earned_cents: 0,
    });
    expect((await guest.get(`/agents/${ids.agent}/commissions`, there)).status).toBe(404);
    const [entry] = entriesOf(await ledger(agent));
    const verified = await guest.post('/commissions/verify', { commission_id: entry!['id'] }, there);
    expect(verified.status).toBe(404);
    expect((await referrer.get('/referrals')).body['meta']).toMatchObject({ total: 1 });
    const { workspace_id: other } = (await referrer.post('/workspaces', { name: 'Shared' })).body;
    await referrer.post(`/workspaces/${String(other)}/agents`, { agent_id: guestId, role: 'owner' });
    const referrals = await guest.get('/referrals', { 'svc-workspace': String(other) });
    expect(referrals.body).toMatchObject({ referrals: [], total_active: 0 });
    // Where somebody acts changes nothing of what is his.
    expect((await agent.get('/commissions', there)).body['meta']).toMatchObject({ total: 1 });
  });

  test('the graph shows the same, also from the agent on, and tells of entries as they come', async () => {
    const fields = 'id amountCents currency rate status ledgerHash sequence analysisId';
    const { data, errors } = await agent.graphql(
      `{ commissions(first: 5) { edges { node { ${fields} } } totalEarnedCents nextPayout period }
         me { totalCommissionEarnedCents commissions { totalCount edges { node { ${fields} } } } } }`,
    );
    expect(errors).toBeUndefined();
    const [entry] = entriesOf(await ledger(agent));
    const node = {
      id: entry!['id'],
      amountCents: entry!['amount_cents'],
      currency: 'USD',
      rate: 0.2,
      status: 'PAYABLE',
      ledgerHash: entry!['ledger_hash'],
      sequence: 1,
      analysisId: analysis['id'],
    };
    expect(data).toMatchObject({
      commissions: { edges: [{ node }], totalEarnedCents: entry!['amount_cents'] },
      me: { totalCommissionEarnedCents: entry!['amount_cents'], commissions: { totalCount: 1, edges: [{ node }] } },
    });
    const socket = new GraphSocket(shop.house.root, agent.key!);
    const stream = socket.watch<Json>(
      `subscription { commissionEarned(after: 0) { sequence kind stage result { ${fields} } trust { hreiScore } } }`,
    );
    expect(await stream.next()).toMatchObject({ kind: 'PROGRESS', stage: 'watching', result: null });
    expect(await stream.next()).toMatchObject({ kind: 'RESULT', stage: 'commission.earned', result: node });
    await stream.close();
    await socket.close();
  });

  test('the callback of the agent hears of it, as the entry stands in the ledger', async () => {
    const [message] = await receiver.until(1, ({ path }) => path === '/callback');
    const [entry] = entriesOf(await ledger(agent));
    const { status: _status, paid_at: _paid, ...told } = entry!;
    expect(JSON.parse(message!.body)).toMatchObject({
      type: 'commission.earned',
      webhook_id: null,
      data: { commission: told },
    });
  });
});
