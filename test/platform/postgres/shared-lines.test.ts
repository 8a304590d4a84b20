import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Client } from 'pg';
import { pino } from 'pino';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import { tenantTable } from '../../../platform/postgres/tenant-tables.ts';
import { createTestDatabase, type TestDatabase } from '../../platform.ts';
import { startProxy } from './network-proxy.ts';

const accounts = Array.from({ length: 5 }, () => randomUUID());
let testDatabase: TestDatabase;
let database: Database;
const opened: Database[] = [];

async function open(url: string, timeoutMs?: number): Promise<Database> {
  const each = await openDatabase({
    url,
    entities: [],
    applicationName: 'lines',
    poolMax: 4,
    logger: pino({ level: 'silent' }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  opened.push(each);
  return each;
}

beforeAll(async () => {
  const notes = [
    'create table shop.notes (account_id uuid not null, note text not null)',
    ...tenantTable('shop.notes'),
  ];
  testDatabase = await createTestDatabase([{ schema: 'shop', migrations: [{ name: '001-notes', up: notes }] }]);
  database = await open(testDatabase.applicationUrl);
  for (const account of accounts)
    await database.asTenant(account, (em) => em.execute('insert into shop.notes values (?, ?)', [account, account]));
});

afterAll(async () => {
  for (const each of opened) await each.close();
  await testDatabase.drop();
});

interface Echo {
  readonly value: string;
  readonly pid: number;
}

const echo = (value: string) => ({
  name: 'echo',
  text: 'select $1::text as value, pg_backend_pid() as pid',
  values: [value],
});
const pause = (seconds: number) => ({
  name: 'pause',
  text: 'select pg_sleep($1)::text as slept, pg_backend_pid() as pid',
  values: [seconds],
});
const failing = { name: 'failing', text: 'select 1 / $1::int as never', values: [0] };
const outcome = <T>(promise: Promise<T>) =>
  promise.then(
    (value) => value,
    (error: Error) => error,
  );

test('questions of many share one connection, and everybody gets the answer to his own', async () => {
  const values = Array.from({ length: 300 }, (_, place) => `value ${place}`);
  const answers = (await Promise.all(values.map((value) => database.ask<Echo>(echo(value))))).flat();
  expect(answers.map(({ value }) => value)).toEqual(values);
  expect(new Set(answers.map(({ pid }) => pid)).size).toBe(1);
});

test('whatever the mixture of tenants, strangers and failures: everybody sees his own rows and no others', async () => {
  const notes = (account: string | null) => {
    const question = { name: 'notes', text: 'select note from shop.notes where note <> $1', values: ['none'] };
    return account === null
      ? database.ask<{ note: string }>(question)
      : database.askAs<{ note: string }>(account, question);
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...accounts, null, 'fails', 'fails in a scope'), { minLength: 1, maxLength: 40 }),
      async (callers) => {
        const seen = await Promise.all(
          callers.map((caller) => {
            if (caller === 'fails') return outcome(database.ask(failing));
            if (caller === 'fails in a scope') return outcome(database.askAs(accounts[0]!, failing));
            return notes(caller);
          }),
        );
        for (const [place, caller] of callers.entries()) {
          if (caller?.startsWith('fails')) expect(String(seen[place])).toMatch(/division by zero/);
          else expect(seen[place]).toEqual(caller === null ? [] : [{ note: caller }]);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('a scope ends with its question: a transaction on the same server connection sees nothing of it', async () => {
  const single = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'lines',
    poolMax: 1,
    logger: pino({ level: 'silent' }),
  });
  opened.push(single);
  await single.askAs(accounts[0]!, echo('scoped'));
  const [row] = await single.ask<{ account: string }>({
    name: 'account',
    text: `select coalesce(current_setting('liftgraph.account_id', true), '') as account`,
    values: [],
  });
  expect(row!.account).toBe('');
});

test('behind a question that takes long nobody waits for more than a moment', async () => {
  const [slow] = [database.ask<{ pid: number }>(pause(0.6))];
  await sleep(150);
  let isOver = false;
  const ended = slow.then(([answer]) => {
    isOver = true;
    return answer!.pid;
  });
  const [quick] = await database.ask<Echo>(echo('quick'));
  expect(isOver).toBe(false);
  expect(quick!.pid).not.toBe(await ended);
});

test('a failure is its own caller’s alone, and the line is not used again', async () => {
  const [before] = await database.ask<Echo>(echo('before'));
  const [one, failed, other] = await Promise.all([
    database.ask<Echo>(echo('one')),
    outcome(database.ask(failing)),
    database.ask<Echo>(echo('other')),
  ]);
  expect([one[0]!.value, other[0]!.value]).toEqual(['one', 'other']);
  expect([one[0]!.pid, other[0]!.pid]).toEqual([before!.pid, before!.pid]);
  expect(failed).toBeInstanceOf(Error);
  const [after] = await database.ask<Echo>(echo('after'));
  expect(after!.pid).not.toBe(before!.pid);
});

test('a line that the server ends fails all who are on it as an outage, and the next one answers', async () => {
  const waiting = Promise.all(Array.from({ length: 5 }, () => outcome(database.ask(pause(20)))));
  const admin = new Client({ connectionString: testDatabase.applicationUrl });
  await admin.connect();
  const kill =
    `select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'lines' and ` +
    `datname = current_database() and query like '%pg_sleep%' and state = 'active'`;
  for (let killed = 0; killed === 0;) killed = Number((await admin.query<{ count: string }>(kill)).rows[0]!.count);
  await admin.end();
  for (const failure of await waiting) expect(failure).toMatchObject({ type: 'service_unavailable' });
  expect((await database.ask<Echo>(echo('again')))[0]!.value).toBe('again');
});

test('a network that swallows everything fails all within the time limit, and heals', async () => {
  const proxy = await startProxy(testDatabase.applicationUrl);
  const proxied = await open(proxy.url, 800);
  await proxied.ask(echo('open'));
  proxy.swallow(true);
  const startedMs = performance.now();
  // As late as this machine is with any other wait.
  const twiceTheLimitMs = sleep(2 * 800).then(() => performance.now() - startedMs);
  const failures = await Promise.all(
    Array.from({ length: 20 }, (_, place) => sleep(place * 5).then(() => outcome(proxied.ask(echo('lost'))))),
  );
  expect(performance.now() - startedMs).toBeLessThan(await twiceTheLimitMs);
  for (const failure of failures) expect(failure).toMatchObject({ type: 'service_unavailable' });
  proxy.swallow(false);
  expect((await Promise.all(Array.from({ length: 20 }, () => proxied.ask<Echo>(echo('found'))))).flat()).toHaveLength(
    20,
  );
  await proxy.close();
});
