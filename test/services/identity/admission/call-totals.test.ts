import { arrival, KeyedAccounts, type Issued } from './keyed-accounts.ts';

let accounts: KeyedAccounts;

beforeAll(async () => {
  accounts = await KeyedAccounts.open();
});
afterEach(() => accounts.clock.run());
afterAll(() => accounts?.close());

const call = ({ key }: Issued): Promise<unknown> => accounts.admission.admit(arrival(key)).catch(() => undefined);
const book = (): Promise<unknown> => accounts.database.asNobody((em) => em.execute('select auth.book_calls()'));
const totalOf = async ({ accountId }: Issued): Promise<number> => {
  const [row] = await accounts.database.askAs<{ calls: string }>(accountId, {
    name: 'auth.live_calls',
    text: 'select auth.live_calls() as calls',
    values: [],
  });
  return Number(row!.calls);
};
const bookedFor = async ({ accountId }: Issued) =>
  (await accounts.owner.query('select calls::int from auth.calls where account_id = $1 order by day', [accountId]))
    .rows;

test('each call counts once, however many come at once and however often they are booked meanwhile', async () => {
  const [busy, quiet] = [await accounts.issueKey({ plan: 'self_hosted' }), await accounts.issueKey()];
  for (let round = 0; round < 10; round += 1)
    await Promise.all([...Array.from({ length: 30 }, () => call(busy)), call(quiet), book()]);
  expect([await totalOf(busy), await totalOf(quiet)]).toEqual([300, 10]);
  await Promise.all([book(), book()]);
  expect([await totalOf(busy), await totalOf(quiet)]).toEqual([300, 10]);
  expect(await bookedFor(busy)).toEqual([{ calls: 300 }]);
});

test('a refused call does not count, nor does one of the sandbox', async () => {
  await accounts.clock.stop();
  const tester = await accounts.issueKey({ kind: 'svc_test_sk' });
  for (let count = 0; count < 3; count += 1) await call(tester);
  expect(await totalOf(tester)).toBe(0);
  const limited = await accounts.issueKey();
  await Promise.all(Array.from({ length: 130 }, () => call(limited)));
  await book();
  expect([await totalOf(limited), await bookedFor(tester)]).toEqual([100, []]);
});

test('what the windows forget is booked by then, day by day', async () => {
  await accounts.clock.stop();
  const caller = await accounts.issueKey();
  await call(caller);
  await book();
  await accounts.clock.stop('1 day');
  await call(caller);
  await call(caller);
  await accounts.clock.stop('5 days');
  for (let time = 0; time < 2; time += 1)
    await accounts.database.asNobody((em) => em.execute('select auth.forget_old_rate_windows()'));
  expect(
    (await accounts.owner.query('select from auth.rate_windows where subject like $1', [`${caller.accountId}%`]))
      .rowCount,
  ).toBe(0);
  expect([await totalOf(caller), (await bookedFor(caller)).length]).toEqual([3, 2]);
  await call(caller);
  expect(await totalOf(caller)).toBe(4);
});

test('nobody books or sees the calls of others', async () => {
  const [one, other] = [await accounts.issueKey(), await accounts.issueKey()];
  await call(one);
  await book();
  expect(await totalOf(other)).toBe(0);
  const read = () => accounts.database.asTenant(other.accountId, (em) => em.execute('select * from auth.calls'));
  expect(await read()).toEqual([]);
  const write = accounts.database.asTenant(one.accountId, (em) => em.execute('update auth.calls set calls = 1'));
  await expect(write).rejects.toThrow('permission denied');
});
