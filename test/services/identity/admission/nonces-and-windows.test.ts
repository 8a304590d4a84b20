import { randomUUID } from 'node:crypto';
import type { PostgresAdmission } from '../../../../services/identity/admission/postgres-admission.ts';
import { generateApiKey } from '../../../../services/identity/keys/api-key.ts';
import type { Database, Pressure, Question } from '../../../../platform/postgres/database.ts';
import type { ProblemError } from '../../../../schema/problems.ts';
import { KeyedAccounts, arrival, type Issued } from './keyed-accounts.ts';

let accounts: KeyedAccounts;

beforeAll(async () => {
  accounts = await KeyedAccounts.open();
});

afterAll(() => accounts?.close());

describe('nonces', () => {
  const principalOf = async ({ key }: Issued) => (await accounts.admission.admit(arrival(key))).principal;

  test('of two hundred parallel uses of one nonce exactly one passes', async () => {
    const principal = await principalOf(await accounts.issueKey());
    const nonce = randomUUID();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, () => accounts.admission.consumeNonce(principal, '127.0.0.1', nonce)),
    );
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ type: 'duplicate_nonce' });
  });

  test(
    'of two processes that use the same nonces in different orders at the same time, each passes for one, and ' +
      'none is stuck',
    async () => {
      const line = await accounts.secondPool();
      const elsewhere = accounts.admissionWith({ database: line });
      const nonces = Array.from({ length: 150 }, () => randomUUID());
      const use = (by: PostgresAdmission, order: readonly string[]) =>
        Promise.all(
          order.map((nonce) =>
            by.consumeNonce(null, '203.0.113.9', nonce).then(
              () => [nonce],
              () => [],
            ),
          ),
        );
      const passed = await Promise.all([
        use(accounts.admission, nonces),
        use(elsewhere, nonces.toReversed()),
        use(accounts.admission, nonces.toSorted()),
      ]);
      expect(passed.flat(2).toSorted()).toEqual(nonces.toSorted());
      await line.close();
    },
  );

  test('a nonce belongs to its credential, or to the address of a stranger', async () => {
    const [one, other] = await Promise.all(
      [accounts.issueKey(), accounts.issueKey()].map(async (issued) => principalOf(await issued)),
    );
    const nonce = randomUUID();
    await accounts.admission.consumeNonce(one!, '127.0.0.1', nonce);
    await accounts.admission.consumeNonce(other!, '127.0.0.1', nonce);
    await accounts.admission.consumeNonce(null, '127.0.0.1', nonce);
    await accounts.admission.consumeNonce(null, '127.0.0.2', nonce);
    await expect(accounts.admission.consumeNonce(null, '127.0.0.2', nonce)).rejects.toMatchObject({
      type: 'duplicate_nonce',
    });
  });

  test('a nonce is free again after a day by the database’s clock, not before', async () => {
    const nonce = randomUUID();
    await accounts.admission.consumeNonce(null, 'a', nonce);
    try {
      for (const offset of ['-10 minutes', '10 minutes', '23 hours 59 minutes']) {
        await accounts.clock.run(offset);
        await expect(accounts.admission.consumeNonce(null, 'a', nonce)).rejects.toMatchObject({
          type: 'duplicate_nonce',
        });
      }
      await accounts.clock.run('24 hours 1 minute');
      await accounts.admission.consumeNonce(null, 'a', nonce);
    } finally {
      await accounts.clock.stop();
    }
  });

  test.each([
    [undefined, 'missing_nonce'],
    ['', 'missing_nonce'],
    ['short', 'invalid_request'],
    ['has spaces in it', 'invalid_request'],
    ['x'.repeat(129), 'invalid_request'],
  ])('the nonce %p is refused', async (nonce, type) => {
    await expect(accounts.admission.consumeNonce(null, 'a', nonce)).rejects.toMatchObject({ type });
  });
});

test('of too many callers who come at once, the last are sent away before anything is asked for them', async () => {
  let questions = 0;
  const overheard = {
    ask: (question: Question) => (
      (questions += Number(question.name === 'auth.admit')),
      accounts.database.ask(question)
    ),
    refuseWhenOverloaded: (pressure: Pressure) => accounts.database.refuseWhenOverloaded(pressure),
    asNobody: accounts.database.asNobody.bind(accounts.database),
  } as unknown as Database;
  const listened = accounts.admissionWith({ database: overheard });
  const key = generateApiKey('svc_live_sk');
  const crowd = (keyOf: () => string) =>
    Promise.all(
      Array.from({ length: 700 }, () =>
        listened.admit(arrival(keyOf())).catch((error: ProblemError) => error.problem.code ?? error.type),
      ),
    );
  const heard = await crowd(() => generateApiKey('svc_live_sk'));
  expect(questions).toBe(256 + 20);
  expect(heard.filter((code) => code === 'overloaded')).toHaveLength(700 - questions);
  // One question is not too much, however many ask it.
  expect(new Set(await crowd(() => key))).toEqual(new Set(['invalid_api_key']));
});

describe('calls that come together', () => {
  // No minute ends between two of them.
  beforeAll(() => accounts.clock.stop());
  afterAll(() => accounts.clock.run());
  const agreeOn = ({ accountId }: Issued, perMinute: number, perDay: number) =>
    accounts.owner.query(
      'update auth.accounts set requests_per_minute = $1, requests_per_day = $2 where account_id = $3',
      [perMinute, perDay, accountId],
    );
  /** What each of so many hears: how many calls are left to it, or what refuses it. */
  const together = async (key: string, count: number, by = accounts.admission) =>
    (await Promise.allSettled(Array.from({ length: count }, () => by.admit(arrival(key))))).map((outcome) =>
      outcome.status === 'fulfilled'
        ? outcome.value.windows.map(({ remaining }) => remaining)
        : (outcome.reason as { problem: { code: string } }).problem.code,
    );

  test('are counted by one question, as if one had come after the other', async () => {
    const questions: string[] = [];
    const overheard = {
      ask: (question: Question) => (questions.push(question.name), accounts.database.ask(question)),
      refuseWhenOverloaded: () => accounts.database.refuseWhenOverloaded(),
    } as unknown as Database;
    const issued = await accounts.issueKey();
    await agreeOn(issued, 10, 100);
    const listened = accounts.admissionWith({ database: overheard });
    // The first of a minute opens the windows.
    expect(await together(issued.key, 1, listened)).toEqual([[9, 99]]);
    expect(await together(issued.key, 4, listened)).toEqual([
      [8, 98],
      [7, 97],
      [6, 96],
      [5, 95],
    ]);
    expect(questions).toEqual(['auth.admit', 'auth.admit']);
  });

  test.each([
    ['minute', 5, 100],
    ['day', 100, 5],
  ])('are let in as far as the %s has room, and it is told once', async (window, perMinute, perDay) => {
    const issued = await accounts.issueKey();
    await agreeOn(issued, perMinute, perDay);
    const left = (calls: number): number[] => [perMinute - calls, perDay - calls];
    expect(await together(issued.key, 2)).toEqual([left(1), left(2)]);
    expect(await together(issued.key, 5)).toEqual([left(3), left(4), left(5), `per_${window}`, `per_${window}`]);
    expect(await together(issued.key, 2)).toEqual([`per_${window}`, `per_${window}`]);
    expect((await accounts.auditOf(issued.accountId)).map(({ type }) => type)).toEqual(['rate_limit.exceeded']);
  });

  test('of several processes are never more than the window holds', async () => {
    const issued = await accounts.issueKey();
    await agreeOn(issued, 40, 1_000);
    const groups = [7, 13, 1, 30, 11];
    const heard = (
      await Promise.all(groups.map((count) => together(issued.key, count, accounts.admissionWith())))
    ).flat();
    const remaining = heard.filter((each) => typeof each !== 'string').map(([minute]) => minute!);
    expect(remaining.toSorted((one, other) => other - one)).toEqual(
      Array.from({ length: 40 }, (_, place) => 39 - place),
    );
    expect(heard.filter((each) => each === 'per_minute')).toHaveLength(22);
  });

  test('by a key that has ended are all refused, and so are all by one that nobody has', async () => {
    const issued = await accounts.issueKey();
    await accounts.setKey(issued, 'revoked_at = now()');
    const outcomes = await Promise.allSettled(
      [issued.key, generateApiKey('svc_live_sk'), issued.key].map((key) => accounts.admission.admit(arrival(key))),
    );
    expect(outcomes).toMatchObject([
      { reason: { type: 'expired_api_key' } },
      { reason: { type: 'invalid_api_key' } },
      { reason: { type: 'expired_api_key' } },
    ]);
  });

  test('from different addresses are judged apart', async () => {
    const issued = await accounts.issueKey();
    await accounts.setKey(issued, `allowed_ips = '{203.0.113.0/24}'`);
    const outcomes = await Promise.allSettled(
      ['203.0.113.7', '198.51.100.4', '203.0.113.8'].map((address) =>
        accounts.admission.admit(arrival(issued.key, { address })),
      ),
    );
    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { reason: { type: 'ip_not_allowed' } },
      { status: 'fulfilled' },
    ]);
  });
});
