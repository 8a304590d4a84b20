import { Caller, LAYOUTS, type Json } from '../house.ts';
import { withTestKey } from '../test-key.ts';
import { openBilledHouse, type BilledHouse } from './billed-shop.ts';

/** What a bill says where nothing happened. */
const NOTHING = {
  currency: 'USD',
  other_currencies: [],
  currency_symbol: '$',
  total_delta_r_cents: 0,
  platform_fee_cents: 0,
  floor_fee_cents: 0,
  plan_fee_cents: 0,
  total_billed_cents: 0,
  analyses_count: 0,
  effective_rate: 0,
  status: 'accruing',
  invoice_id: null,
  due_date: null,
  spend_limit_cents: null,
  by_model: [],
};
const without = (body: Json): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'trust'));

describe.each(LAYOUTS)('the bill of a period, %s', (layout) => {
  let shop: BilledHouse;
  let caller: Caller;
  let account: string;
  beforeAll(async () => {
    shop = await openBilledHouse(layout);
    caller = await Caller.register(shop.house.root);
    account = await shop.accountOf(caller);
  });
  afterAll(() => shop?.stop());

  const summary = async (query = '', by = caller): Promise<Json> => {
    const { status, body } = await by.get(`/billing/summary${query}`);
    expect(status).toBe(200);
    return body;
  };

  test('begins with nothing, in USD', async () => {
    expect(await summary('?period=2025-07')).toMatchObject({ period: '2025-07', ...NOTHING });
    const { rows } = await shop.owner.query<{ month: string }>(
      `select to_char(now() at time zone 'UTC', 'YYYY-MM') as month`,
    );
    expect(without(await summary())).toEqual({ period: rows[0]!.month, ...NOTHING });
  });

  test('counts each analysis once, with what it was charged: its share, or the floor below 2.00', async () => {
    const at = '2025-07-03T10:00:00Z';
    for (const [deltaRCents, feeCents, model] of [
      [0, 10, 'causal'],
      [199, 10, 'causal'],
      [200, 10, 'markov'],
      [1_872_970, 93_649, 'markov'],
      [5_000, 0, null],
    ] as const)
      await shop.charged(account, { deltaRCents, feeCents, model, at });
    expect(without(await summary('?period=2025-07'))).toEqual({
      ...NOTHING,
      period: '2025-07',
      total_delta_r_cents: 1_878_369,
      platform_fee_cents: 93_659,
      floor_fee_cents: 20,
      total_billed_cents: 93_679,
      analyses_count: 5,
      effective_rate: 0.0499,
      by_model: [
        { model: 'markov', analyses_count: 2, total_delta_r_cents: 1_873_170, total_billed_cents: 93_659 },
        { model: 'causal', analyses_count: 2, total_delta_r_cents: 199, total_billed_cents: 20 },
        { model: null, analyses_count: 1, total_delta_r_cents: 5_000, total_billed_cents: 0 },
      ],
    });
  });

  test('a period begins with its first moment and ends before the next', async () => {
    await shop.charged(account, { at: '2025-08-01T00:00:00Z', feeCents: 11 });
    await shop.charged(account, { at: '2025-08-31T23:59:59.999Z', feeCents: 13 });
    const billed = async (period: string) => Number((await summary(`?period=${period}`))['total_billed_cents']);
    expect(await billed('2025-08')).toBe(24);
    expect(await billed('2025-09')).toBe(0);
    expect(await billed('2025-08-31')).toBe(13);
    expect(await billed('2025-W31')).toBe(11);
    expect(await billed('all')).toBe(93_679 + 24);
  });

  test('never adds two currencies: it is in the busiest, or in the one that is asked for', async () => {
    for (const [currency, feeCents] of [
      ['EUR', 500],
      ['EUR', 700],
      [null, 90_000],
      ['JPY', 30],
    ] as const)
      await shop.charged(account, { currency, feeCents, deltaRCents: feeCents * 20, at: '2025-10-05T00:00:00Z' });
    expect(await summary('?period=2025-10')).toMatchObject({
      currency: 'EUR',
      currency_symbol: '€',
      other_currencies: ['JPY', 'USD'],
      total_billed_cents: 1_200,
      effective_rate: 0.05,
    });
    expect(await summary('?period=2025-10&currency=usd')).toMatchObject({
      currency: 'USD',
      other_currencies: ['EUR', 'JPY'],
      total_billed_cents: 90_000,
    });
    expect(await summary('?period=2025-10&currency=CHF')).toMatchObject({
      currency: 'CHF',
      currency_symbol: 'CHF',
      other_currencies: ['EUR', 'JPY', 'USD'],
      total_billed_cents: 0,
    });
    expect((await caller.get('/billing/summary?currency=U5D')).status).toBe(422);
    expect((await caller.get('/billing/summary?period=year')).status).toBe(422);
  });

  test('the graph says the same, also from the agent, of which nobody else sees it', async () => {
    const members = 'period currency otherCurrencies totalBilledCents floorFeeCents status byModel { model }';
    const asked = `billingSummary(filter: { period: "2025-07" }) { ${members} }`;
    const told = {
      period: '2025-07',
      currency: 'USD',
      otherCurrencies: [],
      totalBilledCents: 93_679,
      floorFeeCents: 20,
      status: 'ACCRUING',
      byModel: [{ model: 'markov' }, { model: 'causal' }, { model: null }],
    };
    expect((await caller.graphql(`{ ${asked} me { ${asked} } }`)).data).toEqual({
      billingSummary: told,
      me: { billingSummary: told },
    });
    const id = String((await caller.get('/agents/me')).body['agent_id']);
    const other = await Caller.register(shop.house.root);
    expect((await other.graphql(`{ agent(id: "${id}") { id ${asked} } }`)).data).toEqual({
      agent: { id, billingSummary: null },
    });
    expect(await summary('?period=2025-07', other)).toMatchObject(NOTHING);
  });

  test('the running month: spend so far, and what the month comes to if it goes on so', async () => {
    const usage = async (by = caller): Promise<Json> => (await by.get('/billing/usage')).body;
    await shop.charged(account, { deltaRCents: 60_000, feeCents: 3_000, at: new Date().toISOString() });
    const { rows } = await shop.owner.query<{ month: string; share: number }>(
      `select to_char(at, 'YYYY-MM') as month, 
         extract(epoch from date_trunc('month', at) + interval '1 month' - date_trunc('month', at))
         / greatest(86400, extract(epoch from at - date_trunc('month', at))) as share
       from (select now() at time zone 'UTC' as at) clock`,
    );
    const { projected_spend_cents: projected, ...rest } = without(await usage());
    expect(rest).toEqual({
      period: rows[0]!.month,
      currency: 'USD',
      other_currencies: [],
      spend_cents: 3_000,
      spend_limit_cents: null,
      remaining_cents: null,
      delta_r_cents: 60_000,
      commission_earned_cents: 0,
      analyses_count: 1,
    });
    expect(Math.abs(Number(projected) - 3_000 * Number(rows[0]!.share))).toBeLessThan(5);
    const { data } = await caller.graphql('{ billingUsage { period spendCents deltaRCents projectedSpendCents } }');
    expect(data).toMatchObject({ billingUsage: { period: rows[0]!.month, spendCents: 3_000, deltaRCents: 60_000 } });
    const tester = await withTestKey(shop.house, caller);
    expect(await usage(tester)).toMatchObject({ spend_cents: 0, projected_spend_cents: 0, analyses_count: 0 });
    expect(await summary('?period=all', tester)).toMatchObject({ ...NOTHING, status: 'none' });
  });

  test('who works in a workspace sees what happened there', async () => {
    const workspace = String((await caller.post('/workspaces', { name: 'Team' })).body['workspace_id']);
    const inside = caller.in(workspace);
    expect(await summary('?period=all', inside)).toMatchObject(NOTHING);
    const analysis = await shop.analyse(inside, await shop.connect(inside, 'EUR'));
    const fee = Number(analysis['platform_fee_cents']);
    expect(fee).toBeGreaterThan(0);
    expect(await summary('?period=day', inside)).toMatchObject({
      currency: 'EUR',
      other_currencies: [],
      total_billed_cents: fee,
      by_model: [{ model: 'markov', total_billed_cents: fee }],
    });
    expect(await summary('?period=day')).toMatchObject({ currency: 'EUR', other_currencies: ['USD'] });
  });
});
