import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { Client } from 'pg';
import WebSocket from 'ws';
import { ProgressStream } from '../progress-stream.ts';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { withTestKey } from '../test-key.ts';
import { uuidFromPublicId } from '../../platform/identifiers.ts';
import { clock } from '../service-clock.ts';

const EVENTS = readFileSync(new URL('../compute/fixtures/events.csv', import.meta.url), 'utf8')
  .split('\n')
  .slice(0, 2500)
  .join('\n');
const DATE_RANGE = ['2025-01-06', '2025-04-05'];
const SUMMER = ['2026-06-01', '2026-07-31'];
/** Longer than any of these tests. */
const SLOWED = { 'svc-sandbox-delay': '30000' };

describe.each(LAYOUTS)('cancelling an analysis, %s', (layout) => {
  let house: House;
  let owner: Client;
  let caller: Caller;
  let tester: Caller;
  let source: string;

  beforeAll(async () => {
    house = await openHouse(layout, { clock });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    caller = await Caller.register(house.root);
    tester = await withTestKey(house, caller);
    source = String(
      (await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content: EVENTS } })).body[
        'data_source_id'
      ],
    );
  });

  afterAll(async () => {
    await owner?.end();
    await house?.stop();
  });

  const cancel = (by: Caller, id: unknown) => by.post(`/attribution/${String(id)}/cancel`, {});
  const streamOf = async (more: object = {}): Promise<ProgressStream> =>
    new ProgressStream(
      await tester.open(
        'POST',
        '/attribution?stream=true',
        JSON.stringify({ data_source_id: 'ds_sandbox_shopify', date_range: SUMMER, ...more }),
        { 'content-type': 'application/json', ...SLOWED },
      ),
    );
  const events = async (id: unknown): Promise<readonly { readonly type: string; readonly data: Json }[]> =>
    (await owner.query('select type, data from events.outbox where subject = $1 order by sequence', [id])).rows;

  test('one that runs stops, and says so to everyone', async () => {
    const stream = await streamOf();
    const { data } = await stream.next(
      'progress',
      (event) => event.data['stage'] === ('building_journeys' as unknown as Json),
    );
    const id = String(data['id']);
    const cancelled = await cancel(tester, id);
    expect(cancelled).toMatchObject({
      status: 200,
      body: {
        id,
        status: 'failed',
        failure: { code: 'cancelled' },
        channel_impact: [],
        platform_fee_cents: null,
        delta_r_cents: null,
        signature: null,
      },
    });
    const { data: told } = await stream.next('error');
    expect(told).toMatchObject({ error: { type: 'conflict', code: 'cancelled' } });
    await stream.ended;
    expect(stream.events.map((event) => event.id)).toEqual(stream.events.map((_, place) => place + 1));
    expect(stream.events.at(-1)!.event).toBe('error');
    expect(await events(id)).toMatchObject([
      {
        type: 'attribution.completed',
        data: { status: 'failed', failure: { code: 'cancelled' }, platform_fee_cents: null },
      },
    ]);

    const again = await cancel(tester, id);
    expect(again.status).toBe(200);
    expect({ ...again.body, trust: null }).toEqual({ ...cancelled.body, trust: null });
    expect(await events(id)).toHaveLength(1);
    // Its job has ended too, so that the next one of the account has its place.
    for (;;) {
      const { rows } = await owner.query(
        `select state from jobs.job where name = 'attribution.run' and data ->> 'runId' = $1`,
        [uuidFromPublicId('attr', id)],
      );
      if (rows.length > 0 && rows.every(({ state }) => state === 'completed')) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  test('one that waits never begins', async () => {
    // As many as one account may have running, and one that waits behind them.
    const running = await Promise.all(Array.from({ length: 4 }, () => streamOf()));
    const ids = await Promise.all(
      running.map(async (stream) =>
        String(
          (await stream.next('progress', (event) => event.data['stage'] === ('building_journeys' as unknown as Json)))
            .data['id'],
        ),
      ),
    );
    const { body } = await tester.post(
      '/attribution',
      { data_source_id: 'ds_sandbox_shopify', date_range: SUMMER },
      { prefer: 'respond-async' },
    );
    expect((await tester.get(`/attribution/${String(body['id'])}`)).body['status']).toBe('pending');
    const uuid = uuidFromPublicId('attr', String(body['id']));
    const jobs = async () =>
      (
        await owner.query(
          `select 1 from jobs.job where data ->> 'runId' = $1
           union all select 1 from jobs.waiting where data ->> 'runId' = $1`,
          [uuid],
        )
      ).rowCount;
    expect(await jobs()).toBe(1);
    const { body: cancelled } = await cancel(tester, body['id']);
    expect(cancelled).toMatchObject({ status: 'failed', failure: { code: 'cancelled' } });
    expect(await jobs()).toBe(0);
    await Promise.all(ids.map((id) => cancel(tester, id)));
    await Promise.all(running.map(({ ended }) => ended));
    const stream = new ProgressStream(await tester.open('GET', `/attribution/${String(body['id'])}/stream`));
    await stream.ended;
    expect(stream.events.map(({ event, data }) => data['stage'] ?? event)).toEqual(['queued', 'error']);
  });

  test('one that has ended stays as it is', async () => {
    const { body } = await caller.post('/attribution', { data_source_id: source, date_range: DATE_RANGE });
    expect(body['status']).toBe('completed');
    const { body: failed } = await caller.post('/attribution', {
      data_source_id: source,
      date_range: ['2026-06-01', '2026-06-30'],
    });
    expect(failed['status']).toBe('failed');
    for (const id of [body['id'], failed['id']]) {
      const answer = await cancel(caller, id);
      expect({ status: answer.status, error: answer.body['error'] }).toMatchObject({
        status: 409,
        error: { type: 'conflict', code: 'already_finished' },
      });
    }
    expect((await caller.get(`/attribution/${String(body['id'])}`)).body).toMatchObject({
      status: 'completed',
      signature: body['signature'],
    });
    expect((await cancel(caller, 'attr_0351EFTBArmmpvm2tVZ2Qh')).status).toBe(404);
    expect((await cancel(await Caller.register(house.root), body['id'])).status).toBe(404);
  });

  test('one that has ended can be deleted: nobody sees it any more, what it was billed by stays', async () => {
    const { body } = await caller.post('/attribution', { data_source_id: source, date_range: DATE_RANGE });
    const id = String(body['id']);
    const recovered = async () => (await caller.get('/agents/me')).body['total_delta_r_cents'];
    // It is charged, and so counted, when its event is relayed.
    while ((await owner.query('select from events.outbox where relayed_at is null')).rowCount !== 0) await sleep(20);
    const before = await recovered();
    expect(Number(before)).toBeGreaterThanOrEqual(Number(body['delta_r_cents']));
    const under = await tester.post(
      '/attribution',
      { data_source_id: 'ds_sandbox_shopify', date_range: SUMMER },
      { prefer: 'respond-async', ...SLOWED },
    );
    expect((await tester.delete(`/attribution/${String(under.body['id'])}`)).body).toMatchObject({
      error: { type: 'conflict', code: 'not_finished' },
    });
    await cancel(tester, under.body['id']);
    expect((await (await Caller.register(house.root)).delete(`/attribution/${id}`)).status).toBe(404);

    expect((await caller.delete(`/attribution/${id}`)).status).toBe(204);
    for (const path of ['', '/export', '/stream'])
      expect((await caller.get(`/attribution/${id}${path}`)).status).toBe(404);
    expect((await caller.delete(`/attribution/${id}`)).status).toBe(404);
    const listed = (await caller.get('/attribution?per_page=100')).body['data'] as unknown as readonly Json[];
    expect(listed.filter((each) => each['id'] === (id as unknown as Json))).toEqual([]);
    expect(await recovered()).toBe(before);
    const { rows } = await owner.query('select result, trust, signature from attribution.attributions where id = $1', [
      uuidFromPublicId('attr', id),
    ]);
    expect(rows).toEqual([{ result: { deltaRCents: body['delta_r_cents'] }, trust: null, signature: null }]);
    expect((await caller.get('/audit/events?event_type=data.deleted')).body['events']).toMatchObject([
      { severity: 'warning', target: { type: 'attribution', id } },
    ]);
  });

  test('over GraphQL, the subscription ends with the reason', async () => {
    const { data } = await tester.graphql(
      'mutation ($input: RunAttributionInput!) { runAttribution(input: $input) { attribution { id } } }',
      { input: { dataSourceId: 'ds_sandbox_shopify', dateRange: SUMMER } },
    );
    const id = String(data!['runAttribution']!['attribution']!['id']);
    const client = createClient({
      url: `${house.root.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${tester.key}` },
    });
    const answer = await tester.graphql(
      'mutation ($input: CancelAttributionInput!) { cancelAttribution(input: $input) { attribution { status failure ' +
        '{ code } } } }',
      { input: { id } },
    );
    const seen: Json[] = [];
    for await (const { data: event } of client.iterate({
      query: 'subscription ($id: ID!) { attributionProgress(id: $id) { kind status failureCode } }',
      variables: { id },
    }))
      seen.push((event as unknown as Json)['attributionProgress']!);
    await client.dispose();
    // The run may have been quicker: then it is the result that stands.
    if (answer.errors === undefined) {
      expect(answer.data!['cancelAttribution']).toEqual({
        attribution: { status: 'FAILED', failure: { code: 'CANCELLED' } },
      });
      expect(seen.at(-1)).toEqual({ kind: 'ERROR', status: 'FAILED', failureCode: 'CANCELLED' });
    } else {
      expect(answer.errors[0]!.extensions).toMatchObject({ code: 'CONFLICT' });
      expect(seen.at(-1)).toMatchObject({ kind: 'RESULT' });
    }
  });

  test('at whatever moment it comes, it or the result wins, and everything agrees on which', async () => {
    const outcomes = new Set<string>();
    const ended: string[] = [];
    // From the first event that is told to the last, the result itself.
    for (const moment of [1, 2, 3, 6, 12, 13, 14, 15, 16]) {
      const stream = new ProgressStream(
        await caller.open(
          'POST',
          '/attribution?stream=true',
          JSON.stringify({ data_source_id: source, date_range: DATE_RANGE, model: 'markov' }),
          { 'content-type': 'application/json' },
        ),
      );
      await stream.upTo(moment);
      const id = String(stream.events[0]!.data['id']);
      const answers = await Promise.all([cancel(caller, id), cancel(caller, id)]);
      await stream.ended;
      const { body: read } = await caller.get(`/attribution/${id}`);
      const won = answers[0]!.status === 200;
      outcomes.add(won ? 'cancelled' : 'completed');
      expect(answers.map(({ status }) => status)).toEqual(won ? [200, 200] : [409, 409]);
      expect({ status: read['status'], last: stream.events.at(-1)!.event }).toEqual(
        won ? { status: 'failed', last: 'error' } : { status: 'completed', last: 'result' },
      );
      expect(stream.events.map((event) => event.id)).toEqual(stream.events.map((_, place) => place + 1));
      expect(await events(id)).toMatchObject([{ type: 'attribution.completed', data: { status: read['status'] } }]);
      ended.push(id);
    }
    // Whatever was still being written came before the end, or not at all.
    for (const id of ended) {
      const { rows } = await owner.query<{ kind: string }>(
        `select event ->> 'kind' as kind from attribution.attribution_progress where run_id = $1 order by ` +
          `sequence`,
        [uuidFromPublicId('attr', id)],
      );
      expect(rows.findIndex(({ kind }) => kind === 'ERROR' || kind === 'RESULT')).toBe(rows.length - 1);
    }
    expect(outcomes).toEqual(new Set(['cancelled', 'completed']));
  });
});
