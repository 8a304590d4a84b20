import { connect } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PROBLEM_TYPES, ProblemError } from '../../schema/problems.ts';
import { errorBody, problemBody } from '../../rest-adapter/representations/error.ts';
import { openDoor, type TestDoor } from './door.ts';

const errorOf = async (response: Response) => errorBody.parse(await response.json()).error;

describe('problems of the request', () => {
  let door: TestDoor;
  beforeAll(async () => {
    door = await openDoor();
  });
  afterAll(() => door[Symbol.asyncDispose]());

  test('the structure is exact', async () => {
    const response = await door.call('GET', '/v1/attribution/nothing');
    const body = (await response.json()) as { error: object };
    expect(Object.keys(body)).toEqual(['error']);
    expect(body.error).toEqual({
      type: 'resource_not_found',
      message: 'There is no such attribution, or it is not yours.',
      request_id: response.headers.get('x-request-id'),
      doc_url: 'https://api.example/docs/errors/resource_not_found',
    });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test.each([
    ['/v1', 'GET'],
    ['/v1/', 'GET'],
    ['/v1/nowhere', 'GET'],
    ['/v1/attribution/', 'GET'],
    ['/v1/attribution/a/b/c', 'GET'],
    ['/v1/%E0%A4%A', 'POST'],
  ])('%s is 404', async (path, method) => {
    const response = await door.call(method, path);
    expect(response.status).toBe(404);
    expect(await errorOf(response)).toMatchObject({ type: 'resource_not_found', code: 'unknown_path' });
  });

  test.each([
    ['DELETE', '/v1/attribution', 'POST, GET, HEAD'],
    ['POST', '/v1/attribution/attr_1', 'GET, HEAD, DELETE'],
    ['HEAD', '/v1/attribution/attr_1/stream', 'GET'],
    ['GET', '/v1/data-sources/connect', 'POST'],
    ['OPTIONS', '/v1/health', 'GET, HEAD'],
  ])('%s %s is 405', async (method, path, allow) => {
    const response = await door.call(method, path);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe(allow);
    if (method !== 'HEAD') expect((await errorOf(response)).type).toBe('method_not_allowed');
  });

  test('a path that is no valid percent-encoding names nothing', async () => {
    const response = await door.call('GET', '/v1/attribution/%E0%A4%A');
    expect(response.status).toBe(404);
    expect((await errorOf(response)).type).toBe('resource_not_found');
  });

  test('problem details are sent where they are preferred', async () => {
    const response = await door.call('POST', '/v1/attribution', {
      body: {},
      headers: { accept: 'application/problem+json, application/json;q=0.5' },
    });
    expect(response.status).toBe(422);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    const body = problemBody.parse(await response.json());
    expect(body).toMatchObject({
      type: 'https://api.example/docs/errors/validation_error',
      title: PROBLEM_TYPES.validation_error.title,
      status: 422,
      instance: `urn:request:${response.headers.get('x-request-id')}`,
    });
    expect(body.errors?.map(({ param }) => param)).toEqual(['/data_source_id', '/date_range']);
    const plain = await door.call('POST', '/v1/attribution', {
      body: {},
      headers: { accept: 'application/json, application/problem+json' },
    });
    expect((await errorOf(plain)).type).toBe('validation_error');
  });

  test.each([
    ['application/json; charset=utf-8', 200],
    ['application/json;charset="UTF-8", application/problem+json;q=0.5', 200],
    ['application/json; charset=utf-16', 406],
  ])('Accept: %s is answered with %i and the Error structure', async (accept, status) => {
    expect((await door.call('GET', '/v1/agents/me', { headers: { accept } })).status).toBe(status);
    const refused = await door.call('POST', '/v1/attribution', { body: {}, headers: { accept } });
    expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect((await errorOf(refused)).type).toBe(status === 200 ? 'validation_error' : 'not_acceptable');
  });

  test.each([
    ['truncated', '{"a":', 'it is not JSON'],
    ['no UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 'it is not UTF-8'],
    ['duplicate members', '{"a":{"b":1,"\\u0062":2}}', 'stands twice'],
    ['half a surrogate pair', '{"a":"\\ud800"}', 'surrogate'],
    ['a NUL character', '["\\u0000"]', 'NUL'],
    ['deep nesting', '['.repeat(100_000) + ']'.repeat(100_000), 'nested deeper'],
    ['nothing', '', 'needs a JSON body'],
  ])('a body with %s is 400', async (_what, body, why) => {
    const response = await door.call('POST', '/v1/attribution', {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(400);
    const error = await errorOf(response);
    expect(error.type).toBe('invalid_request');
    expect(error.message).toContain(why);
  });

  test('names may repeat between objects, and strings may hold brackets and escapes', async () => {
    const response = await door.call('POST', '/v1/attribution', {
      body: '{"x":[{"a":1},{"a":"}\\\\"}],"a":"\\"{[,:"}',
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(422);
    await response.text();
  });

  test.each([
    [{ 'content-type': 'text/plain' }],
    [{ 'content-type': 'application/json; charset=latin1' }],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ])('%j is 415', async (headers) => {
    const response = await door.call('POST', '/v1/attribution', {
      body: '{}',
      headers: headers as Record<string, string>,
    });
    expect(response.status).toBe(415);
    expect((await errorOf(response)).type).toBe('unsupported_media_type');
  });

  test.each([
    ['declared', () => 'x'.repeat(1024 ** 2 + 1)],
    ['chunked', () => new Blob(['"', 'x'.repeat(1024 ** 2), '"']).stream()],
  ])('a body over the limit is 413 (%s)', async (_how, body) => {
    const response = await door.call('POST', '/v1/attribution', {
      body: body(),
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(413);
    expect((await errorOf(response)).type).toBe('payload_too_large');
  });

  test('a connection takes 25 MiB', async () => {
    const body = { type: 'csv_upload', credentials: { content: 'x'.repeat(20 * 1024 ** 2) } };
    const response = await door.call('POST', '/v1/data-sources/connect', { body });
    expect(response.status).toBe(201);
    await response.text();
  });

  test('a body that stops arriving is 400, and the connection is cut', async () => {
    await using door = await openDoor({ config: { bodyTimeoutMs: 50 } });
    const socket = connect((door.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(
      'POST /v1/attribution HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\nX-Nonce: ' +
        'slow-nonce-1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":',
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer.toString()).toContain('body_timeout');
    await once(socket, 'close');
  });

  test('versions: echoed, refused, deprecated', async () => {
    const older = await door.call('GET', '/v1/agents/me', { headers: { 'svc-api-version': '2025-11-01' } });
    expect(older.headers.get('svc-api-version')).toBe('2025-11-01');
    expect(older.headers.get('deprecation')).toBeNull();
    expect(await older.json()).toMatchObject({ trust: { metadata: { hrei_version: '1.0.0' } } });
    const deprecated = await door.call('GET', '/v1/agents/me', { headers: { 'svc-api-version': '2025-08-01' } });
    expect(deprecated.headers.get('deprecation')).toBe('@1769904000');
    expect(deprecated.headers.get('sunset')).toBe('Mon, 01 Feb 2027 00:00:00 GMT');
    expect(deprecated.headers.get('link')).toBe('<https://api.example/docs/versions>; rel="deprecation"');
    await deprecated.text();
    const unknown = await door.call('GET', '/v1/health', { headers: { 'svc-api-version': 'latest' } });
    expect(unknown.status).toBe(400);
    expect((await errorOf(unknown)).message).toContain('2026-02-01, 2025-11-01, 2025-08-01');
  });
});

describe('problems of the service', () => {
  test('what is unknown is masked, and logged under the request id', async () => {
    await using door = await openDoor({
      resolvers: {
        me: () => {
          throw new Error('connect ECONNREFUSED /var/run/secret.sock');
        },
      },
    });
    const response = await door.call('GET', '/v1/agents/me');
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).not.toContain('secret');
    const error = errorBody.parse(JSON.parse(text)).error;
    expect(error.type).toBe('internal_error');
    const line = door.logs.find(({ level }) => level >= 50);
    expect(line).toMatchObject({
      requestId: error.request_id,
      err: { message: 'connect ECONNREFUSED /var/run/secret.sock' },
    });
  });

  test('an outage says when to come back', async () => {
    await using door = await openDoor({
      resolvers: {
        me: () => {
          throw new ProblemError('service_unavailable', 'The database does not answer.', { retryAfterS: 2.2 });
        },
      },
    });
    const response = await door.call('GET', '/v1/agents/me');
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('3');
    expect(await errorOf(response)).toMatchObject({ type: 'service_unavailable', retry_after: 3 });
  });

  test('a status of its own, code and details of a problem of the graph come through', async () => {
    const errors = [{ param: '/date_range', code: 'future_range', message: 'end must not be after today' }];
    await using door = await openDoor({
      resolvers: {
        runAttribution: () => {
          throw new ProblemError('validation_error', 'date_range: end must not be after today', {
            status: 400,
            code: 'future_range',
            param: '/date_range',
            errors,
          });
        },
      },
    });
    const response = await door.call('POST', '/v1/attribution', {
      body: { data_source_id: 'ds_1', date_range: '2026-01-01/2026-01-02' },
    });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({
      type: 'validation_error',
      code: 'future_range',
      param: '/date_range',
      errors,
    });
  });

  test('health that is down is 503', async () => {
    await using door = await openDoor({
      health: async () => ({
        status: 'down',
        version: '0.1.0',
        environment: 'live',
        uptimeSeconds: 1,
        checks: { database: { status: 'down' } },
      }),
    });
    const response = await door.call('GET', '/v1/health', { headers: { authorization: null } });
    expect(response.status).toBe(503);
    expect(await errorOf(response)).toMatchObject({
      type: 'service_unavailable',
      message: 'The service is down: database. Try again in a few seconds.',
      retry_after: 5,
    });
  });
});
