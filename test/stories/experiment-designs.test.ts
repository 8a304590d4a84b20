import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Caller, openHouse, type Answer, type House, type Json } from '../house.ts';
import { requireUuid } from '../../platform/identifiers.ts';
import { clock } from '../service-clock.ts';

const EVENTS = readFileSync(new URL('../compute/fixtures/events.csv', import.meta.url), 'utf8');
const RANGE = ['2025-01-06', '2025-04-05'] as const;

interface Design {
  readonly channel: string;
  readonly channels: readonly string[];
  readonly method: string;
  readonly share_held_out: number;
  readonly duration_days: number;
  readonly smallest_detectable_effect: number;
  readonly expected_standard_error: number;
  readonly lost_revenue: number;
  readonly decision: { readonly current_interval: object | null; readonly value_of_information: number };
  readonly rank: number;
}

describe('which experiment would settle it', () => {
  let house: House;
  let caller: Caller;
  let source: string;

  const path = (query = '') => `/experiments/designs?data_source_id=${source}${query}`;
  const designsOf = (body: Json) => body['designs'] as unknown as readonly Design[];
  const connect = async (by: Caller, content = EVENTS) =>
    String(
      (
        await by.post('/data-sources/connect', {
          type: 'csv_upload',
          credentials: { filename: 'events.csv', content },
          baseline_channels: ['direct', 'organic*'],
        })
      ).body['data_source_id'],
    );

  beforeAll(async () => {
    house = await openHouse('one process', { clock });
    caller = await Caller.register(house.root);
    source = await connect(caller);
  });
  afterAll(() => house?.stop());

  test('a source that nobody has analysed: a run is made, and the question itself is where to ask again', async () => {
    const asked = await caller.get(path(`&date_range=${RANGE.join(',')}`), { prefer: 'respond-async' });
    expect(asked.status).toBe(202);
    expect(asked.body).toMatchObject({ status: 'processing', designs: [], attribution_id: null, date_range: RANGE });
    expect(asked.headers.get('retry-after')).toBe('2');
    const [, question] = asked.headers.get('location')!.split('/v1');
    expect(question).toBe(path(`&date_range=${RANGE.join(',')}`));

    const answered = await caller.get(question!, { prefer: 'wait=60' });
    expect(answered.status).toBe(200);
    expect(answered.headers.get('preference-applied')).toBe('wait=60');
    expect(answered.headers.get('location')).toBeNull();
    expect(answered.body).toMatchObject({
      status: 'completed',
      currency: 'USD',
      power: 0.8,
      warnings: expect.any(Array),
    });
    expect(Number(answered.body['trust']!['verification']!['claims_total'])).toBeGreaterThan(20);
    const designs = designsOf(answered.body);
    expect(designs.map(({ rank }) => rank)).toEqual(designs.map((_, place) => place + 1));
    expect(designs.filter(({ channels }) => channels.length === 1).length).toBe(designs.length - 1);
    expect(designs.map(({ channel }) => channel)).toContain('email');
    for (const design of designs) {
      expect(design.method).toBe('holdout');
      expect([14, 28, 56, 84]).toContain(design.duration_days);
      expect(design.smallest_detectable_effect / design.expected_standard_error).toBeCloseTo(2.8016, 3);
    }
  });

  test('the run is no analysis: nothing lists it, tells of it, bills it or counts it', async () => {
    expect((await caller.get('/attribution')).body).toMatchObject({ data: [], meta: { total: 0 } });
    expect((await caller.get('/agents/me')).body['total_delta_r_cents']).toBe(0);
    const types = await house.backing.database.asNobody((em) =>
      em.execute<{ type: string }[]>(`select type from events.outbox where type like 'attribution.%'`),
    );
    expect(types).toEqual([]);
    const [insight] = await owned<{ id: string }>('select id from attribution.insights');
    expect((await caller.get(`/attribution/${insight!.id}`)).status).toBe(404);
  });

  test('power and channel are applied when it is read; the graph says the same', async () => {
    const { body } = await caller.get(path(`&date_range=${RANGE.join(',')}&channel=email&power=0.9`));
    const [design, ...others] = designsOf(body);
    expect(others).toEqual([]);
    expect(design!.smallest_detectable_effect / design!.expected_standard_error).toBeCloseTo(3.2415, 3);
    const { data } = await caller.graphql(
      `query ($filter: ExperimentDesignFilter!) { experimentDesigns(filter: $filter) {
         status power designs { channel shareHeldOut durationDays expectedStandardError } } }`,
      { filter: { dataSourceId: source, dateRange: RANGE, channel: 'email', power: 0.9 } },
    );
    expect(data!['experimentDesigns']).toMatchObject({
      status: 'COMPLETED',
      power: 0.9,
      designs: [
        {
          channel: 'email',
          shareHeldOut: design!.share_held_out,
          durationDays: design!.duration_days,
          expectedStandardError: design!.expected_standard_error,
        },
      ],
    });
    expect(await owned('select id from attribution.insights')).toHaveLength(1);
  });

  test('a range without orders says so, each time, and spoils no other question', async () => {
    for (let time = 0; time < 2; time++) {
      const { status, body } = await caller.get(path('&date_range=2025-05-01,2025-05-20'));
      expect(status).toBe(422);
      expect(body['error']).toMatchObject({ code: 'insufficient_data', param: 'query:date_range' });
    }
    expect((await caller.get(path(`&date_range=${RANGE.join(',')}`))).status).toBe(200);
  });

  test('a crowd of questions that begin runs waits outside of the database', async () => {
    const other = await Caller.register(house.root);
    const id = await connect(other);
    const source = requireUuid('ds', id, 'data source', '');
    const [stored] = await owned<{ account: string }>(
      `select account_id as account from attribution.data_sources where id = '${source}'`,
    );
    const { Client } = await import('pg');
    const holder = new Client({ connectionString: house.ownerUrl });
    await holder.connect();
    const answers: Promise<Answer>[] = [];
    try {
      await holder.query('begin');
      await holder.query(`select pg_advisory_xact_lock(hashtextextended('insight ' || $1 || ' ' || $2, 0))`, [
        stored!.account,
        source,
      ]);
      for (let day = 10; day < 30; day += 1) {
        const question = `/experiments/designs?data_source_id=${id}&date_range=2025-01-${day},2025-03-10`;
        answers.push(other.get(question, { prefer: 'respond-async' }));
      }
      const isWaiting = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
      for (let time = 0; time < 60 && (await owned(isWaiting)).length === 0; time += 1) await sleep(50);
      await sleep(500);
      expect(await owned(isWaiting)).toHaveLength(1);
    } finally {
      await holder.end();
    }
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => ![200, 202, 429].includes(status))).toEqual([]);
  });

  test('bad questions are refused with the member that is wrong', async () => {
    for (const [query, status, param] of [
      ['', 422, 'query:data_source_id'],
      ['data_source_id=ds_unknown', 404, 'query:data_source_id'],
      [`data_source_id=${source}&power=1`, 422, 'query:power'],
      [`data_source_id=${source}&power=often`, 422, 'query:power'],
      [`data_source_id=${source}&date_range=2025-02-30,2025-03-01`, 422, 'query:date_range'],
      [`data_source_id=${source}&chanel=email`, 422, 'query:chanel'],
    ] as const) {
      const answer = await caller.get(`/experiments/designs?${query}`);
      expect([query, answer.status, answer.body['error']!['param']]).toEqual([query, status, param]);
    }
    const stranger = await Caller.register(house.root);
    expect((await stranger.get(path())).status).toBe(404);
    const { errors } = await caller.graphql(
      `query ($filter: ExperimentDesignFilter!) { experimentDesigns(filter: $filter) { status } }`,
      { filter: { dataSourceId: source, power: 3 } },
    );
    expect(errors?.[0]?.extensions).toMatchObject({ type: 'validation_error', param: '/power' });
  });

  test('the newest analysis answers; a holdout of all channels is recorded, and moves their sum', async () => {
    const analyse = async () =>
      (await caller.post('/attribution', { data_source_id: source, date_range: RANGE }, { prefer: 'wait=60' })).body;
    const before = await analyse();
    const standing = (await caller.get(path())).body;
    expect(standing).toMatchObject({ attribution_id: before['id'], date_range: RANGE });
    const together = designsOf(standing).find(({ channels }) => channels.length > 1)!;
    const recorded = await caller.post('/experiments', {
      data_source_id: source,
      channels: together.channels,
      method: together.method,
      period: RANGE,
      incremental_revenue: 3_000,
      standard_error: 1,
    });
    expect(recorded.status).toBe(201);
    expect(recorded.body).toMatchObject({ channel: together.channel, channels: [...together.channels].toSorted() });
    const after = await analyse();
    expect(Number(after['revenue']) - Number(after['baseline_revenue'])).toBeCloseTo(3_000, -1);
    expect(after['diagnostics']!['experiments']).toMatchObject([{ channels: recorded.body['channels'], overlap: 1 }]);
    expect((await caller.get(path())).body['attribution_id']).toBe(after['id']);
    for (const [channels, code] of [
      [['email'], 'too_small'],
      [['email', 'email'], 'not_unique'],
      [['email', 'none_such'], 'unknown_channel'],
    ] as const) {
      const refused = await caller.post('/experiments', {
        data_source_id: source,
        channels,
        method: 'holdout',
        period: RANGE,
        incremental_revenue: 1,
        standard_error: 1,
      });
      expect([code, refused.status, refused.body['error']!['code']]).toEqual([code, 422, code]);
    }
  });

  test('new rows make a new run where no analysis is there; a source that goes takes its runs along', async () => {
    const other = await connect(caller);
    const ask = () => caller.get(`/experiments/designs?data_source_id=${other}`, { prefer: 'wait=60' });
    const runs = () => owned(`select id from attribution.insights where data_source_id::text = '${uuidOf}'`);
    const first = await ask();
    expect(first.status).toBe(200);
    const [{ source_id: uuidOf } = { source_id: '' }] = await owned<{ source_id: string }>(
      'select data_source_id::text as source_id from attribution.insights order by created_at desc limit 1',
    );
    await ask();
    expect(await runs()).toHaveLength(1);
    const rows = 'user_id,timestamp,channel,conversion,revenue\nnew,2025-04-05T10:00:00Z,email,0,0\n';
    await caller.send('POST', `/data-sources/${other}/records`, rows, { 'content-type': 'text/csv' });
    expect((await ask()).status).toBe(200);
    expect(await runs()).toHaveLength(2);
    expect((await caller.delete(`/data-sources/${other}`)).status).toBe(204);
    expect(await runs()).toEqual([]);
  });

  test('aggregated paths know no people, and spend without touches reaches nobody that is known', async () => {
    const paths = 'path,conversions,revenue,nulls\nemail > direct,20,900,200\nsocial,10,400,300\ndirect,30,800,500\n';
    const ofPaths = await connect(caller, paths);
    const range = `&date_range=${RANGE.join(',')}`;
    const nobody = await caller.get(`/experiments/designs?data_source_id=${ofPaths}${range}`, { prefer: 'wait=60' });
    expect(nobody.body).toMatchObject({ status: 'completed', designs: [] });
    expect(nobody.body['warnings']).toMatchObject([expect.stringMatching(/aggregated paths/)]);
    const withTelevision = await connect(caller);
    const spend = 'channel,date,spend\ntelevision,2025-02-01,800\n';
    await caller.send('POST', `/data-sources/${withTelevision}/records`, spend, { 'content-type': 'text/csv' });
    const told = await caller.get(`/experiments/designs?data_source_id=${withTelevision}`, { prefer: 'wait=60' });
    expect(designsOf(told.body).map(({ channel }) => channel)).not.toContain('television');
    expect(String(told.body['warnings'])).toMatch(/No holdout of people can measure television/);
  });

  test('bad rows refuse designs as they refuse analyses; what is accepted is let through', async () => {
    const bad = await connect(caller, rowsOfStrangers());
    const query = `/experiments/designs?data_source_id=${bad}`;
    const refused = await caller.get(query, { prefer: 'wait=60' });
    expect(refused.status).toBe(422);
    expect(refused.body['error']).toMatchObject({
      type: 'validation_error',
      code: 'data_quality_insufficient',
      param: 'query:data_source_id',
    });
    const codes = (refused.body['error']!['data_quality'] as unknown as Json[])
      .filter(({ severity }) => String(severity) === 'blocking')
      .map(({ code }) => String(code));
    expect(codes).toContain('order_match_rate');
    const { errors } = await caller.graphql(
      `query ($filter: ExperimentDesignFilter!) { experimentDesigns(filter: $filter) { status } }`,
      { filter: { dataSourceId: bad } },
    );
    expect(errors?.[0]?.extensions).toMatchObject({ type: 'validation_error', reason: 'data_quality_insufficient' });

    const accepted = await caller.get(`${query}&accept_quality=${codes.join(',')}`, { prefer: 'wait=60' });
    expect(accepted.body).toMatchObject({ status: 'completed' });
    expect(Number(accepted.body['trust']!['hrei_score'])).toBeGreaterThan(0.4);
    expect((await caller.get(query)).status).toBe(422);
    const unknown = await caller.get(`${query}&accept_quality=order_match`);
    expect(unknown.body['error']).toMatchObject({ param: 'query:accept_quality' });
  });

  test('a channel that is not there is refused, and one that nobody can be kept away from says why', async () => {
    const unknown = await caller.get(path(`&date_range=${RANGE.join(',')}&channel=emial`));
    expect(unknown.status).toBe(422);
    expect(unknown.body['error']).toMatchObject({ code: 'unknown_channel', param: 'query:channel' });
    expect(unknown.body['error']!['message']).toMatch(/did you mean email\?/);
    const unpaid = await caller.get(path(`&date_range=${RANGE.join(',')}&channel=direct`));
    expect(unpaid.body).toMatchObject({ status: 'completed', designs: [] });
    expect(unpaid.body['warnings']).toMatchObject([expect.stringMatching(/^direct is /)]);
    const one = await caller.get(path(`&date_range=${RANGE.join(',')}&channel=email`));
    expect(String(one.body['warnings'])).not.toMatch(/display|social/);
  });

  test('orders of one source and touches of another have designs together', async () => {
    const { orders, touches } = apart(EVENTS);
    const ids = [await connect(caller, orders), await connect(caller, touches)];
    const range = `&date_range=${RANGE.join(',')}`;
    const together = await caller.get(`/experiments/designs?data_source_ids=${ids.join(',')}${range}`, {
      prefer: 'wait=60',
    });
    expect(together.status).toBe(200);
    expect(together.body).toMatchObject({ status: 'completed', data_source_id: ids[0], data_source_ids: ids });
    expect(designsOf(together.body).map(({ channel }) => channel)).toContain('email');
    const { data } = await caller.graphql(
      `query ($filter: ExperimentDesignFilter!) { experimentDesigns(filter: $filter) {
         status dataSourceId dataSourceIds designs { channel } } }`,
      { filter: { dataSourceIds: ids, dateRange: RANGE } },
    );
    expect(data!['experimentDesigns']).toMatchObject({ status: 'COMPLETED', dataSourceIds: ids });
    const analysed = await caller.post(
      '/attribution',
      { data_source_ids: ids, date_range: RANGE },
      { prefer: 'wait=60' },
    );
    const standing = await caller.get(`/experiments/designs?data_source_ids=${ids.join(',')}`);
    expect(standing.body['attribution_id']).toBe(analysed.body['id']);
    for (const [query, status, param] of [
      [`data_source_ids=${ids[0]!}`, 422, 'query:data_source_ids'],
      [`data_source_ids=${ids[0]!},ds_unknown`, 404, 'query:data_source_ids'],
      [`data_source_ids=${ids.join(',')}&data_source_id=${source}`, 422, 'query:data_source_id'],
      ['brand_id=nobody', 404, 'query:brand_id'],
    ] as const) {
      const answer = await caller.get(`/experiments/designs?${query}`);
      expect([query, answer.status, answer.body['error']!['param']]).toEqual([query, status, param]);
    }
  });

  /** Rows as the owner of the database sees them. */
  async function owned<Row extends object>(sql: string): Promise<readonly Row[]> {
    const { Client } = await import('pg');
    const owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    try {
      return (await owner.query<Row>(sql)).rows;
    } finally {
      await owner.end();
    }
  }
});

/** Touches of some and orders of others, of whom one in five has a touch. */
function rowsOfStrangers(): string {
  const day = (place: number): string => `2025-02-${String(1 + (place % 28)).padStart(2, '0')}`;
  const touches = Array.from({ length: 700 }, (_, place) => {
    const channel = ['email', 'social', 'direct'][place % 3]!;
    return `u${place % 350},${day(place)}T08:00:00Z,${channel},0,`;
  });
  const orders = Array.from({ length: 100 }, (_, place) => {
    const user = place % 5 === 0 ? `u${place}` : `stranger${place}`;
    return `${user},${day(place)}T20:00:00Z,,1,${20 + (place % 7)}`;
  });
  return ['user_id,timestamp,channel,conversion,revenue', ...touches, ...orders].join('\n');
}

/** A table of events as two files, one of its purchases and one of all else. */
function apart(events: string): { readonly orders: string; readonly touches: string } {
  const [header = '', ...rows] = events.trim().split('\n');
  const place = header.split(',').indexOf('conversion');
  const isOrder = (row: string): boolean => row.split(',')[place] === '1';
  return {
    orders: [header, ...rows.filter(isOrder)].join('\n'),
    touches: [header, ...rows.filter((row) => !isOrder(row))].join('\n'),
  };
}
