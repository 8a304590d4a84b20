import { Caller, LAYOUTS, type Json } from '../house.ts';
import { withTestKey } from '../test-key.ts';
import { adminOf } from './admin-cli.ts';
import { openBilledHouse, type BilledHouse } from './billed-shop.ts';

describe.each(LAYOUTS)('agents that leave, %s', (layout) => {
  let shop: BilledHouse;
  let referrer: Caller;
  beforeAll(async () => {
    shop = await openBilledHouse(layout);
    referrer = await Caller.register(shop.house.root);
  });
  afterAll(() => shop?.stop());

  /** An agent whose referral is active and has earned its referrer something. */
  const referred = async (): Promise<{ readonly caller: Caller; readonly id: string; readonly operator: string }> => {
    const { referral_code: code } = (await referrer.get('/agents/me')).body;
    const { body } = await referrer.registerAnother({ referral_code: code });
    const caller = new Caller(shop.house.root, String(body['api_key']));
    await shop.owner.query(
      `update agents.referrals set status = 'active', activated_at = now() where status = 'pending'`,
    );
    await shop.analyse(caller, await shop.connect(caller));
    const { operator_id: operator } = (await caller.get('/agents/me')).body;
    return { caller, id: String(body['agent_id']), operator: String(operator) };
  };
  const ledger = async (): Promise<readonly Json[]> =>
    (await referrer.get('/commissions')).body['commissions'] as unknown as readonly Json[];
  const statusOf = async (id: string): Promise<unknown> => {
    const { referrals } = (await referrer.get('/referrals')).body as never as { readonly referrals: readonly Json[] };
    return referrals.find((each) => String(each['referred_agent_id']) === id)?.['status'];
  };

  test('whoever closes its account is gone at once, and what it earned too early is taken back', async () => {
    const { caller, id } = await referred();
    const token = (
      await caller.post('/oauth/token', {
        grant_type: 'client_credentials',
        client_id: id,
        client_secret: caller.key,
      })
    ).body['access_token'];
    const test = await withTestKey(shop.house, caller);
    expect((await test.delete('/agents/me')).body['error']).toMatchObject({ code: 'live_key_required' });
    expect((await ledger())[0]).toMatchObject({ type: 'l1_referral', status: 'provisional', source_agent_id: id });

    const body = JSON.stringify({ confirm: (await referrer.get('/agents/me')).body['agent_id'] });
    const other = await caller.send('DELETE', '/agents/me', body, { 'content-type': 'application/json' });
    expect(other).toMatchObject({ status: 404, body: { error: { type: 'resource_not_found' } } });
    const closed = await caller.delete('/agents/me');
    expect([closed.status, closed.text]).toEqual([204, '']);
    for (const gone of [caller, test, new Caller(shop.house.root, String(token))])
      expect(await gone.get('/agents/me')).toMatchObject({ status: 401, body: { error: { type: 'expired_api_key' } } });
    expect(await statusOf(id)).toBe('churned');
    const [taken, earned] = await ledger();
    expect(earned).toMatchObject({ type: 'l1_referral', status: 'reversed', source_agent_id: id });
    expect(taken).toMatchObject({
      type: 'clawback',
      status: 'reversed',
      reverses: earned!['id'],
      amount_cents: -Number(earned!['amount_cents']),
      delta_r_cents: 0 - Number(earned!['delta_r_cents']),
    });
    expect((await referrer.get('/commissions')).body).toMatchObject({ total_earned_cents: 0 });
    expect((await referrer.get('/agents/me')).body).toMatchObject({ active_referrals: 0 });
  });

  test('the graph says which agent is gone, and a reason stands in the log', async () => {
    const { caller, id } = await referred();
    const { data, errors } = await caller.graphql(
      'mutation { closeAgent(input: { reason: "moved on" }) { id deleted trust { hreiScore } } }',
    );
    expect([data, errors]).toEqual([{ closeAgent: { id, deleted: true, trust: { hreiScore: 0 } } }, undefined]);
    const { rows } = await shop.owner.query(
      `select body -> 'details' ->> 'reason' as reason from events.told_audit_events
         where body -> 'details' ->> 'change' = 'agent_closed' union all
       select entry::jsonb -> 'details' ->> 'reason' from events.audit_entries
         where entry::jsonb -> 'details' ->> 'change' = 'agent_closed'`,
    );
    expect(rows.map(({ reason }) => String(reason)).toSorted()).toEqual(['moved on', 'null']);
  });

  test('guests of its workspaces act there no longer, so that nobody spends for an account that is gone', async () => {
    const { caller } = await referred();
    const guest = await Caller.register(shop.house.root);
    const { agent_id: guestId } = (await guest.get('/agents/me')).body;
    const { workspace_id: workspace } = (await caller.post('/workspaces', { name: 'Shared' })).body;
    await caller.post(`/workspaces/${String(workspace)}/agents`, { agent_id: guestId, role: 'owner' });
    const there = { 'svc-workspace': String(workspace) };
    const connect = { type: 'csv_upload', credentials: {} };
    expect((await guest.post('/data-sources/connect', connect, there)).status).toBe(201);
    expect((await caller.delete('/agents/me')).status).toBe(204);
    expect((await guest.post('/data-sources/connect', connect, there)).status).toBe(404);
    expect((await guest.get('/workspaces')).body['workspaces']).toEqual([]);
  });

  test('whoever runs the house suspends a fraud, pays the others, and sees that the books agree', async () => {
    const { caller, id, operator } = await referred();
    const said = await adminOf(shop.house, 'agent', 'suspend', operator, '--reason', 'invented orders');
    expect(said).toMatch(new RegExp(`^${id} is suspended`));
    expect((await caller.get('/agents/me')).status).toBe(401);
    expect(await statusOf(id)).toBe('churned');
    expect((await ledger())[0]).toMatchObject({ type: 'clawback', source_agent_id: id });
    expect(JSON.parse(await adminOf(shop.house, 'payout', '--json'))).toMatchObject({ payouts: [] });
    expect(await adminOf(shop.house, 'books', 'check')).toMatch('The books agree');
    await expect(adminOf(shop.house, 'agent', 'suspend', 'nobody', '--reason', 'none')).rejects.toThrow(
      'There is no agent of an account nobody',
    );
  });

  test('books that somebody has changed are found out', async () => {
    await shop.owner.query(`alter table billing.transfers disable trigger append_only;
      update billing.transfers set amount_cents = amount_cents + 1 where key like 'fee:%'`);
    await expect(adminOf(shop.house, 'books', 'check')).rejects.toThrow(/exited with 1: .*THE BOOKS DISAGREE/s);
  });
});
