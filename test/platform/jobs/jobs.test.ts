import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { z } from 'zod';
import { createJobs, type EnqueueOptions, type Job, type JobQueue, type Jobs } from '../../../platform/jobs/jobs.ts';
import { jobsOwner } from '../../../platform/jobs/jobs-migrations.ts';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../platform.ts';

interface Task {
  readonly task: string;
}

const logger = pino({ level: 'silent' });
const LEASE_S = 2;
const NOBODY = { tenant: 'nobody' };
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
  jobs = await createJobs({ url: testDatabase.applicationUrl, logger, leaseS: LEASE_S });
});

afterAll(async () => {
  await jobs.stop();
  await database.close();
  await testDatabase.drop();
});

const newQueue = (policy: Partial<JobQueue<Task>> = {}): JobQueue<Task> => ({
  name: `test.${randomUUID()}`,
  data: z.object({ task: z.string() }),
  ...policy,
});
const enqueue = (queue: JobQueue<Task>, task: string, options: Partial<EnqueueOptions> = {}) =>
  database.asNobody((em) => jobs.enqueue(em, queue, { task }, { tenant: 'nobody', ...options }));

/** Collects what a handler was given, and waits for the nth. */
function collector<T>() {
  const seen: T[] = [];
  const waiting: { count: number; resolve: (seen: T[]) => void }[] = [];
  return {
    add(value: T): void {
      seen.push(value);
      for (const waiter of waiting) if (seen.length >= waiter.count) waiter.resolve(seen);
    },
    until: (count: number) =>
      seen.length >= count ? Promise.resolve(seen) : new Promise<T[]>((resolve) => waiting.push({ count, resolve })),
    seen,
  };
}

test('a committed job is handled with its data', async () => {
  const queue = newQueue();
  const handled = collector<Job<Task>>();
  await jobs.work(queue, {}, async (job) => handled.add(job));
  const id = await enqueue(queue, 'once');
  const [job] = await handled.until(1);
  expect(job).toMatchObject({ id, data: { task: 'once' }, attempt: 1 });
});

test('a job of a transaction that is rolled back never existed', async () => {
  const queue = newQueue();
  const handled = collector<string>();
  await jobs.work(queue, {}, async (job) => handled.add(job.data.task));
  const failing = database.asNobody(async (em) => {
    await jobs.enqueue(em, queue, { task: 'rolled back' }, NOBODY);
    throw new Error('on purpose');
  });
  await expect(failing).rejects.toThrow('on purpose');
  await enqueue(queue, 'committed');
  expect(await handled.until(1)).toEqual(['committed']);
});

test('a job cannot be enqueued outside a transaction, nor with data of another shape', async () => {
  const queue = newQueue();
  const outside = database.asNobody((em) => jobs.enqueue(em.fork(), queue, { task: 'x' }, NOBODY));
  await expect(outside).rejects.toThrow(/inside a transaction/);
  await expect(
    database.asNobody((em) => jobs.enqueue(em, queue, { task: 1 } as unknown as Task, NOBODY)),
  ).rejects.toThrow(z.ZodError);
});

test('a backlog is worked off without pauses, as many at a time as asked', async () => {
  const queue = newQueue();
  const tasks = Array.from({ length: 40 }, (_, index) => `task ${index}`);
  for (const task of tasks) await enqueue(queue, task);
  const handled = collector<string>();
  let running = 0;
  let most = 0;
  const three = Promise.withResolvers<void>();
  await jobs.work(queue, { concurrency: 3 }, async (job) => {
    running += 1;
    most = Math.max(most, running);
    if (running === 3) three.resolve();
    // The first wait for one another, however long the queue takes to hand them out.
    await three.promise;
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
    handled.add(job.data.task);
  });
  expect((await handled.until(40)).toSorted()).toEqual(tasks.toSorted());
  expect(most).toBe(3);
});

describe('a queue with limits per share', () => {
  const limited = (): JobQueue<Task> => newQueue({ perShare: { running: 2, waiting: 3 } });

  test('takes as many jobs of a share as may run and wait, whoever enqueues at the same time', async () => {
    const queue = limited();
    const elsewhere = await openDatabase({
      url: testDatabase.applicationUrl,
      entities: [],
      applicationName: 'elsewhere',
      poolMax: 4,
      logger,
      timeoutMs: PATIENCE_MS,
    });
    await enqueue(queue, 'first', { tenant: 'a' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        (index % 2 === 0 ? database : elsewhere).asNobody(
          (em) => jobs.enqueue(em, queue, { task: 'x' }, { tenant: 'a' }),
          { timeoutMs: 10_000 },
        ),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({
          type: 'rate_limit_exceeded',
          problem: { status: 429, code: 'concurrency', retryAfterS: 5 },
        });
    expect(await enqueue(queue, 'of somebody else', { tenant: 'b' })).toBeDefined();
    expect(await enqueue(queue, 'of nobody')).toBeDefined();
    await elsewhere.close();
  });

  test('runs no more of a share at once, and others meanwhile', async () => {
    const queue = limited();
    for (const task of ['a1', 'a2', 'a3', 'a4', 'a5']) await enqueue(queue, task, { tenant: 'a' });
    await enqueue(queue, 'b1', { tenant: 'b' });
    const handled = collector<string>();
    const running: string[] = [];
    let most = 0;
    await jobs.work(queue, { concurrency: 5 }, async ({ data: { task } }) => {
      running.push(task);
      most = Math.max(most, running.filter((name) => name.startsWith('a')).length);
      await new Promise((resolve) => setTimeout(resolve, 250));
      running.splice(running.indexOf(task), 1);
      handled.add(task);
    });
    const order = await handled.until(6);
    expect(order.toSorted()).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'b1']);
    expect(order.indexOf('b1')).toBeLessThan(5);
    expect(most).toBe(2);
    await expect(enqueue(queue, 'a6', { tenant: 'a' })).resolves.toBeDefined();
  });
});

test('a failing job is tried three times, then its owner is told once with the data and the error', async () => {
  const queue = newQueue();
  const attempts = collector<number>();
  const exhausted = collector<{ data: Task; message: string }>();
  await jobs.work(
    queue,
    { onExhausted: async (data, error) => exhausted.add({ data, message: error.message }) },
    async (job) => {
      attempts.add(job.attempt);
      throw new Error(`no luck at attempt ${job.attempt}`);
    },
  );
  await enqueue(queue, 'poison');
  expect(await exhausted.until(1)).toEqual([{ data: { task: 'poison' }, message: 'no luck at attempt 3' }]);
  expect(attempts.seen).toEqual([1, 2, 3]);
});

test('a job that succeeds at its second attempt is not reported', async () => {
  const queue = newQueue();
  const handled = collector<number>();
  const exhausted: Task[] = [];
  await jobs.work(queue, { onExhausted: async (data) => void exhausted.push(data) }, async (job) => {
    handled.add(job.attempt);
    if (job.attempt === 1) throw new Error('not yet');
  });
  await enqueue(queue, 'second time lucky');
  expect(await handled.until(2)).toEqual([1, 2]);
  await enqueue(queue, 'another');
  await handled.until(4);
  expect(exhausted).toEqual([]);
});

test('one job at most waits per singleton key', async () => {
  const queue = newQueue();
  expect(await enqueue(queue, 'first', { singletonKey: 'k' })).toBeDefined();
  expect(await enqueue(queue, 'dropped', { singletonKey: 'k' })).toBeUndefined();
  expect(await enqueue(queue, 'other', { singletonKey: 'l' })).toBeDefined();
  const handled = collector<string>();
  await jobs.work(queue, {}, async (job) => handled.add(job.data.task));
  expect((await handled.until(2)).toSorted()).toEqual(['first', 'other']);
  expect(await enqueue(queue, 'again', { singletonKey: 'k' })).toBeDefined();
  expect(await handled.until(3)).toContain('again');
});

test('a job for later waits for its time', async () => {
  const queue = newQueue();
  const handled = collector<string>();
  await jobs.work(queue, {}, async (job) => handled.add(job.data.task));
  await enqueue(queue, 'later', { startAfter: new Date(Date.now() + 1_500) });
  await enqueue(queue, 'now');
  expect(await handled.until(2)).toEqual(['now', 'later']);
});

test('a job whose attempt runs too long is aborted and tried again', async () => {
  const queue = newQueue({ expireInS: 1 });
  const handled = collector<number>();
  const aborted = collector<boolean>();
  await jobs.work(queue, {}, async (job) => {
    handled.add(job.attempt);
    if (job.attempt > 1) return;
    await once(job.signal, 'abort');
    aborted.add(job.signal.aborted);
  });
  await enqueue(queue, 'slow');
  expect(await handled.until(2)).toEqual([1, 2]);
  expect(await aborted.until(1)).toEqual([true]);
});

test('the job of a killed worker is taken over, and its owner told when every worker dies of it', async () => {
  const queue = newQueue({ retryLimit: 1 });
  const script = fileURLToPath(new URL('doomed-worker.mjs', import.meta.url));
  const takenBy: number[] = [];
  const killed = async () => {
    const worker = fork(script, { execArgv: [] });
    const [message] = (await Promise.race([once(worker, 'message'), once(worker, 'exit').then(() => ['exited'])])) as [
      number | 'ready',
    ];
    expect(message).toBe('ready');
    worker.send({ url: testDatabase.applicationUrl, queue: queue.name, retryLimit: queue.retryLimit, leaseS: LEASE_S });
    const [attempt] = (await once(worker, 'message')) as [number];
    takenBy.push(attempt);
    worker.kill('SIGKILL');
    await once(worker, 'exit');
  };
  await enqueue(queue, 'deadly');
  await killed();
  await killed();
  const exhausted = collector<string>();
  await jobs.work(
    queue,
    { onExhausted: async (data, error) => exhausted.add(`${data.task}: ${error.message}`) },
    async () => {
      throw new Error('no attempt is left for me');
    },
  );
  expect(await exhausted.until(1)).toEqual(['deadly: job heartbeat timeout']);
  expect(takenBy).toEqual([1, 2]);
});

test('stopping waits for the job in hand and leaves the rest for others', async () => {
  const queue = newQueue();
  const stopping = await createJobs({ url: testDatabase.applicationUrl, logger, leaseS: LEASE_S });
  const started = collector<string>();
  const finished: string[] = [];
  await stopping.work(queue, {}, async (job) => {
    started.add(job.data.task);
    await new Promise((resolve) => setTimeout(resolve, 150));
    finished.push(job.data.task);
  });
  await enqueue(queue, 'in hand');
  await started.until(1);
  await enqueue(queue, 'left');
  await stopping.stop();
  expect(finished).toEqual(['in hand']);
  const handled = collector<string>();
  await jobs.work(queue, {}, async (job) => handled.add(job.data.task));
  expect(await handled.until(1)).toEqual(['left']);
});
