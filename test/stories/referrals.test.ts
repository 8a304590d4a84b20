import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { newUuid } from '../../platform/identifiers.ts';
import { createAccount } from '../../services/identity/accounts/account-store.ts';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { standardRateLimits } from '../../services/identity/limits/rate-limits.ts';
import { GraphSocket } from '../graph-socket.ts';
import { Caller, LAYOUTS, openHouse, type Answer, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';
import { withTestKey } from '../test-key.ts';
import { openReceiver, type Received, type Receiver } from '../webhook-receiver.ts';

const EVENTS = readFileSync(new URL('../compute/fixtures/events.csv', import.meta.url), 'utf8')
  .split('\n')
  .slice(0, 2500)
  .join('\n');
const DATE_RANGE = ['2025-01-06', '2025-04-05'];
/** Contract §2: where Partner begins, and where a referral becomes active. */
const PARTNER_FROM = 5;
const ACTIVE_FROM_CENTS = 100_000;
const WITHOUT_REGISTRATION_LIMIT = { ...standardRateLimits('three'), register: { perMinute: 1_000, perDay: null } };
const POLL_MS = 20;

describe.each(LAYOUTS)('referrals, %s', (layout) => {
  let house: House;
  let receiver: Receiver;
  let owner: Client;
  let referrer: Caller;
  let code: string;

  beforeAll(async () => {
    [house, receiver] = await Promise.all([
      openHouse(layout, { clock, rateLimits: WITHOUT_REGISTRATION_LIMIT }),
      openReceiver(),
    ]);
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    referrer = await Caller.register(house.root);
    code = String((await referrer.get('/agents/me')).body['referral_code']);
    await referrer.post('/webhooks', { url: `${receiver.url}/tiers`, events: ['agent.tier_changed'] });
  });
  afterAll(async () => {
    await owner?.end();
    await house?.stop();
    await receiver?.close();
  });

  const register = async (referralCode: string): Promise<Caller> => {
    const { status, body } = await new Caller(house.root, null).post('/agents/register', {
      name: 'referred-agent',
      operator_id: randomUUID(),
      referral_code: referralCode,
    });
    expect(status).toBe(201);
    return new Caller(house.root, String(body['api_key']));
  };
  const upload = async (agent: Caller): Promise<string> =>
    String(
      (
        await agent.post('/data-sources/connect', {
          type: 'csv_upload',
          credentials: { content: EVENTS },
          baseline_channels: ['direct', 'organic*'],
        })
      ).body['data_source_id'],
    );
  const analyse = async (agent: Caller, source: string, more: object = {}): Promise<Json> => {
    const { body } = await agent.post('/attribution', { data_source_id: source, date_range: DATE_RANGE, ...more });
    expect(body['status']).toBe('completed');
    return body;
  };
  /** Different questions about the same rows until they have recovered 1,000 USD; the last one carries it over. */
  const bringOver = async (agent: Caller): Promise<number> => {
    const source = await upload(agent);
    let cents = 0;
    for (let days = 30; cents < ACTIVE_FROM_CENTS; days -= 1)
      cents += Number((await analyse(agent, source, { model: 'markov', lookback_window_days: days }))['delta_r_cents']);
    return cents;
  };
  const profile = async (agent: Caller): Promise<Json> => (await agent.get('/agents/me')).body;
  const standing = async (agent: Caller) => {
    const { tier, active_referrals, referral_count, next_tier, rate_limits } = await profile(agent);
    return { tier, active_referrals, referral_count, next_tier, rate_limits };
  };
  const auditOf = async (agent: Caller, type: string): Promise<readonly Json[]> =>
    (await agent.get(`/audit/events?event_type=${type}`)).body['events'] as unknown as Json[];
  /** Resolves when everything that was recorded has been relayed. */
  const relayed = async (): Promise<void> => {
    while ((await owner.query('select from events.outbox where relayed_at is null')).rowCount !== 0)
      await sleep(POLL_MS);
  };
  const referralsOf = async (agent: Caller): Promise<readonly Record<string, unknown>[]> => {
    const { agent_uuid: id } = await profile(agent);
    return (
      await owner.query(
        `select chain_depth, status, accumulated_delta_r_cents::int as cents from agents.referrals where referrer_id ` +
          `= $1 order by chain_depth, created_at`,
        [id],
      )
    ).rows;
  };
  const tierMessages = (): readonly Received[] => receiver.received.filter(({ path }) => path === '/tiers');

  test(
    'five referred agents that recover 1,000 USD each make a partner of whoever referred them, once, and the next ' +
      'call is limited as a partner’s',
    async () => {
      expect(await standing(referrer)).toEqual({
        tier: 'discovery',
        active_referrals: 0,
        referral_count: 0,
        next_tier: { name: 'partner', referrals_needed: PARTNER_FROM },
        rate_limits: { requests_per_minute: 60, daily_limit: 10_000 },
      });
      const socket = new GraphSocket(house.root, referrer.key!);
      const changes = socket.watch<Readonly<Record<string, unknown>>>(
        `subscription { tierChanged { sequence kind progress stage previousTier tier activeReferrals rateLimits { ` +
          `requestsPerMinute dailyLimit } channelImpact { channel } trust { hreiScore } result { id tier } } }`,
      );
      expect(await changes.next()).toEqual({
        sequence: expect.any(Number),
        kind: 'PROGRESS',
        progress: 0,
        stage: 'watching',
        previousTier: null,
        tier: null,
        activeReferrals: null,
        rateLimits: null,
        channelImpact: null,
        trust: { hreiScore: 0 },
        result: null,
      });
      const referred = await Promise.all(Array.from({ length: PARTNER_FROM }, () => register(code)));
      for (const agent of referred.slice(0, -1)) await bringOver(agent);
      await relayed();
      expect(await standing(referrer)).toMatchObject({
        tier: 'discovery',
        active_referrals: PARTNER_FROM - 1,
        next_tier: { name: 'partner', referrals_needed: 1 },
      });
      expect(tierMessages()).toEqual([]);

      const cents = await bringOver(referred.at(-1)!);
      const [told] = await receiver.until(1, ({ path }) => path === '/tiers');
      const agentId = (await profile(referrer))['agent_id'];
      expect(told!.message).toMatchObject({
        type: 'agent.tier_changed',
        environment: 'live',
        data: {
          agent_id: agentId,
          previous_tier: 'discovery',
          tier: 'partner',
          active_referrals: PARTNER_FROM,
          rate_limits: { requests_per_minute: 120, daily_limit: 50_000 },
        },
      });
      expect(await changes.next()).toEqual({
        sequence: expect.any(Number),
        kind: 'RESULT',
        progress: 1,
        stage: 'agent.tier_changed',
        previousTier: 'DISCOVERY',
        tier: 'PARTNER',
        activeReferrals: PARTNER_FROM,
        rateLimits: { requestsPerMinute: 120, dailyLimit: 50_000 },
        channelImpact: null,
        trust: { hreiScore: 0 },
        result: { id: agentId, tier: 'PARTNER' },
      });
      await socket.close();
      const next: Answer = await referrer.get('/agents/me');
      expect(next.headers.get('ratelimit-policy')).toBe('"minute";q=120;w=60, "day";q=50000;w=86400');
      expect(await standing(referrer)).toEqual({
        tier: 'partner',
        active_referrals: PARTNER_FROM,
        referral_count: PARTNER_FROM,
        next_tier: { name: 'ambassador', referrals_needed: 15 },
        rate_limits: { requests_per_minute: 120, daily_limit: 50_000 },
      });

      const activated = await auditOf(referrer, 'referral.activated');
      expect(activated).toHaveLength(PARTNER_FROM);
      expect(activated[0]).toMatchObject({
        severity: 'info',
        actor: { type: 'system', id: null },
        target: { type: 'agent', id: (await profile(referred.at(-1)!))['agent_id'] },
        outcome: 'success',
        environment: 'live',
        details: { chain_depth: 1, accumulated_delta_r_cents: cents },
      });
      expect(await auditOf(referrer, 'agent.tier_changed')).toEqual([
        expect.objectContaining({
          severity: 'info',
          target: { type: 'agent', id: agentId },
          details: { previous_tier: 'discovery', tier: 'partner', active_referrals: PARTNER_FROM },
        }),
      ]);

      // One more changes nothing but the count.
      await bringOver(await register(code));
      await relayed();
      expect(await standing(referrer)).toMatchObject({ tier: 'partner', active_referrals: PARTNER_FROM + 1 });
      expect(tierMessages()).toHaveLength(1);

      const { body } = await referrer.get('/referrals?status=active');
      expect(body).toMatchObject({
        total_active: PARTNER_FROM + 1,
        total_pending: 0,
        total_churned: 0,
        meta: { total: PARTNER_FROM + 1 },
      });
      const listed = (body['referrals'] as unknown as Json[]).find(
        ({ referred_agent_id: id }) => id === activated[0]!['target']!['id'],
      );
      expect(listed).toEqual({
        referred_agent_id: expect.any(String),
        referred_agent_name: 'referred-agent',
        status: 'active',
        chain_depth: 1,
        accumulated_delta_r: cents / 100,
        activation_progress: 1,
        // Fees from the one on that made it active: test/stories/commissions.test.ts.
        commission_earned: expect.any(Number),
        created_at: expect.any(String),
        activated_at: expect.any(String),
        expires_at: expect.any(String),
      });
      const [activatedAt, expiresAt] = [
        new Date(String(listed!['activated_at'])),
        new Date(String(listed!['expires_at'])),
      ];
      expect(expiresAt.getUTCFullYear() - activatedAt.getUTCFullYear()).toBe(1);
      // A leap day ends with February.
      expect(expiresAt.toISOString().slice(4)).toBe(
        activatedAt
          .toISOString()
          .slice(4)
          .replace(/^-02-29/, '-02-28'),
      );
      expect((await referrer.get(`/agents/${String(agentId)}/referrals?per_page=2`)).body).toMatchObject({
        meta: { total: PARTNER_FROM + 1, per_page: 2 },
        total_active: PARTNER_FROM + 1,
      });
      expect((await (await withTestKey(house, referrer)).get('/referrals')).body).toMatchObject({
        referrals: [],
        total_active: 0,
        meta: { total: 0 },
      });
    },
  );

  test('an analysis counts once: not again on its rows, as a revision, in the sandbox or without figures', async () => {
    const patron = await Caller.register(house.root);
    const agent = await register(String((await profile(patron))['referral_code']));
    const source = await upload(agent);
    const first = await analyse(agent, source, { model: 'markov', auto_refresh: true });
    const counted = [{ chain_depth: 1, status: 'pending', cents: Number(first['delta_r_cents']) }];
    expect(counted[0]!.cents).toBeGreaterThan(0);
    expect(counted[0]!.cents).toBeLessThan(ACTIVE_FROM_CENTS);
    await relayed();
    expect(await referralsOf(patron)).toEqual(counted);

    const again = await analyse(agent, source, { model: 'markov' });
    expect(again['delta_r_cents']).toBe(first['delta_r_cents']);
    await analyse(await withTestKey(house, agent), 'ds_sandbox_shopify', { date_range: ['2026-06-01', '2026-06-30'] });
    expect(
      (await agent.post('/attribution', { data_source_id: source, date_range: ['2026-06-01', '2026-06-30'] })).body[
        'status'
      ],
    ).toBe('failed');
    const late =
      'user_id,timestamp,channel,campaign,cost,conversion,revenue\n' +
      'late1,2025-03-01T09:00:00Z,email,,0,0,\n' +
      'late1,2025-03-01T10:00:00Z,,,0,1,50000.00\n';
    expect(
      (await agent.send('POST', `/data-sources/${source}/records`, late, { 'content-type': 'text/csv' })).status,
    ).toBe(202);
    while (Number((await agent.get(`/attribution/${String(first['id'])}`)).body['revision']) < 2) await sleep(POLL_MS);
    await relayed();
    expect(await referralsOf(patron)).toEqual(counted);
  });

  test('a referral reaches two steps, and the second counts for nobody’s tier', async () => {
    const [top, middle] = [await Caller.register(house.root), await Caller.register(house.root)];
    const second = await register(String((await profile(top))['referral_code']));
    const third = await register(String((await profile(second))['referral_code']));
    const fourth = await register(String((await profile(third))['referral_code']));
    const cents = await bringOver(fourth);
    await relayed();
    expect(await referralsOf(top)).toEqual([
      { chain_depth: 1, status: 'pending', cents: 0 },
      { chain_depth: 2, status: 'pending', cents: 0 },
    ]);
    expect(await referralsOf(second)).toEqual([
      { chain_depth: 1, status: 'pending', cents: 0 },
      { chain_depth: 2, status: 'active', cents },
    ]);
    expect(await referralsOf(third)).toEqual([{ chain_depth: 1, status: 'active', cents }]);
    expect(await referralsOf(middle)).toEqual([]);
    expect(await standing(second)).toMatchObject({ active_referrals: 0 });
    expect(await standing(third)).toMatchObject({ active_referrals: 1 });
    expect((await auditOf(second, 'referral.activated')).map(({ details }) => details)).toEqual([
      { chain_depth: 2, accumulated_delta_r_cents: cents },
    ]);
    expect(await auditOf(top, 'referral.activated')).toEqual([]);
    const depths = async (query: string): Promise<unknown> =>
      ((await second.get(`/referrals?${query}`)).body['referrals'] as unknown as Json[]).map(
        ({ chain_depth: depth, status, activation_progress: progress }) => [depth, status, progress],
      );
    expect(await depths('')).toEqual([
      [2, 'active', 1],
      [1, 'pending', 0],
    ]);
    expect(await depths('depth=1')).toEqual([[1, 'pending', 0]]);
    expect(await depths('depth=2&status=pending')).toEqual([]);
    for (const path of [
      `/agents/${String((await profile(third))['agent_id'])}/referrals`,
      '/agents/agent_0351EFSwMCuWsp5CADuBq8/referrals',
      '/agents/nobody/referrals',
    ])
      expect((await second.get(path)).status).toBe(404);
    expect((await second.get('/referrals?depth=3')).body['error']).toMatchObject({
      type: 'validation_error',
      param: 'query:depth',
    });
  });

  test('an account without an agent has none, and nobody there is me', async () => {
    const accountId = newUuid();
    const key = await house.backing.database.asTenant(accountId, async (em) => {
      await createAccount(em, { accountId, operatorId: randomUUID(), operatorEmail: null });
      return house.keys.issue(em, { accountId, agentId: null, kind: 'svc_live_sk', bond: UNBOUND });
    });
    const people = new Caller(house.root, key);
    expect(await people.get('/referrals')).toMatchObject({ status: 200, body: { referrals: [], meta: { total: 0 } } });
    expect(await people.get('/agents/me/referrals')).toMatchObject({
      status: 404,
      body: {
        error: { type: 'resource_not_found', message: 'This key is bound to no agent. Use the key of the agent.' },
      },
    });
    expect((await referrer.get('/agents/me/referrals')).status).toBe(200);
  });

  test('others see neither the count nor what is next', async () => {
    const { agent_id: id } = await profile(referrer);
    const stranger = await Caller.register(house.root);
    expect((await stranger.get(`/agents/${String(id)}`)).body).toEqual(expect.objectContaining({ tier: 'partner' }));
    expect((await stranger.get(`/agents/${String(id)}`)).body).not.toHaveProperty('active_referrals');
    const { data } = await stranger.graphql(
      'query ($id: ID!) { agent(id: $id) { tier activeReferrals nextTier { name } } }',
      { id },
    );
    expect(data).toEqual({ agent: { tier: 'PARTNER', activeReferrals: null, nextTier: null } });
  });
});
