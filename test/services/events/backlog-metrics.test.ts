import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { showBacklog } from '../../../services/events/backlog-metrics.ts';
import { EVENT_CATALOGUE } from '../../../schema/event-catalogue.ts';
import { createJobs, type JobQueue, type Jobs } from '../../../platform/jobs/jobs.ts';
import { jobsOwner } from '../../../platform/jobs/jobs-migrations.ts';
import { authOwner } from '../../../services/identity/migrations.ts';
import { eventsOwner } from '../../../services/event-migrations.ts';
import { markRelayed, recordEvent, takeEvent } from '../../../services/events/outbox.ts';
import { insertDelivery } from '../../../services/webhooks/delivery-store.ts';
import { insertEndpoint } from '../../../services/webhooks/endpoint-store.ts';
import { newUuid } from '../../../platform/identifiers.ts';
import { openDatabase, wholeAccount, type Database } from '../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../platform/postgres/pub-sub.ts';
import { parseMetrics } from '../../metrics-text.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../platform.ts';

const logger = pino({ level: 'silent' });
const registry = new Registry();
const QUEUE: JobQueue<unknown> = { name: 'test.waiting', data: z.unknown() };
const accountId = newUuid();
const scope = wholeAccount({ accountId, environment: 'live' });

let testDatabase: TestDatabase;
let database: Database;
let pubSub: PubSub;
let jobs: Jobs;
beforeAll(async () => {
  testDatabase = await createTestDatabase([pubSubOwner, jobsOwner, authOwner, eventsOwner]);
  database = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'backlog',
    poolMax: 4,
    logger,
    timeoutMs: PATIENCE_MS,
  });
  pubSub = await createPubSub({ url: testDatabase.applicationUrl, database, logger });
  jobs = await createJobs({ url: testDatabase.applicationUrl, logger, leaseS: 2 });
  showBacklog(registry, database, logger);
});
afterAll(async () => {
  await jobs?.stop();
  await pubSub?.close();
  await database?.close();
  await testDatabase?.drop();
});

/** All samples by name; undefined where a metric has none. */
async function figures(of = registry): Promise<Record<string, number | undefined>> {
  const metrics = parseMetrics(await of.metrics());
  return Object.fromEntries(
    [...metrics].map(([name, { samples }]) => [
      name.replace(/^liftgraph_/, ''),
      samples.get(name) ?? samples.get(`${name}{queue="${QUEUE.name}"}`),
    ]),
  );
}

const record = () =>
  database.asTenant(scope, (em) =>
    recordEvent(em, pubSub, {
      accountId,
      environment: 'live',
      type: 'health.alert',
      subject: newUuid(),
      data: EVENT_CATALOGUE['health.alert'].example as never,
    }),
  );

test('events, deliveries and jobs are shown while they wait, with the age of the eldest', async () => {
  expect(await figures()).toMatchObject({
    outbox_events_waiting: 0,
    outbox_oldest_event_age_seconds: 0,
    webhook_deliveries_due: 0,
    webhook_oldest_delivery_due_seconds: 0,
  });
  await record();
  const { eventId, type: eventType, occurredAt } = await record();
  const endpointId = newUuid();
  const delivery = {
    accountId,
    environment: 'live',
    endpointId,
    eventId,
    eventType,
    isTest: false,
    attempt: 1,
    begunAt: occurredAt,
    url: 'https://hooks.example/',
  } as const;
  await database.asTenant(scope, async (em) => {
    await insertEndpoint(em, {
      id: endpointId,
      kind: 'webhook',
      accountId,
      environment: 'live',
      workspaceId: null,
      url: delivery.url,
      events: ['health.alert'],
      scopes: ['health:read'],
      metadata: {},
      sealedSecret: Buffer.from('sealed'),
      secretPrefix: 'a s…',
      apiVersion: '2026-02-01',
    });
    await insertDelivery(em, { ...delivery, scheduledAt: new Date(Date.now() - 90_000) });
    // Whose time has not come, and one that somebody is sending.
    await insertDelivery(em, { ...delivery, attempt: 2, scheduledAt: new Date(Date.now() + 3_600_000) });
    await insertDelivery(em, { ...delivery, attempt: 3, claimedBy: { sender: newUuid(), leaseMs: 60_000 } });
  });
  await database.asNobody((em) => jobs.enqueue(em, QUEUE, {}, { tenant: 'somebody' }));
  const shown = await figures();
  expect(shown).toMatchObject({ outbox_events_waiting: 2, webhook_deliveries_due: 1 });
  expect(shown['outbox_oldest_event_age_seconds']).toBeGreaterThan(0);
  expect(shown['webhook_oldest_delivery_due_seconds']).toBeGreaterThanOrEqual(89);
  // pg-boss counts now and then.
  for (
    const deadlineMs = performance.now() + 20_000;
    (await figures())['jobs_waiting'] !== 1 && performance.now() < deadlineMs;
  )
    await sleep(100);
  expect(await figures()).toMatchObject({ jobs_waiting: 1 });

  await database.asNobody(async (em) => markRelayed(em, (await takeEvent(em))!));
  expect(await figures()).toMatchObject({ outbox_events_waiting: 1 });
});

test('while the database does not answer, nothing is shown, and soon', async () => {
  const leaving = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'leaving',
    poolMax: 2,
    logger,
    timeoutMs: PATIENCE_MS,
  });
  const shown = new Registry();
  showBacklog(shown, leaving, logger);
  expect(await figures(shown)).toMatchObject({ outbox_events_waiting: 1, jobs_waiting: 1 });
  await leaving.close();
  const startedMs = performance.now();
  expect(await figures(shown)).toEqual({
    outbox_events_waiting: undefined,
    outbox_oldest_event_age_seconds: undefined,
    webhook_deliveries_due: undefined,
    webhook_oldest_delivery_due_seconds: undefined,
    jobs_waiting: undefined,
  });
  expect(performance.now() - startedMs).toBeLessThan(3_000);
});
