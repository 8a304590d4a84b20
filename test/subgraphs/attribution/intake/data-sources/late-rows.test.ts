import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createJobs, type Jobs } from '../../../../../platform/jobs/jobs.ts';
import { jobsOwner } from '../../../../../platform/jobs/jobs-migrations.ts';
import { newUuid } from '../../../../../platform/identifiers.ts';
import { openDatabase, type Database } from '../../../../../platform/postgres/database.ts';
import {
  awaitNotices,
  LATE_ROWS_QUEUE,
  noticeLateRows,
} from '../../../../../subgraphs/attribution/intake/data-sources/late-rows.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../../../platform.ts';

const logger = pino({ level: 'silent' });
const source = { accountId: newUuid(), environment: 'live', dataSourceId: newUuid() } as const;

let testDatabase: TestDatabase;
let database: Database;
let jobs: Jobs;

beforeAll(async () => {
  testDatabase = await createTestDatabase([jobsOwner]);
  database = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'test',
    poolMax: 4,
    logger,
    timeoutMs: PATIENCE_MS,
  });
  jobs = await createJobs({ url: testDatabase.applicationUrl, logger, leaseS: 4 });
});

afterAll(async () => {
  await jobs.stop();
  await database.close();
  await testDatabase.drop();
});

const waiting = () =>
  database.asNobody(async (em) =>
    Number(
      (await em.execute<[{ count: string }]>(`select count(*) from jobs.job where name = ?`, [LATE_ROWS_QUEUE.name]))[0]
        .count,
    ),
  );

test('a look waits for the notices that were merged into it, and for no other source', async () => {
  await database.asTenant(source.accountId, (em) => noticeLateRows(em, jobs, source));
  const merged = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  let hasLooked = false;
  const noticing = database.asTenant(source.accountId, async (em) => {
    await noticeLateRows(em, jobs, source);
    merged.resolve();
    await commit.promise;
  });
  await merged.promise;
  const looking = database.asTenant(source.accountId, (em) => awaitNotices(em, source)).then(() => (hasLooked = true));
  await database.asTenant(source.accountId, (em) => awaitNotices(em, { ...source, dataSourceId: newUuid() }));
  await sleep(100);
  expect(hasLooked).toBe(false);
  commit.resolve();
  await Promise.all([noticing, looking]);
  expect(await waiting()).toBe(1);
});

test('whoever withdraws a waiting job has it gone with the commit, and only then', async () => {
  await expect(
    database.asTenant(source.accountId, async (em) => {
      await jobs.withdraw(em, LATE_ROWS_QUEUE, source.dataSourceId);
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  expect(await waiting()).toBe(1);
  await database.asTenant(source.accountId, (em) => jobs.withdraw(em, LATE_ROWS_QUEUE, source.dataSourceId));
  expect(await waiting()).toBe(0);
});
