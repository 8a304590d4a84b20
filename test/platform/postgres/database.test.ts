import { randomUUID } from 'node:crypto';
import { defineEntity, p } from '@mikro-orm/core';
import { Client } from 'pg';
import { pino } from 'pino';
import { openDatabase, type Database, type Question } from '../../../platform/postgres/database.ts';
import type { MigrationOwner } from '../../../platform/postgres/migrate.ts';
import { tenantTable } from '../../../platform/postgres/tenant-tables.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { createTestDatabase, type TestDatabase } from '../../platform.ts';
import { startProxy } from './network-proxy.ts';

const owner: MigrationOwner = {
  schema: 'shop',
  migrations: [
    {
      name: '001-orders',
      up: [
        'create table shop.orders (id uuid primary key, account_id uuid not null, note text not null, placed_at ' +
          'timestamptz not null default now(), tags text[] not null default array[]::text[], days date[] not null ' +
          'default ' +
          'array[]::date[])',
        ...tenantTable('shop.orders'),
        'create table shop.counters (id int primary key, value int not null)',
        'insert into shop.counters values (1, 0), (2, 0)',
        `create function shop.count_all_orders() returns bigint language sql security definer set search_path = '' ` +
          `as 'select count(*) from shop.orders'`,
      ],
    },
  ],
};

const Order = defineEntity({
  name: 'Order',
  schema: 'shop',
  tableName: 'orders',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    note: p.string(),
    tags: p.array(),
    placedAt: p.datetime(),
  },
});

const logger = pino({ level: 'silent' });
const alice = randomUUID();
const carol = randomUUID();
const bob = randomUUID();
let testDatabase: TestDatabase;
let database: Database;

const open = (url: string, timeoutMs?: number) =>
  openDatabase({
    url,
    entities: [Order],
    applicationName: 'test',
    poolMax: 4,
    logger,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
const insertOrder = (accountId: string, note: string) =>
  database.asTenant(accountId, (em) =>
    em.execute('insert into shop.orders (id, account_id, note) values (?, ?, ?)', [randomUUID(), accountId, note]),
  );
const notes = (accountId: string) =>
  database.asTenant(accountId, (em) => em.execute<{ note: string }[]>('select note from shop.orders order by note'));
const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

beforeAll(async () => {
  testDatabase = await createTestDatabase([owner]);
  database = await open(testDatabase.applicationUrl);
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

describe('tenants', () => {
  beforeAll(async () => {
    await insertOrder(alice, 'of alice');
    await insertOrder(bob, 'of bob');
  });

  test('an account sees its own rows and no others', async () => {
    expect(await notes(alice)).toEqual([{ note: 'of alice' }]);
    expect(await notes(bob)).toEqual([{ note: 'of bob' }]);
  });

  test('without a tenant every tenant table looks empty, before and after connections have served tenants', async () => {
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
    await Promise.all(accounts.map((account) => insertOrder(account, account)));
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

  test('a statement that closes a transaction travels with its commit, and keeps it from committing by raising', async () => {
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

describe('questions', () => {
  const sleep = (seconds: number) => ({ name: 'sleep', text: 'select pg_sleep($1)::text as slept', values: [seconds] });

  test('see no tenant, and are answered in rows', async () => {
    expect(
      await database.ask({
        name: 'visible',
        text: 'select count(*)::int as orders, shop.count_all_orders()::int > 0 as any from shop.orders where note <> $1',
        values: ['x'],
      }),
    ).toEqual([{ orders: 0, any: true }]);
  });

  test('that fail leave the pool in order', async () => {
    for (let round = 0; round < 6; round += 1)
      await expect(database.ask({ name: 'wrong', text: 'select 1 / $1::int as x', values: [0] })).rejects.toThrow(
        /division by zero/,
      );
    expect(await database.ask(sleep(0))).toEqual([{ slept: '' }]);
  });

  test('that take too long are cut and answered as an outage', async () => {
    const impatient = await open(testDatabase.applicationUrl, 600);
    expect(await rejection(impatient.ask(sleep(20)))).toMatchObject({ type: 'service_unavailable' });
    expect(await impatient.ask(sleep(0))).toEqual([{ slept: '' }]);
    await impatient.close();
  });

  test("one account leaves connections to the others, and its crowd is nobody else's overload", async () => {
    const crowd = Array.from({ length: 60 }, () =>
      database
        .asTenant(alice, (em) => em.execute('select pg_sleep(0.2)'))
        .then(
          () => undefined,
          (error: unknown) => error,
        ),
    );
    await new Promise((resolve) => setTimeout(resolve, 700));
    const beganMs = performance.now();
    const { waiting } = database.load();
    expect(waiting).toBeGreaterThan(0);
    database.refuseWhenOverloaded();
    expect(await database.asTenant(bob, (em) => em.execute('select 1 as one'))).toEqual([{ one: 1 }]);
    expect(await database.perform({ name: 'test.perform', text: 'select 2 as two', values: [] })).toEqual([{ two: 2 }]);
    const tookMs = performance.now() - beganMs;
    expect(database.load().waiting).toBeGreaterThan(0);
    // Behind the crowd it would have been the time of ten of theirs, and more.
    expect(tookMs).toBeLessThan(1_500);
    await Promise.all(crowd);
  });

  test('crowds of two accounts that take all connections shut nobody else out', async () => {
    const crowds = Array.from({ length: 300 }, (_, place) =>
      database
        .asTenant(place % 2 === 0 ? alice : carol, (em) => em.execute('select pg_sleep(0.05)'))
        .catch(() => undefined),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(() => database.refuseWhenOverloaded()).toThrow(/more requests than it can answer/);
    database.refuseWhenOverloaded({ isModest: true });
    expect(await database.asTenant(bob, (em) => em.execute('select 1 as one'))).toEqual([{ one: 1 }]);
    expect(database.load().waiting).toBeGreaterThan(0);
    await Promise.all(crowds);
  });

  test('of more than can be answered, the last are told so at once', async () => {
    const startedAtMs = performance.now();
    const refusedAtMs: number[] = [];
    const outcomes = await Promise.all(
      Array.from({ length: 700 }, async () => {
        const ask = async () => {
          database.refuseWhenOverloaded();
          return database.ask(sleep(0.001));
        };
        const error = await rejection(ask());
        if (error !== undefined && (error as ProblemError).problem.code === 'overloaded')
          refusedAtMs.push(performance.now() - startedAtMs);
        return error;
      }),
    );
    expect(outcomes.filter((error) => error === undefined).length).toBeGreaterThan(0);
    expect(refusedAtMs.length).toBeGreaterThanOrEqual(700 - 256 - 4);
    expect(Math.max(...refusedAtMs)).toBeLessThan(1_000);
    expect(outcomes.find((error) => (error as ProblemError | undefined)?.problem.code === 'overloaded')).toMatchObject({
      type: 'service_unavailable',
      problem: { retryAfterS: 1 },
    });
  });
});

describe('outages', () => {
  test('connections terminated by the server answer 503 at most once each, and new ones take their place', async () => {
    await Promise.all(Array.from({ length: 4 }, () => database.asNobody((em) => em.execute('select pg_sleep(0.02)'))));
    const victim = rejection(database.asNobody((em) => em.execute('select pg_sleep(20)')));
    const admin = new Client({ connectionString: testDatabase.applicationUrl });
    await admin.connect();
    const killAll =
      `select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'test' ` +
      `and datname = current_database() and query like '%pg_sleep(20)%'`;
    for (let killed = 0; killed === 0;) killed = Number((await admin.query<{ count: string }>(killAll)).rows[0]!.count);
    await admin.end();
    expect(await victim).toBeInstanceOf(ProblemError);
    expect(await victim).toMatchObject({ type: 'service_unavailable' });
    await database.asNobody((em) => em.execute('select 1'));
  });

  test('a refused connection is a 503, at opening and later', async () => {
    const proxy = await startProxy(testDatabase.applicationUrl);
    const proxied = await open(proxy.url, 1_000);
    await proxied.ping();
    await proxy.close();
    expect(await rejection(proxied.asNobody((em) => em.execute('select 1')))).toMatchObject({
      type: 'service_unavailable',
    });
    expect(await rejection(proxied.ping())).toMatchObject({ type: 'service_unavailable' });
    expect(await rejection(open(proxy.url, 1_000))).toMatchObject({ type: 'service_unavailable' });
    await proxied.close();
  });

  test('a network that swallows everything is noticed in time, and healed from without a restart', async () => {
    const proxy = await startProxy(testDatabase.applicationUrl);
    const proxied = await open(proxy.url, 800);
    await Promise.all(Array.from({ length: 4 }, () => proxied.asNobody((em) => em.execute('select pg_sleep(0.02)'))));
    proxy.swallow(true);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        rejection(
          index % 2 === 0
            ? proxied.asNobody((em) => em.execute('select 1'))
            : proxied.ask({ name: 'one', text: 'select 1 as one', values: [] }),
        ),
      ),
    );
    expect(answers.every((answer) => answer instanceof ProblemError && answer.type === 'service_unavailable')).toBe(
      true,
    );
    proxy.swallow(false);
    for (let answered = false; !answered;) answered = (await rejection(proxied.ping())) === undefined;
    // The connections from before stay dead; not one request may be sent down one of them.
    const healed = await Promise.all(
      Array.from({ length: 8 }, () => proxied.asNobody((em) => em.execute<{ one: number }[]>('select 1 as one'))),
    );
    expect(healed).toHaveLength(8);
    await proxied.close();
    await proxy.close();
  });
});

test('connections lost at every step are all replaced: none leaks from the pool', async () => {
  const proxy = await startProxy(testDatabase.applicationUrl);
  const proxied = await open(proxy.url, 2_000);
  const lostIn = (when: 'work' | 'commit') =>
    rejection(
      proxied.asNobody(async (em) => {
        if (when === 'work') {
          proxy.cut();
          await em.execute('select 1');
        }
        await em.execute('select 1');
        if (when === 'commit') proxy.cut();
      }),
    );
  // More often than the pool has connections.
  for (let round = 0; round < 6; round += 1) {
    for (const when of ['work', 'commit'] as const)
      expect(await lostIn(when)).toMatchObject({ type: 'service_unavailable' });
  }
  await proxied.asNobody((em) => em.execute('select 1'));
  await proxied.close();
  await proxy.close();
});

test('closes its connections also when nobody used it', async () => {
  const name = `unused-${randomUUID()}`;
  const unused = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [Order],
    applicationName: name,
    poolMax: 4,
    logger,
  });
  const connections = async () =>
    (
      await database.asNobody((em) =>
        em.execute<unknown[]>('select from pg_stat_activity where application_name = ?', [name]),
      )
    ).length;
  expect(await connections()).toBe(1);
  await unused.close();
  const deadlineMs = performance.now() + 5_000;
  while ((await connections()) > 0 && performance.now() < deadlineMs)
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await connections()).toBe(0);
});

describe('unsafe databases are refused', () => {
  test('a role that owns the tables', async () => {
    await expect(open(testDatabase.ownerUrl)).rejects.toThrow(/liftgraph_owner owns tables of tenants/);
  });

  test('a session that would not wait for its commits', async () => {
    const careless = new URL(testDatabase.applicationUrl);
    careless.searchParams.set('options', '-c synchronous_commit=off');
    await expect(open(careless.href)).rejects.toThrow(/synchronous_commit is off/);
  });
});
