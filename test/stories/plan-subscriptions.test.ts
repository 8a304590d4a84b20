import { endPeriods } from '../../subgraphs/billing/subscriptions/end-periods.ts';
import { FrozenClock } from '../frozen-clock.ts';
import { Caller, LAYOUTS, type Answer, type Json } from '../house.ts';
import { withTestKey } from '../test-key.ts';
import { openBilledHouse, type BilledHouse } from './billed-shop.ts';

describe.each(LAYOUTS)('subscribing to a plan, %s', (layout) => {
  let shop: BilledHouse;
  let databaseClock: FrozenClock;
  beforeAll(async () => {
    shop = await openBilledHouse(layout);
    databaseClock = new FrozenClock(shop.house.ownerUrl);
  });
  afterEach(() => databaseClock.run());
  afterAll(() => shop?.stop());

  const subscribe = (caller: Caller, plan: string, more: object = {}): Promise<Answer> =>
    caller.post('/billing/subscribe', { plan_id: plan, accept_terms: true, ...more });
  const state = async (caller: Caller): Promise<Json> => (await caller.get('/billing/subscription')).body;
  const planOf = async (caller: Caller): Promise<string> => {
    const plans = (await caller.get('/billing/plans')).body['plans'] as unknown as readonly Json[];
    return String(plans.find(({ current }) => String(current) === 'true')!['plan_id']);
  };
  /** As if so much time had passed: whatever is due then happens. */
  async function after(interval: string): Promise<void> {
    await databaseClock.run(interval);
    while ((await endPeriods(shop.house.backing)) > 0);
  }
  const owed = async (account: string): Promise<readonly (readonly [string, number])[]> => {
    const { rows } = await shop.owner.query<{ plan: string; cents: string }>(
      'select plan, amount_cents as cents from billing.plan_charges where account_id = $1 order by period_start',
      [account],
    );
    // What is charged is what is posted.
    expect((await shop.owner.query('select * from billing.check_books()')).rows).toEqual([]);
    return rows.map(({ plan, cents }) => [plan, Number(cents)]);
  };
  const span = (body: Json): number =>
    (Date.parse(String(body['current_period_end'])) - Date.parse(String(body['current_period_start']))) / 86_400_000;

  test('of many who subscribe at once one does, and the others hear that the account has', async () => {
    for (let round = 0; round < 6; round += 1) {
      const caller = await Caller.register(shop.house.root);
      const answers = await Promise.all(Array.from({ length: 24 }, () => subscribe(caller, 'pro')));
      const refused = answers.filter(({ status }) => status !== 201);
      expect(refused).toHaveLength(answers.length - 1);
      for (const { status, body } of refused)
        expect([status, body['error']?.['code']]).toEqual([409, 'already_subscribed']);
    }
  });

  test('whoever closes its account pays for no further period', async () => {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    await subscribe(caller, 'pro');
    expect((await caller.delete('/agents/me')).status).toBe(204);
    await after('70 days');
    expect(await owed(account)).toEqual([['pro', 29_900]]);
    const { rows } = await shop.owner.query(
      `select s.status, a.plan from billing.subscriptions s join auth.accounts a using (account_id)
       where account_id = $1`,
      [account],
    );
    expect(rows).toEqual([{ status: 'canceled', plan: 'pay_per_analysis' }]);
  });

  test('a trial counts at once, ends with its days, and is had once', async () => {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    expect([(await caller.get('/billing/subscription')).status, await planOf(caller)]).toEqual([
      404,
      'pay_per_analysis',
    ]);
    const { status, body } = await subscribe(caller, 'pro_trial', { payment_method: { type: 'invoice' } });
    expect([status, body]).toMatchObject([
      201,
      {
        plan_id: 'pro_trial',
        status: 'trialing',
        trial_ends_at: body['current_period_end'],
        cancel_at_period_end: true,
        next_plan_id: 'pay_per_analysis',
        payment_method: 'invoice',
        currency: 'USD',
        amount_due_cents: 9_900,
        invoice_id: null,
      },
    ]);
    expect([span(body), String(body['subscription_id']).slice(0, 4), await planOf(caller)]).toEqual([
      14,
      'sub_',
      'pro_trial',
    ]);
    const analysis = await shop.analyse(caller, await shop.connect(caller));
    expect(analysis).toMatchObject({ platform_fee_cents: 0, billed: false });
    expect((await caller.get('/billing/summary')).body).toMatchObject({
      plan_fee_cents: 9_900,
      platform_fee_cents: 0,
      total_billed_cents: 9_900,
    });
    expect((await caller.get('/agents/me')).body['rate_limits']).toEqual({
      requests_per_minute: 500,
      daily_limit: null,
    });
    const again = await subscribe(caller, 'pro_trial');
    expect([again.status, again.body['error']]).toMatchObject([409, { type: 'conflict', code: 'trial_used' }]);

    await after('13 days');
    expect(await state(caller)).toMatchObject({ status: 'trialing' });
    await after('14 days 1 minute');
    expect(await state(caller)).toMatchObject({ status: 'canceled', plan_id: 'pro_trial' });
    expect([await planOf(caller), await owed(account)]).toEqual(['pay_per_analysis', [['pro_trial', 9_900]]]);
    expect((await subscribe(caller, 'pro_trial')).body['error']).toMatchObject({ code: 'trial_used' });
  });

  test('pro that is subscribed to during a trial follows it', async () => {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    const trial = (await subscribe(caller, 'pro_trial')).body;
    const asked = await subscribe(caller, 'pro');
    expect([asked.status, asked.body]).toMatchObject([
      201,
      {
        subscription_id: trial['subscription_id'],
        status: 'trialing',
        next_plan_id: 'pro',
        cancel_at_period_end: false,
      },
    ]);
    expect(await owed(account)).toEqual([['pro_trial', 9_900]]);
    await after('15 days');
    expect(await state(caller)).toMatchObject({
      subscription_id: trial['subscription_id'],
      plan_id: 'pro',
      status: 'active',
      current_period_start: trial['current_period_end'],
      trial_ends_at: trial['trial_ends_at'],
      amount_due_cents: 29_900,
    });
    expect([await planOf(caller), await owed(account)]).toEqual([
      'pro',
      [
        ['pro_trial', 9_900],
        ['pro', 29_900],
      ],
    ]);
  });

  test('pro is renewed month by month, also where some were missed, until it is left', async () => {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    const first = (await subscribe(caller, 'pro')).body;
    expect(first).toMatchObject({ status: 'active', trial_ends_at: null, cancel_at_period_end: false });
    await after('63 days');
    expect((await owed(account)).map(([plan]) => plan)).toEqual(['pro', 'pro', 'pro']);
    const third = await state(caller);
    expect(Date.parse(String(third['current_period_end']))).toBeGreaterThan(
      Date.parse(String(first['current_period_end'])) + 30 * 86_400_000,
    );
    expect((await subscribe(caller, 'pro')).body['error']).toMatchObject({ code: 'already_subscribed' });
    const left = await subscribe(caller, 'pay_per_analysis');
    expect([left.status, left.body]).toMatchObject([
      201,
      { plan_id: 'pro', status: 'active', cancel_at_period_end: true, next_plan_id: 'pay_per_analysis' },
    ]);
    expect(await planOf(caller)).toBe('pro');
    // Whoever comes back before the end has never left.
    expect((await subscribe(caller, 'pro')).body).toMatchObject({ cancel_at_period_end: false, next_plan_id: null });
    await subscribe(caller, 'pay_per_analysis');
    await after('95 days');
    expect([await planOf(caller), (await owed(account)).length]).toEqual(['pay_per_analysis', 3]);
    expect(await state(caller)).toMatchObject({ status: 'canceled' });
  });

  test('enterprise waits for a contract, and counts once the plan was given', async () => {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    expect((await subscribe(caller, 'enterprise')).body).toMatchObject({
      status: 'pending',
      current_period_start: null,
      amount_due_cents: 0,
    });
    expect([await planOf(caller), (await subscribe(caller, 'enterprise')).status]).toEqual(['pay_per_analysis', 409]);
    await after('40 days');
    expect(await state(caller)).toMatchObject({ status: 'pending' });
    await shop.owner.query(`update auth.accounts set plan = 'enterprise' where account_id = $1`, [account]);
    await after('41 days');
    expect(await state(caller)).toMatchObject({ status: 'active', plan_id: 'enterprise' });
    expect((await subscribe(caller, 'pro')).body['error']).toMatchObject({ code: 'plan_given' });
    expect(await owed(account)).toEqual([]);
  });

  test('whoever was given a plan meanwhile is not put on another, and owes nothing more', async () => {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    await subscribe(caller, 'pro');
    await shop.owner.query(`update auth.accounts set plan = 'self_hosted' where account_id = $1`, [account]);
    expect((await subscribe(caller, 'pro_trial')).body['error']).toMatchObject({
      type: 'conflict',
      code: 'plan_given',
    });
    await after('40 days');
    expect([await planOf(caller), (await owed(account)).length]).toEqual(['self_hosted', 1]);
  });

  test('of many who ask at once one subscribes', async () => {
    const caller = await Caller.register(shop.house.root);
    const answers = await Promise.all(Array.from({ length: 6 }, () => subscribe(caller, 'pro_trial')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
    expect(await owed(await shop.accountOf(caller))).toEqual([['pro_trial', 9_900]]);
  });

  test.each([
    [{ accept_terms: false }, '/accept_terms'],
    [{ accept_terms: undefined }, '/accept_terms'],
    [{ plan_id: 'self_hosted' }, '/plan_id'],
    [{ plan_id: 'sandbox' }, '/plan_id'],
    [{ payment_method: { type: 'cheque' } }, '/payment_method/type'],
    [{ payment_method: { type: 'card', token: 'tok_1' } }, '/payment_method/type'],
    [{ workspace_id: 'ws_01JQ2m7Bv4XgL9uTcPdYsF' }, '/workspace_id'],
    [{ spend_limit_cents: -1 }, '/spend_limit_cents'],
  ])('%j is refused, and nobody is charged', async (more, param) => {
    const caller = await Caller.register(shop.house.root);
    const { status, body } = await subscribe(caller, 'pro', more);
    expect([status, body['error']]).toMatchObject([422, { type: 'validation_error', param }]);
    expect([await owed(await shop.accountOf(caller)), await planOf(caller)]).toEqual([[], 'pay_per_analysis']);
  });

  test('a limit and a workspace can be said with it', async () => {
    const caller = await Caller.register(shop.house.root);
    const workspace = String((await caller.post('/workspaces', { name: 'Team' })).body['workspace_id']);
    const { body } = await subscribe(caller, 'pay_per_analysis', { spend_limit_cents: 5_000, workspace_id: workspace });
    expect(body).toMatchObject({ status: 'active', current_period_end: null, workspace_id: workspace });
    expect((await caller.get('/billing/usage')).body).toMatchObject({ spend_limit_cents: 5_000 });
    expect((await subscribe(caller, 'pay_per_analysis')).body['error']).toMatchObject({ code: 'already_subscribed' });
    // A step up counts at once.
    expect((await subscribe(caller, 'pro')).body).toMatchObject({ plan_id: 'pro', status: 'active' });
    expect(await planOf(caller)).toBe('pro');
    const { data } = await caller.graphql('{ billingSubscription { planId status amountDueCents } }');
    expect(data).toEqual({ billingSubscription: { planId: 'pro', status: 'ACTIVE', amountDueCents: 29_900 } });
  });

  test('a test key does the same in the sandbox, which costs nothing, and tok_fail fails', async () => {
    const caller = await Caller.register(shop.house.root);
    const tester = await withTestKey(shop.house, caller);
    const failed = await subscribe(tester, 'pro', { payment_method: { type: 'card', token: 'tok_fail' } });
    expect([failed.status, failed.body['error']]).toMatchObject([
      402,
      { type: 'payment_required', code: 'payment_failed' },
    ]);
    const trial = await subscribe(tester, 'pro_trial', { payment_method: { type: 'card', token: 'tok_ok' } });
    expect([trial.status, trial.body]).toMatchObject([201, { status: 'trialing', payment_method: 'card' }]);
    expect((await subscribe(tester, 'pro_trial')).status).toBe(409);
    await after('15 days');
    expect(await state(tester)).toMatchObject({ status: 'canceled' });
    expect([await planOf(tester), await planOf(caller), await owed(await shop.accountOf(caller))]).toEqual([
      'sandbox',
      'pay_per_analysis',
      [],
    ]);
    expect((await caller.get('/billing/subscription')).status).toBe(404);
  });

  test('a retry with the same idempotency key is answered the same, and charged once', async () => {
    const caller = await Caller.register(shop.house.root);
    const key = { 'svc-idempotency-key': 'subscribe-once' };
    const body = { plan_id: 'pro', accept_terms: true };
    const [one, other] = [
      await caller.post('/billing/subscribe', body, key),
      await caller.post('/billing/subscribe', body, key),
    ];
    expect([one.status, other.status, other.body['subscription_id']]).toEqual([201, 201, one.body['subscription_id']]);
    expect(await owed(await shop.accountOf(caller))).toEqual([['pro', 29_900]]);
  });
});
