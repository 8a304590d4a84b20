import { Client } from 'pg';
import { pino } from 'pino';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import { RESYNC, createPubSub, pubSubOwner, type PubSub } from '../../../platform/postgres/pub-sub.ts';
import { createTestDatabase, type TestDatabase } from '../../platform.ts';
import { startProxy } from './network-proxy.ts';

const logger = pino({ level: 'silent' });
let testDatabase: TestDatabase;
let database: Database;
let sender: PubSub;
let receiver: PubSub;

beforeAll(async () => {
  testDatabase = await createTestDatabase([pubSubOwner]);
  database = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'test',
    poolMax: 4,
    logger,
  });
  [sender, receiver] = await Promise.all([open(), open()]);
});

afterAll(async () => {
  await Promise.all([sender.close(), receiver.close()]);
  await database.close();
  await testDatabase.drop();
});

const open = () => createPubSub({ url: testDatabase.applicationUrl, database, logger });
const take = async <T>(subscription: AsyncIterator<T>, count: number) => {
  const taken: T[] = [];
  while (taken.length < count) {
    const { done, value } = await subscription.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
};

test('messages reach other processes in the order they were sent', async () => {
  const subscription = receiver.subscribe<number>('numbers');
  const numbers = Array.from({ length: 300 }, (_, index) => index);
  await Promise.all(numbers.map((number) => sender.publishNow('numbers', number)));
  expect(await take(subscription, 300)).toEqual(numbers);
});

test('a message larger than NOTIFY takes arrives whole and in its place', async () => {
  const subscription = receiver.subscribe<string>('sizes');
  const messages = ['small', 'é'.repeat(30_000), 'small again', `'"\\?${'x'.repeat(8_000)}`, 'last'];
  for (const message of messages) void sender.publishNow('sizes', message);
  expect(await take(subscription, messages.length)).toEqual(messages);
});

test('a message of a transaction is sent when it commits and never when it does not', async () => {
  const subscription = receiver.subscribe('commits');
  await database.asNobody(async (em) => {
    await sender.publish(em, 'commits', { text: 'is it 1 ? or 2 ?' });
    await sender.publishNow('commits', 'sent before the commit');
  });
  const failing = database.asNobody(async (em) => {
    await sender.publish(em, 'commits', 'rolled back');
    throw new Error('on purpose');
  });
  await expect(failing).rejects.toThrow('on purpose');
  await sender.publishNow('commits', 'end');
  expect(await take(subscription, 3)).toEqual(['sent before the commit', { text: 'is it 1 ? or 2 ?' }, 'end']);
});

test('topics are apart, and everyone on a topic gets everything', async () => {
  const [first, second, other] = [receiver.subscribe('a'), receiver.subscribe('a'), receiver.subscribe('b')];
  await sender.publishNow('a', 1);
  await sender.publishNow('b', 2);
  expect(await Promise.all([take(first, 1), take(second, 1), take(other, 1)])).toEqual([[1], [1], [2]]);
});

test('return() ends a pending next() at once, and the topic is forgotten', async () => {
  const subscription = receiver.subscribe('silence');
  const pending = subscription.next();
  await subscription.return!();
  expect(await pending).toEqual({ done: true, value: undefined });
  expect(await subscription.next()).toEqual({ done: true, value: undefined });
});

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('leaving a for-await loop ends the subscription', async () => {
  const subscription = receiver.subscribe<number>('loop');
  await sender.publishNow('loop', 1);
  for await (const message of subscription) {
    expect(message).toBe(1);
    break;
  }
  expect((await subscription.next()).done).toBe(true);
});

test('after a lost connection subscribers are told to read anew, and messages flow again', async () => {
  const subscription = receiver.subscribe('recovery');
  const admin = new Client({ connectionString: testDatabase.applicationUrl });
  await admin.connect();
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'liftgraph-pub-sub' and datname ` +
      `= current_database()`,
  );
  await admin.end();
  expect(await take(subscription, 1)).toEqual([RESYNC]);
  // A refusal is immediate: without a turn of the event loop in between, the connection could never come back.
  for (let sent = false; !sent; await nextTurn())
    sent = await sender.publishNow('recovery', 'back').then(
      () => true,
      () => false,
    );
  expect(await take(subscription, 1)).toEqual(['back']);
});

test('a connection that only looks alive is noticed and replaced', async () => {
  const proxy = await startProxy(testDatabase.applicationUrl);
  const proxied = await createPubSub({ url: proxy.url, database, logger, heartbeatMs: 100 });
  const subscription = proxied.subscribe('swallowed');
  proxy.swallow(true);
  await sender.publishNow('swallowed', 'never seen');
  await new Promise((resolve) => setTimeout(resolve, 200));
  proxy.swallow(false);
  expect(await take(subscription, 1)).toEqual([RESYNC]);
  await sender.publishNow('swallowed', 'seen');
  expect(await take(subscription, 1)).toEqual(['seen']);
  await proxied.close();
  await proxy.close();
});

test('a consumer that falls too far behind gets a resync in place of the backlog', async () => {
  const slow = receiver.subscribe('flood');
  const fast = receiver.subscribe('flood');
  for (let start = 0; start < 1_500; start += 300) {
    await Promise.all(Array.from({ length: 300 }, (_, index) => sender.publishNow('flood', start + index)));
    await take(fast, 300);
  }
  const [first, ...rest] = await take(slow, 500);
  expect(first).toBe(RESYNC);
  expect(rest.at(-1)).toBe(1_499);
});

test('closing ends every subscription', async () => {
  const third = await open();
  const subscription = third.subscribe('any');
  const pending = subscription.next();
  await third.close();
  expect((await pending).done).toBe(true);
  expect((await third.subscribe('any').next()).done).toBe(true);
  await expect(third.publishNow('any', 1)).rejects.toMatchObject({ type: 'service_unavailable' });
});
