import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { pino } from 'pino';
import { createJobs, type Job } from '../../../platform/jobs/jobs.ts';
import { newQueue, openJobBench, type JobBench, type Task } from './job-bench.ts';

const logger = pino({ level: 'silent' });
let bench: JobBench;
let testDatabase: JobBench['testDatabase'];
let database: JobBench['database'];
let jobs: JobBench['jobs'];
let owner: JobBench['owner'];
let enqueue: JobBench['enqueue'];
let orderOf: JobBench['orderOf'];

beforeAll(async () => {
  bench = await openJobBench();
  ({ testDatabase, database, jobs, owner, enqueue, orderOf } = bench);
});

afterAll(() => bench.close());

/** A handler whose jobs begin when a worker takes them and end when the test says so. */
function stage() {
  const begun: string[] = [];
  const beganMs = new Map<string, number>();
  const curtains = new Map<string, () => void>();
  const waiting = new Map<number, () => void>();
  return {
    begun,
    handle: (job: Pick<Job<Task>, 'data'>): Promise<void> =>
      new Promise((resolve) => {
        begun.push(job.data.task);
        beganMs.set(job.data.task, performance.now());
        curtains.set(job.data.task, resolve);
        waiting.get(begun.length)?.();
      }),
    until: (count: number): Promise<void> =>
      begun.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.set(count, resolve)),
    heldMs: (task: string): number => performance.now() - beganMs.get(task)!,
    end: (task: string): void => curtains.get(task)!(),
  };
}

test('tenants take turns, however many jobs one of them has and whoever came first', async () => {
  const queue = newQueue();
  for (const task of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1']) await enqueue(queue, task);
  expect(await orderOf(queue, 8)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4', 'a5']);
});

test('in whatever order they come, nobody who waits falls more than one turn behind', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 12 }),
      async (tenants) => {
        const queue = newQueue();
        for (const [place, tenant] of tenants.entries()) await enqueue(queue, `${tenant}${place}`);
        const order = await orderOf(queue, tenants.length);
        for (let turn = 1; turn <= order.length; turn += 1) {
          const served = (tenant: string): number =>
            order.slice(0, turn).filter((task) => task.startsWith(tenant)).length;
          const most = Math.max(...tenants.map(served));
          for (const tenant of tenants)
            expect(served(tenant)).toBeGreaterThanOrEqual(
              Math.min(most - 1, tenants.filter((other) => other === tenant).length),
            );
        }
        // And each tenant's own in the order in which he asked.
        for (const tenant of tenants)
          expect(order.filter((task) => task.startsWith(tenant))).toEqual(
            tenants.flatMap((other, place) => (other === tenant ? [`${tenant}${place}`] : [])),
          );
      },
    ),
    { numRuns: 12 },
  );
});

test('who has none running goes before who has; who asks after a while, before who was served just now', async () => {
  const queue = newQueue();
  const { handle, begun, until, heldMs, end } = stage();
  for (const task of ['a1', 'a2', 'a3', 'c1', 'c2']) await enqueue(queue, task);
  await jobs.work(queue, { concurrency: 2 }, handle);
  await until(2);
  expect(begun.toSorted()).toEqual(['a1', 'c1']);
  await enqueue(queue, 'b1');
  await enqueue(queue, 'b2');
  const usedByA = heldMs('a1');
  end('a1');
  await until(3);
  // A worker may have been late with c1: who was served longer is what counts, not who ended last.
  while (heldMs('c1') < usedByA + 300) await sleep(20);
  end('c1');
  await until(4);
  expect(begun.slice(2)).toEqual(['b1', 'a2']);
  for (let place = 2; place < 7; place += 1) {
    await until(place + 1);
    end(begun[place]!);
  }
});

test('who has dear jobs has fewer turns than who has cheap ones', async () => {
  const queue = newQueue();
  for (const task of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3']) await enqueue(queue, task);
  const order: string[] = [];
  const isOver = Promise.withResolvers<void>();
  await jobs.work(queue, {}, async ({ data: { task } }) => {
    if (order.push(task) === 6) isOver.resolve();
    if (task.startsWith('a')) await sleep(300);
  });
  await isOver.promise;
  expect(order).toEqual(['a1', 'b1', 'b2', 'b3', 'a2', 'a3']);
});

test('what was used long ago counts no more, a month ago neither', async () => {
  const queue = newQueue();
  const uses = [
    ['a', 10, '0 s'],
    ['b', 1_000, '20 minutes'],
    ['c', 1_000, '30 days'],
  ] as const;
  for (const [tenant, seconds, ago] of uses) {
    const values = `$1, $2, now() - interval '2 minutes', $3, now() - $4::interval`;
    await owner.query(`insert into jobs.turns (queue, tenant, last_turn, used, used_at) values (${values})`, [
      queue.name,
      tenant,
      seconds,
      ago,
    ]);
    await enqueue(queue, `${tenant}1`);
  }
  expect(await orderOf(queue, 3)).toEqual(['b1', 'c1', 'a1']);
});

test('jobs that run in another process count, and turns are remembered for all', async () => {
  const queue = newQueue();
  const other = await createJobs({ url: testDatabase.applicationUrl, logger, leaseS: 2 });
  const [here, there] = [stage(), stage()];
  await enqueue(queue, 'a1');
  await other.work(queue, {}, there.handle);
  await there.until(1);
  await enqueue(queue, 'a2');
  await enqueue(queue, 'b1');
  await jobs.work(queue, {}, here.handle);
  await here.until(1);
  expect(here.begun).toEqual(['b1']);
  there.end('a1');
  here.end('b1');
  await Promise.race([there.until(2), here.until(2)]);
  for (const { begun, end } of [here, there]) for (const task of begun) end(task);
  await other.stop();
});

test('large jobs leave a place to the others, and run where there is only one', async () => {
  const large = { isLarge: ({ task }: Task) => task.endsWith('large') };
  const queue = newQueue(large);
  const { handle, begun, until, end } = stage();
  for (const task of ['a large', 'b large']) await enqueue(queue, task);
  await jobs.work(queue, { concurrency: 2 }, handle);
  await until(1);
  await enqueue(queue, 'c small');
  await until(2);
  expect(begun).toEqual(['a large', 'c small']);
  end('c small');
  await enqueue(queue, 'd small');
  await until(3);
  end('a large');
  await until(4);
  expect(begun.slice(2)).toEqual(['d small', 'b large']);
  end('d small');
  end('b large');
  const alone = newQueue(large);
  await enqueue(alone, 'e large');
  expect(await orderOf(alone, 1)).toEqual(['e large']);
});

test('a large job stays large when tried again, and leaves a place to others while it waits for its own', async () => {
  const queue = newQueue({ isLarge: ({ task }) => task.endsWith('large') });
  const { handle, begun, until, end } = stage();
  const failsOnce = Promise.withResolvers<void>();
  await enqueue(queue, 'a large');
  await jobs.work(queue, { concurrency: 2 }, async (job) => {
    if (job.data.task === 'a large' && job.attempt === 1) {
      await failsOnce.promise;
      throw new Error('on purpose');
    }
    await handle(job);
  });
  await enqueue(queue, 'b large');
  failsOnce.resolve();
  await until(1);
  // The other one has a worker, too, if no place.
  const active = async () =>
    (
      await owner.query(`select 1 from jobs.job where name = $1 and state = 'active' and data is not null`, [
        queue.name,
      ])
    ).rows.length;
  while (begun[0] === 'b large' && (await active()) < 2) await sleep(20);
  await enqueue(queue, 'c small');
  await until(2);
  expect(begun[1]).toBe('c small');
  const [first, second] = begun[0] === 'a large' ? ['a large', 'b large'] : ['b large', 'a large'];
  end('c small');
  end(first);
  await until(3);
  expect(begun[2]).toBe(second);
  end(second);
});

test('who steps aside has others run in his place, and waits for one to go on', async () => {
  const queue = newQueue();
  const told: string[] = [];
  const isOver = Promise.withResolvers<void>();
  const neighbourRuns = Promise.withResolvers<void>();
  const neighbourEnds = Promise.withResolvers<void>();
  const waits = Promise.withResolvers<void>();
  await jobs.work(queue, {}, async ({ data: { task }, aside }) => {
    if (task === 'b1') {
      neighbourRuns.resolve();
      told.push('b runs');
      await neighbourEnds.promise;
      told.push('b ends');
      return;
    }
    await aside(async () => {
      await neighbourRuns.promise;
      told.push('a has waited');
      waits.resolve();
    });
    told.push('a goes on');
    isOver.resolve();
  });
  await enqueue(queue, 'a1');
  await enqueue(queue, 'b1');
  await waits.promise;
  neighbourEnds.resolve();
  await isOver.promise;
  expect(told).toEqual(['b runs', 'a has waited', 'b ends', 'a goes on']);
});

test('a large job that steps aside lets another large one have its place', async () => {
  const queue = newQueue({ isLarge: () => true });
  const [asideRuns, otherRuns] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done: string[] = [];
  const isOver = Promise.withResolvers<void>();
  await jobs.work(queue, { concurrency: 2 }, async ({ data: { task }, aside }) => {
    if (task === 'b1') otherRuns.resolve();
    else {
      await aside(async () => {
        asideRuns.resolve();
        await otherRuns.promise;
      });
    }
    if (done.push(task) === 2) isOver.resolve();
  });
  await enqueue(queue, 'a1');
  await asideRuns.promise;
  await enqueue(queue, 'b1');
  await isOver.promise;
  expect(done.toSorted()).toEqual(['a1', 'b1']);
});

test('jobs that turn out to be large leave the last place to others, and wait for one another', async () => {
  const queue = newQueue();
  const told: string[] = [];
  const [largeBegins, firstEnds, smallRuns, isOver] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  await jobs.work(queue, { concurrency: 2 }, async ({ data: { task }, turnOutLarge }) => {
    if (task === 'c small') {
      told.push(task);
      smallRuns.resolve();
      return;
    }
    await turnOutLarge();
    // Whoever is large already stays so.
    await turnOutLarge();
    told.push(`${task} begins`);
    largeBegins.resolve();
    if (told.filter((each) => each.endsWith('begins')).length === 1) await firstEnds.promise;
    told.push(`${task} ends`);
    if (told.filter((each) => each.endsWith('ends')).length === 2) isOver.resolve();
  });
  await enqueue(queue, 'a large');
  await enqueue(queue, 'b large');
  // Until then there are two places.
  await largeBegins.promise;
  await enqueue(queue, 'c small');
  await smallRuns.promise;
  expect(told).toEqual([expect.stringMatching('large begins'), 'c small']);
  firstEnds.resolve();
  await isOver.promise;
  expect(told.slice(2)).toEqual([
    told[0]!.replace('begins', 'ends'),
    expect.stringMatching('large begins'),
    expect.stringMatching('large ends'),
  ]);
});

test('a share of a tenant that has as many running as may waits behind nobody of another share', async () => {
  const queue = newQueue({ perShare: { running: 1 } });
  const { handle, begun, until, end } = stage();
  await enqueue(queue, 'a live 1', { share: 'live' });
  await enqueue(queue, 'a live 2', { share: 'live' });
  await jobs.work(queue, { concurrency: 2 }, handle);
  await until(1);
  // The other worker holds a ticket already, and has found nobody who may begin.
  await enqueue(queue, 'a sandbox', { share: 'sandbox' });
  await until(2);
  expect(begun).toEqual(['a live 1', 'a sandbox']);
  end('a sandbox');
  end('a live 1');
  await until(3);
  end('a live 2');
});

test('a process that stops leaves its ticket to others, with what waits', async () => {
  const queue = newQueue({ perShare: { running: 1 } });
  const stopping = await createJobs({ url: testDatabase.applicationUrl, logger, leaseS: 2 });
  const [here, there] = [stage(), stage()];
  await jobs.work(queue, {}, here.handle);
  await enqueue(queue, 'a1');
  await here.until(1);
  await stopping.work(queue, {}, there.handle);
  await enqueue(queue, 'a2');
  const active = async () =>
    (await owner.query(`select 1 from jobs.job where name = $1 and state = 'active'`, [queue.name])).rows.length;
  while ((await active()) < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  const beganMs = performance.now();
  await stopping.stop();
  expect(performance.now() - beganMs).toBeLessThan(10_000);
  here.end('a1');
  await here.until(2);
  expect([here.begun, there.begun]).toEqual([['a1', 'a2'], []]);
  here.end('a2');
});

test('of waiting jobs nothing is left once they are done or withdrawn', async () => {
  const queue = newQueue();
  await enqueue(queue, 'a1', { singletonKey: 'k' });
  await enqueue(queue, 'a2');
  await database.asNobody((em) => jobs.withdraw(em, queue, 'k'));
  expect(await orderOf(queue, 1)).toEqual(['a2']);
  const left = async (table: string, column: string) =>
    (
      await owner.query(
        `select 1 from jobs.${table} where ${column} = $1 ${table === 'job' ? `and state < 'completed'` : ''}`,
        [queue.name],
      )
    ).rows.length;
  while ((await left('job', 'name')) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await left('waiting', 'queue')).toBe(0);
});
