import { pino } from 'pino';
import type { Principal } from '../../../../schema/principal.ts';
import { newUuid, publicId, type Uuid } from '../../../../platform/identifiers.ts';
import { createJobs, type Jobs } from '../../../../platform/jobs/jobs.ts';
import { jobsOwner } from '../../../../platform/jobs/jobs-migrations.ts';
import { openDatabase, type Database } from '../../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../../platform/postgres/pub-sub.ts';
import { acceptRun } from '../../../../subgraphs/attribution/runs/accept-run.ts';
import { cancelRun } from '../../../../subgraphs/attribution/runs/cancel-run.ts';
import { refreshRun } from '../../../../subgraphs/attribution/runs/refresh-run.ts';
import { latestProgress, type SequencedEvent } from '../../../../subgraphs/attribution/runs/run-progress.ts';
import { requireRun } from '../../../../subgraphs/attribution/runs/run-table.ts';
import { watchRun } from '../../../../subgraphs/attribution/runs/watch-run.ts';
import { workOnRuns } from '../../../../subgraphs/attribution/runs/work-on-runs.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../../platform.ts';
import { Tally, TALLY_RUNS, tallyKind, tallyOwner, type SoFar, type Stage } from './tallies.ts';

const logger = pino({ level: 'silent' });
const clock = (): Date => new Date('2026-11-23T12:00:00Z');
const stage: Stage = { announced: [] };
const kind = tallyKind(stage);
let testDatabase: TestDatabase;
let database: Database;
let pubSub: PubSub;
let jobs: Jobs;
let services: { database: Database; pubSub: PubSub; jobs: Jobs; logger: typeof logger; clock: typeof clock };

beforeAll(async () => {
  testDatabase = await createTestDatabase([jobsOwner, pubSubOwner, tallyOwner]);
  const url = testDatabase.applicationUrl;
  database = await openDatabase({
    url,
    entities: [Tally],
    applicationName: 'test',
    poolMax: 8,
    logger,
    timeoutMs: PATIENCE_MS,
  });
  pubSub = await createPubSub({ url, database, logger });
  jobs = await createJobs({ url, logger, leaseS: 5 });
  services = { database, pubSub, jobs, logger, clock };
  await workOnRuns(services, kind, { asked: 2, refreshed: 1 });
}, 60_000);

afterAll(async () => {
  await jobs.stop();
  await pubSub.close();
  await database.close();
  await testDatabase.drop();
});

beforeEach(() => {
  delete stage.beforeStep;
  stage.announced.length = 0;
});

const tenant = (): Principal =>
  ({ accountId: newUuid(), environment: 'live', workspace: null }) as unknown as Principal;

async function ask(principal: Principal, upTo: number): Promise<Uuid> {
  const id = newUuid();
  await database.asTenant(principal, async (em) => {
    const row = em.create(Tally, {
      id,
      accountId: principal.accountId as Uuid,
      environment: 'live',
      status: 'pending',
      createdAt: clock(),
      upTo,
    });
    await acceptRun(em, services, TALLY_RUNS, row, { rows: Math.abs(upTo), delayMs: 0 });
  });
  return id;
}

const read = (principal: Principal, id: Uuid) => database.asTenant(principal, (em) => requireRun(em, TALLY_RUNS, id));

async function watch(principal: Principal, id: Uuid, after = 0): Promise<SequencedEvent<SoFar>[]> {
  const events: SequencedEvent<SoFar>[] = [];
  for await (const event of await watchRun<SoFar>(services, TALLY_RUNS, principal, id, after)) events.push(event);
  return events;
}

const told = (events: readonly SequencedEvent<SoFar>[]) =>
  events.map(({ sequence, event }) => `${sequence} ${event.kind === 'SUM_SO_FAR' ? event.sum : event.kind}`);

const refreshOf = (principal: Principal, id: Uuid, revision: number) =>
  database.asTenant(principal, (em) =>
    refreshRun(
      em,
      jobs,
      TALLY_RUNS,
      { id, accountId: principal.accountId as Uuid, environment: 'live', revision },
      () => Promise.resolve(3),
    ),
  );

test('is accepted, worked on and watched from its first event to its last', async () => {
  const principal = tenant();
  const id = await ask(principal, 3);
  expect(told(await watch(principal, id))).toEqual(['1 PROGRESS', '2 1', '3 3', '4 6', '5 PROGRESS', '6 RESULT']);
  expect(await read(principal, id)).toMatchObject({
    status: 'completed',
    revision: 1,
    result: { sum: 6 },
    note: 'adds up to 6',
    completedAt: clock(),
  });
  expect(stage.announced).toEqual(['ended completed 6 r1']);
  expect(told(await watch(principal, id, 4))).toEqual(['5 PROGRESS', '6 RESULT']);
  expect(await watch(principal, id, 6)).toEqual([]);
  expect(await watch(principal, id, 99)).toEqual([]);
});

test('is watched without a connection of its own until there is something to read', async () => {
  const principal = tenant();
  const id = await ask(principal, 1);
  await watch(principal, id);
  const one = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [Tally],
    applicationName: 'one',
    poolMax: 1,
    logger,
  });
  const taken = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const transaction = one.asNobody(
    async (em) => {
      await em.execute('select 1');
      taken.resolve();
      await over.promise;
    },
    { timeoutMs: PATIENCE_MS },
  );
  try {
    await taken.promise;
    await expect(watchRun({ database: one, pubSub }, TALLY_RUNS, principal, id, 0)).resolves.toBeDefined();
    await expect(watchRun({ database: one, pubSub }, TALLY_RUNS, tenant(), id, 0)).rejects.toMatchObject({
      type: 'resource_not_found',
    });
  } finally {
    over.resolve();
    await transaction;
    await one.close();
  }
});

test('that is deleted before its watcher has read anything leaves nobody waiting', async () => {
  const principal = tenant();
  const id = await ask(principal, 1);
  await watch(principal, id);
  const late = await watchRun(services, TALLY_RUNS, principal, id, 0);
  await database.asTenant(principal, async (em) => {
    await em.execute(`delete from tally.tally_progress where run_id = ?`, [id]);
    await em.execute(`update tally.tallies set deleted_at = now() where id = ?`, [id]);
  });
  expect(await late[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
});

test('is nobody else’s', async () => {
  const principal = tenant();
  const id = await ask(principal, 1);
  await watch(principal, id);
  const unknown = { type: 'resource_not_found', message: `There is no tally ${publicId('exp', id)}.` };
  await expect(read(tenant(), id)).rejects.toMatchObject(unknown);
  await expect(watch(tenant(), id)).rejects.toMatchObject(unknown);
  await expect(cancelRun(services, kind, tenant(), id, async () => undefined)).rejects.toMatchObject(unknown);
});

test('shows how far it has come, and what its computation said before it broke and was taken up again', async () => {
  const principal = tenant();
  let hold!: () => void;
  const held = new Promise<void>((resolve) => (hold = resolve));
  stage.beforeStep = async (attempt, step) => {
    if (attempt === 1 && step === 2) throw new Error('the worker stumbled');
    if (attempt === 2 && step === 2) await held;
  };
  const id = await ask(principal, 2);
  const history = watch(principal, id);
  for (let sum = 0; sum < 2;) {
    const events = await database.asTenant(principal, (em) =>
      em.execute(`select 1 from tally.tally_progress where run_id = ? and event ->> 'kind' = 'SUM_SO_FAR'`, [id]),
    );
    sum = events.length;
  }
  const progress = await database.asTenant(principal, (em) => latestProgress(em, TALLY_RUNS, [id]));
  expect(progress.get(id)).toBeCloseTo(1 / 3);
  expect((await read(principal, id)).status).toBe('processing');
  hold();
  // Once by the first attempt, which broke behind it, then all by the second.
  expect(told(await history)).toEqual(['1 PROGRESS', '2 1', '3 1', '4 3', '5 PROGRESS', '6 RESULT']);
  expect(stage.announced).toEqual(['ended completed 3 r1']);
});

test('that cannot be computed fails with the reason, once, without another attempt', async () => {
  const principal = tenant();
  const id = await ask(principal, -1);
  expect((await watch(principal, id)).at(-1)).toEqual({
    sequence: 2,
    event: { kind: 'ERROR', failure: { code: 'insufficient_data', message: 'There is nothing to add up.' } },
  });
  expect(stage.announced).toEqual(['ended failed insufficient_data r1']);
});

test('that breaks in every attempt fails for good', async () => {
  const principal = tenant();
  const attempts: number[] = [];
  stage.beforeStep = (attempt) => {
    attempts.push(attempt);
    throw new Error('the worker stumbled');
  };
  const id = await ask(principal, 1);
  expect((await watch(principal, id)).at(-1)?.event).toMatchObject({
    kind: 'ERROR',
    failure: { code: 'internal', message: expect.stringMatching(/^The tally failed three times because of an error/) },
  });
  expect(attempts).toEqual([1, 2, 3]);
  expect(stage.announced).toEqual(['ended failed internal r1']);
}, 60_000);

test('is cancelled while it runs; its watchers hear of it, and cancelling again changes nothing', async () => {
  const principal = tenant();
  let noticed!: () => void;
  const aborted = new Promise<void>((resolve) => (noticed = resolve));
  const begun = new Promise<void>((resolve) => {
    stage.beforeStep = (_attempt, _step, signal) => {
      resolve();
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          noticed();
          reject(signal.reason);
        }),
      );
    };
  });
  const id = await ask(principal, 2);
  const history = watch(principal, id);
  await begun;
  const settled: string[] = [];
  const settle = async () => void settled.push('settled');
  expect(await cancelRun(services, kind, principal, id, settle)).toMatchObject({
    status: 'failed',
    failure: { code: 'cancelled', message: 'The tally was cancelled. Nothing is billed.' },
  });
  expect((await history).map(({ event }) => event.kind)).toEqual(['PROGRESS', 'ERROR']);
  await cancelRun(services, kind, principal, id, settle);
  expect(settled).toEqual(['settled', 'settled']);
  expect(stage.announced).toEqual(['ended failed cancelled r1']);
  await aborted;
});

test('that is over is not cancelled', async () => {
  const principal = tenant();
  const id = await ask(principal, 1);
  await watch(principal, id);
  await expect(cancelRun(services, kind, principal, id, async () => undefined)).rejects.toMatchObject({
    extensions: { problem: { type: 'conflict', code: 'already_finished' } },
  });
});

test('is refreshed: its events go on where they were, and the result stays until the next is there', async () => {
  const principal = tenant();
  const id = await ask(principal, 2);
  await watch(principal, id);
  await database.asTenant(principal, (em) => em.execute(`update tally.tallies set up_to = 3 where id = ?`, [id]));
  expect(await refreshOf(principal, id, 2)).toBe(false);
  const shown: unknown[] = [];
  stage.beforeStep = async () => {
    const { status, revision, result } = await read(principal, id);
    shown.push({ status, revision, result });
  };
  expect(await refreshOf(principal, id, 1)).toBe(true);
  expect(told(await watch(principal, id, 5))).toEqual(['6 1', '7 3', '8 6', '9 PROGRESS', '10 RESULT']);
  expect(shown[0]).toEqual({ status: 'processing', revision: 1, result: { sum: 3 } });
  expect(await read(principal, id)).toMatchObject({ status: 'completed', revision: 2, result: { sum: 6 } });
  expect(stage.announced).toEqual(['ended completed 3 r1', 'revised completed 6 r2']);
});

test('whose refresh fails keeps its last revision', async () => {
  const principal = tenant();
  const id = await ask(principal, 2);
  await watch(principal, id);
  await database.asTenant(principal, (em) => em.execute(`update tally.tallies set up_to = -1 where id = ?`, [id]));
  await refreshOf(principal, id, 1);
  expect((await watch(principal, id, 5)).map(({ event }) => event.kind)).toEqual(['RESULT']);
  expect(await read(principal, id)).toMatchObject({ status: 'completed', revision: 1, result: { sum: 3 } });
  expect(stage.announced).toEqual(['ended completed 3 r1']);
});
