import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startRounds, type Rounds } from '../../../platform/jobs/rounds.ts';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../platform/postgres/pub-sub.ts';
import { createTestDatabase, type TestDatabase } from '../../platform.ts';

const logger = pino({ level: 'silent' });
/** Longer than the test may take: only being woken ends it. */
const FOR_EVER_MS = 3_600_000;
let testDatabase: TestDatabase;
let database: Database;
let pubSub: PubSub;
let rounds: Rounds;

beforeAll(async () => {
  testDatabase = await createTestDatabase([pubSubOwner]);
  database = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'test',
    poolMax: 2,
    logger,
  });
  pubSub = await createPubSub({ url: testDatabase.applicationUrl, database, logger });
});
afterEach(() => rounds.close());
afterAll(async () => {
  await pubSub.close();
  await database.close();
  await testDatabase.drop();
});

/** Resolves at the given call. */
function counter(): { readonly called: () => number; readonly reached: (count: number) => Promise<void> } {
  let calls = 0;
  const waiting = new Map<number, () => void>();
  return {
    called: () => (waiting.get(++calls)?.(), calls),
    reached: (count) => (calls >= count ? Promise.resolve() : new Promise((resolve) => waiting.set(count, resolve))),
  };
}

const unexpected = (error: unknown): never => {
  throw error;
};

test('begins with a round, and with another at each message of the topic', async () => {
  const { called, reached } = counter();
  rounds = startRounds({ pubSub, topic: 'work', work: async () => (called(), FOR_EVER_MS), failed: unexpected });
  await reached(1);
  await pubSub.publishNow('work', null);
  await reached(2);
  await pubSub.publishNow('work', null);
  await reached(3);
});

test('what is heard during a round is not slept through, however often it is heard', async () => {
  const { called, reached } = counter();
  let finish = (): void => undefined;
  const work = async (): Promise<number> => {
    if (called() === 1) await new Promise<void>((resolve) => (finish = resolve));
    return FOR_EVER_MS;
  };
  rounds = startRounds({ pubSub, topic: 'busy', work, failed: unexpected });
  for (let wakes = 0; wakes < 3; wakes++) rounds.wake();
  finish();
  await reached(2);
});

test('a round that failed is told, and the next one comes by itself', async () => {
  const { called, reached } = counter();
  const told: unknown[] = [];
  const work = async (): Promise<number> => {
    if (called() === 1) throw new Error('away');
    return FOR_EVER_MS;
  };
  rounds = startRounds({ pubSub, topic: 'away', work, failed: (error) => told.push(error) });
  await reached(2);
  expect(told).toEqual([new Error('away')]);
});

test('closing waits for the round under way, and begins no other', async () => {
  const { called, reached } = counter();
  let finish = (): void => undefined;
  let isClosed = false;
  const work = async (closing: AbortSignal): Promise<number> => {
    called();
    await new Promise<void>((resolve) => (finish = resolve));
    expect(closing.aborted).toBe(true);
    return 0;
  };
  rounds = startRounds({ pubSub, topic: 'end', work, failed: unexpected });
  await reached(1);
  const closed = rounds.close().then(() => (isClosed = true));
  await sleep(50);
  expect(isClosed).toBe(false);
  finish();
  await closed;
  expect(called()).toBe(2);
});
