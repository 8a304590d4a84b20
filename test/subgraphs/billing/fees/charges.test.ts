import fc from 'fast-check';
import { platformFeeCents } from '../../../../schema/platform-fee.ts';
import { PLANS, type Plan } from '../../../../schema/principal.ts';
import type { RecordedEvent } from '../../../../services/events/outbox.ts';
import { newUuid, type Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount } from '../../../../platform/postgres/database.ts';
import { charge, feeAhead } from '../../../../subgraphs/billing/fees/charge.ts';
import { chargeAnalyses } from '../../../../subgraphs/billing/fees/charge-analyses.ts';
import { feeOn } from '../../../../subgraphs/billing/fees/fee.ts';
import { sized } from '../../../run-length.ts';
import { ended, openBooks, type Books, type Charge, type Ending } from './books.ts';

const HISTORIES = sized({ short: 20, long: 500 });

let books: Books;
beforeAll(async () => {
  books = await openBooks();
});
afterAll(() => books?.close());

/** What relaying the event does, in one transaction. */
async function consume(accountId: Uuid, ending: Ending = {}, more: Partial<RecordedEvent> = {}): Promise<Uuid> {
  const { id, ...event } = ended(accountId, ending);
  const recorded = { ...event, eventId: newUuid(), sequence: 1, position: 1, occurredAt: new Date() };
  await books.database.asTenant(wholeAccount(event), (em) =>
    chargeAnalyses(em, { ...recorded, workspaceId: event.workspaceId ?? null, ...more }),
  );
  return id;
}
const ahead = (accountId: Uuid, deltaRCents: number, inputDigest: string | null = null, id = newUuid()) =>
  books.database.asTenant(wholeAccount({ accountId, environment: 'live' }), (em) =>
    feeAhead(em, { id, accountId, environment: 'live', deltaRCents: BigInt(deltaRCents), inputDigest }),
  );

test('each plan has its fee: 5 % with a floor for pay_per_analysis, nothing for all others', () => {
  expect(
    (['sandbox', 'pro_trial', ...PLANS] as const).filter((plan) =>
      [0n, 1_000_000n].some((delta) => feeOn(plan, delta) > 0n),
    ),
  ).toEqual(['pay_per_analysis']);
  expect([0n, 210n, 1_872_970n].map((delta) => feeOn('pay_per_analysis', delta))).toEqual([10n, 11n, 93_649n]);
});

test.each(PLANS)('a completed live analysis is charged by the plan %s that its account is on', async (plan) => {
  const account = await books.open(plan);
  expect(await ahead(account, 1_872_970)).toEqual(
    plan === 'pay_per_analysis' ? { platformFeeCents: 93_649, billed: null } : { platformFeeCents: 0, billed: false },
  );
  const analysis = await consume(account, { deltaRCents: 1_872_970 });
  const fee = plan === 'pay_per_analysis' ? 93_649n : 0n;
  expect(await books.charges(account)).toEqual([{ analysis, plan, delta: 1_872_970n, fee, repeats: null }]);
});

test('what failed, the sandbox, revisions and other events cost nothing', async () => {
  const account = await books.open('pay_per_analysis');
  await consume(account, { deltaRCents: 5_000, environment: 'sandbox' });
  await consume(account, { deltaRCents: null, data: { status: 'failed' } });
  await consume(account, { deltaRCents: 5_000, data: { status: 'failed' } });
  await consume(account, { deltaRCents: 5_000 }, { type: 'attribution.updated' });
  expect(await books.charges(account)).toEqual([]);
});

test('an event that comes twice charges once, whatever the plan is by then', async () => {
  const account = await books.open('pay_per_analysis');
  const ending = { id: newUuid(), deltaRCents: 5_000, inputDigest: null };
  await consume(account, ending);
  await books.change(account, 'pro');
  await consume(account, ending);
  await consume(account, { ...ending, deltaRCents: 70_000 });
  expect(await books.charges(account)).toMatchObject([{ analysis: ending.id, fee: 250n, plan: 'pay_per_analysis' }]);
  // What it was charged is what it costs from then on.
  expect(await ahead(account, 70_000, null, ending.id)).toEqual({ platformFeeCents: 250, billed: null });
});

test('of equal analyses of an account the first is charged, also when all complete at once', async () => {
  const [account, other] = [await books.open('pay_per_analysis'), await books.open('pay_per_analysis')];
  const same = { deltaRCents: 5_000, inputDigest: 'sha256:a' };
  await Promise.all(Array.from({ length: 12 }, () => consume(account, same)));
  const charges = await books.charges(account);
  const first = charges.find(({ repeats }) => repeats === null);
  expect(charges).toHaveLength(12);
  expect(first).toMatchObject({ fee: 250n });
  for (const repetition of charges.filter((each) => each !== first))
    expect(repetition).toMatchObject({ fee: 0n, repeats: first!.analysis });
  expect(await ahead(account, 5_000, 'sha256:a')).toEqual({ platformFeeCents: 0, billed: false });
  expect(await ahead(account, 5_000, 'sha256:b')).toEqual({ platformFeeCents: 250, billed: null });
  // Whose question it was is somebody else's business, and what could not be measured is no repetition.
  await consume(other, same);
  expect(await books.charges(other)).toMatchObject([{ fee: 250n, repeats: null }]);
  for (let time = 0; time < 2; time += 1) await consume(other, { deltaRCents: 5_000, inputDigest: null });
  expect((await books.charges(other)).map(({ fee }) => fee)).toEqual([250n, 250n, 250n]);
});

test('whatever happens in whatever order, the table is what the rules make of it', async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ digest: fc.constantFrom('1', '2', '3', null), cents: fc.maxSafeNat() }) },
    { weight: 1, arbitrary: fc.record({ plan: fc.constantFrom(...PLANS) }) },
    { weight: 1, arbitrary: fc.record({ again: fc.nat(20) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (story) => {
      let plan: Plan = 'pay_per_analysis';
      const account = await books.open(plan);
      const expected: Charge[] = [];
      const firsts = new Map<string, Uuid>();
      const endings: { id: Uuid; deltaRCents: number; inputDigest: string | null }[] = [];
      for (const each of story) {
        if ('plan' in each) await books.change(account, (plan = each.plan));
        else if ('again' in each) {
          if (endings.length > 0) await consume(account, endings[each.again % endings.length]!);
        } else {
          const ending = { id: newUuid(), deltaRCents: each.cents, inputDigest: each.digest };
          endings.push(ending);
          await consume(account, ending);
          const [delta, repeats] = [BigInt(each.cents), firsts.get(each.digest ?? '') ?? null];
          const fee = plan === 'pay_per_analysis' && repeats === null ? platformFeeCents(delta) : 0n;
          if (each.digest !== null && repeats === null) firsts.set(each.digest, ending.id);
          expected.push({ analysis: ending.id, plan, delta, fee, repeats });
        }
      }
      const byId = (charges: readonly Charge[]) => charges.toSorted((a, b) => (a.analysis < b.analysis ? -1 : 1));
      expect(byId(await books.charges(account))).toEqual(byId(expected));
    }),
    { numRuns: HISTORIES },
  );
});

test('what is rolled back has charged nobody', async () => {
  const account = await books.open('pay_per_analysis');
  const analysis = { id: newUuid(), accountId: account, deltaRCents: 5_000n, inputDigest: null };
  const details = { workspaceId: null, agentId: null, currency: 'USD', model: 'causal' };
  const failing = books.database.asTenant(wholeAccount({ accountId: account, environment: 'live' }), async (em) => {
    await charge(em, analysis, details);
    throw new Error('the process died');
  });
  await expect(failing).rejects.toThrow('the process died');
  expect(await books.charges(account)).toEqual([]);
});

test('nobody changes or removes a charge, and nobody sees or makes those of others', async () => {
  const [account, other] = [await books.open('pay_per_analysis'), await books.open('pay_per_analysis')];
  const workspaceId = newUuid();
  await consume(account, { deltaRCents: 5_000, workspaceId });
  const before = await books.charges(account);
  const statements = [
    'update billing.charges set fee_cents = 0',
    'delete from billing.charges',
    'truncate billing.charges',
  ];
  const acting = (accountId: Uuid, workspace: { id: Uuid } | null, sql: string) =>
    books.database.asTenant({ accountId, environment: 'live', workspace }, (em) => em.execute<object[]>(sql));
  for (const statement of statements) {
    await expect(acting(account, null, statement)).rejects.toThrow('permission denied');
    await expect(
      books.owner.query(`${statement}${statement.startsWith('truncate') ? ' cascade' : ''}`),
    ).rejects.toThrow('charges are never changed or removed');
  }
  expect(await books.charges(account)).toEqual(before);
  const insert = `insert into billing.charges (analysis_id, account_id, delta_r_cents, fee_cents) values
    ('${newUuid()}', '${account}', 0, 10)`;
  await expect(acting(other, null, insert)).rejects.toThrow('row-level security');
  const read = 'select analysis_id from billing.charges';
  expect(await acting(other, null, read)).toEqual([]);
  expect(await acting(account, { id: newUuid() }, read)).toEqual([]);
  expect(await acting(account, { id: workspaceId }, read)).toHaveLength(1);
  expect(await acting(account, null, read)).toHaveLength(1);
});

test('an agent has to its credit what it recovered, each question once, and nothing of who hosts himself', async () => {
  const [brand, host] = [await books.open('pay_per_analysis'), await books.open('self_hosted')];
  const [pro, agentId] = [await books.open('pro'), newUuid()];
  const recovered = async () =>
    (
      await books.database.ask<{ total: string }>({
        name: 'recovered',
        text: 'select billing.recovered($1) as total',
        values: [agentId],
      })
    )[0]!.total;
  const same = { deltaRCents: 1_000, inputDigest: 'sha256:x', agentId };
  for (const account of [brand, brand, host, pro]) await consume(account, same);
  expect(await recovered()).toBe('1000');
  await consume(pro, { deltaRCents: 30, agentId });
  await consume(brand, { deltaRCents: 2, inputDigest: null, agentId });
  await consume(host, { deltaRCents: 50_000, agentId });
  await consume(brand, { deltaRCents: 70_000 });
  expect(await recovered()).toBe('1032');
  await consume(brand, { deltaRCents: Number.MAX_SAFE_INTEGER, agentId });
  expect(await recovered()).toBe(String(Number.MAX_SAFE_INTEGER));
});
