import fc from 'fast-check';
import { newUuid, type Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount, type SqlEntityManager } from '../../../../platform/postgres/database.ts';
import { closeLedgerAccount, KeyTakenError, post, type Transfer } from '../../../../subgraphs/billing/ledger/ledger.ts';
import { sized } from '../../../run-length.ts';
import { openBooks, type Books } from '../fees/books.ts';

const HISTORIES = sized({ short: 25, long: 1_000 });

let books: Books;
beforeAll(async () => {
  books = await openBooks();
});
afterAll(() => books?.close());

const acting = <T>(accountId: Uuid, work: (em: SqlEntityManager) => Promise<T>): Promise<T> =>
  books.database.asTenant(wholeAccount({ accountId, environment: 'live' }), work);
const transfer = (accountId: Uuid, change: Partial<Transfer> = {}): Promise<void> =>
  acting(accountId, (em) =>
    post(em, accountId, {
      key: `fee:${newUuid()}`,
      debit: 'receivable',
      credit: 'fees',
      amountCents: 100n,
      currency: 'USD',
      ...change,
    }),
  );
const balances = async (accountId: Uuid | null): Promise<Readonly<Record<string, bigint>>> => {
  const { rows } = await books.owner.query<{ name: string; cents: string }>(
    `select kind || ' ' || currency as name, balance_cents as cents from billing.ledger_accounts
     where account_id is not distinct from $1`,
    [accountId],
  );
  return Object.fromEntries(rows.map(({ name, cents }) => [name, BigInt(cents)]));
};
/** What the database says to a statement of its owner, whom no policy holds. */
const asOwner = (sql: string, values: readonly unknown[] = []) =>
  books.owner.query(sql, [...values]).then(
    () => 'done',
    (error: Error) => error.message,
  );

test('a transfer moves its amount from one account to the other, and the same key moves it once', async () => {
  const account = newUuid();
  const before = (await balances(null))['fees USD'] ?? 0n;
  const key = `fee:${newUuid()}`;
  await Promise.all(Array.from({ length: 8 }, () => transfer(account, { key })));
  expect(await balances(account)).toEqual({ 'receivable USD': 100n });
  expect((await balances(null))['fees USD']).toBe(before - 100n);
  await expect(transfer(account, { key, amountCents: 101n })).rejects.toThrow(KeyTakenError);
  await expect(transfer(account, { key, currency: 'EUR' })).rejects.toThrow(KeyTakenError);
  await expect(transfer(newUuid(), { key })).rejects.toThrow(KeyTakenError);
  expect(await balances(account)).toEqual({ 'receivable USD': 100n });
});

test('transfers of the same two accounts wait for each other, and never in a circle', async () => {
  const deadlocks = async () =>
    (await books.owner.query('select deadlocks from pg_stat_database where datname = current_database()')).rows[0];
  const account = newUuid();
  await transfer(account);
  const before = await deadlocks();
  await Promise.all(Array.from({ length: 40 }, () => transfer(account)));
  expect(await balances(account)).toEqual({ 'receivable USD': 4_100n });
  expect(await deadlocks()).toEqual(before);
});

test('a reversal takes back all of a transfer, once', async () => {
  const account = newUuid();
  const [key, back] = [`commission:${newUuid()}`, `clawback:${newUuid()}`];
  const [owed, returned] = [
    { key, debit: 'commissions', credit: 'payable' },
    { key: back, debit: 'payable', credit: 'commissions', reverses: key },
  ] as const;
  await transfer(account, owed);
  await expect(transfer(account, { ...returned, amountCents: 99n })).rejects.toThrow('takes back what it reverses');
  await expect(transfer(account, { ...returned, debit: 'commissions', credit: 'payable' })).rejects.toThrow(
    'takes back what it reverses',
  );
  await expect(transfer(account, { ...returned, reverses: 'commission:none' })).rejects.toThrow(
    'transfers_reverses_fkey',
  );
  await transfer(account, returned);
  await transfer(account, returned);
  await expect(transfer(account, { ...returned, key: 'clawback:again' })).rejects.toThrow('transfers_reverses_key');
  expect(await balances(account)).toEqual({ 'payable USD': 0n });
});

test('a closed account can be settled, and nothing else', async () => {
  const account = newUuid();
  await transfer(account, { debit: 'commissions', credit: 'payable', amountCents: 500n });
  await acting(account, (em) => closeLedgerAccount(em, 'payable'));
  await expect(transfer(account, { debit: 'commissions', credit: 'payable' })).rejects.toThrow('only be settled');
  const payout = { debit: 'payable', credit: 'cash' } as const;
  await expect(transfer(account, { ...payout, amountCents: 501n })).rejects.toThrow('only be settled');
  await transfer(account, { ...payout, amountCents: 200n });
  await transfer(account, { ...payout, amountCents: 300n });
  await expect(transfer(account, { ...payout, amountCents: 1n })).rejects.toThrow('only be settled');
  expect(await balances(account)).toEqual({ 'payable USD': 0n });
});

test('the database itself refuses what would put the books out of balance, even to its owner', async () => {
  const [account, stranger] = [newUuid(), newUuid()];
  await transfer(account);
  await transfer(stranger);
  const insert = (debit: string, credit: string, amount: string, currency: string) =>
    asOwner(
      `insert into billing.transfers (account_id, key, debit, credit, amount_cents, currency)
       values ($1, gen_random_uuid()::text, ${debit}, ${credit}, ${amount}, '${currency}')`,
      [account],
    );
  const named = (kind: string, currency = 'USD', owner: Uuid = account) =>
    `billing.ledger_account('${owner}', '${kind}', '${currency}')`;
  expect(await insert(named('receivable'), named('fees'), '0', 'USD')).toMatch('transfers_amount_cents_check');
  expect(await insert(named('receivable'), named('fees'), '-5', 'USD')).toMatch('transfers_amount_cents_check');
  expect(await insert(named('receivable'), named('receivable'), '5', 'USD')).toMatch('transfers_check');
  expect(await insert(named('receivable'), named('fees', 'EUR'), '5', 'USD')).toMatch('cannot touch an account in EUR');
  expect(await insert(named('receivable'), named('fees'), '5', 'EUR')).toMatch('cannot touch an account in USD');
  expect(await insert(named('receivable'), named('receivable', 'USD', stranger), '5', 'USD')).toMatch('one owner');
  expect(await insert(named('receivable'), 'null', '5', 'USD')).toMatch('not-null');
  for (const change of ['update billing.transfers set amount_cents = 1', 'delete from billing.transfers'])
    expect(await asOwner(change)).toMatch('never changed or removed');
  for (const table of ['transfers', 'ledger_accounts'])
    expect(await asOwner(`truncate billing.${table} cascade`)).toMatch('never changed or removed');
  for (const change of [`balance_cents = balance_cents + 1`, `currency = 'EUR'`, `account_id = gen_random_uuid()`])
    expect(await asOwner(`update billing.ledger_accounts set ${change} where account_id = $1`, [account])).toMatch(
      'by transfers alone',
    );
  expect(await asOwner('delete from billing.ledger_accounts')).toMatch('never removed');
  expect(await balances(account)).toEqual({ 'receivable USD': 100n });
});

test('nobody sees or makes the transfers of others', async () => {
  const [account, stranger] = [newUuid(), newUuid()];
  await transfer(account);
  const rows = (table: string) =>
    acting(stranger, (em) =>
      em.execute(`select * from billing.${table} where account_id is distinct from ?`, [stranger]),
    );
  expect([await rows('transfers'), await rows('ledger_accounts')]).toEqual([[], []]);
  await expect(acting(stranger, (em) => post(em, account, { ...any(), key: 'fee:mine' }))).rejects.toThrow('row-level');
  await expect(
    acting(account, (em) => em.execute(`update billing.ledger_accounts set closed_at = now()`)),
  ).rejects.toThrow('permission denied');
});
const any = (): Transfer => ({
  key: `fee:${newUuid()}`,
  debit: 'receivable',
  credit: 'fees',
  amountCents: 1n,
  currency: 'USD',
});

test('whatever is posted, balances are the sums of transfers, and all of them come to nothing', async () => {
  const leg = fc.constantFrom('receivable', 'payable', 'fees', 'plan_fees', 'commissions', 'cash');
  const step = fc.record({
    debit: leg,
    credit: leg,
    cents: fc.bigInt({ min: 1n, max: 10n ** 14n }),
    currency: fc.constantFrom('USD', 'EUR'),
    owner: fc.nat(1),
    key: fc.nat(6),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (story) => {
      const owners = [newUuid(), newUuid()] as const;
      const expected = new Map<string, bigint>();
      const posted = new Set<string>();
      for (const { debit, credit, cents, currency, owner, key } of story) {
        if (debit === credit) continue;
        const accountId = owners[owner]!;
        const named = `story:${owners[0]}:${key}`;
        const outcome = transfer(accountId, { debit, credit, amountCents: cents, currency, key: named });
        if (posted.has(named)) {
          await outcome.catch((error: unknown) => expect(error).toBeInstanceOf(KeyTakenError));
          continue;
        }
        await outcome;
        posted.add(named);
        for (const [kind, change] of [
          [debit, cents],
          [credit, -cents],
        ] as const)
          if (kind === 'receivable' || kind === 'payable') {
            const name = `${accountId} ${kind} ${currency}`;
            expected.set(name, (expected.get(name) ?? 0n) + change);
          }
      }
      for (const accountId of owners)
        for (const [name, cents] of Object.entries(await balances(accountId)))
          expect([name, cents]).toEqual([name, expected.get(`${accountId} ${name}`)]);
    }),
    { numRuns: HISTORIES },
  );
  const { rows } = await books.owner.query<{ cents: string }>(
    'select sum(balance_cents) as cents from billing.ledger_accounts group by currency',
  );
  expect(rows.map(({ cents }) => cents)).toEqual(rows.map(() => '0'));
});
