import type { JobQueue } from '../../../platform/jobs/jobs.ts';
import { newQueue, openJobBench, type JobBench, type Task } from './job-bench.ts';

let bench: JobBench;

beforeAll(async () => {
  bench = await openJobBench();
});
afterAll(() => bench.close());

/** A tenant that had its latest turn a while ago, and has used so many seconds lately. */
const worked = (queue: JobQueue<Task>, tenant: string, seconds: number, ago: string) =>
  bench.owner.query(
    `insert into jobs.turns (queue, tenant, last_turn, used, used_at) values ($1, $2, now() - $3::interval, $4, now())`,
    [queue.name, tenant, ago, seconds],
  );

test('who has worked a while ago and asks for one goes before strangers who ask for many', async () => {
  const queue = newQueue({ perShare: { running: 4 } });
  await worked(queue, 'n', 60, '20 seconds');
  for (const tenant of 'abcdef')
    for (let task = 0; task < 12; task += 1) await bench.enqueue(queue, `${tenant}${task}`);
  await bench.enqueue(queue, 'n1');
  const order = await bench.orderOf(queue, 73);
  expect(order[0]).toBe('n1');
  // Those who ask for as many take turns, once each of them has begun.
  expect(
    order
      .slice(1, 7)
      .map(([tenant]) => tenant)
      .toSorted(),
  ).toEqual([...'abcdef']);
});

test.each([1, 12])(
  'whatever somebody has used and however many wait (%d), the first goes in half a minute',
  async (jobsOfBusy) => {
    const queue = newQueue({ perShare: { running: 1 } });
    await worked(queue, 'z', 1_000, '1 minute');
    for (let task = 0; task < jobsOfBusy; task += 1) await bench.enqueue(queue, `z${task}`);
    await bench.owner.query(
      `update jobs.waiting set start_after = start_after - interval '31 seconds' where queue = $1`,
      [queue.name],
    );
    for (const task of ['a1', 'a2', 'b1', 'c1']) await bench.enqueue(queue, task);
    expect((await bench.orderOf(queue, 4 + jobsOfBusy))[0]).toBe('z0');
  },
);
