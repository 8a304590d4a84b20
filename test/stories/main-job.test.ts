import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createClient, type Client } from 'graphql-ws';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import WebSocket from 'ws';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';
import { withTestKey } from '../test-key.ts';
import { BASELINE, connectEvents, DATE_RANGE, REFERENCE, TOUCHES } from './reference-events.ts';

const MODELS = ['dominance', 'markov', 'prav', 'rwa', 'shapley'];
type ByChannel = Readonly<Record<string, number>>;
const RULES = ['first_click', 'last_click', 'linear', 'position_based', 'time_decay'];

/** The id of a new source, with these rows or none. */
async function connect(caller: Caller, credentials: { readonly content?: string } = {}): Promise<string> {
  const { body } = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials });
  return String(body['data_source_id']);
}

function sseEvents(text: string): EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => events.push(event) }).feed(text);
  return events;
}

describe.each(LAYOUTS)('the main job, %s', (layout) => {
  let house: House;
  let caller: Caller;
  let source: string;
  let socket: Client;

  beforeAll(async () => {
    house = await openHouse(layout, { clock });
    caller = await Caller.register(house.root);
    source = await connectEvents(caller);
    socket = createClient({
      url: `${house.root.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${caller.key}` },
    });
  });

  afterAll(async () => {
    await socket?.dispose();
    await house?.stop();
  });

  test('touchpoints in, five models, the causal credit of the independent reference out', async () => {
    const { status, body } = await caller.post('/attribution', {
      data_source_id: source,
      date_range: DATE_RANGE,
      baseline_channels: BASELINE,
    });
    expect(status).toBe(200);
    expect(body['failure']).toBeNull();
    expect(body).toMatchObject({
      status: 'completed',
      model: 'causal',
      date_range: DATE_RANGE,
      methodology: 'markov+shapley+dominance+rwa+prav/stacked-on-placebo-adjusted-lift/spend-prior',
    });
    const impact = body['channel_impact'] as unknown as {
      channel: string;
      attributed_revenue: number;
      is_baseline: boolean;
    }[];
    // The reference knows no spend.
    const { causal } = body['diagnostics']!['models'] as unknown as Record<'causal', { model_credit: ByChannel }>;
    for (const [channel, credit] of Object.entries(REFERENCE.credit))
      expect(Math.abs(causal.model_credit[channel]! - credit)).toBeLessThanOrEqual(1e-4 * Math.abs(credit) + 0.01);
    const cents =
      impact.reduce((sum, each) => sum + Math.round(each.attributed_revenue * 100), 0) +
      Math.round(Number(body['baseline_revenue']) * 100);
    expect(cents).toBe(Math.round(Number(body['revenue']) * 100));
    expect(Object.keys(body['model_breakdown'] as object).toSorted()).toEqual(MODELS);
    expect(Object.keys(body['comparison'] as object).toSorted()).toEqual(RULES);
    expect(Number(body['platform_fee_cents'])).toBe(
      Math.max(10, Math.floor((Number(body['delta_r_cents']) * 5 + 50) / 100)),
    );
  });

  test('a second run gives the same figures, bit by bit', async () => {
    const digests = [];
    for (let run = 0; run < 2; run += 1) {
      const { body } = await caller.post('/attribution/analyze', { data_source_id: source, date_range: DATE_RANGE });
      digests.push(String(body['diagnostics']!['run_digest']));
    }
    expect(digests[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(digests[1]).toBe(digests[0]);
  });

  test('a graphql-ws client watches every stage and gets the result with fields of all three subgraphs', async () => {
    const { data, errors } = await caller.graphql(
      `mutation($input: RunAttributionInput!) { runAttribution(input: $input) { attribution { id status } } }`,
      {
        input: { dataSourceId: source, dateRange: DATE_RANGE, model: 'MARKOV', modelOptions: { markovOrder: 2 } },
      },
    );
    expect(errors).toBeUndefined();
    const id = String(data!['runAttribution']!['attribution']!['id']);
    const query = `subscription($id: ID!) { attributionProgress(id: $id) {
      sequence kind stage model channelImpact { channel share } result { id status platformFeeCents
        agent { name tier } dataSource { name detail { records { touchpoints conversions } } } } } }`;
    const events: Json[] = [];
    for await (const result of socket.iterate<{ attributionProgress: Json }>({ query, variables: { id } })) {
      expect(result.errors).toBeUndefined();
      events.push(result.data!.attributionProgress);
    }
    expect(events.map((event) => Number(event['sequence']))).toEqual(events.map((_, index) => index + 1));
    expect(
      events
        .filter((event) => String(event['kind']) === 'CHANNEL_RESULT')
        .map((event) => String(event['model']))
        .toSorted(),
    ).toEqual(['DOMINANCE', 'MARKOV', 'PRAV', 'RWA', 'SHAPLEY']);
    const last = events.at(-1)!;
    expect(last).toMatchObject({
      kind: 'RESULT',
      result: {
        id,
        status: 'COMPLETED',
        agent: { name: 'test-agent', tier: 'DISCOVERY' },
        dataSource: { name: 'events.csv' },
      },
    });
    expect(Number(last['result']!['platformFeeCents'])).toBeGreaterThanOrEqual(10);
    expect(Number(last['result']!['dataSource']!['detail']!['records']!['touchpoints'])).toBe(TOUCHES);
  });

  test('a stream goes on where it was left, and ends for good after the result', async () => {
    const stream = await caller.open(
      'POST',
      '/attribution?stream=true',
      JSON.stringify({ data_source_id: source, date_range: DATE_RANGE, model: 'shapley' }),
      { 'content-type': 'application/json' },
    );
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    const text = await stream.text();
    expect(text.startsWith('retry: 3000\n')).toBe(true);
    const events = sseEvents(text);
    const last = events.at(-1)!;
    expect(last.event).toBe('result');
    const { id } = JSON.parse(last.data) as { id: string };

    const resumed = sseEvents(
      await (
        await caller.open('GET', `/attribution/${id}/stream`, undefined, { 'last-event-id': events[2]!.id! })
      ).text(),
    );
    expect(resumed.map((event) => event.id)).toEqual(events.slice(3).map((event) => event.id));
    const done = await caller.open('GET', `/attribution/${id}/stream?last_event_id=${last.id}`);
    expect(done.status).toBe(204);
  });

  test('an analysis that is restricted to channels shows no others on its way either', async () => {
    const stream = await caller.open(
      'POST',
      '/attribution?stream=true',
      JSON.stringify({
        data_source_id: source,
        date_range: DATE_RANGE,
        model: 'shapley',
        channels: ['email', 'display'],
      }),
      { 'content-type': 'application/json' },
    );
    const events = sseEvents(await stream.text()).map(({ event, data }) => ({
      event,
      impact: (JSON.parse(data) as { channel_impact?: { channel: string; rank: number }[] }).channel_impact,
      model: (JSON.parse(data) as { model?: string }).model,
    }));
    const shown = events.filter(({ event }) => event === 'channel_result' || event === 'result');
    expect(shown).toHaveLength(6);
    for (const { impact } of shown)
      expect(impact!.map(({ channel }) => channel).toSorted()).toEqual(['display', 'email']);
    const ranks = shown
      .filter(({ model }) => model === 'shapley')
      .map(({ impact }) => impact!.map(({ channel, rank }) => ({ channel, rank })));
    expect(ranks[0]).toEqual(ranks[1]);
  });

  test('a caller who does not wait is told where to look', async () => {
    const { status, headers, body } = await caller.post(
      '/attribution',
      { data_source_id: source, date_range: DATE_RANGE },
      { prefer: 'respond-async' },
    );
    expect(status).toBe(200);
    expect(headers.get('location')).toContain(String(body['id']));
    expect(headers.get('preference-applied')).toBe('respond-async');
    expect(body['status']).toBe('processing');
  });

  test('a stream that goes on behind a place which the analysis has not reached ends with it', async () => {
    // Long enough for the stream to begin before the analysis has ended.
    const slowed = { prefer: 'respond-async', 'svc-sandbox-delay': '4000' };
    const tester = await withTestKey(house, caller);
    const accepted = await tester.post(
      '/attribution',
      { data_source_id: await connectEvents(tester), date_range: DATE_RANGE, model: 'markov' },
      slowed,
    );
    const stream = await tester.open('GET', `/attribution/${String(accepted.body['id'])}/stream?last_event_id=1000000`);
    expect(sseEvents(await stream.text()).at(-1)?.event).toBe('result');
  });

  test('a stream of rows is stored with its rejects, and sending it again changes nothing', async () => {
    const rows = [
      'user_id,timestamp,channel,campaign',
      'a,2026-01-01T10:00:00Z,email,x',
      'b,not a time,email,x',
      'c,2026-01-02T10:00:00Z,,x',
      'd,2026-01-03T10:00:00Z,"meta, ads",y',
    ].join('\n');
    const id = await connect(caller);
    for (let time = 0; time < 2; time += 1) {
      const { status, body } = await caller.send('POST', `/data-sources/${id}/records`, rows, {
        'content-type': 'text/csv',
      });
      expect(status).toBe(202);
      expect(body).toMatchObject({ kind: 'touchpoints', accepted: 2, rejected: 2 });
      expect(body['errors']).toMatchObject([
        { line: 3, column: 'timestamp', code: 'not_a_date' },
        { line: 4, column: 'channel', code: 'missing_value' },
      ]);
    }
    const { body: detail } = await caller.get(`/data-sources/${id}/status`);
    expect(detail['records']).toMatchObject({ touchpoints: 2, conversions: 0 });
    const { body: rejects } = await caller.get(`/data-sources/${id}/rejects`);
    expect((rejects['rejects'] as unknown as unknown[]).length).toBe(4);
  });

  test('aggregated paths are analysed without users, and say what that costs', async () => {
    const content =
      'path,total_conversions,total_conversion_value,total_null\n' +
      'search > email,3,180,5\nsearch,4,200,16\ndisplay,1,30,29\ndirect > search,2,90,1\n';
    const id = await connect(caller, { content });
    const request = { data_source_id: id, date_range: ['2026-01-01', '2026-01-31'] };
    const { body } = await caller.post('/attribution', request);
    expect(body).toMatchObject({
      status: 'completed',
      methodology: 'markov+shapley+dominance+rwa/prior-weights',
      revenue: 500,
      conversions: 10,
    });
    expect((body['diagnostics']!['warnings'] as unknown as string[]).length).toBeGreaterThan(0);
    const refused = await caller.post('/attribution', { ...request, model: 'prav' });
    expect(refused.status).toBe(422);
    expect(refused.body['error']).toMatchObject({
      type: 'validation_error',
      code: 'insufficient_data',
      param: '/model',
    });
  });

  test('a path that stands twice in a file counts twice, and a file that is sent again replaces itself', async () => {
    const id = await connect(caller);
    const send = (rows: string) =>
      caller.send('POST', `/data-sources/${id}/records`, `path,conversions,revenue,nulls\n${rows}`, {
        'content-type': 'text/csv',
      });
    const run = async () =>
      (
        await caller.post('/attribution', {
          data_source_id: id,
          date_range: ['2026-01-01', '2026-01-31'],
          model: 'shapley',
        })
      ).body;
    for (let time = 0; time < 2; time += 1) {
      await send('a > b,1,10,0\na > b,2,20,4\nb,1,5,1\n');
      expect(await run()).toMatchObject({ status: 'completed', conversions: 4, revenue: 35 });
    }
    await send('b,1,5,1\na > b,1,7,0\n');
    expect(await run()).toMatchObject({ conversions: 2, revenue: 12 });

    // Beside single touches the paths count no longer, and everybody says so.
    const events = 'user_id,timestamp,channel,conversion,revenue\nu1,2026-01-01,email,0,0\nu1,2026-01-02,,1,50\n';
    const mixed = await caller.send('POST', `/data-sources/${id}/records`, events, { 'content-type': 'text/csv' });
    expect(String(mixed.body['warnings'])).toContain('leave the paths out');
    const ran = await run();
    expect(ran).toMatchObject({ conversions: 1, revenue: 50 });
    expect(String(ran['diagnostics']!['warnings'])).toContain('leave the paths out');
  });

  test('what no analysis could carry is refused on its way in', async () => {
    const id = await connect(caller);
    const csv = { 'content-type': 'text/csv' };
    const send = (body: Buffer) => caller.send('POST', `/data-sources/${id}/records`, new Uint8Array(body), csv);
    const rows = 'user_id,timestamp,channel\nu1,2026-01-01,a\0b\nu2,2026-01-01,email\n';
    expect((await send(Buffer.from(rows))).body).toMatchObject({
      accepted: 1,
      rejected: 1,
      errors: [{ line: 2, column: 'channel', code: 'nul_character' }],
    });
    const utf32 = Buffer.concat(Array.from(rows, (character) => Buffer.from([character.codePointAt(0)!, 0, 0, 0])));
    expect((await send(utf32)).body['error']).toMatchObject({
      type: 'validation_error',
      code: 'unsupported_encoding',
    });
    expect((await send(Buffer.from(rows.replaceAll('\n', '\r')))).body['error']).toMatchObject({
      type: 'validation_error',
      code: 'unsupported_line_ends',
    });
  });

  test('an order of ninety-three billion is added up to the cent', async () => {
    const content =
      'user_id,timestamp,channel,conversion,revenue\n' +
      'u1,2026-01-01,email,0,0\n' +
      'u1,2026-01-02,,1,93000000000\n' +
      'u2,2026-01-01,direct,0,0\n' +
      'u2,2026-01-02,,1,0.01\n';
    const { body } = await caller.post('/attribution', {
      data_source_id: await connect(caller, { content }),
      date_range: ['2026-01-01', '2026-01-31'],
      model: 'shapley',
    });
    expect(body).toMatchObject({ status: 'completed', revenue: 93_000_000_000.01 });
  });

  test('what cannot be analysed is refused in words that help', async () => {
    const empty = await connect(caller);
    const ask = (changes: object) =>
      caller.post('/attribution', { data_source_id: source, date_range: DATE_RANGE, ...changes });
    const refusals = [
      [await ask({ data_source_id: empty }), 409, 'data_source_unavailable', 'never_synced'],
      [await ask({ data_source_id: 'ds_0000000000000000000000' }), 404, 'resource_not_found', undefined],
      [await ask({ date_range: ['2025-04-05', '2025-01-06'] }), 422, 'validation_error', 'invalid_range'],
      [await ask({ date_range: '2025-01-06' }), 422, 'validation_error', 'invalid_format'],
      [await ask({ channels: ['television'] }), 422, 'validation_error', 'unknown_channel'],
      [
        await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content: 'foo,bar\n1,2\n' } }),
        422,
        'validation_error',
        'unrecognised_columns',
      ],
      [
        await caller.post('/data-sources/connect', { type: 'shopify', credentials: {} }),
        422,
        'validation_error',
        'unsupported_type',
      ],
    ] as const;
    for (const [answer, status, type, code] of refusals) {
      expect(answer.status).toBe(status);
      expect(answer.body['error']).toMatchObject({ type, ...(code === undefined ? {} : { code }) });
    }
    expect(refusals[3][0].body['error']!['message']).toBe(
      'date_range: give two calendar dates (YYYY-MM-DD) as [start, end], {"start", "end"} or "start,end"',
    );
    for (const unknown of ['ds_0000000000000000000000', `ds_${'x'.repeat(5_000)}`.slice(0, 128)]) {
      const { error } = (await ask({ data_source_id: unknown })).body;
      expect(error).toMatchObject({ type: 'resource_not_found', param: '/data_source_id' });
      expect(String(error!['message']).length).toBeLessThan(100);
    }
    const quiet = await ask({ date_range: ['2026-06-01', '2026-06-30'] });
    expect(quiet.body).toMatchObject({ status: 'failed', failure: { code: 'insufficient_data' } });
  });

  test('what climbs out of an address names no source', async () => {
    for (const name of ['%2e%2e', '..', '.', '..%2fgraphql', '%3fsource=x']) {
      // fetch would climb by itself.
      const sent = request(house.root, {
        path: `/v1/data-sources/${name}/records`,
        method: 'POST',
        headers: { authorization: `Bearer ${caller.key}`, 'x-nonce': randomUUID(), 'content-type': 'text/csv' },
      }).end('user_id,timestamp,channel\n');
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      expect([name, response.statusCode, JSON.parse(await text(response))]).toMatchObject([
        name,
        404,
        { error: { type: 'resource_not_found' } },
      ]);
    }
  });

  test('a deleted source is gone for every call', async () => {
    const id = await connect(caller);
    expect((await caller.delete(`/data-sources/${id}`)).status).toBe(204);
    expect((await caller.get(`/data-sources/${id}/status`)).status).toBe(404);
    expect((await caller.delete(`/data-sources/${id}`)).status).toBe(404);
    const { body: list } = await caller.get('/data-sources');
    expect(
      (list['sources'] as unknown as { data_source_id: string }[]).map((each) => each.data_source_id),
    ).not.toContain(id);
  });

  test('a nonce works once', async () => {
    const nonce = randomUUID();
    const send = () =>
      caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} }, { 'x-nonce': nonce });
    expect((await send()).status).toBe(201);
    expect((await send()).body['error']).toMatchObject({ type: 'duplicate_nonce' });
  });
});
