import { Caller, LAYOUTS, type Json } from '../house.ts';
import { withTestKey } from '../test-key.ts';
import { openBilledHouse, SHOP_DAYS, type BilledHouse } from './billed-shop.ts';

describe.each(LAYOUTS)('a limit of what a month may cost, %s', (layout) => {
  let shop: BilledHouse;
  beforeAll(async () => {
    shop = await openBilledHouse(layout);
  });
  afterAll(() => shop?.stop());

  async function open(): Promise<{ caller: Caller; account: string; source: string }> {
    const caller = await Caller.register(shop.house.root);
    return { caller, account: await shop.accountOf(caller), source: await shop.connect(caller) };
  }
  const set = (caller: Caller, body: object) => caller.post('/billing/spend-limit', body);
  const run = (caller: Caller, source: string, days = 7) =>
    caller.post('/attribution', {
      data_source_id: source,
      date_range: SHOP_DAYS,
      model: 'markov',
      lookback_window_days: days,
    });
  const alerts = async (account: string): Promise<readonly Json[]> => {
    await shop.relayed();
    const { rows } = await shop.owner.query<{ data: Json }>(
      `select data from events.outbox where account_id = $1 and type = 'billing.spend_alert' order by position`,
      [account],
    );
    return rows.map(({ data }) => data);
  };
  const now = () => new Date().toISOString();

  test('says what is spent and what is left, and goes when it is taken away', async () => {
    const { caller, account } = await open();
    await shop.charged(account, { feeCents: 1_500, at: now() });
    const { status, body } = await set(caller, { monthly_limit_cents: 2_000 });
    expect([status, body]).toMatchObject([
      200,
      {
        monthly_limit_cents: 2_000,
        action: 'block',
        currency: 'USD',
        other_currencies: [],
        current_spend_cents: 1_500,
        remaining_cents: 500,
        alert_thresholds: [0.5, 0.8, 1],
      },
    ]);
    expect(String(body['resets_at'])).toMatch(/^\d{4}-\d\d-01T00:00:00.000Z$/);
    expect((await caller.get('/billing/usage')).body).toMatchObject({ spend_limit_cents: 2_000, remaining_cents: 500 });
    expect((await caller.get('/billing/summary')).body).toMatchObject({ spend_limit_cents: 2_000 });
    expect((await set(caller, { monthly_limit_cents: 1_000 })).body).toMatchObject({ remaining_cents: 0 });
    expect((await set(caller, { monthly_limit_cents: null })).body).toMatchObject({
      monthly_limit_cents: null,
      remaining_cents: null,
    });
    expect((await caller.get('/billing/usage')).body).toMatchObject({ spend_limit_cents: null, remaining_cents: null });
  });

  test.each([
    [{}, '/monthly_limit_cents'],
    [{ monthly_limit_cents: -1 }, '/monthly_limit_cents'],
    [{ monthly_limit_cents: 1.5 }, '/monthly_limit_cents'],
    [{ monthly_limit_cents: 5, action: 'stop' }, '/action'],
    [{ monthly_limit_cents: 5, alert_thresholds: [0] }, '/alert_thresholds/0'],
    [{ monthly_limit_cents: 5, alert_thresholds: [0.5, 0.5] }, '/alert_thresholds'],
    [{ monthly_limit_cents: 5, limit: 5 }, '/limit'],
  ])('%j is refused', async (body, param) => {
    const caller = await Caller.register(shop.house.root);
    const answer = await set(caller, body);
    expect([answer.status, answer.body['error']]).toMatchObject([422, { type: 'validation_error', param }]);
  });

  test('block: refuses the analysis whose least fee would pass it, at both doors and from everywhere', async () => {
    const { caller, account, source } = await open();
    const workspace = String((await caller.post('/workspaces', { name: 'Team' })).body['workspace_id']);
    const inside = caller.in(workspace);
    const there = await shop.connect(inside);
    await shop.charged(account, { feeCents: 85, at: now() });
    await set(caller, { monthly_limit_cents: 94 });
    const refused = await run(caller, source);
    expect([refused.status, refused.body['error']]).toMatchObject([
      402,
      { type: 'spend_limit_exceeded', code: 'monthly_limit' },
    ]);
    expect((await run(inside, there)).status).toBe(402);
    const mutation = `mutation { runAttribution(input: { dataSourceId: "${source}", model: MARKOV,
      dateRange: ["2026-01-01", "2026-01-31"] }) { attribution { id } } }`;
    expect((await caller.graphql(mutation)).errors).toMatchObject([{ extensions: { code: 'SPEND_LIMIT_EXCEEDED' } }]);
    // Nothing was left behind by what was refused.
    expect((await caller.get('/attribution')).body['meta']).toMatchObject({ total: 0 });

    await set(caller, { monthly_limit_cents: 95 });
    // The last one may pass the limit, and whatever comes behind it is refused.
    const last = await shop.analyse(caller, source);
    expect(Number(last['platform_fee_cents'])).toBeGreaterThan(9);
    expect((await run(caller, source)).status).toBe(402);
    await set(caller, { monthly_limit_cents: 94, action: 'notify' });
    expect((await run(caller, source)).status).toBe(200);
  });

  test('of many at once only as many are accepted as have room with their least fee', async () => {
    const { caller, source } = await open();
    await set(caller, { monthly_limit_cents: 29 });
    const answers = await Promise.all(Array.from({ length: 6 }, (_, place) => run(caller, source, 1 + place)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 402, 402, 402, 402]);
  });

  test('counts in each currency by itself, and only in the running month', async () => {
    const { caller, account, source } = await open();
    const euros = await shop.connect(caller, 'EUR');
    await shop.charged(account, { feeCents: 5_000, currency: 'EUR', at: now() });
    await shop.charged(account, { feeCents: 5_000, currency: 'USD', at: '2025-07-03T10:00:00Z' });
    expect((await set(caller, { monthly_limit_cents: 4_000 })).body).toMatchObject({
      currency: 'EUR',
      current_spend_cents: 5_000,
    });
    expect((await run(caller, euros)).status).toBe(402);
    expect((await run(caller, source)).status).toBe(200);
  });

  test('holds nobody whose plan costs nothing for an analysis', async () => {
    const { caller, account, source } = await open();
    await set(caller, { monthly_limit_cents: 0 });
    expect((await run(caller, source)).status).toBe(402);
    await shop.owner.query(`update auth.accounts set plan = 'pro' where account_id = $1`, [account]);
    expect((await run(caller, source)).status).toBe(200);
  });

  test('tells of each threshold once a month, also of those that a new limit finds reached', async () => {
    const { caller, account, source } = await open();
    await set(caller, { monthly_limit_cents: 20, action: 'notify', alert_thresholds: [0.4, 1, 3] });
    await shop.analyse(caller, source);
    const fee = Number((await caller.get('/billing/usage')).body['spend_cents']);
    const first = await alerts(account);
    expect(first.map(({ threshold }) => Number(threshold))).toEqual([0.4, 1, 3].filter((part) => fee >= 20 * part));
    expect(first[0]).toMatchObject({ currency: 'USD', spend_cents: fee, monthly_limit_cents: 20, action: 'notify' });
    for (let again = 0; again < 7; again += 1) await shop.analyse(caller, source);
    expect((await alerts(account)).map(({ threshold }) => Number(threshold))).toEqual([0.4, 1, 3]);
    await set(caller, { monthly_limit_cents: 30, action: 'notify', alert_thresholds: [0.4, 0.6, 1] });
    expect((await alerts(account)).map(({ threshold }) => Number(threshold))).toEqual([0.4, 1, 3, 0.6]);
  });

  test('a test key has a limit of its own, which refuses what is below the least fee, and spends nothing', async () => {
    const { caller, source } = await open();
    const tester = await withTestKey(shop.house, caller);
    const june = { date_range: ['2026-06-01', '2026-06-30'], data_source_id: 'ds_sandbox_shopify', model: 'markov' };
    expect((await set(tester, { monthly_limit_cents: 9 })).body).toMatchObject({ current_spend_cents: 0 });
    expect((await tester.post('/attribution', june)).status).toBe(402);
    await set(tester, { monthly_limit_cents: 10 });
    expect((await tester.post('/attribution', june)).status).toBe(200);
    expect((await run(caller, source)).status).toBe(200);
    expect((await caller.get('/billing/usage')).body).toMatchObject({ spend_limit_cents: null });
  });

  test('nobody sets the limit of another account, whatever his role in a workspace of it', async () => {
    const { caller } = await open();
    const workspace = String((await caller.post('/workspaces', { name: 'Team' })).body['workspace_id']);
    expect((await set(caller.in(workspace), { monthly_limit_cents: 5_000 })).status).toBe(200);
    expect((await caller.get('/billing/usage')).body).toMatchObject({ spend_limit_cents: 5_000 });
    const guest = await Caller.register(shop.house.root);
    const agent = (await guest.get('/agents/me')).body['agent_id'];
    await caller.post(`/workspaces/${workspace}/agents`, { agent_id: agent, role: 'owner' });
    const answer = await set(guest.in(workspace), { monthly_limit_cents: 5 });
    expect([answer.status, answer.body['error']]).toMatchObject([409, { code: 'foreign_account' }]);
    const plan = await guest.in(workspace).post('/billing/subscribe', { plan_id: 'pro', accept_terms: true });
    expect([plan.status, plan.body['error']]).toMatchObject([409, { code: 'foreign_account' }]);
  });
});
