import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { platformFeeCents } from '../../schema/platform-fee.ts';
import { uuidFromPublicId } from '../../platform/identifiers.ts';
import { closeMonths } from '../../subgraphs/billing/invoices/close-months.ts';
import { FrozenClock } from '../frozen-clock.ts';
import { Caller, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';
import { withTestKey } from '../test-key.ts';
import { sectionOf, tablesOf } from './markdown.ts';

const text = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const PAGE = text('docs/concepts/money.md');
const [FIGURES] = tablesOf(sectionOf(PAGE, '## The figures'));
const [MOVES] = tablesOf(sectionOf(PAGE, '## What moves them'));

const EVENTS = text('test/compute/fixtures/events.csv').split('\n').slice(0, 2500).join('\n');
const DATE_RANGE = ['2025-01-06', '2025-04-05'];
const POLL_MS = 20;

/** Members of the API that show money or recovered revenue. */
const IS_MONEY = /_cents$|delta_r|_fee$|^billed$|commission/;

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
}

function moneyMembers(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Object.keys((value as Schema).properties ?? {}).filter((name) => IS_MONEY.test(name));
  return [...own, ...Object.values(value).flatMap(moneyMembers)];
}

test('the page names every member of the API that shows money or Delta_R', () => {
  const members = [...new Set(moneyMembers(JSON.parse(text('schema/openapi.json'))))];
  expect(members.length).toBeGreaterThan(12);
  // What holds an entry, names or counts some, and shows no amount itself.
  const without = new Set(['commission', 'commission_id', 'commissions_count']);
  expect(members.filter((name) => !without.has(name) && !PAGE.includes(`\`${name}\``))).toEqual([]);
});

describe('what the page says of the figures', () => {
  let house: House;
  let owner: Client;
  let patron: Caller;
  let agent: Caller;
  let accountId: string;
  let source: string;
  let first: Json;
  let lookback = 30;

  beforeAll(async () => {
    house = await openHouse('one process', { clock });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    patron = await Caller.register(house.root);
    const { body } = await patron.registerAnother({
      referral_code: String((await patron.get('/agents/me')).body['referral_code']),
    });
    agent = new Caller(house.root, String(body['api_key']));
    accountId = (
      await owner.query<{ account_id: string }>('select account_id from agents.agents where id = $1', [
        uuidFromPublicId('agent', String(body['agent_id'])),
      ])
    ).rows[0]!.account_id;
    const connected = await agent.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: EVENTS },
      baseline_channels: ['direct', 'organic*'],
    });
    source = String(connected.body['data_source_id']);
  });
  afterAll(async () => {
    await owner?.end();
    await house?.stop();
  });

  const relayed = async (): Promise<void> => {
    while ((await owner.query('select from events.outbox where relayed_at is null')).rowCount !== 0)
      await sleep(POLL_MS);
  };
  const run = async (by: Caller, more: object = {}): Promise<Json> => {
    const asked = { data_source_id: source, date_range: DATE_RANGE, model: 'markov', ...more };
    const { body } = await by.post('/attribution', asked, { prefer: 'wait=60' });
    await relayed();
    return (await by.get(`/attribution/${String(body['id'])}`)).body;
  };
  /** Another question about the same rows. */
  const another = (by = agent): Promise<Json> => run(by, { lookback_window_days: (lookback -= 1) });
  const setPlan = (plan: string) =>
    owner.query('update auth.accounts set plan = $2 where account_id = $1', [accountId, plan]);
  const shown = async (who: Caller, query: string): Promise<Json> => (await who.graphql(query)).data!;
  const restReferral = async (): Promise<Json> =>
    ((await patron.get('/referrals?depth=1')).body['referrals'] as unknown as readonly Json[])[0]!;

  /** What has been charged in all, what profile, referral and bill say, and how many proofs there are. */
  async function standing(): Promise<readonly number[]> {
    const { rows } = await owner.query<{ sum: string }>(
      'select coalesce(sum(fee_cents), 0) as sum from billing.charges where account_id = $1',
      [accountId],
    );
    const profile = (await agent.get('/agents/me')).body;
    const referral = await restReferral();
    return [
      Number(rows[0]!.sum),
      Number(profile['total_delta_r_cents']),
      Math.round(Number(referral['accumulated_delta_r']) * 100),
      Number((await agent.get('/billing/summary?period=all')).body['total_billed_cents']),
      Number((await agent.get('/billing/value-proofs')).body['meta']!['total']),
    ];
  }

  /** What happens in each row of the page; the analysis that it is about, where there is one. */
  const happenings: Readonly<Record<string, () => Promise<Json | null>>> = {
    'an analysis completes': async () => (first = await run(agent, { auto_refresh: true })),
    'the same analysis again': async () => {
      const again = await run(agent);
      expect(again).toMatchObject({ delta_r_cents: first['delta_r_cents'], platform_fee_cents: 0, billed: false });
      return again;
    },
    'another question about the same rows': () => another(),
    'late rows make a new revision': async () => {
      const late =
        'user_id,timestamp,channel,campaign,cost,conversion,revenue\n' +
        'late1,2025-03-01T09:00:00Z,email,,0,0,\n' +
        'late1,2025-03-01T10:00:00Z,,,0,1,50000.00\n';
      await agent.send('POST', `/data-sources/${source}/records`, late, { 'content-type': 'text/csv' });
      const read = async () => (await agent.get(`/attribution/${String(first['id'])}`)).body;
      while (Number((await read())['revision']) < 2) await sleep(POLL_MS);
      await relayed();
      const revised = await read();
      expect(revised['platform_fee_cents']).toBe(first['platform_fee_cents']);
      return revised;
    },
    'an analysis fails': async () => {
      const failed = await run(agent, { date_range: ['2026-06-01', '2026-06-30'] });
      expect(failed).toMatchObject({ status: 'failed', platform_fee_cents: null });
      return null;
    },
    'an analysis of the sandbox completes': async () => {
      const tester = await withTestKey(house, agent);
      const shop = { data_source_id: 'ds_sandbox_shopify', date_range: ['2026-06-01', '2026-06-30'] };
      const result = await run(tester, shop);
      const fee = Number(platformFeeCents(BigInt(Number(result['delta_r_cents']))));
      expect(result).toMatchObject({ status: 'completed', billed: false, platform_fee_cents: fee });
      return result;
    },
    'a read makes a run': async () => {
      const designs = await agent.get(
        `/experiments/designs?data_source_id=${source}&date_range=${DATE_RANGE.join(',')}`,
        {
          prefer: 'wait=60',
        },
      );
      expect(designs.status).toBe(200);
      await relayed();
      return null;
    },
    'an analysis is deleted': async () => {
      expect((await agent.delete(`/attribution/${String(first['id'])}`)).status).toBe(204);
      return null;
    },
    'an analysis completes on the plan `pro`': async () => {
      await setPlan('pro');
      const result = await another();
      expect(result).toMatchObject({ platform_fee_cents: 0, billed: false });
      return result;
    },
    'an analysis completes on the plan `self_hosted`': async () => {
      await setPlan('self_hosted');
      const result = await another();
      expect(result).toMatchObject({ platform_fee_cents: 0, billed: false });
      await setPlan('pay_per_analysis');
      return result;
    },
  };

  test('each happening moves what its row says, by what it says, and nothing else', async () => {
    expect(MOVES!.slice(1).map(([what]) => what)).toEqual(Object.keys(happenings));
    for (const [what = '', ...cells] of MOVES!.slice(1)) {
      const before = await standing();
      const analysis = await happenings[what]!();
      const amounts: Readonly<Record<string, unknown>> = {
        '0': 0,
        one: 1,
        'its fee': analysis?.['platform_fee_cents'],
        'its Delta_R': analysis?.['delta_r_cents'],
      };
      const moved = (await standing()).map((value, place) => value - before[place]!);
      expect([what, ...moved]).toEqual([what, ...cells.map((cell) => amounts[cell])]);
    }
  }, 300_000);

  test('each figure is the same over both doors and where it comes from', async () => {
    const result = await another();
    const id = String(result['id']);
    const stored = async (sql: string, ...values: unknown[]): Promise<number> =>
      Number((await owner.query<{ value: string }>(sql, values)).rows[0]!.value);
    const uuid = uuidFromPublicId('attr', id);
    const profile = (await agent.get('/agents/me')).body;
    const attribution = (
      await shown(
        agent,
        `{ attribution(id: "${id}") { deltaRCents revenueCausalCents revenueLastclickCents platformFeeCents billed } }`,
      )
    )['attribution']!;
    const plan = (await agent.get('/billing/plans')).body['plans'] as unknown as readonly Json[];
    const current = plan.find((each) => String(each['current']) === 'true')!;
    const ofGraph = (await shown(agent, '{ plans { plans { current perAnalysisFee { floorCents } } } }'))['plans']!;
    const currentThere = (ofGraph['plans'] as unknown as readonly Json[]).find(
      (each) => String(each['current']) === 'true',
    )!;
    const referrals = (await shown(patron, '{ referrals { edges { node { accumulatedDeltaR } } } }'))['referrals']!;
    const bill = (await agent.get('/billing/summary?period=all')).body;
    const month = (await agent.get('/billing/usage')).body;
    const used = (await agent.get('/agents/usage')).body;
    const billing = await shown(
      agent,
      `{ me { billingSummary(filter: { period: "all" }) { totalBilledCents } }
         billingSummary(filter: { period: "all" }) { totalBilledCents } billingUsage { spendCents }
         agentUsage { totalBilled }
         valueProofs(filter: { analysisId: "${id}" }) { edges { node { platformFeeCents } } }
         attribution(id: "${id}") { valueProof { platformFeeCents } } }`,
    );
    const [proof] = (await agent.get(`/billing/value-proofs?analysis_id=${id}`)).body[
      'proofs'
    ] as unknown as readonly Json[];
    const sumOfFees = await stored(
      'select sum(fee_cents) as value from billing.charges where account_id = $1',
      accountId,
    );
    const limit = (await agent.post('/billing/spend-limit', { monthly_limit_cents: 10 ** 9 })).body;
    const subscribed = (await agent.post('/billing/subscribe', { plan_id: 'pro_trial', accept_terms: true })).body;
    const ledger = (await patron.get('/commissions?period=all')).body;
    // As if the month were over.
    const databaseClock = new FrozenClock(house.ownerUrl);
    await databaseClock.run('32 days');
    await closeMonths(house.backing);
    await databaseClock.run();
    const [invoiced = {} as Json] = (await agent.get('/billing/invoices')).body[
      'invoices'
    ] as unknown as readonly Json[];
    const figures: Readonly<Record<string, readonly unknown[]>> = {
      'Delta_R of an analysis': [
        result['delta_r_cents'],
        attribution['deltaRCents'],
        await stored(`select result ->> 'deltaRCents' as value from attribution.attributions where id = $1`, uuid),
      ],
      'what that is made of': [
        Number(result['revenue_causal_cents']) - Number(result['revenue_lastclick_cents']),
        Number(attribution['revenueCausalCents']) - Number(attribution['revenueLastclickCents']),
        result['delta_r_cents'],
      ],
      'its fee': [
        result['platform_fee_cents'],
        attribution['platformFeeCents'],
        await stored('select fee_cents as value from billing.charges where analysis_id = $1', uuid),
      ],
      'Delta_R of an agent': [
        profile['total_delta_r_cents'],
        profile['total_delta_r'],
        (await shown(agent, '{ me { totalDeltaRCents } }'))['me']!['totalDeltaRCents'],
        await stored(
          `select sum(delta_r_cents) as value from billing.charges
           where account_id = $1 and repeats is null and plan <> 'self_hosted'`,
          accountId,
        ),
      ],
      'the bill of a period': [
        bill['total_billed_cents'],
        Number(bill['platform_fee_cents']) + Number(bill['floor_fee_cents']) + Number(bill['plan_fee_cents']),
        billing['billingSummary']!['totalBilledCents'],
        billing['me']!['billingSummary']!['totalBilledCents'],
        sumOfFees,
      ],
      'the running month': [month['spend_cents'], billing['billingUsage']!['spendCents'], sumOfFees],
      'the usage of an agent': [
        used['total_billed'],
        Number(used['platform_fee']) + Number(used['floor_fees']) + Number(used['plan_fees']),
        billing['agentUsage']!['totalBilled'],
        sumOfFees / 100,
      ].map((value) => Number(value).toFixed(2)),
      'its limit': [
        Number(limit['current_spend_cents']) + Number(limit['remaining_cents']),
        (await agent.get('/billing/usage')).body['spend_limit_cents'],
        await stored('select monthly_limit_cents as value from billing.spend_limits where account_id = $1', accountId),
      ],
      'the proof of an analysis': [
        proof!['platform_fee_cents'],
        (billing['valueProofs']!['edges'] as unknown as readonly Json[])[0]!['node']!['platformFeeCents'],
        billing['attribution']!['valueProof']!['platformFeeCents'],
        result['platform_fee_cents'],
      ],
      'Delta_R of a referral': [
        (await restReferral())['accumulated_delta_r'],
        (referrals['edges'] as unknown as readonly Json[])[0]!['node']!['accumulatedDeltaR'],
        (await stored(
          'select accumulated_delta_r_cents as value from agents.referrals where account_id <> $1',
          accountId,
        )) / 100,
      ],
      commissions: [
        ledger['total_earned_cents'],
        (await patron.get('/agents/me')).body['total_commission_earned_cents'],
        Math.round(Number((await restReferral())['commission_earned']) * 100),
        (await shown(patron, '{ commissions(filter: { period: "all" }) { totalEarnedCents } }'))['commissions']![
          'totalEarnedCents'
        ],
        await stored('select sum(amount_cents) as value from billing.commissions where account_id <> $1', accountId),
      ],
      'price of a subscription': [
        subscribed['amount_due_cents'],
        (await shown(agent, '{ billingSubscription { amountDueCents } }'))['billingSubscription']!['amountDueCents'],
        (await agent.get('/billing/summary?period=all')).body['plan_fee_cents'],
        await stored('select sum(amount_cents) as value from billing.plan_charges where account_id = $1', accountId),
      ],
      'an invoice': [
        invoiced['total_billed_cents'],
        Number(invoiced['platform_fee_cents']) +
          Number(invoiced['floor_fee_cents']) +
          Number(invoiced['plan_fee_cents']),
        (await shown(agent, `{ invoice(id: "${String(invoiced['invoice_id'])}") { totalBilledCents } }`))['invoice']![
          'totalBilledCents'
        ],
        (await agent.get(`/billing/summary?period=${String(invoiced['period'])}`)).body['total_billed_cents'],
        await stored('select total_billed_cents as value from billing.invoices where account_id = $1', accountId),
      ],
      prices: [current['per_analysis_fee']!['floor_cents'], currentThere['perAnalysisFee']!['floorCents'], 10],
    };
    expect(FIGURES!.slice(1).map(([figure]) => figure)).toEqual(Object.keys(figures));
    for (const [figure, values] of Object.entries(figures))
      expect([figure, new Set(values.map(String)).size]).toEqual([figure, 1]);
    expect(result).not.toHaveProperty('billed');
    expect(attribution['billed']).toBeNull();
  });

  test('whoever registers where BILLING is off is on the plan that costs nothing', async () => {
    const own = await openHouse('one process', { clock, billing: 'off' });
    try {
      const { body } = await new Caller(own.root, null).post('/agents/register', {
        name: 'my-own-agent',
        operator_id: randomUUID(),
      });
      expect(body['rate_limits']).toEqual({ requests_per_minute: 6_000, daily_limit: null });
      const caller = new Caller(own.root, String(body['api_key']));
      const plans = (await caller.get('/billing/plans')).body['plans'] as unknown as readonly Json[];
      expect(plans.at(-1)).toMatchObject({ plan_id: 'self_hosted', current: true, per_analysis_fee: null });
      const ofOthers = (await agent.get('/billing/plans')).body['plans'] as unknown as readonly Json[];
      expect(ofOthers.map((plan) => plan['plan_id'])).not.toContain('self_hosted');
    } finally {
      await own.stop();
    }
  });
});
