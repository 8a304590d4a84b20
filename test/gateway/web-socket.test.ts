import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { startToyGateway, type ToyGateway } from './toy-gateway.ts';

describe('GraphQL over WebSocket', () => {
  let toy: ToyGateway;
  beforeAll(async () => {
    toy = await startToyGateway('in process');
  });
  afterAll(() => toy.close());

  const open = async (protocol = 'graphql-transport-ws') => {
    const socket = new WebSocket(toy.url.replace('http', 'ws'), protocol);
    await once(socket, 'open');
    return socket;
  };
  const closing = async (socket: WebSocket) => {
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
    return { code, reason: String(reason) };
  };
  const say = (socket: WebSocket, message: unknown) =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  const hear = async (socket: WebSocket) =>
    JSON.parse(String(((await once(socket, 'message')) as [Buffer])[0])) as Record<string, unknown>;

  test('the answer to an upgrade has an id of its own, as every answer has', async () => {
    const ids = await Promise.all(
      [1, 2].map(async () => {
        const socket = new WebSocket(toy.url.replace('http', 'ws'), 'graphql-transport-ws');
        const [{ headers }] = (await once(socket, 'upgrade')) as [IncomingMessage];
        socket.terminate();
        return headers['x-request-id'];
      }),
    );
    for (const id of ids) expect(id).toMatch(/^req_/);
    expect(ids[0]).not.toBe(ids[1]);
  });

  test.each([
    [{ authorization: 'Bearer nobody' }, 4401, 'invalid_api_key'],
    [{ authorization: 7 }, 4401, 'invalid_api_key'],
    [{ authorization: 'Bearer elsewhere' }, 4403, 'ip_not_allowed'],
    [{ authorization: 'Bearer busy' }, 4429, 'rate_limit_exceeded'],
    [{ authorization: 'Bearer early' }, 1013, 'service_unavailable'],
    [{ authorization: 'Bearer good', workspace: 'ws_nowhere' }, 4403, 'resource_not_found'],
    [{ authorization: 'Bearer good', 'SVC-Workspace': 'ws_nowhere' }, 4403, 'resource_not_found'],
    [{ authorization: 'Bearer good', 'SVC-API-Version': '1999-01-01' }, 4403, 'unsupported_api_version'],
  ])('a connection with %j is closed with %i', async (payload, code, reason) => {
    const socket = await open();
    say(socket, { type: 'connection_init', payload });
    expect(await closing(socket)).toEqual({ code, reason });
  });

  test.each([
    ['in the document', { query: '{ book(id: [1]) { id } }' }],
    ['in a variable', { query: 'query ($id: ID!) { book(id: $id) { id } }', variables: { id: [] } }],
    [
      'in a variable of a subscription',
      { query: 'subscription ($s: String!) { bookSold(shop: $s) { sequence } }', variables: { s: 7 } },
    ],
  ])('a value %s that does not fit is a validation_error, as over HTTP', async (_what, payload) => {
    const socket = await open();
    say(socket, { type: 'connection_init', payload: { authorization: 'Bearer good' } });
    await hear(socket);
    say(socket, { id: '1', type: 'subscribe', payload });
    expect(await hear(socket)).toMatchObject({
      type: 'error',
      payload: [{ extensions: { type: 'validation_error', http_status: 422 } }],
    });
    socket.close();
  });

  test.each([
    ['messages', () => ({ type: 'ping' }), 2_000],
    ['bytes', () => ({ type: 'ping', payload: { filler: 'x'.repeat(900_000) } }), 10],
  ])('a socket that floods us with %s is closed with 4429', async (_what, message, count) => {
    const socket = await open();
    say(socket, { type: 'connection_init' });
    await hear(socket);
    const closed = closing(socket);
    for (let sent = 0; sent < count; sent += 1) say(socket, message());
    expect(await closed).toEqual({ code: 4429, reason: 'Too many messages' });
  });

  test.each([
    [
      'before the handshake, of more than a key',
      false,
      { type: 'connection_init', payload: { filler: 'x'.repeat(9_000) } },
    ],
    [
      'of ten thousand members',
      true,
      { type: 'ping', payload: Object.fromEntries(Array.from({ length: 10_001 }, (_, place) => [`m${place}`, 0])) },
    ],
  ])('a message %s is closed with 4400', async (_what, isAdmitted, message) => {
    const socket = await open();
    if (isAdmitted) {
      say(socket, { type: 'connection_init' });
      await hear(socket);
    }
    say(socket, message);
    expect(await closing(socket)).toEqual({ code: 4400, reason: 'Message too large' });
  });

  test('an operation before the handshake is closed with 4401', async () => {
    const socket = await open();
    say(socket, { id: '1', type: 'subscribe', payload: { query: '{ caller }' } });
    expect(await closing(socket)).toMatchObject({ code: 4401 });
  });

  test('a second handshake is closed with 4429', async () => {
    const socket = await open();
    say(socket, { type: 'connection_init' });
    say(socket, { type: 'connection_init' });
    expect(await closing(socket)).toMatchObject({ code: 4429 });
  });

  test.each([
    '{',
    '"text"',
    '{"type":"unknown"}',
    '{"id":"1","type":"subscribe"}',
    '{"type":"connection_ack"}',
    '{"id":"1","type":"next","payload":{}}',
  ])('the message %s is closed with 4400', async (message) => {
    const socket = await open();
    say(socket, message);
    expect(await closing(socket)).toMatchObject({ code: 4400 });
    expect(toy.logs).toEqual([]);
  });

  test('another protocol is closed with 4406', async () => {
    const socket = new WebSocket(toy.url.replace('http', 'ws'));
    expect(await closing(socket)).toMatchObject({ code: 4406 });
  });

  test('a message beyond the size limit is closed', async () => {
    const socket = await open();
    say(socket, { type: 'connection_init', payload: { pad: 'x'.repeat(1024 * 1024) } });
    expect(await closing(socket)).toMatchObject({ code: 1009 });
  });

  test.each([
    [{ query: 7 }],
    [{ query: '' }],
    [{ query: '{ caller }', variables: 'text' }],
    [{ query: '{ caller }', operationName: 5 }],
    [{ query: '{ caller }', extensions: [] }],
  ])('a payload of %j never breaks the server', async (payload) => {
    const socket = await open();
    say(socket, { type: 'connection_init' });
    await hear(socket);
    const outcome = Promise.race([hear(socket), closing(socket)]);
    say(socket, { id: '1', type: 'subscribe', payload });
    const heard = await outcome;
    expect([4400, 'error', 'next']).toContain('code' in heard ? heard['code'] : heard['type']);
    socket.terminate();
    expect(toy.logs).toEqual([]);
  });

  test.each(['authorization', 'Authorization'])('the key is found under %s, as it is among headers', async (name) => {
    const client = createClient({
      url: toy.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: { [name]: 'Bearer good' },
      retryAttempts: 0,
    });
    const { value } = await client.iterate<{ caller: string }>({ query: '{ caller }' }).next();
    const [, accountId] = JSON.parse(String((value as { data: { caller: string } }).data.caller)) as string[];
    expect(accountId).toEqual(expect.stringMatching(/./));
    await client.dispose();
  });

  test('a program may show its key in a header instead', async () => {
    const socket = new WebSocket(toy.url.replace('http', 'ws'), 'graphql-transport-ws', {
      headers: { authorization: 'Bearer good' },
    });
    await once(socket, 'open');
    say(socket, { type: 'connection_init' });
    await hear(socket);
    say(socket, { id: '1', type: 'subscribe', payload: { query: '{ caller }' } });
    expect(await hear(socket)).toMatchObject({ type: 'next', payload: { data: { caller: expect.any(String) } } });
    socket.terminate();
  });

  test('a key that was revoked opens nothing more on an open socket', async () => {
    const client = createClient({
      url: toy.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: { authorization: 'Bearer good' },
      lazy: false,
      retryAttempts: 0,
    });
    expect(await client.iterate({ query: '{ caller }' }).next()).toMatchObject({
      value: { data: { caller: expect.any(String) } },
    });
    toy.admission.revoked.add('Bearer good');
    await expect(client.iterate({ query: '{ caller }' }).next()).rejects.toMatchObject([
      { extensions: { code: 'INVALID_API_KEY' } },
    ]);
    toy.admission.revoked.clear();
    await client.dispose();
  });

  test('whoever asks and never reads is cut off', async () => {
    const socket = await open();
    say(socket, { type: 'connection_init' });
    await hear(socket);
    socket.pause();
    const closed = closing(socket);
    // Pings are answered with what they carry.
    for (let time = 0; time < 60; time += 1) say(socket, { type: 'ping', payload: { pad: 'x'.repeat(500_000) } });
    const broken = new Promise((resolve) => socket.once('error', resolve));
    await new Promise((resolve) => setTimeout(resolve, 500));
    socket.resume();
    expect(await Promise.race([closed, broken])).toMatchObject({});
    expect(socket.readyState).toBe(WebSocket.CLOSED);
    expect(toy.logs).toEqual([]);
  });

  test('a connection that shakes no hands is closed in ten seconds', async () => {
    const startedMs = performance.now();
    const socket = await open();
    expect(await closing(socket)).toEqual({ code: 4408, reason: 'Connection initialisation timeout' });
    expect(performance.now() - startedMs).toBeLessThan(15_000);
  });

  test('at most a hundred operations run on one socket', async () => {
    const client = createClient({
      url: toy.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: { authorization: 'Bearer good' },
      retryAttempts: 0,
    });
    const streams = Array.from({ length: 101 }, () =>
      client.iterate({ query: 'subscription { bookSold(shop: "x") { sequence } }' }),
    );
    const outcomes = streams.map((stream) =>
      stream.next().then(
        () => 'event',
        (errors: { extensions: { code: string } }[]) => errors[0]?.extensions.code,
      ),
    );
    expect(await Promise.race(outcomes)).toBe('RATE_LIMIT_EXCEEDED');
    expect(toy.events.open).toBeLessThanOrEqual(100);
    await client.dispose();
  });

  test('closing the gateway says goodbye to every socket', async () => {
    const other = await startToyGateway('in process');
    const socket = new WebSocket(other.url.replace('http', 'ws'), 'graphql-transport-ws');
    await once(socket, 'open');
    const goodbye = closing(socket);
    await other.close();
    expect(await goodbye).toEqual({ code: 1001, reason: 'Going away' });
  });

  test('upgrades elsewhere are not taken', async () => {
    const socket = new WebSocket(toy.url.replace('http', 'ws').replace('/graphql', '/other'), 'graphql-transport-ws');
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toMatch(/socket hang up|ECONNRESET/);
  });
});
