import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { uuidFromPublicId } from '../../platform/identifiers.ts';
import { Caller, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';

const EVENTS = readFileSync(new URL('../compute/fixtures/events.csv', import.meta.url), 'utf8');
const DATE_RANGE = ['2025-01-06', '2025-04-05'] as const;
/** Inside the retention of the fixture's dates, whenever the tests run. */

interface Calibration {
  readonly id: string;
  readonly overlap: number;
  readonly basis: string;
  readonly incremental_revenue: number;
  readonly standard_error: number;
  readonly model_incremental_revenue_before: number;
  readonly model_incremental_revenue_after: number;
}

describe('experiments', () => {
  let house: House;
  let caller: Caller;
  let source: string;

  const post = (changes: object = {}) =>
    caller.post('/experiments', {
      data_source_id: source,
      channel: 'email',
      method: 'holdout',
      period: DATE_RANGE,
      incremental_revenue: 9_000,
      standard_error: 300,
      ...changes,
    });
  const analyse = async (changes: object = {}) =>
    (await caller.post('/attribution', { data_source_id: source, date_range: DATE_RANGE, ...changes })).body;
  const digestOf = (run: Json) => String(run['diagnostics']!['run_digest']);
  const warningsOf = (run: Json) => run['diagnostics']!['warnings'] as unknown as string[];
  const creditOf = (run: Json, channel: string) =>
    (
      run['channel_impact'] as unknown as {
        channel: string;
        attributed_revenue: number;
        confidence_interval: { lower: number; upper: number };
      }[]
    ).find((impact) => impact.channel === channel)!;
  const calibrationsOf = (run: Json) => run['diagnostics']!['experiments'] as unknown as Calibration[];

  beforeAll(async () => {
    house = await openHouse('one process', { clock });
    caller = await Caller.register(house.root);
    const answer = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { filename: 'events.csv', content: EVENTS },
      baseline_channels: ['direct', 'organic*'],
    });
    source = String(answer.body['data_source_id']);
  });

  afterAll(() => house?.stop());

  test('a measured effect pulls the credit of its channel to it; taking it away restores every figure', async () => {
    const before = await analyse();
    expect(calibrationsOf(before)).toEqual([]);
    const markov = await analyse({ model: 'markov' });
    const modelled = creditOf(before, 'email');
    const measured = Math.round(modelled.attributed_revenue + 200);

    const recorded = await post({ incremental_revenue: measured, standard_error: 20 });
    expect(recorded.status).toBe(201);
    expect(recorded.headers.get('location')).toContain(`/experiments/${String(recorded.body['id'])}`);
    const during = await analyse();
    expect(during['methodology']).toBe(
      'markov+shapley+dominance+rwa+prav/stacked-on-placebo-adjusted-lift/spend-prior/calibrated-by-1-experiment',
    );
    const [calibration] = calibrationsOf(during);
    expect(calibration).toMatchObject({
      id: recorded.body['id'],
      overlap: 1,
      basis: 'touches',
      incremental_revenue: measured,
      standard_error: 20,
      model_incremental_revenue_before: modelled.attributed_revenue,
    });
    const calibrated = creditOf(during, 'email');
    expect(calibration!.model_incremental_revenue_after).toBeCloseTo(calibrated.attributed_revenue, 1);
    expect(Math.abs(calibrated.attributed_revenue - measured)).toBeLessThan(
      0.05 * Math.abs(modelled.attributed_revenue - measured),
    );
    expect(calibrated.confidence_interval.upper - calibrated.confidence_interval.lower).toBeLessThan(
      modelled.confidence_interval.upper - modelled.confidence_interval.lower,
    );
    expect(digestOf(during)).not.toBe(digestOf(before));
    expect(digestOf(await analyse({ model: 'markov' }))).toBe(digestOf(markov));

    // What a run used stays with it, and later ones do without.
    expect((await caller.delete(`/experiments/${String(recorded.body['id'])}`)).status).toBe(204);
    expect(digestOf(await analyse())).toBe(digestOf(before));
    expect(calibrationsOf((await caller.get(`/attribution/${String(during['id'])}`)).body)).toEqual([calibration]);
  });

  test('a source has 500 at most, and an analysis takes them all', async () => {
    const crowded = await Caller.register(house.root);
    const { body } = await crowded.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { filename: 'events.csv', content: EVENTS },
    });
    const experiment = {
      data_source_id: body['data_source_id'],
      channel: 'email',
      method: 'holdout',
      period: DATE_RANGE,
      incremental_revenue: 9_000,
      standard_error: 300,
    };
    const made = await crowded.post('/experiments', experiment);
    expect(made.status).toBe(201);
    const owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    try {
      await owner.query(
        `insert into attribution.experiments (id, account_id, data_source_id, environment, channel, method,
           period_start, period_end, incremental_revenue, standard_error, currency, created_at)
         select gen_random_uuid(), account_id, data_source_id, environment, channel, method, period_start - n,
           period_end - n, incremental_revenue, standard_error, currency, created_at
         from attribution.experiments, generate_series(1, 499) n where id = $1`,
        [uuidFromPublicId('exp', String(made.body['id']))],
      );
    } finally {
      await owner.end();
    }
    expect(await crowded.post('/experiments', { ...experiment, method: 'geo' })).toMatchObject({
      status: 422,
      body: { error: { code: 'too_many_experiments' } },
    });
    const run = await crowded.post('/attribution', { data_source_id: body['data_source_id'], date_range: DATE_RANGE });
    expect(calibrationsOf(run.body).length).toBeGreaterThan(50);
  });

  test('a measurement of part of the range counts with a wider error, and says so if the part is small', async () => {
    const { body } = await post({
      channel: 'social',
      period: ['2025-01-06', '2025-01-12'],
      incremental_revenue: 500,
      standard_error: 50,
    });
    const run = await analyse();
    const [calibration] = calibrationsOf(run);
    expect(calibration!.overlap).toBeGreaterThan(0);
    expect(calibration!.overlap).toBeLessThan(0.25);
    // The touches of one week stand for thirteen.
    const scale = calibration!.incremental_revenue / 500;
    expect(scale).toBeGreaterThan(5);
    expect(calibration!.standard_error).toBeGreaterThan(2 * scale * 50);
    expect(warningsOf(run).join()).toMatch(/overlaps the range thinly/);

    const apart = await analyse({ date_range: ['2025-02-01', '2025-04-05'] });
    expect(calibrationsOf(apart)).toEqual([]);
    const unpaid = await analyse({ baseline_channels: ['direct', 'organic*', 'social'] });
    expect(calibrationsOf(unpaid)).toEqual([]);
    expect(warningsOf(unpaid).join()).toMatch(/counts as baseline/);
    await caller.delete(`/experiments/${String(body['id'])}`);
  });

  test('a source of aggregated paths is calibrated by days', async () => {
    const { body: connected } = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: {
        content: 'path,conversions,revenue,nulls\nemail > search,4,200,10\nsearch,6,300,30\ndirect,2,80,9\n',
      },
    });
    const id = String(connected['data_source_id']);
    const request = { data_source_id: id, date_range: ['2026-01-01', '2026-01-31'] };
    const before = (await caller.post('/attribution', request)).body;
    expect(
      (
        await post({
          data_source_id: id,
          channel: 'search',
          period: ['2026-01-01', '2026-01-31'],
          incremental_revenue: 60,
          standard_error: 5,
        })
      ).status,
    ).toBe(201);
    const after = (await caller.post('/attribution', request)).body;
    expect(calibrationsOf(after)[0]).toMatchObject({ basis: 'days', overlap: 1 });
    expect(Math.abs(creditOf(after, 'search').attributed_revenue - 60)).toBeLessThan(
      Math.abs(creditOf(before, 'search').attributed_revenue - 60),
    );
  });

  test('what cannot be an experiment is refused, and names the member', async () => {
    const refusals: readonly (readonly [changes: object, status: number, error: object])[] = [
      [{ channel: 'television' }, 422, { code: 'unknown_channel', param: '/channel' }],
      [{ method: 'guess' }, 422, { param: '/method' }],
      [{ standard_error: 0 }, 422, { param: '/standard_error' }],
      [{ standard_error: -4 }, 422, { param: '/standard_error' }],
      [{ incremental_revenue: '9000' }, 422, { param: '/incremental_revenue' }],
      [{ incremental_revenue: 1e300 }, 422, { param: '/incremental_revenue' }],
      [{ period: ['2025-04-05', '2025-01-06'] }, 422, { param: '/period', code: 'invalid_range' }],
      [{ period: ['2026-11-01', '2026-11-30'] }, 422, { param: '/period', code: 'future_range' }],
      [{ period: ['2023-01-01', '2023-02-01'] }, 422, { param: '/period', code: 'outside_retention' }],
      [{ currency: 'EUR' }, 422, { param: '/currency', code: 'wrong_currency' }],
      [{ data_source_id: 'ds_0000000000000000000000' }, 404, { type: 'resource_not_found' }],
    ];
    for (const [changes, status, error] of refusals) {
      const answer = await post(changes);
      expect({ changes, status: answer.status }).toEqual({ changes, status });
      expect(answer.body['error']).toMatchObject(error);
    }
    expect(String((await post({ channel: 'television' })).body['error']!['message'])).toContain('social');
    const huge = await caller.send(
      'POST',
      '/experiments',
      JSON.stringify({
        data_source_id: source,
        channel: 'email',
        method: 'geo',
        period: DATE_RANGE,
        standard_error: 1,
      }).replace('}', ',"incremental_revenue":1e999}'),
      { 'content-type': 'application/json' },
    );
    expect(huge.status).toBe(422);
    expect((await caller.get('/experiments?channel=email')).body['experiments']).toEqual([]);
  });

  test('its currency may be written in lower case, through either door', async () => {
    const period = ['2025-02-03', '2025-02-09'];
    const { status, body } = await post({ period, currency: 'usd' });
    expect([status, body['currency']]).toEqual([201, 'USD']);
    expect((await caller.delete(`/experiments/${String(body['id'])}`)).status).toBe(204);
    const { data } = await caller.graphql(
      `mutation ($input: CreateExperimentInput!) { createExperiment(input: $input) { experiment { id currency } } }`,
      {
        input: {
          dataSourceId: source,
          channel: 'email',
          method: 'HOLDOUT',
          period,
          incrementalRevenue: 90,
          standardError: 3,
          currency: 'Usd',
        },
      },
    );
    const { id, currency } = data!['createExperiment']!['experiment'] as unknown as Record<string, string>;
    expect(currency).toBe('USD');
    expect((await caller.delete(`/experiments/${id}`)).status).toBe(204);
  });

  test('those of a deleted source stay, in lists and one by one, through both doors', async () => {
    const { body: connected } = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { filename: 'paths.csv', content: 'path,conversions,revenue,nulls\nemail > search,4,200,10\n' },
    });
    const its = { data_source_id: String(connected['data_source_id']), channel: 'search' };
    const { body: recorded } = await post(its);
    const id = String(recorded['id']);
    expect((await caller.delete(`/data-sources/${its.data_source_id}`)).status).toBe(204);
    expect((await caller.get(`/experiments/${id}`)).body).toMatchObject({ id, ...its });
    expect((await caller.get(`/experiments?data_source_id=${its.data_source_id}`)).body).toMatchObject({
      experiments: [{ id, ...its }],
      meta: { total: 1 },
    });
    const { data } = await caller.graphql(
      `{ experiment(id: "${id}") { dataSourceId }
         experiments(filter: { dataSourceId: "${its.data_source_id}" }) { totalCount edges { node { id } } } }`,
    );
    expect(data).toEqual({
      experiment: { dataSourceId: its.data_source_id },
      experiments: { totalCount: 1, edges: [{ node: { id } }] },
    });
    // A new one has nothing to be held against.
    expect((await post({ ...its, method: 'geo' })).status).toBe(404);
    expect((await caller.delete(`/experiments/${id}`)).status).toBe(204);
  });

  test('one result per channel, method and period, however often and at once it is sent', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => post({ method: 'geo', notes: 'three regions' })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    expect(answers.find(({ status }) => status === 409)!.body['error']).toMatchObject({
      type: 'conflict',
      code: 'already_recorded',
    });
    const recorded = answers.find(({ status }) => status === 201)!.body;
    const { body: list } = await caller.get(`/experiments?data_source_id=${source}&channel=email`);
    expect(list).toMatchObject({ meta: { total: 1 }, trust: { hrei_score: 0 } });
    const { trust, ...shown } = (await caller.get(`/experiments/${String(recorded['id'])}`)).body;
    expect(trust).toMatchObject({ verification: { claims_total: 1 } });
    expect(list['experiments']).toEqual([shown]);
    expect(shown).toMatchObject({
      channel: 'email',
      method: 'geo',
      period: DATE_RANGE,
      incremental_revenue: 9_000,
      standard_error: 300,
      currency: 'USD',
      notes: 'three regions',
      environment: 'live',
    });
    const { data } = await caller.graphql(
      '{ experiments(filter: {channel: "email"}) { totalCount edges { node { id method } } } }',
    );
    expect(data).toEqual({ experiments: { totalCount: 1, edges: [{ node: { id: recorded['id'], method: 'GEO' } }] } });
  });
});
