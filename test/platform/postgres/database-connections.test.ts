import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Database } from '../../../platform/postgres/database.ts';
import { ProblemError } from '../../../schema/problems.ts';
import type { TestDatabase } from '../../platform.ts';
import { startProxy } from './network-proxy.ts';
import { insertOrder, openOrders, openPool, rejection } from './orders.ts';

let testDatabase: TestDatabase;
let database: Database;
const alice = randomUUID();
const carol = randomUUID();
const bob = randomUUID();

beforeAll(async () => {
  ({ testDatabase, database } = await openOrders());
  await insertOrder(database, alice, 'of alice');
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

describe('questions', () => {
  const sleep = (seconds: number) => ({ name: 'sleep', text: 'select pg_sleep($1)::text as slept', values: [seconds] });

  test('see no tenant, and are answered in rows', async () => {
    expect(
      await database.ask({
        name: 'visible',
        text:
          'select count(*)::int as orders, shop.count_all_orders()::int > 0 as any ' +
          'from shop.orders where note <> $1',
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
    const impatient = await openPool(testDatabase.applicationUrl, { timeoutMs: 600 });
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
    const proxied = await openPool(proxy.url, { timeoutMs: 1_000 });
    await proxied.ping();
    await proxy.close();
    expect(await rejection(proxied.asNobody((em) => em.execute('select 1')))).toMatchObject({
      type: 'service_unavailable',
    });
    expect(await rejection(proxied.ping())).toMatchObject({ type: 'service_unavailable' });
    expect(await rejection(openPool(proxy.url, { timeoutMs: 1_000 }))).toMatchObject({ type: 'service_unavailable' });
    await proxied.close();
  });

  test('a network that swallows everything is noticed in time, and healed from without a restart', async () => {
    const proxy = await startProxy(testDatabase.applicationUrl);
    const proxied = await openPool(proxy.url, { timeoutMs: 800 });
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
  const proxied = await openPool(proxy.url, { timeoutMs: 2_000 });
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
  const unused = await openPool(testDatabase.applicationUrl, { applicationName: name });
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
