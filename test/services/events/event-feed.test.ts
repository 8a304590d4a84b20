import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Client } from 'pg';
import { pino } from 'pino';
import { EVENT_CATALOGUE } from '../../../schema/event-catalogue.ts';
import { watchEvents, type EventFeed } from '../../../services/events/event-feed.ts';
import { eventsOwner } from '../../../services/event-migrations.ts';
import { recordEvent, type RecordedEvent } from '../../../services/events/outbox.ts';
import { newUuid, type Uuid } from '../../../platform/identifiers.ts';
import { openDatabase, wholeAccount, type Database } from '../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../platform/postgres/pub-sub.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../platform.ts';

const logger = pino({ level: 'silent' });
const data = EVENT_CATALOGUE['agent.tier_changed'].example;

let testDatabase: TestDatabase;
let database: Database;
let pubSub: PubSub;
let terminator: Client;

beforeAll(async () => {
  testDatabase = await createTestDatabase([pubSubOwner, eventsOwner]);
  database = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'feed',
    poolMax: 12,
    logger,
    timeoutMs: PATIENCE_MS,
  });
  pubSub = await createPubSub({ url: testDatabase.applicationUrl, database, logger });
  terminator = new Client({ connectionString: testDatabase.applicationUrl });
  await terminator.connect();
});

afterAll(async () => {
  await terminator?.end();
  await pubSub?.close();
  await database?.close();
  await testDatabase?.drop();
});

const scopeOf = (accountId: Uuid) => wholeAccount({ accountId, environment: 'live' });

/** One transaction with one event of each subject; `until` holds its commit up. */
async function record(
  accountId: Uuid,
  subjects: readonly string[],
  until: Promise<unknown> | Error = Promise.resolve(),
): Promise<RecordedEvent[]> {
  return database.asTenant(
    scopeOf(accountId),
    async (em) => {
      const recorded: RecordedEvent[] = [];
      for (const subject of subjects)
        recorded.push(
          await recordEvent(em, pubSub, { accountId, environment: 'live', type: 'agent.tier_changed', subject, data }),
        );
      if (until instanceof Error) throw until;
      await until;
      return recorded;
      // Those of one account take turns, a hundred events each where there are many.
    },
    { timeoutMs: 30_000 },
  );
}

function watch(
  accountId: Uuid,
  after: number | null,
  accepts: (event: RecordedEvent) => boolean = () => true,
): Promise<EventFeed> {
  return watchEvents({ database, pubSub }, scopeOf(accountId), { after, accepts });
}

/** The next events of a feed, which is left then. */
async function take({ events }: EventFeed, count: number): Promise<RecordedEvent[]> {
  const taken: RecordedEvent[] = [];
  while (taken.length < count) {
    const { done, value } = await events.next();
    if (done === true) throw new Error(`the feed ended after ${taken.length} events`);
    taken.push(value);
  }
  await events.return();
  return taken;
}

test('an event is told with what was recorded, to its account alone', async () => {
  const [account, other] = [newUuid(), newUuid()];
  const feed = await watch(account, null);
  expect(feed.from).toBe(0);
  await record(other, ['agent_other']);
  const [recorded] = await record(account, ['agent_own']);
  expect(await take(feed, 1)).toEqual([recorded]);
  expect(await take(await watch(account, 0), 1)).toEqual([recorded]);
});

test('a place that nothing has reached yet is the end of what there is: what comes is told', async () => {
  const account = newUuid();
  await record(account, ['agent_before']);
  const feed = await watch(account, 1_000);
  expect(feed.from).toBe(1);
  const recorded = await record(account, ['agent_after']);
  expect(await take(feed, 1)).toEqual(recorded);
});

test('what is recorded meanwhile waits for its turn: nobody sees a position before all lower ones', async () => {
  const account = newUuid();
  const feed = await watch(account, null);
  let commitFirst = (): void => undefined;
  const held = new Promise<void>((resolve) => (commitFirst = resolve));
  const first = record(account, ['agent_slow'], held);
  await sleep(50);
  const second = record(account, ['agent_fast']);
  await sleep(50);
  expect(await Promise.race([feed.events.next(), sleep(200, 'nothing yet')])).toBe('nothing yet');
  commitFirst();
  await Promise.all([first, second]);
  expect((await take(await watch(account, 0), 2)).map(({ subject, position }) => `${position} ${subject}`)).toEqual([
    '1 agent_slow',
    '2 agent_fast',
  ]);
});

test('whoever leaves and resumes sees every event once and in order, however transactions interleave', async () => {
  const transaction = fc.record({
    subjects: fc.array(fc.constantFrom('agent_a', 'agent_b', 'agent_c'), { minLength: 1, maxLength: 3 }),
    startsAfterMs: fc.nat(20),
    takesMs: fc.nat(15),
    isRolledBack: fc.boolean(),
  });
  const visits = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(transaction, { minLength: 1, maxLength: 10 }),
      visits,
      async (transactions, visitLengths) => {
        const account = newUuid();
        const writing = Promise.all(
          transactions.map(async ({ subjects, startsAfterMs, takesMs, isRolledBack }) => {
            await sleep(startsAfterMs);
            if (!isRolledBack) return record(account, subjects, sleep(takesMs));
            await record(account, subjects, new Error('rolled back')).catch(() => undefined);
            return [];
          }),
        );
        const wanted = transactions
          .filter(({ isRolledBack }) => !isRolledBack)
          .flatMap(({ subjects }) => subjects).length;
        const seen: RecordedEvent[] = [];
        for (let visit = 0; seen.length < wanted; visit += 1) {
          const count = Math.min(visitLengths[visit % visitLengths.length]!, wanted - seen.length);
          seen.push(...(await take(await watch(account, seen.at(-1)?.position ?? 0), count)));
        }
        const recorded = (await writing).flat().toSorted((one, other) => one.position - other.position);
        expect(seen.map(({ eventId }) => eventId)).toEqual(recorded.map(({ eventId }) => eventId));
        expect(seen.map(({ position }) => position)).toEqual(seen.map((_, index) => index + 1));
        for (const subject of ['agent_a', 'agent_b', 'agent_c']) {
          const sequences = seen.filter((event) => event.subject === subject).map(({ sequence }) => sequence);
          expect(sequences).toEqual(sequences.map((_, index) => index + 1));
        }
      },
    ),
    { numRuns: 25, seed: 22 },
  );
});

test('a reader far behind gets everything, page by page, and events that it does not accept are no gap', async () => {
  const account = newUuid();
  await Promise.all(
    Array.from({ length: 12 }, (_, batch) =>
      record(
        account,
        Array.from({ length: 100 }, (_each, index) => `agent_${(batch + index) % 2}`),
      ),
    ),
  );
  const feed = await watch(account, 0, ({ subject }) => subject === 'agent_1');
  const live = record(account, ['agent_0', 'agent_1']);
  const seen = await take(feed, 601);
  await live;
  expect(new Set(seen.map(({ eventId }) => eventId)).size).toBe(601);
  expect(seen.map(({ sequence }) => sequence)).toEqual(seen.map((_, index) => index + 1));
});

test('a watcher outlasts the loss of every connection to the database', async () => {
  const account = newUuid();
  const feed = await watch(account, null);
  const reading = take(feed, 2);
  await record(account, ['agent_before']);
  await terminator.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and backend_type = ` +
      `'client backend' and pid <> pg_backend_pid()`,
  );
  // Told to nobody: the connection that listens is gone.
  for (let isRecorded = false; !isRecorded;) {
    isRecorded = await record(account, ['agent_meanwhile']).then(
      () => true,
      () => false,
    );
  }
  expect((await reading).map(({ subject }) => subject)).toEqual(['agent_before', 'agent_meanwhile']);
});

test('leaving takes effect at once, though nothing happens', async () => {
  const feed = await watch(newUuid(), null);
  const waiting = feed.events.next();
  await sleep(20);
  await feed.events.return();
  expect(await waiting).toEqual({ done: true, value: undefined });
});
