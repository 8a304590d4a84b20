import { jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../compute/numerics/random.ts';
import { Caller, type Json } from '../house.ts';
import { analyse, connectSource, digestOf, streamAnalysis, upload } from './analyses.ts';
import type { Service } from './service.ts';
import { HEADER, recentDays, shopRows } from './shop-rows.ts';
import { openSplitHouse, type SplitHouse } from './split-house.ts';

/** So many channels that the models take seconds. */
const LONG = { users: 4_000, channels: 40, touches: 6, seed: 21 } as const;
const SHORT = { users: 500, channels: 5, touches: 4, seed: 22 } as const;
const SEED = Number(process.env['FAULT_SEED'] ?? 20_262);
const KILLS = Number(process.env['FAULT_KILLS'] ?? 3);
const POLL_MS = 20;
/** Longer than rows are given to settle, and then some of the run. */
const MOST_DELAY_MS = 4_000;

jest.setTimeout(180_000 + KILLS * 20_000);

describe(`workers that are killed while late rows make revisions, seed ${SEED}`, () => {
  let house: SplitHouse;
  let workers: Service[];
  let caller: Caller;
  let orders = 0;

  beforeAll(async () => {
    house = await openSplitHouse();
    workers = await Promise.all([house.startWorker(), house.startWorker()]);
    caller = await Caller.register(house.root);
  });

  afterAll(() => house?.stop());

  const refreshing = async (
    rows: Parameters<typeof shopRows>[0],
  ): Promise<{ readonly source: string; readonly first: Json }> => {
    const source = await connectSource(caller);
    await upload(caller, source, shopRows(rows));
    const { body } = await caller.post(
      '/attribution',
      { data_source_id: source, date_range: recentDays(), auto_refresh: true },
      { prefer: 'wait=60' },
    );
    expect(body).toMatchObject({ failure: null, status: 'completed', revision: 1 });
    return { source, first: body };
  };
  const read = async (id: unknown): Promise<Json> => (await caller.get(`/attribution/${String(id)}`)).body;
  const order = (source: string, revenue: number) =>
    upload(caller, source, {
      csv: `${HEADER}late${(orders += 1)},${recentDays()[0]}T12:00:00Z,,,0,1,${revenue.toFixed(2)}\n`,
    });
  const settled = async (): Promise<void> => {
    while ((await house.openJobs('data-source.late-rows', 'attribution.refresh')) > 0) await sleep(POLL_MS);
  };
  const replace = async (worker: Service): Promise<void> => {
    await worker.stop('SIGKILL');
    await startInsteadOf(worker);
  };
  const startInsteadOf = async (worker: Service): Promise<void> => {
    workers = [...workers.filter((each) => each !== worker), await house.startWorker()];
  };
  const told = async (id: unknown): Promise<readonly (readonly [type: string, revision: number])[]> =>
    (await house.eventsOf(String(id))).map(({ type, data }) => [type, Number(data['revision'] ?? 1)] as const);

  /** Cancels an analysis while its worker is frozen, and so neither hears of the end nor ends itself. */
  async function cancelUnder(runner: Service, id: string): Promise<void> {
    for (;;) {
      runner.signal('SIGSTOP');
      const { status } = await caller.post(`/attribution/${id}/cancel`, {});
      if (status === 200) return;
      // Frozen within a transaction, it keeps the row from everybody: they are told to come back.
      expect(status).toBe(503);
      runner.signal('SIGCONT');
      await sleep(POLL_MS);
    }
  }

  test('one that is at it: another makes the same revision, once', async () => {
    const { source, first } = await refreshing(LONG);
    await order(source, Number(first['revenue']) * 0.01);
    const taker = await Promise.any(
      workers.map(
        async (worker) => (
          await worker.logged('late rows have changed the revenue of an analysis: it is run again'),
          worker
        ),
      ),
    );
    // Whoever runs it, which need not be who looked.
    const id = String(first['id']);
    const runner = await Promise.any(
      workers.map(
        async (worker) => (
          await worker.logged('analysis started', (line) => line['attribution'] === id && line['revision'] === 2),
          worker
        ),
      ),
    );
    expect(taker).toBeDefined();
    await runner.stop('SIGKILL');
    // The other one takes over when the lease is over, which may be before a third has started.
    expect(await read(id)).toMatchObject({ status: 'processing', revision: 1, revenue: first['revenue'] });
    await startInsteadOf(runner);
    await settled();
    const second = await read(id);
    expect(second).toMatchObject({ status: 'completed', revision: 2 });
    expect(digestOf(second)).toBe(digestOf(await analyse(caller, source)));
    expect(await told(id)).toEqual([
      ['attribution.completed', 1],
      ['attribution.updated', 2],
    ]);
  });

  test('at random moments: every change arrives, each revision once and in order', async () => {
    const random = seededRandom(SEED);
    const { source, first } = await refreshing(SHORT);
    const share = Number(first['revenue']) * 0.01;
    for (let kill = 0; kill < KILLS; kill += 1) {
      await order(source, share);
      await sleep(random() * MOST_DELAY_MS);
      await replace(workers[Math.floor(random() * workers.length)]!);
    }
    await settled();
    const last = await read(first['id']);
    expect(last['status']).toBe('completed');
    expect(Number(last['revenue'])).toBeCloseTo(Number(first['revenue']) + KILLS * Number(share.toFixed(2)), 2);
    expect(digestOf(last)).toBe(digestOf(await analyse(caller, source)));
    const events = await told(first['id']);
    expect(events[0]).toEqual(['attribution.completed', 1]);
    expect(events.slice(1)).toEqual(events.slice(1).map((_, place) => ['attribution.updated', place + 2]));
    expect(events).toHaveLength(Number(last['revision']));
    expect(events.length).toBeGreaterThan(1);
  });

  test('one that computes what was just cancelled: nobody takes it over', async () => {
    const source = await connectSource(caller);
    await upload(caller, source, shopRows(LONG));
    const stream = await streamAnalysis(caller, source);
    const { data } = await stream.next('channel_result');
    const id = String(data['id']);
    const runner = await Promise.any(
      workers.map(
        async (worker) => (await worker.logged('analysis started', (line) => line['attribution'] === id), worker),
      ),
    );
    await cancelUnder(runner, id);
    // Frozen more than once on a busy machine, it may have lost its lease before.
    const cancelledMs = Date.now();
    await replace(runner);
    await stream.ended;
    expect(stream.events.at(-1)).toMatchObject({ event: 'error', data: { error: { code: 'cancelled' } } });
    while ((await house.openJobs('attribution.run')) > 0) await sleep(POLL_MS);
    expect(
      workers
        .flatMap((worker) => worker.log())
        .filter(
          (line) =>
            line.msg === 'analysis started' &&
            line['attribution'] === id &&
            Date.parse(String(line['time'])) > cancelledMs,
        ),
    ).toEqual([]);
    expect(await read(id)).toMatchObject({ status: 'failed', failure: { code: 'cancelled' } });
    expect(await told(id)).toEqual([['attribution.completed', 1]]);
  });
});
