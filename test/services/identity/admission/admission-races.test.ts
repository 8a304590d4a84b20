import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { authOwner } from '../../../../services/identity/migrations.ts';
import { eventsOwner } from '../../../../services/event-migrations.ts';
import { pubSubOwner } from '../../../../platform/postgres/pub-sub.ts';
import { FrozenClock } from '../../../frozen-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../platform.ts';

let testDatabase: TestDatabase;
let owner: pg.Client;

beforeAll(async () => {
  testDatabase = await createTestDatabase([pubSubOwner, authOwner, eventsOwner]);
  owner = new pg.Client({ connectionString: testDatabase.ownerUrl });
  await owner.connect();
  // No hour ends under a test.
  await new FrozenClock(testDatabase.ownerUrl).stop();
});

afterAll(async () => {
  await owner?.end();
  await testDatabase?.drop();
});

/**
 * Asks `first`, and `others` while it is not committed yet: the race that parallel requests run, but never by chance.
 * @returns the answers of the others
 */
async function whileUncommitted(first: string, others: string | readonly [string, string, string]): Promise<unknown[]> {
  const racers = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const client = new pg.Client({ connectionString: testDatabase.applicationUrl });
      await client.connect();
      return client;
    }),
  );
  try {
    const [leader, ...followers] = racers;
    await leader!.query('begin');
    await leader!.query(first);
    const pids = await Promise.all(
      followers.map(
        async (client) => (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid,
      ),
    );
    const answers = followers.map(
      async (client, place) =>
        (await client.query(typeof others === 'string' ? others : others[place]!)).rows[0] as unknown,
    );
    for (let waiting = 0; waiting < followers.length;)
      waiting = (
        await owner.query<{ n: number }>(
          'select count(distinct pid)::int as n from pg_locks where not granted and pid = any ($1)',
          [pids],
        )
      ).rows[0]!.n;
    await leader!.query('commit');
    return await Promise.all(answers);
  } finally {
    await Promise.all(racers.map((client) => client.end()));
  }
}

test('the last call of a window goes to one, also among those who ask before it is counted', async () => {
  const subject = randomUUID();
  const call = `select exceeded from auth.count_call('${subject}', 3, null)`;
  for (let calls = 0; calls < 2; calls += 1) await owner.query(call);
  expect(await whileUncommitted(call, call)).toEqual(Array.from({ length: 3 }, () => ({ exceeded: 'minute' })));
});

test('a nonce goes to one, also among those who use it before it is remembered', async () => {
  const use = `select auth.consume_nonce('race', '${randomUUID()}') as fresh`;
  expect(await whileUncommitted(use, use)).toEqual(Array.from({ length: 3 }, () => ({ fresh: false })));
});

test('nonces of many are used up in one order, so that nobody waits for who waits for him', async () => {
  const [first, second, third] = Array.from({ length: 3 }, () => randomUUID()).toSorted() as [string, string, string];
  const use = (...nonces: string[]) =>
    `select array(select auth.consume_nonces(array_fill('race'::text, array[${nonces.length}]), ` +
    `array['${nonces.join(`','`)}'])) as fresh`;
  const backwards = use(third, second, first);
  const fresh = await whileUncommitted(use(second), [use(first, second, third), backwards, backwards]);
  expect((fresh as { fresh: number[] }[]).map((each) => each.fresh.length).toSorted()).toEqual([0, 0, 2]);
});

test('the tenth failure of an hour alarms once', async () => {
  const fail = `select in_hour, is_news from auth.count_failure('${randomUUID()}', 10)`;
  for (let failures = 0; failures < 8; failures += 1) await owner.query(fail);
  expect(await whileUncommitted(fail, fail)).toEqual(
    expect.arrayContaining([
      { in_hour: 10, is_news: true },
      { in_hour: 11, is_news: false },
      { in_hour: 12, is_news: false },
    ]),
  );
});
