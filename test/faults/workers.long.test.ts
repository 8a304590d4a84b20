import { jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Caller } from '../house.ts';
import { parseMetrics } from '../metrics-text.ts';
import { analyse, asTold, connectSource, digestOf, history, streamAnalysis, upload } from './analyses.ts';
import { spoilStoredRows } from './bit-rot.ts';
import type { Service } from './service.ts';
import { shopRows } from './shop-rows.ts';
import { openSplitHouse, type SplitHouse } from './split-house.ts';

/** So many channels that the models take seconds. */
const LONG = { users: 4_000, channels: 40, touches: 6, seed: 11 } as const;
const SHORT = { users: 500, channels: 5, touches: 4, seed: 12 } as const;

jest.setTimeout(120_000);

const POLL_MS = 20;

describe('the workers of a service in several processes', () => {
  let house: SplitHouse;
  let workers: readonly Service[];
  let caller: Caller;
  let source: string;
  let undisturbed: string;

  beforeAll(async () => {
    house = await openSplitHouse();
    workers = await Promise.all([house.startWorker(), house.startWorker()]);
    caller = await Caller.register(house.root);
    source = await connectSource(caller);
    await upload(caller, source, shopRows(LONG));
    undisturbed = digestOf(await analyse(caller, source));
  });

  afterAll(() => house?.stop());

  /** Who took this attempt, and who did not. */
  async function shared(id: string, attempt: number): Promise<readonly [taker: Service, other: Service]> {
    const taker = await Promise.any(
      workers.map(async (worker) => {
        await worker.logged('analysis started', (line) => line['attribution'] === id && line['attempt'] === attempt);
        return worker;
      }),
    );
    return [taker, workers.find((worker) => worker !== taker)!];
  }

  test('every process shows what it does itself', async () => {
    const shown = await Promise.all(
      house.metricsAddresses().map(async ([role, url]) => {
        const metrics = parseMetrics(await (await fetch(url)).text());
        const counted = [
          'liftgraph_http_requests_total',
          'liftgraph_job_runs_total',
          'liftgraph_compute_tasks_total',
        ].filter((name) => (metrics.get(name)?.samples.size ?? 0) > 0);
        expect(metrics.get('process_cpu_seconds_total')!.samples.size).toBe(1);
        return [role, metrics.get('liftgraph_build_info')!.labels[0]!['role'], counted.join(' ')];
      }),
    );
    const busy = (role: string, ...counted: readonly string[]) => [
      role,
      role,
      counted.map((name) => `liftgraph_${name}_total`).join(' '),
    ];
    const [gateway, agents, attribution, billing, ...others] = shown.toSorted(
      ([one], [other]) =>
        ['gateway', 'subgraph:agents', 'subgraph:attribution', 'subgraph:billing', 'worker'].indexOf(one!) -
        ['gateway', 'subgraph:agents', 'subgraph:attribution', 'subgraph:billing', 'worker'].indexOf(other!),
    );
    expect([gateway, agents, attribution]).toEqual([
      busy('gateway', 'http_requests'),
      busy('subgraph:agents', 'http_requests'),
      busy('subgraph:attribution', 'http_requests'),
    ]);
    expect(billing!.slice(0, 2)).toEqual(['subgraph:billing', 'subgraph:billing']);
    expect(others).toHaveLength(2);
    expect(others).toContainEqual(busy('worker', 'job_runs', 'compute_tasks'));
  });

  test('an analysis whose rows cannot be read fails alone, after three tries; others are unharmed', async () => {
    const poisoned = await connectSource(caller);
    await upload(caller, poisoned, shopRows(SHORT));
    await spoilStoredRows(poisoned);
    const [failed, fine] = await Promise.all([analyse(caller, poisoned), analyse(caller, source)]);
    expect(failed).toMatchObject({ status: 'failed', failure: { code: 'internal' } });
    expect(digestOf(fine)).toBe(undisturbed);
    const tries = workers
      .flatMap((worker) => worker.log())
      .filter(({ msg, queue }) => msg === 'a job failed' && queue === 'attribution.run');
    expect(tries.map(({ attempt }) => attempt).toSorted()).toEqual([1, 2, 3]);
    for (const { err } of tries) expect((err as { message: string }).message).toMatch(/checksum/i);
    const events = await history(caller, String(failed['id']));
    expect(events.map(({ event }) => event).filter((event) => event === 'error' || event === 'result')).toEqual([
      'error',
    ]);
  });

  test('a worker that is asked to stop finishes its analysis first', async () => {
    const stream = await streamAnalysis(caller, source);
    const { data } = await stream.next('channel_result');
    const [taker] = await shared(String(data['id']), 1);
    const ended = taker.stop('SIGTERM');
    expect(digestOf((await stream.next('result')).data)).toBe(undisturbed);
    expect((await ended).code).toBe(0);
    workers = [...workers.filter((worker) => worker !== taker), await house.startWorker()];
  });

  test('the analysis of a worker killed with -9 is taken over, with the same figures and one result', async () => {
    const stream = await streamAnalysis(caller, source);
    const { data } = await stream.next('channel_result');
    const id = String(data['id']);
    const [taker, other] = await shared(id, 1);
    await taker.stop('SIGKILL');
    // Killed while it was still at work, or this would prove nothing.
    expect(stream.events.map(({ event }) => event)).not.toContain('result');

    await other.logged('analysis started', (line) => line['attribution'] === id && line['attempt'] === 2);
    const result = await stream.next('result');
    expect(result.data).toMatchObject({ id, status: 'completed' });
    expect(digestOf(result.data)).toBe(undisturbed);
    await stream.ended;
    const told = await history(caller, id);
    expect(asTold(told)).toEqual(asTold(stream.events));
    expect(told.map((event) => event.id)).toEqual(told.map((_, place) => place + 1));
    expect(told.filter(({ event }) => event === 'result' || event === 'error')).toHaveLength(1);
    workers = [other, await house.startWorker()];
  });

  test('an analysis outlasts a database that keeps it waiting, in one attempt', async () => {
    const stream = await streamAnalysis(caller, source);
    const { data } = await stream.next('channel_result');
    const id = String(data['id']);
    const [taker] = await shared(id, 1);
    const goOn = await house.holdUpWrites();
    await taker.logged('a database transaction ran out of time and was cut');
    await goOn();
    expect(digestOf((await stream.next('result')).data)).toBe(undisturbed);
    const starts = workers
      .flatMap((worker) => worker.log())
      .filter(({ msg, attribution }) => msg === 'analysis started' && attribution === id);
    expect(starts.map(({ attempt }) => attempt)).toEqual([1]);
  });

  test('a worker that froze, and wakes up when its analysis was taken over, changes nothing', async () => {
    const stream = await streamAnalysis(caller, source);
    const { data } = await stream.next('channel_result');
    const id = String(data['id']);
    const [frozen, other] = await shared(id, 1);
    frozen.signal('SIGSTOP');
    while ((await house.attemptAt(id)) !== 2) await sleep(POLL_MS);
    frozen.signal('SIGCONT');
    await other.logged('analysis started', (line) => line['attribution'] === id && line['attempt'] === 2);
    await stream.ended;
    const { body } = await caller.get(`/attribution/${id}`);
    expect(body).toMatchObject({ status: 'completed' });
    expect(digestOf(body)).toBe(undisturbed);
    expect((await history(caller, id)).filter(({ event }) => event === 'result' || event === 'error')).toHaveLength(1);
  });
});
