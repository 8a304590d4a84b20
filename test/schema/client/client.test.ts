import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { createClient, type LiftgraphClient } from '../../../schema/client/client.ts';
import { openHouse, type House } from '../../house.ts';
import { clock } from '../../service-clock.ts';
import { SMALLEST_SHOP } from '../../smallest-shop.ts';

describe('the typed client against the service', () => {
  let house: House;

  beforeAll(async () => {
    house = await openHouse('one process', { clock });
  });

  afterAll(() => house?.stop());

  test('registers, uploads, analyses and reads, without a word about nonces', async () => {
    const stranger = createClient({ baseUrl: `${house.root}/v1` });
    const { data: agent } = await stranger.POST('/agents/register', {
      body: { name: 'typed-agent', operator_id: randomUUID() },
    });
    const client = createClient({
      baseUrl: `${house.root}/v1`,
      credential: async () => agent!.api_key,
      apiVersion: '2025-11-01',
    });
    const { data: source, response } = await client.POST('/data-sources/connect', {
      body: { type: 'csv_upload', credentials: { content: SMALLEST_SHOP } },
    });
    expect(response.headers.get('SVC-API-Version')).toBe('2025-11-01');
    const { data: analysis } = await client.POST('/attribution', {
      body: { data_source_id: source!.data_source_id, date_range: ['2026-01-01', '2026-01-31'], model: 'markov' },
    });
    const { data: read } = await client.GET('/attribution/{id}', { params: { path: { id: analysis!.id } } });
    expect(read!.channel_impact.map(({ channel }) => channel).toSorted()).toEqual(['direct', 'email']);
  });

  test('a refusal comes back in the Error structure, at once', async () => {
    const client = createClient({
      baseUrl: `${house.root}/v1`,
      credential: `svc_live_sk_${'A'.repeat(24)}`,
      sleep: () => Promise.reject(new Error('nothing to wait for')),
    });
    const { error, response } = await client.GET('/data-sources');
    expect(response.status).toBe(401);
    expect(error?.error.type).toBe('invalid_api_key');
  });
});

describe('retries', () => {
  /** What the server does with each request in turn; the last one repeats. */
  type Reply =
    | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }
    | 'reset';

  const waits: number[] = [];
  let seen: IncomingMessage[];
  let bodies: string[];
  let replies: readonly Reply[];
  let server: Server;
  let client: LiftgraphClient;

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push(request);
        bodies.push(body);
        const reply = replies[Math.min(seen.length, replies.length) - 1]!;
        if (reply === 'reset') return void request.socket.destroy();
        response
          .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
          .end(JSON.stringify(reply.body ?? {}));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    client = createClient({
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
      credential: 'key',
      sleep: async (delayMs) => void waits.push(delayMs),
    });
  });

  beforeEach(() => {
    seen = [];
    bodies = [];
    waits.length = 0;
  });

  afterAll(() => server.close());

  const post = (headers: Record<string, string> = {}) =>
    client.POST('/attribution', {
      body: { data_source_id: 'ds_1', date_range: ['2026-01-01', '2026-01-31'] },
      headers,
    });
  const header = (name: string) => seen.map(({ headers }) => headers[name]);

  test('the same body and idempotency key, a fresh nonce, growing waits', async () => {
    replies = [{ status: 503 }, 'reset', { status: 500 }, { status: 200, body: { id: 'attr_1' } }];
    const { data } = await post();
    expect(data).toEqual({ id: 'attr_1' });
    expect(waits).toEqual([500, 1000, 2000]);
    expect(new Set(header('svc-idempotency-key')).size).toBe(1);
    expect(header('svc-idempotency-key')[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(header('x-nonce')).size).toBe(4);
    expect(new Set(bodies)).toEqual(new Set(['{"data_source_id":"ds_1","date_range":["2026-01-01","2026-01-31"]}']));
  });

  test('three retries, then the answer as it is, or the error of the connection', async () => {
    replies = [{ status: 503, body: { error: { type: 'service_unavailable' } } }];
    const { error, response } = await post();
    expect([seen.length, response.status, error?.error.type]).toEqual([4, 503, 'service_unavailable']);
    replies = ['reset'];
    await expect(post()).rejects.toThrow();
    expect(seen.length).toBe(8);
  });

  test('Retry-After is obeyed, unless it asks for more than a minute', async () => {
    replies = [{ status: 429, headers: { 'Retry-After': '7' } }, { status: 200 }];
    await post();
    expect(waits).toEqual([7000]);
    replies = [{ status: 429, headers: { 'Retry-After': '3600' } }];
    expect((await post()).response.status).toBe(429);
    expect(seen.length).toBe(3);
  });

  test('a call that is given up while it waits ends at once', async () => {
    replies = [{ status: 503, headers: { 'Retry-After': '50' } }];
    const patient = createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` });
    const given = new AbortController();
    const call = patient.GET('/data-sources', { signal: given.signal });
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    setTimeout(() => given.abort(new Error('changed my mind')), 100);
    await expect(call).rejects.toThrow('changed my mind');
    expect(seen.length).toBe(1);
  });

  test('an idempotency key under way is waited for; a conflict is not', async () => {
    replies = [{ status: 409, body: { error: { type: 'idempotency_in_progress' } } }, { status: 200 }];
    expect((await post()).response.status).toBe(200);
    replies = [{ status: 409, body: { error: { type: 'idempotency_conflict' } } }];
    expect((await post()).response.status).toBe(409);
    expect(seen.length).toBe(3);
  });

  test('a key of the caller is kept; reads carry neither nonce nor key', async () => {
    replies = [{ status: 200 }];
    await post({ 'SVC-Idempotency-Key': 'order-17' });
    await client.GET('/data-sources');
    expect(header('svc-idempotency-key')).toEqual(['order-17', undefined]);
    expect(header('x-nonce')).toEqual([expect.any(String), undefined]);
  });
});
