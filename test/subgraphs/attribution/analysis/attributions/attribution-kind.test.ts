import { Client } from 'pg';
import { ProblemError } from '../../../../../schema/problems.ts';
import { uuidFromPublicId } from '../../../../../platform/identifiers.ts';
import { createLogger } from '../../../../../platform/telemetry/logs.ts';
import {
  attributionKind,
  type AnalysisServices,
} from '../../../../../subgraphs/attribution/analysis/attributions/attribution-kind.ts';
import type { Job } from '../../../../../platform/jobs/jobs.ts';
import type { RunJob } from '../../../../../subgraphs/attribution/runs/run-queues.ts';
import { feeAhead } from '../../../../../subgraphs/billing/fees/charge.ts';
import { workOnRun } from '../../../../../subgraphs/attribution/runs/work-on-runs.ts';
import { Caller, openHouse, type House } from '../../../../house.ts';
import { clock } from '../../../../service-clock.ts';

describe('an attempt at an analysis', () => {
  let house: House;
  let owner: Client;

  beforeAll(async () => {
    house = await openHouse('one process', { withWorker: false, clock });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
  }, 60_000);

  afterAll(async () => {
    await owner.end();
    await house.stop();
  });

  test('that breaks has written its progress when the next one may begin', async () => {
    const caller = await Caller.register(house.root);
    const source = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: 'user_id,timestamp,channel\nu1,2026-01-05T10:00:00Z,email\n' },
    });
    const { body } = await caller.post(
      '/attribution',
      { data_source_id: source.body['data_source_id'], date_range: ['2026-01-01', '2026-01-31'] },
      { prefer: 'respond-async' },
    );
    const attributionId = uuidFromPublicId('attr', String(body['id']))!;
    const written = async () =>
      (
        await owner.query<{ sequence: number; account_id: string }>(
          'select sequence, account_id from attribution.attribution_progress where run_id = $1 order by sequence',
          [attributionId],
        )
      ).rows;
    const accountId = (await written())[0]!.account_id;

    const { database, pubSub, jobs } = house.backing;
    const services = {
      database,
      pubSub,
      jobs,
      logger: createLogger({ level: 'silent', format: 'json' }),
      clock: () => new Date(),
      publicBaseUrl: 'http://127.0.0.1:4000/v1',
      feeAhead,
      loadRunData: async (_query, onStage) => {
        onStage('loading');
        onStage('building_journeys');
        return Promise.reject(new Error('the engine stumbled'));
      },
    } as Omit<AnalysisServices, 'pool' | 'signResult'> as AnalysisServices;
    const job = {
      id: 'job',
      attempt: 1,
      signal: new AbortController().signal,
      data: { accountId, environment: 'live', runId: attributionId, revision: 1, delayMs: 0 },
    } as Job<RunJob>;
    await expect(workOnRun(services, attributionKind(services), job)).rejects.toThrow('the engine stumbled');
    expect((await written()).map(({ sequence }) => Number(sequence))).toEqual([1, 2, 3]);
  });

  test('figures beyond what one page may hold are not read for it', async () => {
    const caller = await Caller.register(house.root);
    const source = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: 'user_id,timestamp,channel\nu1,2026-01-05T10:00:00Z,email\n' },
    });
    const ask = () =>
      caller.post(
        '/attribution',
        { data_source_id: source.body['data_source_id'], date_range: ['2026-01-01', '2026-01-31'] },
        { prefer: 'respond-async' },
      );
    const ids = [await ask(), await ask(), await ask()].map(({ body }) =>
      uuidFromPublicId('attr', String(body['id']))!,
    );
    await owner.query(
      `update attribution.attributions set result = jsonb_build_object('filler', repeat('x', 3 * 1024 * 1024)) where ` +
        `id = any ($1)`,
      [ids],
    );
    const { status, body } = await caller.get('/attribution');
    expect({ status, body }).toMatchObject({
      status: 422,
      body: {
        error: { type: 'validation_error', code: 'page_too_large', message: expect.stringContaining('9.0 MiB') },
      },
    });
    expect((await caller.get('/attribution?per_page=2')).body).toMatchObject({ meta: { total: 3 } });
  });

  /** An analysis that a new account has asked for, which nobody has begun. */
  async function askForOne(): Promise<{ accountId: string; attributionId: string }> {
    const caller = await Caller.register(house.root);
    const source = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: 'user_id,timestamp,channel\nu1,2026-01-05T10:00:00Z,email\n' },
    });
    const { body } = await caller.post(
      '/attribution',
      { data_source_id: source.body['data_source_id'], date_range: ['2026-01-01', '2026-01-31'] },
      { prefer: 'respond-async' },
    );
    const attributionId = uuidFromPublicId('attr', String(body['id']))!;
    const { rows } = await owner.query<{ account_id: string }>(
      'select account_id from attribution.attributions where id = $1',
      [attributionId],
    );
    return { accountId: rows[0]!.account_id, attributionId };
  }

  test.each([
    [30, 500_000, false],
    [30, 500_001, true],
    [6, 900_000, false],
    [499, 4_000, true],
  ])('on %i channels and %i touches orders its tasks as large ones: %s', async (channels, touches, isLarge) => {
    const { accountId, attributionId } = await askForOne();
    const { database, pubSub, jobs } = house.backing;
    const asked: unknown[] = [];
    const services = {
      database,
      pubSub,
      jobs,
      logger: createLogger({ level: 'silent', format: 'json' }),
      clock: () => new Date(),
      publicBaseUrl: 'http://127.0.0.1:4000/v1',
      feeAhead,
      pool: { of: (...owner: unknown[]) => (asked.push(owner), { run: () => new Promise(() => undefined) }) },
      loadRunData: async () => ({
        paths: {
          channels: Array.from({ length: channels }, (_, c) => `channel ${c}`),
          steps: new Uint16Array(touches),
        },
        events: null,
        totals: { conversions: 0, journeys: 0 },
        stored: { preceding: null },
      }),
    } as unknown as AnalysisServices;
    const data = { accountId, environment: 'live', runId: attributionId, revision: 1, delayMs: 0 };
    const turnOutLarge = async (): Promise<void> => void asked.push('turns out large');
    await workOnRun(services, attributionKind(services), {
      id: 'job',
      attempt: 1,
      signal: new AbortController().signal,
      data,
      turnOutLarge,
    } as Job<RunJob>);
    expect(asked).toEqual([...(isLarge ? ['turns out large'] : []), [accountId, isLarge]]);
  });

  test('waits aside while the store has no memory for it, and gives up soon', async () => {
    const { accountId, attributionId } = await askForOne();
    const { database, pubSub, jobs } = house.backing;
    const told: string[] = [];
    const services = {
      database,
      pubSub,
      jobs,
      logger: createLogger({ level: 'silent', format: 'json' }),
      clock: () => new Date(),
      publicBaseUrl: 'http://127.0.0.1:4000/v1',
      feeAhead,
      loadRunData: async () => {
        told.push('tried');
        return Promise.reject(
          new ProblemError('service_unavailable', 'no memory', { code: 'memory_short', retryAfterS: 2 }),
        );
      },
    } as Omit<AnalysisServices, 'pool' | 'signResult'> as AnalysisServices;
    const aside = async () => told.push('stepped aside') > 0;
    const job = {
      id: 'job',
      attempt: 1,
      signal: new AbortController().signal,
      data: { accountId, environment: 'live', runId: attributionId, revision: 1, delayMs: 0 },
      aside,
    } as unknown as Job<RunJob>;
    await expect(workOnRun(services, attributionKind(services), job)).rejects.toThrow('no memory');
    expect(told).toEqual(['tried', 'stepped aside', 'tried', 'stepped aside', 'tried']);
  });

  test('counts as large by the steps of its paths, however few there are', async () => {
    const caller = await Caller.register(house.root);
    const ask = async (steps: number): Promise<unknown> => {
      const content = [
        'path,conversions,revenue,nulls',
        ...Array.from({ length: 112 }, (_, row) => `${'a > '.repeat(steps - 1)}b${row},1,10,0`),
      ].join('\n');
      const source = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content } });
      const { body } = await caller.post(
        '/attribution',
        { data_source_id: source.body['data_source_id'], date_range: ['2026-01-01', '2026-01-31'], model: 'markov' },
        { prefer: 'respond-async' },
      );
      return (
        await owner.query('select is_large, data from jobs.waiting where singleton_key = $1', [
          uuidFromPublicId('attr', String(body['id'])),
        ])
      ).rows[0];
    };
    expect(await ask(100)).toMatchObject({ is_large: false, data: { rows: 112 + 11_200 } });
    expect(await ask(9_000)).toMatchObject({ is_large: true, data: { rows: 112 + 1_008_000 } });
  });

  test('of a revision that was made already does nothing, whatever is made now', async () => {
    const caller = await Caller.register(house.root);
    const source = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: 'user_id,timestamp,channel\nu1,2026-01-05T10:00:00Z,email\n' },
    });
    const { body } = await caller.post(
      '/attribution',
      { data_source_id: source.body['data_source_id'], date_range: ['2026-01-01', '2026-01-31'], auto_refresh: true },
      { prefer: 'respond-async' },
    );
    const attributionId = uuidFromPublicId('attr', String(body['id']))!;
    // The second revision is under way.
    const { rows } = await owner.query<{ account_id: string }>(
      `update attribution.attributions set status = 'processing', result = '{}' where id = $1 returning account_id`,
      [attributionId],
    );
    const { database, pubSub, jobs } = house.backing;
    const attempts: number[] = [];
    const run = async (revision: number): Promise<void> => {
      const services = {
        database,
        pubSub,
        jobs,
        logger: createLogger({ level: 'silent', format: 'json' }),
        clock: () => new Date(),
        publicBaseUrl: 'http://127.0.0.1:4000/v1',
        feeAhead,
        loadRunData: async () => (attempts.push(revision), Promise.reject(new Error('the engine stumbled'))),
      } as Omit<AnalysisServices, 'pool' | 'signResult'> as AnalysisServices;
      await workOnRun(services, attributionKind(services), {
        id: 'job',
        attempt: 1,
        signal: new AbortController().signal,
        data: { accountId: rows[0]!.account_id, environment: 'live', runId: attributionId, revision, delayMs: 0 },
      } as Job<RunJob>);
    };
    for (const revision of [1, 3]) await run(revision);
    await expect(run(2)).rejects.toThrow('the engine stumbled');
    expect(attempts).toEqual([2]);
  });
});
