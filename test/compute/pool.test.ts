import {
  faultUnlessSound,
  notYetFoundSound,
  sharedFloat64,
  sharedUint16,
  sharedUint32,
} from '../../compute/journey-tables.ts';
import type { PathTable } from '../../compute/journey-tables.ts';
import { seededRandom } from '../../compute/numerics/random.ts';
import { createComputePool } from '../../compute/pool.ts';
import type { ComputePool } from '../../compute/pool.ts';
import { runTask } from '../../compute/tasks.ts';
import { startComputeThreads } from '../../compute/threads.ts';
import { eventTable, pathTable, readEventRows, readPathRows, wholeRange } from './reference-data.ts';
import { figures } from './run-in-thread.ts';

/** Exact text of every number: JSON round-trips doubles, and arrays from other threads belong to another realm. */
const bits = (value: unknown): string => JSON.stringify(value);

/** Work for a while: many channels in every path, so that dominance has to sample. */
function heavy(): PathTable {
  const random = seededRandom(1);
  const paths = 3_000;
  const offsets = sharedUint32(paths + 1);
  for (let p = 0; p <= paths; p++) offsets[p] = p * 20;
  const table = {
    channels: Array.from({ length: 150 }, (_, c) => `channel ${c}`),
    offsets,
    steps: sharedUint16(paths * 20),
    conversions: sharedFloat64(paths),
    value: sharedFloat64(paths),
    nulls: sharedFloat64(paths),
  };
  for (let i = 0; i < table.steps.length; i++) table.steps[i] = Math.floor(random() * 150);
  for (let p = 0; p < paths; p++) {
    table.conversions[p] = Number(random() < 0.3);
    table.nulls[p] = 1;
    table.value[p] = table.conversions[p]! * 10;
  }
  return table;
}

describe('the compute pool', () => {
  const paths = pathTable(readPathRows('events.journeys.csv'));
  const events = eventTable(readEventRows());
  let pool: ComputePool;

  beforeAll(async () => {
    pool = createComputePool({ threads: 2, maxQueue: 8 });
    await pool.warm();
  });
  afterAll(() => pool.close());

  test('a re-run gives the same bits, on any thread', async () => {
    const options = wholeRange(events);
    const once = async (): Promise<string[]> =>
      (
        await Promise.all([
          pool.run('markov', { paths, order: 3 }),
          pool.run('shapley', { paths }),
          pool.run('dominance', { paths, seed: 5 }),
          pool.run('rwa', { paths }),
          pool.run('prav', { events, options }),
          pool.run('comparison', { events, options }),
        ])
      ).map(bits);
    const first = await once();
    expect(await once()).toEqual(first);
    expect(first[0]).toBe(bits(figures('markov', { paths, order: 3 })));
    expect(first[4]).toBe(bits(figures('prav', { events, options })));
  });

  test('a table is looked at until a thread has found it sound; every table of its own', async () => {
    const [sound, broken] = [notYetFoundSound(), notYetFoundSound()];
    const beyond = Uint16Array.from(paths.steps, () => paths.channels.length);
    expect((await pool.run('shapley', { paths: { ...paths, soundness: sound } })).ok).toBe(true);
    expect(Atomics.load(sound, 0)).toBe(1);
    for (const model of ['shapley', 'markov'] as const) {
      expect(await pool.run(model, { paths: { ...paths, steps: beyond, soundness: broken }, order: 1 })).toMatchObject({
        ok: false,
        code: 'invalid_input',
        message: expect.stringContaining('names a channel that does not exist'),
      });
    }
    expect(Atomics.load(broken, 0)).toBe(0);
    let looks = 0;
    const throwIfCancelled = (): null => {
      looks += 1;
      return null;
    };
    for (const soundness of [sound, sound, notYetFoundSound()])
      faultUnlessSound({ ...paths, soundness }, throwIfCancelled);
    expect(looks).toBe(1);
  });

  test('progress grows, arrives before the result, and stops with it', async () => {
    const seen: number[] = [];
    const outcome = await pool.run(
      'prav',
      { events, options: wholeRange(events) },
      { onProgress: (fraction) => seen.push(fraction) },
    );
    const before = [...seen];
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(outcome.ok).toBe(true);
    expect(before.length).toBeGreaterThan(1);
    expect(before).toEqual(before.toSorted((a, b) => a - b));
    expect(seen).toEqual(before);
  });

  test('progress is complete even where the result is already there when this thread looks', async () => {
    const seen: number[] = [];
    const running = pool.run('markov', { paths, order: 3 }, { onProgress: (fraction) => seen.push(fraction) });
    // The thread works and answers while this one is blocked.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    expect((await running).ok).toBe(true);
    const inThread: number[] = [];
    runTask('markov', { paths, order: 3 }, (fraction) => inThread.push(fraction));
    expect(seen.at(-1)).toBe(inThread.at(-1));
  });

  test('a running task can be cancelled, and the pool keeps working', async () => {
    const cancel = new AbortController();
    const outcome = await pool.run(
      'dominance',
      { paths: heavy(), seed: 1 },
      { cancel: cancel.signal, onProgress: (fraction) => fraction > 0.5 && cancel.abort() },
    );
    expect(outcome).toMatchObject({ ok: false, code: 'cancelled' });
    expect((await pool.run('shapley', { paths })).ok).toBe(true);
  });

  test('a task that waits in the queue is cancelled at once', async () => {
    const busy = [new AbortController(), new AbortController()];
    const running = busy.map(({ signal }) => pool.run('dominance', { paths: heavy(), seed: 1 }, { cancel: signal }));
    const cancel = new AbortController();
    const waiting = pool.run('shapley', { paths }, { cancel: cancel.signal });
    cancel.abort();
    expect(await waiting).toMatchObject({ ok: false, code: 'cancelled' });
    const firstToEnd = await Promise.race([...running, Promise.resolve('still running')]);
    expect(firstToEnd).toBe('still running');
    busy.forEach((controller) => controller.abort());
    for (const outcome of await Promise.all(running)) expect(outcome).toMatchObject({ code: 'cancelled' });
    expect(await pool.run('shapley', { paths }, { cancel: AbortSignal.abort() })).toMatchObject({ code: 'cancelled' });
  });

  test('a failure comes back as a value', async () => {
    expect(await pool.run('markov', { paths: pathTable([]), order: 1 })).toMatchObject({
      ok: false,
      code: 'insufficient_data',
    });
    expect((await pool.run('markov', { paths, order: 1 })).ok).toBe(true);
  });

  test('more than the queue holds is turned away, and a closed pool says so', async () => {
    const small = createComputePool({ threads: 1, maxQueue: 1 });
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => small.run('shapley', { paths })));
    expect(outcomes.some((outcome) => outcome.ok)).toBe(true);
    expect(outcomes.find((outcome) => !outcome.ok)).toMatchObject({ code: 'unavailable' });
    await small.close();
    expect(await small.run('shapley', { paths })).toMatchObject({ ok: false, code: 'unavailable' });
  });

  test('tenants take turns at the threads, however many tasks one of them has ordered first', async () => {
    const one = createComputePool({ threads: 1 });
    const answered: string[] = [];
    const order = async (tenant: string, task: string): Promise<void> => {
      expect((await one.of(tenant).run('shapley', { paths })).ok).toBe(true);
      answered.push(task);
    };
    await Promise.all([
      ...['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((task) => order('a', task)),
      order('b', 'b1'),
      order('b', 'b2'),
      order('c', 'c1'),
    ]);
    expect(answered).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4', 'a5', 'a6']);
    await one.close();
  });

  test('a tenant alone has all threads, and a neighbour the next that is free', async () => {
    const cancels = Array.from({ length: 6 }, () => new AbortController());
    const heavyTasks = cancels.map(({ signal }) =>
      pool.of('a').run('dominance', { paths: heavy(), seed: 1 }, { cancel: signal }),
    );
    expect(pool.stats()).toMatchObject({ running: 2, queued: 4 });
    const neighbour = pool.of('b').run('shapley', { paths });
    expect(pool.stats()).toMatchObject({ running: 2, queued: 5 });
    cancels[0]!.abort();
    expect((await neighbour).ok).toBe(true);
    // The neighbour was served before four that had been ordered earlier; one of them has his thread now.
    expect(pool.stats()).toMatchObject({ running: 2, queued: 3 });
    for (const cancel of cancels) cancel.abort();
    for (const outcome of await Promise.all(heavyTasks)) expect(outcome).toMatchObject({ code: 'cancelled' });
  });

  test('large tasks never take the spare thread: a small one that comes last begins at once', async () => {
    const cancels = Array.from({ length: 4 }, () => new AbortController());
    const largeTasks = cancels.map(({ signal }, i) =>
      pool.of(`large ${i % 2}`, true).run('dominance', { paths: heavy(), seed: 1 }, { cancel: signal }),
    );
    await new Promise(setImmediate);
    expect(pool.stats()).toMatchObject({ running: 2, queued: 2 });
    expect((await pool.of('small').run('shapley', { paths })).ok).toBe(true);
    expect(pool.stats()).toMatchObject({ running: 2, queued: 2 });
    // The next large one follows the one that ends, and one that waits can be cancelled.
    cancels[0]!.abort();
    cancels[3]!.abort();
    expect(await largeTasks[0]).toMatchObject({ code: 'cancelled' });
    expect(await largeTasks[3]).toMatchObject({ code: 'cancelled' });
    await new Promise(setImmediate);
    expect(pool.stats()).toMatchObject({ running: 2, queued: 0 });
    for (const cancel of cancels) cancel.abort();
    for (const outcome of await Promise.all(largeTasks)) expect(outcome).toMatchObject({ code: 'cancelled' });
    expect(pool.stats()).toMatchObject({ running: 0, queued: 0 });
  });

  test('large tasks of tenants take turns, also on the only thread', async () => {
    const one = createComputePool({ threads: 1 });
    const answered: string[] = [];
    const order = async (tenant: string, task: string): Promise<void> => {
      expect((await one.of(tenant, true).run('shapley', { paths })).ok).toBe(true);
      answered.push(task);
    };
    await Promise.all([...['a1', 'a2', 'a3'].map((task) => order('a', task)), order('b', 'b1')]);
    expect(answered).toEqual(['a1', 'b1', 'a2', 'a3']);
    await one.close();
  });

  test('what one tenant has too many of is his own trouble', async () => {
    const small = createComputePool({ threads: 1, maxQueue: 2 });
    const crowd = Array.from({ length: 6 }, () => small.of('a').run('shapley', { paths }));
    expect((await small.of('b').run('shapley', { paths })).ok).toBe(true);
    expect((await Promise.all(crowd)).map((outcome) => (outcome.ok ? 'ok' : outcome.code))).toEqual([
      'ok',
      'ok',
      'ok',
      'unavailable',
      'unavailable',
      'unavailable',
    ]);
    await small.close();
  });

  test('closing ends what runs', async () => {
    const other = createComputePool({ threads: 1 });
    await other.warm();
    expect(other.stats()).toMatchObject({ threads: 1, queued: 0 });
    const started = Promise.withResolvers<void>();
    const running = other.run('dominance', { paths: heavy(), seed: 1 }, { onProgress: () => started.resolve() });
    await started.promise;
    await other.close();
    expect(await running).toMatchObject({ ok: false, code: 'cancelled' });
  });

  test('pools on the same threads end by themselves: what one runs is over with it, the other goes on', async () => {
    const threads = startComputeThreads(1);
    const [one, other] = [createComputePool({ threads }), createComputePool({ threads })];
    const started = Promise.withResolvers<void>();
    const running = one.run('dominance', { paths: heavy(), seed: 1 }, { onProgress: () => started.resolve() });
    await started.promise;
    await one.close();
    expect(one.stats()).toMatchObject({ running: 0 });
    expect(await running).toMatchObject({ ok: false, code: 'cancelled' });
    expect(await one.run('shapley', { paths })).toMatchObject({ ok: false, code: 'unavailable' });
    expect(await other.run('shapley', { paths })).toMatchObject({ ok: true });
    expect([one, other].map((pool) => pool.stats().completed)).toEqual([1, 1]);
    await Promise.all([one.close(), other.close()]);
    await threads.runner.close();
  });
});
