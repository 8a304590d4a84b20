import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type ClientRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Caller, LAYOUTS, openHouse, type Answer, type House } from '../house.ts';
import { clock } from '../service-clock.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';

const RUN = { date_range: ['2026-01-01', '2026-01-31'], model: 'markov' };
let keys = 0;
const freshKey = () => `retry-${(keys += 1)} ${randomUUID()}`;

/** A request on a connection of its own, which goes with it: fetch would keep another one open. */
function ask(url: string, body: string, headers: Record<string, string>): ClientRequest {
  const sent = request(url, { method: 'POST', headers, agent: false });
  sent.on('error', () => undefined);
  sent.end(body);
  return sent;
}

/** Events of a whole stream. */
const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.includes('event: '))
    .map((block) => {
      const lines = Object.fromEntries(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      return { id: lines['id'], event: lines['event'], data: lines['data'] };
    });

describe.each(LAYOUTS)('requests that are sent again, %s', (layout) => {
  let house: House;
  let owner: Client;
  let caller: Caller;

  beforeAll(async () => {
    house = await openHouse(layout, { clock });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    caller = await Caller.register(house.root);
  });
  afterAll(async () => {
    await owner.end();
    await house.stop();
  });

  const keyed = (key: string, more: Record<string, string> = {}) => ({ 'svc-idempotency-key': key, ...more });
  /** Status, bytes and the headers that matter, so that replays can be held against them. */
  const exchange = async (
    method: string,
    path: string,
    body: BodyInit | undefined,
    headers: Record<string, string>,
    by = caller,
  ) => {
    const response = await by.open(method, path, body, headers);
    return {
      status: response.status,
      text: await response.text(),
      replayed: response.headers.get('svc-idempotent-replayed'),
      location: response.headers.get('location'),
      requestId: response.headers.get('x-request-id'),
    };
  };
  /** What a crash between the commit and the answer leaves behind. */
  const forgetAnswers = () =>
    owner.query(`update idempotency.claims set answer = null, lease_until = now() - interval '1 second'`);
  const sources = async () => Number(((await caller.get('/data-sources')).body['meta'] as Answer['body'])['total']);
  const connect = async (): Promise<string> =>
    String(
      (await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content: SMALLEST_SHOP } }))
        .body['data_source_id'],
    );
  const json = { 'content-type': 'application/json' };

  test('a registration answers with the same key, which is nowhere to be read', async () => {
    const stranger = new Caller(house.root, null);
    const body = JSON.stringify({ name: 'retry-agent', operator_id: randomUUID() });
    const key = freshKey();
    const first = await exchange('POST', '/agents/register', body, keyed(key, json), stranger);
    const again = await exchange('POST', '/agents/register', body, keyed(key, json), stranger);
    expect([first.status, first.replayed]).toEqual([201, null]);
    expect(again).toEqual({ ...first, replayed: 'true', requestId: again.requestId });
    expect(again.requestId).not.toBe(first.requestId);
    const apiKey = String((JSON.parse(first.text) as Answer['body'])['api_key']);

    await forgetAnswers();
    const recalled = await exchange('POST', '/agents/register', body, keyed(key, json), stranger);
    expect(recalled.status).toBe(201);
    expect((JSON.parse(recalled.text) as Answer['body'])['api_key']).toBe(apiKey);
    const { rows } = await owner.query<{ stored: string }>(
      `select string_agg(encode(coalesce(effect, '') || coalesce(answer, '') || id || fingerprint, 'escape'), '') as ` +
        `stored from idempotency.claims`,
    );
    expect(rows[0]!.stored).not.toContain(apiKey.slice(-24));
    expect(rows[0]!.stored).not.toContain(key);
    expect(house.log()).not.toContain(apiKey.slice(-24));
  });

  test('a connection happens once, with its rows', async () => {
    const body = JSON.stringify({ type: 'csv_upload', credentials: { content: SMALLEST_SHOP } });
    const before = await sources();
    const key = freshKey();
    const [first, ...others] = await Promise.all(
      Array.from({ length: 10 }, () => exchange('POST', '/data-sources/connect', body, keyed(key, json))),
    );
    expect(first!.status).toBe(201);
    for (const other of others)
      expect([other.status, other.text, other.location]).toEqual([201, first!.text, first!.location]);
    expect([first, ...others].filter((answer) => answer!.replayed === null)).toHaveLength(1);
    // Members in another order make the same request.
    const reordered = JSON.stringify({ credentials: { content: SMALLEST_SHOP }, type: 'csv_upload' });
    expect((await exchange('POST', '/data-sources/connect', reordered, keyed(key, json))).text).toBe(first!.text);
    expect(await sources()).toBe(before + 1);

    await forgetAnswers();
    const recalled = await exchange('POST', '/data-sources/connect', body, keyed(key, json));
    const { data_source_id: id, ingest } = JSON.parse(first!.text) as Answer['body'];
    expect(JSON.parse(recalled.text)).toMatchObject({ data_source_id: id, ingest });
    expect(await sources()).toBe(before + 1);
    const status = await caller.get(`/data-sources/${String(id)}/status`);
    expect(status.body['records_synced']).toBe(3);
  });

  test('a connection whose rows are refused leaves the key free', async () => {
    const key = freshKey();
    const before = await sources();
    const refused = await exchange(
      'POST',
      '/data-sources/connect',
      JSON.stringify({ type: 'csv_upload', credentials: { content: 'nothing,known\n1,2\n' } }),
      keyed(key, json),
    );
    expect(refused.status).toBe(422);
    const mended = await exchange(
      'POST',
      '/data-sources/connect',
      JSON.stringify({ type: 'csv_upload', credentials: { content: SMALLEST_SHOP } }),
      keyed(key, json),
    );
    expect([mended.status, mended.replayed]).toEqual([201, null]);
    expect(await sources()).toBe(before + 1);
  });

  test('another request under the same key is a conflict', async () => {
    const key = freshKey();
    const body = { type: 'csv_upload', credentials: {} };
    expect((await caller.post('/data-sources/connect', body, keyed(key))).status).toBe(201);
    const others: Answer[] = [
      await caller.post('/data-sources/connect', { ...body, name: 'Other' }, keyed(key)),
      await caller.post('/data-sources/connect?x=1', body, keyed(key)),
      await caller.post('/experiments', body, keyed(key)),
      await caller.post('/data-sources/connect', body, keyed(key, { 'svc-api-version': '2025-11-01' })),
    ];
    for (const other of others)
      expect([other.status, (other.body['error'] as Answer['body'])['type']]).toEqual([409, 'idempotency_conflict']);
    // Another tenant's keys are its own.
    const neighbour = await Caller.register(house.root);
    expect((await neighbour.post('/data-sources/connect', { ...body, name: 'Other' }, keyed(key))).status).toBe(201);
  });

  test('a key that may do less is told no answer of one that may do more', async () => {
    const narrow = async (body: Record<string, unknown>) =>
      new Caller(house.root, String(((await caller.post('/keys', body)).body['live'] as Answer['body'])['key']));
    const [reader, equal] = [await narrow({ scopes: ['attribution:read'] }), await narrow({})];
    const key = freshKey();
    const pair = await caller.post('/keys', { name: 'ci' }, keyed(key));
    expect(pair.status).toBe(201);
    const refused = await reader.post('/keys', { name: 'ci' }, keyed(key));
    expect([refused.status, (refused.body['error'] as Answer['body'])['type']]).toEqual([409, 'idempotency_conflict']);
    expect((await equal.post('/keys', { name: 'ci' }, keyed(key))).body).toEqual(pair.body);
  });

  test('headers: alias, both, malformed; a nonce is used up by replays too', async () => {
    const key = freshKey();
    const body = { type: 'csv_upload', credentials: {} };
    const first = await caller.post('/data-sources/connect', body, { 'idempotency-key': key });
    expect((await caller.post('/data-sources/connect', body, keyed(key))).body).toEqual(first.body);
    expect(
      (await caller.post('/data-sources/connect', body, keyed(key, { 'idempotency-key': key }))).headers.get(
        'svc-idempotent-replayed',
      ),
    ).toBe('true');
    for (const headers of [keyed(key, { 'idempotency-key': 'other' }), keyed('x'.repeat(256)), keyed('naïve')]) {
      const refused = await caller.post('/data-sources/connect', body, headers);
      expect([
        refused.status,
        (refused.body['error'] as Answer['body'])['type'],
        (refused.body['error'] as Answer['body'])['param'],
      ]).toEqual([400, 'invalid_request', 'header:SVC-Idempotency-Key']);
    }
    const nonce = randomUUID();
    expect((await caller.post('/data-sources/connect', body, keyed(key, { 'x-nonce': nonce }))).status).toBe(201);
    const repeated = await caller.post('/data-sources/connect', body, keyed(key, { 'x-nonce': nonce }));
    expect((repeated.body['error'] as Answer['body'])['type']).toBe('duplicate_nonce');
  });

  test('refusals of business are kept with their request id, refusals of form are not', async () => {
    const key = freshKey();
    const path = '/data-sources/ds_0351EFTBArmmpvm2tVZ2Qh/sync';
    const first = await exchange('POST', path, undefined, keyed(key));
    const again = await exchange('POST', path, undefined, keyed(key));
    expect(first.status).toBe(404);
    expect(again).toEqual({ ...first, replayed: 'true', requestId: again.requestId });
    expect((JSON.parse(again.text) as Answer['body'])['error']!['request_id']).toBe(first.requestId);

    const malformed = freshKey();
    expect((await caller.post('/data-sources/connect', { type: 'nothing' }, keyed(malformed))).status).toBe(422);
    expect(
      (await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} }, keyed(malformed))).status,
    ).toBe(201);
  });

  test('an upload is known by its content, streamed or as a form', async () => {
    const id = await connect();
    const path = `/data-sources/${id}/records`;
    const form = (rows: string) => {
      const data = new FormData();
      data.set('file', new Blob([rows], { type: 'text/csv' }), 'rows.csv');
      return data;
    };
    const bodies: readonly (readonly [string, () => BodyInit, () => BodyInit, Record<string, string>])[] = [
      ['csv', () => SMALLEST_SHOP, () => SMALLEST_SHOP.replace('10', '11'), { 'content-type': 'text/csv' }],
      ['form', () => form(SMALLEST_SHOP), () => form(SMALLEST_SHOP.replace('10', '11')), {}],
      ['json', () => '[{"user_id":"u9","timestamp":"2026-01-03T00:00:00Z","channel":"email"}]', () => '[]', json],
    ];
    for (const [kind, same, other, headers] of bodies) {
      const key = freshKey();
      const first = await exchange('POST', path, same(), keyed(key, headers));
      expect([kind, first.status]).toEqual([kind, 202]);
      expect(await exchange('POST', path, same(), keyed(key, headers))).toMatchObject({
        status: 202,
        text: first.text,
        replayed: 'true',
      });
      expect((await exchange('POST', path, other(), keyed(key, headers))).text).toContain('idempotency_conflict');
      const { rows: before } = await owner.query('select count(*) from attribution.uploads');
      await forgetAnswers();
      const recalled = await exchange('POST', path, same(), keyed(key, headers));
      expect(JSON.parse(recalled.text)).toMatchObject({
        upload_id: (JSON.parse(first.text) as Answer['body'])['upload_id'],
      });
      await forgetAnswers();
      expect((await exchange('POST', path, other(), keyed(key, headers))).text).toContain('idempotency_conflict');
      expect((await owner.query('select count(*) from attribution.uploads')).rows).toEqual(before);
    }
    // Written differently, the same rows.
    const key = freshKey();
    const first = await exchange(
      'POST',
      path,
      '[{"user_id":"u9","timestamp":"2026-01-03T00:00:00Z","channel":"email"}]',
      keyed(key, json),
    );
    expect(
      await exchange(
        'POST',
        path,
        '[ {"channel":"email","user_id":"u9", "timestamp":"2026-01-03T00:00:00Z"} ]',
        keyed(key, json),
      ),
    ).toMatchObject({ status: 202, text: first.text });
  });

  test('an analysis runs once, whether its answer was waited for, queued or streamed', async () => {
    const id = await connect();
    const body = JSON.stringify({ ...RUN, data_source_id: id });
    const runs = async () =>
      Number((await owner.query<{ n: string }>('select count(*) as n from attribution.attributions')).rows[0]!.n);
    const before = await runs();

    const waited = freshKey();
    const first = await exchange('POST', '/attribution', body, keyed(waited, json));
    expect([first.status, (JSON.parse(first.text) as Answer['body'])['status']]).toEqual([200, 'completed']);
    expect(await exchange('POST', '/attribution', body, keyed(waited, json))).toMatchObject({
      text: first.text,
      replayed: 'true',
    });

    // What was answered is what is answered again, though the analysis went on since.
    const queued = freshKey();
    const accepted = await exchange('POST', '/attribution', body, keyed(queued, { ...json, prefer: 'respond-async' }));
    const acceptedAgain = await exchange(
      'POST',
      '/attribution',
      body,
      keyed(queued, { ...json, prefer: 'respond-async' }),
    );
    expect(acceptedAgain).toEqual({ ...accepted, replayed: 'true', requestId: acceptedAgain.requestId });

    const streamed = freshKey();
    const live = await exchange('POST', '/attribution?stream=true', body, keyed(streamed, json));
    const again = await exchange('POST', '/attribution?stream=true', body, keyed(streamed, json));
    expect([live.status, again.status, again.replayed]).toEqual([200, 200, 'true']);
    const [result, ...none] = eventsOf(again.text);
    expect(none).toEqual([]);
    expect(result).toEqual(eventsOf(live.text).at(-1));
    expect(result!.event).toBe('result');
    expect(await runs()).toBe(before + 3);

    await forgetAnswers();
    const recalled = await exchange('POST', '/attribution', body, keyed(waited, json));
    expect((JSON.parse(recalled.text) as Answer['body'])['id']).toBe((JSON.parse(first.text) as Answer['body'])['id']);
    expect(await runs()).toBe(before + 3);
  });

  test('a client that left before the end finds the end', async () => {
    const id = await connect();
    const body = JSON.stringify({ ...RUN, model: 'causal', data_source_id: id });
    const key = freshKey();
    const leaving = ask(`${house.root}/v1/attribution?stream=true`, body, {
      authorization: `Bearer ${caller.key}`,
      'x-nonce': randomUUID(),
      ...keyed(key, json),
    });
    await once(leaving, 'response');
    leaving.destroy();
    const again = await exchange('POST', '/attribution?stream=true', body, keyed(key, json));
    expect(again.status).toBe(200);
    expect(eventsOf(again.text).at(-1)!.event).toBe('result');
  });
});

test('a client that gave up waiting for an analysis leaves it to its next try', async () => {
  const house = await openHouse('one process', { withWorker: false, clock });
  const owner = new Client({ connectionString: house.ownerUrl });
  try {
    await owner.connect();
    const caller = await Caller.register(house.root);
    const { body } = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: SMALLEST_SHOP },
    });
    const run = JSON.stringify({ ...RUN, data_source_id: body['data_source_id'] });
    const headers = {
      authorization: `Bearer ${caller.key}`,
      'content-type': 'application/json',
      'svc-idempotency-key': freshKey(),
      prefer: 'wait=60',
    };
    const leaving = ask(`${house.root}/v1/attribution`, run, { ...headers, 'x-nonce': randomUUID() });
    const claims = async (condition: string) =>
      Number(
        (await owner.query<{ n: string }>(`select count(*) as n from idempotency.claims where ${condition}`)).rows[0]!
          .n,
      );
    while ((await claims('effect is not null')) === 0) await sleep(10);
    leaving.destroy();
    while ((await claims('answer is null and lease_until <= now()')) === 0) await sleep(10);
    const next = await caller.send('POST', '/attribution', run, { ...headers, prefer: 'respond-async' });
    expect([next.status, next.headers.get('svc-idempotent-replayed')]).toEqual([200, null]);
    expect((await owner.query('select id from attribution.attributions')).rows).toHaveLength(1);
  } finally {
    await owner.end();
    await house.stop();
  }
});
