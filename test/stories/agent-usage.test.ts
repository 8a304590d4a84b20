import { setTimeout as sleep } from 'node:timers/promises';
import { tidy } from '../../processes/housekeeping.ts';
import { Caller, LAYOUTS, type Json } from '../house.ts';
import { withTestKey } from '../test-key.ts';
import { openBilledHouse, type BilledHouse } from './billed-shop.ts';

describe.each(LAYOUTS)('what an agent has used, %s', (layout) => {
  let shop: BilledHouse;
  beforeAll(async () => {
    shop = await openBilledHouse(layout);
  });
  afterAll(() => shop?.stop());

  const usage = async (by: Caller, query = ''): Promise<Json> => (await by.get(`/agents/usage${query}`)).body;
  /** By endpoint, once so many calls were booked. */
  async function booked(by: Caller, endpoint: string, calls: number): Promise<Json> {
    for (;;) {
      const rows = (await usage(by))['breakdown'] as unknown as readonly Json[];
      const row = rows.find((each) => String(each['endpoint']) === endpoint);
      if (Number(row?.['calls'] ?? 0) >= calls) return row!;
      await sleep(100);
    }
  }

  test('calls stand by their operation, with those in vain and how long they took', async () => {
    const caller = await Caller.register(shop.house.root);
    for (let again = 0; again < 4; again += 1) await caller.get('/agents/me');
    await caller.get('/attribution/attr_nothing');
    await caller.get('/attribution/attr_neither');
    await caller.graphql('{ me { id } }');
    await caller.graphql('{ nothing }');
    const [profile, attribution, graph] = [
      await booked(caller, 'GET /agents/me', 4),
      await booked(caller, 'GET /attribution/{id}', 2),
      await booked(caller, 'POST /graphql', 2),
    ];
    expect(profile).toMatchObject({ calls: 4, errors: 0, billable: 0, platform_fee: 0 });
    expect(Number(profile['p95_ms'])).toBeGreaterThan(0);
    expect(attribution).toMatchObject({ calls: 2, errors: 2 });
    expect(graph).toMatchObject({ calls: 2, errors: 1 });
    const whole = await usage(caller);
    expect(whole['agent_id']).toBe((await caller.get('/agents/me')).body['agent_id']);
    const rows = whole['breakdown'] as unknown as readonly Json[];
    expect(Number(whole['total_calls'])).toBe(rows.reduce((sum, { calls }) => sum + Number(calls), 0));
    expect(await usage(caller, '?period=2025-07')).toMatchObject({
      period: '2025-07',
      total_calls: 0,
      breakdown: [],
    });
  });

  test('a call costs no write: what was counted is booked together', async () => {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    await Promise.all(Array.from({ length: 200 }, () => caller.get('/agents/me')));
    await booked(caller, 'GET /agents/me', 201);
    const { rows } = await shop.owner.query<{ calls: string; timed: string }>(
      `select calls, (select sum(count) from unnest(buckets) count) as timed from auth.endpoint_calls
       where account_id = $1 and endpoint = 'GET /agents/me'`,
      [account],
    );
    expect(rows).toEqual([{ calls: '201', timed: '201' }]);
  });

  test('counts are forgotten after two years, those of the sandbox after thirty days', async () => {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    for (const [environment, days] of [
      ['live', 400],
      ['live', 800],
      ['sandbox', 20],
      ['sandbox', 40],
    ] as const)
      await shop.owner.query(
        `insert into auth.endpoint_calls
         values ($1, $2, (now() at time zone 'UTC')::date - $3::int, 'GET /old', 1, 0, '{1}')`,
        [account, environment, days],
      );
    expect((await tidy(shop.house.backing.database)).get('auth.forget_old_endpoint_calls()')).toBe(2);
    expect(await usage(caller, '?period=all')).toMatchObject({
      breakdown: expect.arrayContaining([expect.objectContaining({ endpoint: 'GET /old', calls: 1 })]),
    });
  });

  test('commissions in another currency than the charges are named, never left out', async () => {
    const [caller, brand] = [await Caller.register(shop.house.root), await shop.brand()];
    const { agent_id: agentId } = (await caller.get('/agents/me')).body;
    await shop.analyse(brand, await shop.connect(brand, 'EUR', { agent_id: agentId }));
    expect(await usage(caller)).toMatchObject({ currency: 'USD', other_currencies: ['EUR'], commission_earned: 0 });
    expect(await usage(caller, '?currency=EUR')).toMatchObject({ other_currencies: [], commission_earned: 0.02 });
    const { body } = await caller.get('/billing/usage');
    expect(body).toMatchObject({ currency: 'USD', other_currencies: ['EUR'], commission_earned_cents: 0 });
  });

  test('what analyses cost stands with them, in one currency, in whole units', async () => {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    const source = await shop.connect(caller);
    const fee = Number((await shop.analyse(caller, source))['platform_fee_cents']);
    await shop.charged(account, { feeCents: 93_649, deltaRCents: 1_872_970, at: new Date().toISOString() });
    await shop.charged(account, { feeCents: 10, deltaRCents: 5, currency: 'EUR', at: new Date().toISOString() });
    const row = await booked(caller, 'POST /attribution', 1);
    const fees = (93_649 + fee) / 100;
    expect(row).toMatchObject({ calls: 1, billable: 2, platform_fee: fees });
    const told = await usage(caller);
    expect(told).toMatchObject({
      currency: 'USD',
      other_currencies: ['EUR'],
      billable_analyses: 2,
      total_billed: fees,
      total_platform_fees: told['platform_fee'],
      commission_earned: 0,
    });
    expect(Number(told['platform_fee']) + Number(told['floor_fees'])).toBeCloseTo(fees, 9);
    const { data } = await caller.graphql(
      '{ agentUsage(agentId: "me") { currency totalBilled breakdown { endpoint billable p95Ms } } }',
    );
    expect(data).toMatchObject({ agentUsage: { currency: 'USD', totalBilled: fees } });
    const euros = await usage(caller, '?currency=EUR');
    expect(euros).toMatchObject({ currency: 'EUR', floor_fees: 0.1, total_billed: 0.1, billable_analyses: 1 });
  });

  test('is one’s own: under one’s id, UUID and me, and of no other agent', async () => {
    const caller = await Caller.register(shop.house.root);
    const profile = (await caller.get('/agents/me')).body;
    await booked(caller, 'GET /agents/me', 1);
    for (const named of [profile['agent_id'], profile['agent_uuid'], 'me']) {
      const { status, body } = await caller.get(`/agents/${String(named)}/usage?period=day`);
      expect([status, Number(body['total_calls']) > 0]).toEqual([200, true]);
    }
    const other = await Caller.register(shop.house.root);
    for (const named of [profile['agent_id'], profile['agent_uuid'], 'agent_nothing'])
      expect((await other.get(`/agents/${String(named)}/usage`)).status).toBe(404);
    expect((await caller.get('/agents/usage?period=fortnight')).status).toBe(422);
  });

  test('a test key sees its own calls, and no fees', async () => {
    const caller = await Caller.register(shop.house.root);
    const tester = await withTestKey(shop.house, caller);
    await shop.charged(await shop.accountOf(caller), { at: new Date().toISOString() });
    await tester.get('/billing/plans');
    await booked(tester, 'GET /billing/plans', 1);
    expect(await usage(tester)).toMatchObject({ billable_analyses: 0, total_billed: 0 });
    const live = (await usage(caller))['breakdown'] as unknown as readonly Json[];
    expect(live.map(({ endpoint }) => String(endpoint))).not.toContain('GET /billing/plans');
  });
});
