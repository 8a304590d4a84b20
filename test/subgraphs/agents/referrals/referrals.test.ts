import fc from 'fast-check';
import { tierOf, TIER_TABLES, type TierTable } from '../../../../services/identity/limits/tiers.ts';
import { newUuid } from '../../../../platform/identifiers.ts';
import { ACTIVE_FROM_CENTS } from '../../../../subgraphs/agents/referrals/accrue-referrals.ts';
import { churnReferrals, IDLE_DAYS } from '../../../../subgraphs/agents/referrals/churn-referrals.ts';
import { FrozenClock } from '../../../frozen-clock.ts';
import { openRegistry, type Registered, type Registry } from './registry.ts';

const AMBASSADOR_FROM = 20;
const RUNS = 15;

let registry: Registry;
let clock: FrozenClock;

beforeAll(async () => {
  registry = await openRegistry();
  clock = new FrozenClock(registry.ownerUrl);
});
afterEach(() => clock.run());
afterAll(() => registry?.close());

const registerMany = (count: number, referrer: Registered): Promise<Registered[]> =>
  Promise.all(Array.from({ length: count }, () => registry.register(referrer)));
const activate = (agent: Registered, table?: TierTable): Promise<void> =>
  registry.consume(registry.analysis(agent, ACTIVE_FROM_CENTS), table);
const churn = (tierTable: TierTable = 'three'): Promise<number> =>
  churnReferrals(registry.database, { pubSub: registry.pubSub, tierTable, ended: async () => undefined });
const close = (agent: Registered): Promise<unknown> =>
  registry.owner.query(`update agents.agents set status = 'closed' where id = $1`, [agent.agentId]);
const referralOf = async (agent: Registered): Promise<Readonly<Record<string, unknown>>> =>
  (
    await registry.owner.query(
      `select status, accumulated_delta_r_cents::int as cents, activated_at, churned_at from agents.referrals where ` +
        `referred_id = $1 and chain_depth = 1`,
      [agent.agentId],
    )
  ).rows[0] as Record<string, unknown>;

test('of many activations at once none is missed: each threshold is told once, with the count past it', async () => {
  const referrer = await registry.register();
  const referred = await registerMany(AMBASSADOR_FROM, referrer);
  await Promise.all(referred.map((agent) => activate(agent)));
  expect(await registry.standing(referrer)).toEqual({
    tier: 'ambassador',
    accountTier: 'ambassador',
    active: AMBASSADOR_FROM,
    changes: [
      ['discovery', 'partner', 5],
      ['partner', 'ambassador', 20],
    ],
  });
});

test('a referral is active from 1,000 USD on, to the cent', async () => {
  const agent = await registry.register(await registry.register());
  await registry.consume(registry.analysis(agent, ACTIVE_FROM_CENTS - 1));
  expect(await referralOf(agent)).toMatchObject({
    status: 'pending',
    cents: ACTIVE_FROM_CENTS - 1,
    activated_at: null,
  });
  await registry.consume(registry.analysis(agent, 0));
  expect(await referralOf(agent)).toMatchObject({ status: 'pending' });
  await registry.consume(registry.analysis(agent, 1));
  expect(await referralOf(agent)).toMatchObject({
    status: 'active',
    cents: ACTIVE_FROM_CENTS,
    activated_at: expect.any(Date),
  });
});

test('recovered revenue adds up to the largest number that is exact, and no further', async () => {
  const agent = await registry.register(await registry.register());
  for (let analysis = 0; analysis < 2; analysis += 1)
    await registry.consume(registry.analysis(agent, Number.MAX_SAFE_INTEGER));
  const { rows } = await registry.owner.query<{ cents: string }>(
    `select accumulated_delta_r_cents as cents from agents.referrals where referred_id = $1`,
    [agent.agentId],
  );
  expect(rows).toEqual([{ cents: String(Number.MAX_SAFE_INTEGER) }]);
});

test('an analysis counts once, however often and wherever its event is relayed; of equal ones the first', async () => {
  const agent = await registry.register(await registry.register());
  const event = registry.analysis(agent, 600, { inputDigest: 'sha256:a' });
  await Promise.all(Array.from({ length: 8 }, () => registry.consume(event)));
  await registry.consume(registry.analysis(agent, 600, { inputDigest: 'sha256:a' }));
  expect(await referralOf(agent)).toMatchObject({ cents: 600 });
  await registry.consume(registry.analysis(agent, 30, { inputDigest: 'sha256:b' }));
  expect(await referralOf(agent)).toMatchObject({ cents: 630 });
});

test('the sandbox, what failed, other events, and agents whom nobody referred count for nothing', async () => {
  const [referrer, stranger] = [await registry.register(), await registry.register()];
  const agent = await registry.register(referrer);
  await registry.consume(registry.analysis(agent, 1_000_000, { environment: 'sandbox' }));
  await registry.consume(registry.analysis(stranger, 1_000_000));
  const completed = registry.analysis(agent, 1_000_000);
  await registry.consume({ ...completed, type: 'attribution.updated' });
  await registry.consume({ ...completed, data: { ...completed.data, status: 'failed', delta_r_cents: null } });
  await registry.consume({ ...completed, data: { ...completed.data, agent_id: null } });
  expect(await referralOf(agent)).toMatchObject({ status: 'pending', cents: 0 });
  expect(
    (
      await registry.owner.query('select from agents.referral_accruals where agent_id = any($1)', [
        [agent.agentId, stranger.agentId],
      ])
    ).rowCount,
  ).toBe(0);
});

test('an analysis that an account ran for itself, on the plan self_hosted, counts for nothing', async () => {
  const agent = await registry.register(await registry.register());
  const change = (plan: string) =>
    registry.owner.query('update auth.accounts set plan = $2 where account_id = $1', [agent.accountId, plan]);
  await change('self_hosted');
  await registry.consume(registry.analysis(agent, ACTIVE_FROM_CENTS));
  expect(await referralOf(agent)).toMatchObject({ status: 'pending', cents: 0 });
  await change('pro');
  await registry.consume(registry.analysis(agent, 7));
  expect(await referralOf(agent)).toMatchObject({ status: 'pending', cents: 7 });
});

test('what is rolled back has counted for nobody', async () => {
  const referrer = await registry.register();
  const [last, ...others] = await registerMany(5, referrer);
  for (const agent of others) await activate(agent);
  const event = registry.analysis(last!, ACTIVE_FROM_CENTS);
  await registry.owner.query(
    `create function events.refuse() returns trigger language plpgsql as $$ begin raise exception 'the disk is ` +
      `full'; end $$; create trigger refuse before insert on events.outbox for each row execute function ` +
      `events.refuse()`,
  );
  await expect(registry.consume(event)).rejects.toThrow('the disk is full');
  await registry.owner.query('drop function events.refuse() cascade');
  expect(await referralOf(last!)).toMatchObject({ status: 'pending', cents: 0 });
  expect(await registry.standing(referrer)).toMatchObject({ tier: 'discovery', accountTier: 'discovery', changes: [] });
  await registry.consume(event);
  expect(await registry.standing(referrer)).toMatchObject({
    tier: 'partner',
    accountTier: 'partner',
    changes: [['discovery', 'partner', 5]],
  });
});

test(
  `an agent that is quiet for ${IDLE_DAYS} days is gone, by the clock of the database, and takes the tier with ` +
    `it; one analysis keeps it`,
  async () => {
    const referrer = await registry.register();
    const referred = await registerMany(6, referrer);
    await clock.stop();
    for (const agent of referred) await activate(agent);
    await clock.stop(`${IDLE_DAYS - 1} days 23 hours`);
    await churn();
    expect(await registry.standing(referrer)).toMatchObject({ tier: 'partner', active: 6 });
    for (const agent of referred.slice(0, 4)) await registry.consume(registry.analysis(agent, 0));
    await clock.stop(`${IDLE_DAYS} days 1 hour`);
    await churn();
    expect(await registry.standing(referrer)).toEqual({
      tier: 'discovery',
      accountTier: 'discovery',
      active: 4,
      changes: [
        ['discovery', 'partner', 5],
        ['partner', 'discovery', 4],
      ],
    });
    expect(await referralOf(referred[5]!)).toMatchObject({ status: 'churned', churned_at: expect.any(Date) });
    expect(await churn()).toBe(0);
    // Gone is gone: whoever comes back is not a new referral.
    await activate(referred[5]!);
    expect(await referralOf(referred[5]!)).toMatchObject({ status: 'churned', cents: ACTIVE_FROM_CENTS });
  },
);

test('nobody sees the referrals of others, and the application writes none by itself', async () => {
  const referrer = await registry.register();
  const agent = await registry.register(referrer);
  await activate(agent);
  const seenBy = ({ accountId }: Registered) =>
    registry.database.asTenant(accountId, (em) => em.execute(`select referred_id from agents.referrals`));
  expect(await seenBy(referrer)).toEqual([{ referred_id: agent.agentId }]);
  expect(await seenBy(agent)).toEqual([]);
  expect(await seenBy(await registry.register())).toEqual([]);
  for (const statement of [
    `update agents.referrals set status = 'active', activated_at = now()`,
    `delete from agents.referral_accruals`,
    `insert into agents.referral_accruals values ('${newUuid()}', '${referrer.accountId}', '${agent.agentId}', 1, ` +
      `null, now())`,
  ]) {
    await expect(registry.database.asTenant(referrer.accountId, (em) => em.execute(statement))).rejects.toThrow(
      'permission denied',
    );
  }
  // Another tenant cannot end what is not its own.
  await close(agent);
  const churned = await registry.database.asTenant(agent.accountId, (em) =>
    em.execute(`select * from agents.churn_referrals(?, ?)`, [referrer.agentId, IDLE_DAYS]),
  );
  expect(churned).toEqual([]);
  expect(await churn()).toBeGreaterThan(0);
});

test(
  'in whatever order and company referrals become active and end, the tier is that of their number, and each ' +
    'change begins where the last one ended',
  async () => {
    const referred = 24;
    const step = fc.record({
      agent: fc.nat(referred - 1),
      kind: fc.constantFrom('activate', 'activate', 'activate', 'close'),
    });
    const batches = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...TIER_TABLES), batches, async (table, story) => {
        const referrer = await registry.register();
        const agents = await registerMany(referred, referrer);
        for (const batch of story) {
          await Promise.all(
            batch.map(async ({ agent, kind }) => {
              if (kind === 'activate') return activate(agents[agent]!, table);
              await close(agents[agent]!);
              await churn(table);
            }),
          );
          const { tier, accountTier, active, changes } = await registry.standing(referrer);
          expect([tier, accountTier]).toEqual([tierOf(table, active), tierOf(table, active)]);
          expect(changes.map(([from]) => from)).toEqual(
            ['discovery', ...changes.map(([, to]) => to)].slice(0, changes.length),
          );
          expect(changes.at(-1)?.[1] ?? 'discovery').toBe(tier);
          for (const [from, to, count] of changes) expect([to, from === to]).toEqual([tierOf(table, count), false]);
        }
      }),
      { numRuns: RUNS },
    );
  },
);
