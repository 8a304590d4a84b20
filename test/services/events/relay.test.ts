import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { EVENT_CATALOGUE, type EventType } from '../../../schema/event-catalogue.ts';
import { eventsOwner } from '../../../services/event-migrations.ts';
import { recordEvent, type RecordedEvent } from '../../../services/events/outbox.ts';
import { startRelay, type EventConsumer, type Relay } from '../../../services/events/relay.ts';
import { newUuid, type Uuid } from '../../../platform/identifiers.ts';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../platform/postgres/pub-sub.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../platform.ts';

const logger = pino({ level: 'silent' });
const RELAYS = 3;
const PER_SUBJECT = 8;

let testDatabase: TestDatabase;
/** As many processes would have: a pool and a listening connection each. */
let processes: { database: Database; pubSub: PubSub }[];
let relays: Relay[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase([pubSubOwner, eventsOwner]);
  processes = await Promise.all(
    Array.from({ length: RELAYS }, async () => {
      const database = await openDatabase({
        url: testDatabase.applicationUrl,
        entities: [],
        applicationName: 'test',
        poolMax: 4,
        logger,
        timeoutMs: PATIENCE_MS,
      });
      return { database, pubSub: await createPubSub({ url: testDatabase.applicationUrl, database, logger }) };
    }),
  );
});

afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.close()));
});

afterAll(async () => {
  for (const { database, pubSub } of processes) {
    await pubSub.close();
    await database.close();
  }
  await testDatabase.drop();
});

const data = EVENT_CATALOGUE['agent.tier_changed'].example;

async function record(accountId: Uuid, subject: string, failing?: Error): Promise<RecordedEvent> {
  const { database, pubSub } = processes[0]!;
  return database.asTenant(accountId, async (em) => {
    const recorded = await recordEvent(em, pubSub, {
      accountId,
      environment: 'live',
      type: 'agent.tier_changed',
      subject,
      data,
    });
    if (failing !== undefined) throw failing;
    return recorded;
  });
}

function relayEverywhere(consume: EventConsumer): void {
  relays = processes.map(({ database, pubSub }) => startRelay({ database, pubSub, consumers: [consume], logger }));
}

async function until(isSo: () => boolean): Promise<void> {
  for (const deadlineMs = performance.now() + 15_000; !isSo(); await sleep(5))
    if (performance.now() > deadlineMs) throw new Error('it did not happen');
}

test('every committed event is relayed once, each subject in its order, however many relays run', async () => {
  const seen: RecordedEvent[] = [];
  relayEverywhere(async (_em, event) => void seen.push(event));
  const accounts = [newUuid(), newUuid()];
  const subjects = ['agent_a', 'agent_b', 'agent_c'];
  const wanted = await Promise.all(
    accounts.flatMap((account) =>
      subjects.flatMap((subject) => Array.from({ length: PER_SUBJECT }, () => record(account, subject))),
    ),
  );
  await Promise.all(
    Array.from({ length: 5 }, () =>
      expect(record(accounts[0]!, subjects[0]!, new Error('rolled back'))).rejects.toThrow('rolled back'),
    ),
  );
  const last = await record(accounts[0]!, 'agent_last');
  await until(() => seen.some(({ eventId }) => eventId === last.eventId) && seen.length >= wanted.length + 1);
  expect(seen.map(({ eventId }) => eventId).toSorted()).toEqual(
    [...wanted, last].map(({ eventId }) => eventId).toSorted(),
  );
  for (const account of accounts) {
    for (const subject of subjects)
      expect(
        seen
          .filter((event) => event.accountId === account && event.subject === subject)
          .map(({ sequence }) => sequence),
      ).toEqual(Array.from({ length: PER_SUBJECT }, (_, place) => place + 1));
  }
});

test('a consumer that fails gets the event again, and what it wrote before is gone; other subjects go on', async () => {
  const account = newUuid();
  const seen: string[] = [];
  let failures = 2;
  relayEverywhere(async (em, { subject, sequence }) => {
    await em.execute(`update events.outbox set data = data || '{"seen": true}' where subject = ? and sequence = ?`, [
      subject,
      sequence,
    ]);
    // Until the other subject has gone on, however long that takes.
    const isAlone = !seen.some((event) => event.startsWith('agent_fine'));
    if (subject === 'agent_poison' && sequence === 1 && (failures-- > 0 || isAlone)) throw new Error('not now');
    const [{ times }] = await em.execute<[{ times: string }]>(
      `select count(*) as times from events.outbox where subject = ? and jsonb_exists(data, 'seen')`,
      [subject],
    );
    seen.push(`${subject} ${sequence} ${times}`);
  });
  await record(account, 'agent_poison');
  await record(account, 'agent_poison');
  await record(account, 'agent_fine');
  await until(() => seen.length === 3);
  expect(seen).toEqual(['agent_fine 1 1', 'agent_poison 1 1', 'agent_poison 2 2']);
});

test('a consumer acts for the tenant of the event and sees nothing of others', async () => {
  const [account, other] = [newUuid(), newUuid()];
  await record(other, 'agent_other');
  const tenants = new Map<string, Set<string>>();
  relayEverywhere(async (em, event) => {
    const rows = await em.execute<{ account_id: string }[]>(`select distinct account_id from events.outbox`);
    tenants.set(event.accountId, new Set(rows.map(({ account_id: id }) => id)));
  });
  await record(account, 'agent_own');
  await until(() => tenants.size === 2);
  expect(tenants).toEqual(
    new Map([
      [other, new Set([other])],
      [account, new Set([account])],
    ]),
  );
});

test('a long backlog costs each event no more than a short one', async () => {
  const [account, waiting] = [newUuid(), 800];
  await processes[0]!.database.asTenant(account, (em) =>
    em.execute(
      `select events.record_event(gen_random_uuid(), ?, 'live', 'agent.tier_changed', 'agent_' || n, ?::jsonb, null) ` +
        `from generate_series(1, ?) n`,
      [account, JSON.stringify(data), waiting],
    ),
  );
  let seen = 0;
  relayEverywhere(async (_em, event) => void (event.accountId === account && (seen += 1)));
  await until(() => seen === waiting);
});

test('an event is passed on soon after its commit', async () => {
  const delaysMs: number[] = [];
  const account = newUuid();
  relayEverywhere(async (_em, event) => {
    if (event.accountId === account) delaysMs.push(Date.now() - event.occurredAt.getTime());
  });
  for (let event = 1; event <= 30; event += 1) {
    await record(account, 'agent_soon');
    await until(() => delaysMs.length === event);
  }
  // Below the second after which the outbox is looked at anyway: commits wake the relay.
  expect(delaysMs.toSorted((one, other) => one - other)[27]).toBeLessThan(700);
});

test('every example of the catalogue has the shape of its type', () => {
  for (const type of Object.keys(EVENT_CATALOGUE) as EventType[])
    expect(() => EVENT_CATALOGUE[type].data.parse(EVENT_CATALOGUE[type].example)).not.toThrow();
});
