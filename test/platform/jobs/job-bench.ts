import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { Client } from 'pg';
import { z } from 'zod';
import { createJobs, type EnqueueOptions, type Job, type JobQueue, type Jobs } from '../../../platform/jobs/jobs.ts';
import { jobsOwner } from '../../../platform/jobs/jobs-migrations.ts';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../platform.ts';

export interface Task {
  readonly task: string;
}

/** A job queue on a database of its own. */
export interface JobBench {
  readonly testDatabase: TestDatabase;
  readonly database: Database;
  readonly jobs: Jobs;
  readonly owner: Client;
  /** The tenant of a task is its first letter. */
  enqueue(queue: JobQueue<Task>, task: string, options?: Partial<EnqueueOptions>): Promise<unknown>;
  /** The order in which one worker does everything that waits. */
  orderOf(queue: JobQueue<Task>, count: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

export const newQueue = (policy: Partial<JobQueue<Task>> = {}): JobQueue<Task> => ({
  name: `test.${randomUUID()}`,
  data: z.object({ task: z.string() }),
  ...policy,
});

export async function openJobBench(): Promise<JobBench> {
  const logger = pino({ level: 'silent' });
  const testDatabase = await createTestDatabase([jobsOwner]);
  const database = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'test',
    poolMax: 4,
    logger,
    timeoutMs: PATIENCE_MS,
  });
  const jobs = await createJobs({ url: testDatabase.applicationUrl, logger, leaseS: 2 });
  const owner = new Client({ connectionString: testDatabase.ownerUrl });
  await owner.connect();
  return {
    testDatabase,
    database,
    jobs,
    owner,
    enqueue: (queue, task, options = {}) =>
      database.asNobody((em) => jobs.enqueue(em, queue, { task }, { tenant: task[0]!, ...options })),
    async orderOf(queue, count) {
      const order: string[] = [];
      await new Promise<void>((resolve, reject) => {
        const handled = async ({ data: { task } }: Job<Task>): Promise<void> =>
          void (order.push(task) === count && resolve());
        jobs.work(queue, {}, handled).catch(reject);
      });
      return order;
    },
    async close() {
      await owner.end();
      await jobs.stop();
      await database.close();
      await testDatabase.drop();
    },
  };
}
