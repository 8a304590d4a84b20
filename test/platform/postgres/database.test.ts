import { randomUUID } from 'node:crypto';
import type { Database, Question } from '../../../platform/postgres/database.ts';
import type { TestDatabase } from '../../platform.ts';
import { insertOrder, openOrders, openPool, Order, rejection } from './orders.ts';

let testDatabase: TestDatabase;
let database: Database;
const alice = randomUUID();
const bob = randomUUID();

const notes = (accountId: string) =>
  database.asTenant(accountId, (em) => em.execute<{ note: string }[]>('select note from shop.orders order by note'));

beforeAll(async () => {
  ({ testDatabase, database } = await openOrders());
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

describe('tenants', () => {
  beforeAll(async () => {
    await insertOrder(database, alice, 'of alice');
    await insertOrder(database, bob, 'of bob');
  });

  test('an account sees its own rows and no others', async () => {
    expect(await notes(alice)).toEqual([{ note: 'of alice' }]);
    expect(await notes(bob)).toEqual([{ note: 'of bob' }]);
  });

  test('without a tenant every tenant table looks empty, before and after connections served tenants', async () => {
    for (let round = 0; round < 8; round += 1) {
      expect(await database.asNobody((em) => em.execute('select * from shop.orders'))).toEqual([]);
      await notes(alice);
    }
  });

  test('a row for another account is refused, and so is giving one away', async () => {
    const foreign = database.asTenant(alice, (em) =>
      em.execute('insert into shop.orders (id, account_id, note) values (?, ?, ?)', [randomUUID(), bob, 'planted']),
    );
    await expect(foreign).rejects.toMatchObject({ code: '42501' });
    await expect(
      database.asTenant(alice, (em) => em.execute('update shop.orders set account_id = ?', [bob])),
    ).rejects.toMatchObject({ code: '42501' });
    await expect(
      database.asNobody((em) =>
        em.execute('insert into shop.orders (id, account_id, note) values (?, ?, ?)', [randomUUID(), bob, 'planted']),
      ),
    ).rejects.toMatchObject({ code: '42501' });
  });

  test('tenants do not mix on a pool smaller than their number', async () => {
    const accounts = Array.from({ length: 24 }, () => randomUUID());
    await Promise.all(accounts.map((account) => insertOrder(database, account, account)));
    const seen = await Promise.all(accounts.map((account) => notes(account)));
    expect(seen).toEqual(accounts.map((account) => [{ note: account }]));
  });

  test('a SECURITY DEFINER function of the owner sees every tenant', async () => {
    const rows = await database.asNobody((em) =>
      em.execute<{ all: string }[]>('select shop.count_all_orders() as all'),
    );
    expect(Number(rows[0]!.all)).toBeGreaterThanOrEqual(2);
  });

  test('an account id that is no UUID never reaches SQL', async () => {
    await expect(database.asTenant(`'; drop table shop.orders; --`, async () => undefined)).rejects.toThrow(TypeError);
  });

  test('entities are read and written through MikroORM in the same transaction', async () => {
    const account = randomUUID();
    const id = randomUUID();
    await database.asTenant(account, async (em) => {
      em.create(Order, {
        id,
        accountId: account,
        note: 'is it 50 % off?',
        tags: ['a', 'b?'],
        placedAt: new Date('2026-02-01T10:00:00Z'),
      });
    });
    const found = await database.asTenant(account, (em) => em.findOneOrFail(Order, { id }));
    expect(found).toMatchObject({ note: 'is it 50 % off?', tags: ['a', 'b?'] });
    expect(new Date(found.placedAt).toISOString()).toBe('2026-02-01T10:00:00.000Z');
    expect(await database.asTenant(bob, (em) => em.findOne(Order, { id }))).toBeNull();
  });
});

describe('transactions', () => {
  test('statements that need no answers travel together, as one transaction of their tenant', async () => {
    const account = randomUUID();
    const insert = (note: string, accountId = account, id: string = randomUUID()): Question => ({
      name: 'insert',
      text: 'insert into shop.orders (id, account_id, note) values ($1, $2, $3)',
      values: [id, accountId, note],
    });
    const close = (divisor = 1): Question => ({
      name: 'close',
      text: `update shop.orders set note = note || '!' where 1 / $1::int = 1 and note not like '%!'`,
      values: [divisor],
    });
    const id = randomUUID();
    await database.performAs(account, [insert('one', account, id), insert('two'), close()]);
    await database.performAs(account, [insert('three')]);
    const stored = [{ note: 'one!' }, { note: 'three' }, { note: 'two!' }];
    expect(await notes(account)).toEqual(stored);
    for (const [statements, code] of [
      [[insert('lost'), insert('again', account, id), close()], '23505'],
      [[insert('lost'), close(0)], '22012'],
      [[insert('lost'), insert('planted', bob)], '42501'],
    ] as const)
      await expect(database.performAs(account, statements)).rejects.toMatchObject({ code });
    expect(await Promise.all(Array.from({ length: 12 }, () => notes(account)))).toEqual(
      Array.from({ length: 12 }, () => stored),
    );
    expect(await database.asNobody((em) => em.execute('select * from shop.orders'))).toEqual([]);
  });

  test('statements that travel together are sent again when they lose a race', async () => {
    const bump = (id: number): Question => ({
      name: `bump ${id}`,
      text: 'update shop.counters set value = value + 1 where id = $1',
      values: [id],
    });
    const pause: Question = { name: 'pause', text: 'select pg_sleep(0.1)', values: [] };
    const sum = async () =>
      Number(
        (
          await database.ask<{ sum: string }>({ name: 'sum', text: 'select sum(value) from shop.counters', values: [] })
        )[0]!.sum,
      );
    const before = await sum();
    await Promise.all([
      database.performAs(alice, [bump(1), pause, bump(2)]),
      database.performAs(bob, [bump(2), pause, bump(1)]),
    ]);
    expect(await sum()).toBe(before + 4);
    await database.asNobody((em) => em.execute('update shop.counters set value = value - 2'));
  });

  test('a statement that closes a transaction travels with its commit, which it prevents by raising', async () => {
    const account = randomUUID();
    const insert = (note: string, closing: string) =>
      database.asTenant(account, async (em) => {
        database.closeWith(em, closing, [account, note]);
        await em.execute('insert into shop.orders (id, account_id, note) values (?, ?, ?)', [
          randomUUID(),
          account,
          note,
        ]);
      });
    await insert('kept', 'update shop.orders set tags[1] = note where account_id = ? and note = ?');
    await expect(
      insert('lost', 'select 1 / (select count(*) - count(*) from shop.orders where account_id = ? and note = ?)'),
    ).rejects.toMatchObject({ code: '22012' });
    await database.asTenant(account, async (em) =>
      database.closeWith(em, 'insert into shop.orders (id, account_id, note) values (?, ?, ?)', [
        randomUUID(),
        account,
        'alone',
      ]),
    );
    await expect(
      database.asTenant(account, async (em) => {
        database.closeWith(em, 'insert into shop.orders (id, account_id, note) values (?, ?, ?)', [
          randomUUID(),
          account,
          'rolled back',
        ]);
        throw new Error('on purpose');
      }),
    ).rejects.toThrow('on purpose');
    expect(
      await database.asTenant(account, (em) => em.execute('select note, tags from shop.orders order by note')),
    ).toEqual([
      { note: 'alone', tags: [] },
      { note: 'kept', tags: ['kept'] },
    ]);
    // Connections that failed at their commit are not left behind.
    for (let each = 0; each < 6; each += 1)
      await expect(
        insert('lost', 'select 1 / (select count(*) - count(*) from shop.orders where account_id = ? and note = ?)'),
      ).rejects.toMatchObject({ code: '22012' });
    expect(await Promise.all(Array.from({ length: 8 }, () => notes(account)))).toHaveLength(8);
    expect(() => database.closeWith({} as never, 'select 1', [])).toThrow('no transaction');
  });

  test('an error rolls back everything', async () => {
    const account = randomUUID();
    const failing = database.asTenant(account, async (em) => {
      await em.execute('insert into shop.orders (id, account_id, note) values (?, ?, ?)', [
        randomUUID(),
        account,
        'gone',
      ]);
      throw new Error('on purpose');
    });
    await expect(failing).rejects.toThrow('on purpose');
    expect(await notes(account)).toEqual([]);
  });

  test('a deadlock is resolved by running the loser again', async () => {
    let runs = 0;
    const both = [1, 2];
    const started = both.map(() => Promise.withResolvers<void>());
    const increments = both.map((first, index) =>
      database.asNobody(
        async (em) => {
          runs += 1;
          await em.execute('update shop.counters set value = value + 1 where id = ?', [first]);
          started[index]!.resolve();
          await Promise.all(started.map((each) => each.promise));
          await em.execute('update shop.counters set value = value + 1 where id = ?', [3 - first]);
        },
        { timeoutMs: 10_000 },
      ),
    );
    await Promise.all(increments);
    expect(runs).toBe(3);
    expect(await database.asNobody((em) => em.execute('select value from shop.counters order by id'))).toEqual([
      { value: 2 },
      { value: 2 },
    ]);
  });

  test('serializable transactions that conflict are run again until both count', async () => {
    await database.asNobody((em) => em.execute('update shop.counters set value = 0'));
    const increment = () =>
      database.asNobody(
        async (em) => {
          const [row] = await em.execute<{ value: number }[]>('select value from shop.counters where id = 1');
          await em.execute('update shop.counters set value = ? where id = 1', [row!.value + 1]);
        },
        { isolation: 'serializable', timeoutMs: 10_000 },
      );
    await Promise.all([increment(), increment(), increment()]);
    expect(await database.asNobody((em) => em.execute('select value from shop.counters where id = 1'))).toEqual([
      { value: 3 },
    ]);
  });

  test('work that takes too long is cut and answered as an outage', async () => {
    const slow = rejection(database.asNobody((em) => em.execute('select pg_sleep(20)'), { timeoutMs: 200 }));
    expect(await slow).toMatchObject({ type: 'service_unavailable', problem: { retryAfterS: 2 } });
    await database.ping();
  });
});

describe('unsafe databases are refused', () => {
  test('a role that owns the tables', async () => {
    await expect(openPool(testDatabase.ownerUrl)).rejects.toThrow(/liftgraph_owner owns tables of tenants/);
  });

  test('a session that would not wait for its commits', async () => {
    const careless = new URL(testDatabase.applicationUrl);
    careless.searchParams.set('options', '-c synchronous_commit=off');
    await expect(openPool(careless.href)).rejects.toThrow(/synchronous_commit is off/);
  });
});
