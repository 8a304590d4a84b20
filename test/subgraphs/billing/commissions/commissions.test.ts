import { ACTIVE_FROM_CENTS } from '../../../../subgraphs/agents/referrals/accrue-referrals.ts';
import { newUuid } from '../../../../platform/identifiers.ts';
import { openEconomy, shown, type Economy, type Member } from '../economy.ts';

let economy: Economy;
beforeAll(async () => {
  economy = await openEconomy();
});
afterEach(() => economy.clock.run());
afterAll(() => economy?.close());

const earned = async (member: Member) =>
  (await economy.commissions(member)).map(({ type, cents, rate }) => [type, cents, rate]);

test('an agent earns 20 % of the fees of brands that it serves, and nothing of its own account’s', async () => {
  const [brand, agent] = [await economy.brand(), await economy.agent()];
  await economy.analyse(brand, agent, 1_872_970);
  await economy.analyse(brand, agent, 0);
  await economy.analyse(agent.accountId, agent, 1_000_000);
  await economy.analyse(brand, null, 1_000_000);
  // 93,649 cents of fee, and the floor of 10.
  expect(await earned(agent)).toEqual([
    ['brand_serving', 18_730, 2_000],
    ['brand_serving', 2, 2_000],
  ]);
  expect(await economy.balance(agent.accountId, 'payable')).toBe(-18_732n);
});

test('what costs nothing earns nothing: repetitions, other plans, failures, the sandbox, a second event', async () => {
  const [brand, agent] = [await economy.brand(), await economy.agent()];
  const same = { id: newUuid(), inputDigest: 'sha256:same' };
  await economy.analyse(brand, agent, 100_000, same);
  await economy.analyse(brand, agent, 100_000, same);
  await economy.analyse(brand, agent, 100_000, { inputDigest: same.inputDigest });
  await economy.analyse(brand, agent, 100_000, { environment: 'sandbox' });
  await economy.analyse(brand, agent, 100_000, { data: { status: 'failed', delta_r_cents: null } });
  for (const plan of ['pro', 'enterprise', 'self_hosted'] as const)
    await economy.analyse(await economy.brand(plan), agent, 100_000);
  expect(await earned(agent)).toEqual([['brand_serving', 1_000, 2_000]]);
});

test('the same analysis in the name of many agents makes one referral active', async () => {
  const referrer = await economy.agent();
  const brand = await economy.brand();
  const names = await Promise.all(Array.from({ length: 6 }, () => economy.agent(referrer)));
  const same = { inputDigest: 'sha256:farmed' };
  await Promise.all(names.map((agent) => economy.analyse(brand, agent, ACTIVE_FROM_CENTS, same)));
  const { rows } = await economy.owner.query<{ status: string; cents: string }>(
    `select status, accumulated_delta_r_cents as cents from agents.referrals where referrer_id = $1 order by status`,
    [referrer.agentId],
  );
  expect(rows.map(({ status, cents }) => [status, Number(cents)])).toEqual([
    ['active', ACTIVE_FROM_CENTS],
    ...Array.from({ length: 5 }, () => ['pending', 0]),
  ]);
});

test('referrers earn from the analysis on that made the referral active, two steps up, by their tier', async () => {
  const first = await economy.agent();
  const second = await economy.agent(first);
  const third = await economy.agent(second);
  const brand = await economy.brand();
  await economy.analyse(brand, third, ACTIVE_FROM_CENTS - 1);
  expect([await earned(second), await earned(first)]).toEqual([[], []]);
  await economy.analyse(brand, third, 20_001);
  // The fee of 1,000 cents; the earlier one never earns.
  expect(await earned(second)).toEqual([['l1_referral', 100, 1_000]]);
  expect(await earned(first)).toEqual([['l2_referral', 20, 200]]);
  // On its own account an agent is its referrer's customer all the same.
  await economy.analyse(third.accountId, third, 20_000);
  expect(await earned(second)).toHaveLength(2);
  expect((await earned(third)).map(([type]) => type)).toEqual(['brand_serving', 'brand_serving']);
});

test('the rate of an entry is that of the tier which the referrer has then, also by the same analysis', async () => {
  const referrer = await economy.agent();
  const referred: Member[] = [];
  for (let number = 0; number < 5; number += 1) referred.push(await economy.agent(referrer));
  for (const agent of referred) await economy.analyse(agent.accountId, agent, ACTIVE_FROM_CENTS);
  // The fifth makes it a partner. What was earned before stays as it was.
  expect((await earned(referrer)).map(([, , rate]) => rate)).toEqual([1_000, 1_000, 1_000, 1_000, 1_200]);
});

test('a referral earns for twelve months', async () => {
  const referrer = await economy.agent();
  const agent = await economy.agent(referrer);
  await economy.clock.stop();
  await economy.analyse(agent.accountId, agent, ACTIVE_FROM_CENTS);
  for (const month of [2, 4, 6, 8, 10]) {
    await economy.clock.stop(`${month} months`);
    await economy.analyse(agent.accountId, agent, 0);
  }
  await economy.clock.stop('12 months -1 minutes');
  await economy.analyse(agent.accountId, agent, 20_000);
  expect(await earned(referrer)).toHaveLength(7);
  await economy.clock.stop('12 months 1 minutes');
  await economy.analyse(agent.accountId, agent, 20_000);
  expect(await earned(referrer)).toHaveLength(7);
});

test('what is taken back is appended, once, and only as far as it is younger than 90 days', async () => {
  const referrer = await economy.agent();
  const [gone, stays] = [await economy.agent(referrer), await economy.agent(referrer)];
  await economy.clock.stop();
  for (const agent of [gone, stays]) await economy.analyse(agent.accountId, agent, ACTIVE_FROM_CENTS);
  await economy.clock.stop('40 days');
  await economy.analyse(gone.accountId, gone, 20_000);
  await economy.clock.stop('91 days');
  await economy.setStatus(gone, 'suspended');
  await economy.churn();
  expect(await economy.churn()).toBe(0);
  const entries = await economy.commissions(referrer);
  expect(entries.map(({ type, cents, source }) => [type, cents, source === gone.agentId])).toEqual([
    ['l1_referral', 500, true],
    ['l1_referral', 500, false],
    ['l1_referral', 100, true],
    ['clawback', -100, true],
  ]);
  expect(entries[3]).toMatchObject({ reverses: entries[2]!.id });
  expect(await economy.balance(referrer.accountId, 'payable')).toBe(-1_000n);
});

test('the outbox and the audit log tell of every entry, with its hash', async () => {
  const [brand, agent] = [await economy.brand(), await economy.agent()];
  await economy.analyse(brand, agent, 1_872_970);
  const { rows: told } = await economy.owner.query(
    `select type, subject, data -> 'commission' as entry from events.outbox where account_id = $1`,
    [agent.accountId],
  );
  expect(told).toEqual([
    {
      type: 'commission.earned',
      subject: shown(agent),
      entry: expect.objectContaining({ agent_id: shown(agent), amount_cents: 18_730, rate: 0.2, sequence: 1 }),
    },
  ]);
  const { rows: logged } = await economy.owner.query(
    `select body -> 'details' as details from events.told_audit_events where body -> 'details' ->> 'agent_id' = $1`,
    [shown(agent)],
  );
  expect(logged).toEqual([
    { details: expect.objectContaining({ sequence: 1, ledger_hash: told[0].entry.ledger_hash, amount_cents: 18_730 }) },
  ]);
});
