import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { newRequestId } from '../../platform/identifiers.ts';
import { createOverloadDoor } from '../../rest-adapter/overload-door.ts';
import { HTTP_SERVER_OPTIONS } from '../../rest-adapter/server.ts';
import { ProblemError } from '../../schema/problems.ts';
import { KEY, openDoor, type TestDoor } from './door.ts';

const OVERLOADED = new ProblemError('service_unavailable', 'Come back in a second.', {
  code: 'overloaded',
  retryAfterS: 1,
});

let door: TestDoor;
let isOverloaded = false;
const arrived: (string | undefined)[] = [];
let underWay = 0;
const arrive = (authorization: string | undefined) => {
  arrived.push(authorization);
  underWay += 1;
  return () => void (underWay -= 1);
};
let url: string;
const server = createServer(HTTP_SERVER_OPTIONS);

beforeAll(async () => {
  door = await openDoor();
  const refuseWhenOverloaded = () => {
    if (isOverloaded) throw OVERLOADED;
  };
  // The long way refuses, too, when it comes to admission.
  const { admit } = door.admission;
  door.admission.admit = async (arrival) => {
    refuseWhenOverloaded();
    return admit(arrival);
  };
  const inside = door.server.listeners('request')[0] as RequestListener;
  server
    .on(
      'request',
      createOverloadDoor(
        { publicBaseUrl: 'https://api.example/v1', newRequestId, admission: { refuseWhenOverloaded, arrive } },
        inside,
      ),
    )
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  isOverloaded = true;
  door.admission.log.length = 0;
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await door[Symbol.asyncDispose]();
});

const seen = async (answer: Response) => {
  const headers: Record<string, string> = Object.fromEntries(answer.headers);
  const { 'x-request-id': requestId = 'none' } = headers;
  if (answer.status === 503) expect(requestId).toMatch(/^req_[0-9A-Za-z]{22}$/);
  for (const own of ['date', 'x-request-id']) delete headers[own];
  return { status: answer.status, headers, body: (await answer.text()).replace(requestId, 'REQUEST') };
};

test.each([
  ['GET', '/v1/agents/me', undefined],
  ['POST', '/v1/data-sources/connect', '{"type":"csv_upload","credentials":{}}'],
])('%s %s is refused as the long way would, to the header', async (method, path, body) => {
  const request = {
    method,
    headers: { authorization: KEY, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  };
  const short = await seen(await fetch(url + path, request));
  const long = await seen(await fetch(door.url + path, request));
  expect(short).toEqual(long);
  expect(short).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(JSON.parse(short.body)).toEqual({
    error: {
      type: 'service_unavailable',
      code: 'overloaded',
      message: 'Come back in a second.',
      request_id: 'REQUEST',
      doc_url: 'https://api.example/docs/errors/service_unavailable',
      retry_after: 1,
    },
  });
});

test.each([
  ['a web page of another origin', '/v1/agents/me', { authorization: KEY, origin: 'https://shop.example' }, 503],
  ['a client of an older version', '/v1/agents/me', { authorization: KEY, 'svc-api-version': '2025-11-01' }, 503],
  [
    'a client that wants problem details',
    '/v1/agents/me',
    { authorization: KEY, accept: 'application/problem+json' },
    503,
  ],
  ['a stranger', '/v1/agents/me', {}, 503],
  ['who asks how the service is', '/v1/health', {}, 200],
  ['who shows a key for it', '/v1/health', { authorization: KEY }, 200],
  ['who reads the contract', '/openapi.json', {}, 200],
])('%s goes the long way and gets its own answer', async (_who, path, headers, status) => {
  const short = await fetch(url + path, { headers });
  const long = await fetch(door.url + path, { headers });
  expect(await seen(short)).toEqual(await seen(long));
  expect(short.status).toBe(status);
});

test('clients of OAuth, which show who they are by a password, hear errors in the shape that they know', async () => {
  const request = {
    method: 'POST',
    headers: { authorization: 'Basic YTpi', 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=client_credentials',
  };
  expect(await seen(await fetch(`${url}/v1/oauth/token`, request))).toEqual(
    await seen(await fetch(`${door.url}/v1/oauth/token`, request)),
  );
});

test('every request, refused or not, counts as under way for its caller until it is answered', async () => {
  arrived.length = 0;
  const showing = { headers: { authorization: KEY } };
  for (const asked of [fetch(`${url}/v1/agents/me`, showing), fetch(`${url}/v1/health`)]) await (await asked).text();
  isOverloaded = false;
  await (await fetch(`${url}/v1/agents/me`, showing)).text();
  expect(arrived.toSorted()).toEqual([KEY, KEY, undefined]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(underWay).toBe(0);
});

test('while there is no overload nobody is kept out', async () => {
  isOverloaded = false;
  expect((await fetch(`${url}/v1/agents/me`, { headers: { authorization: KEY } })).status).not.toBe(503);
  expect(door.admission.log).toContain('admit');
});

test('a connection serves on behind a refusal with a body that nobody read', async () => {
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  const body = 'x'.repeat(50_000);
  socket.write(
    `POST /v1/agents/me HTTP/1.1\r\nHost: a\r\nAuthorization: ${KEY}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  socket.end(`GET /v1/agents/me HTTP/1.1\r\nHost: a\r\nAuthorization: ${KEY}\r\nConnection: close\r\n\r\n`);
  expect((await text(socket)).match(/HTTP\/1.1 503/g)).toHaveLength(2);
});
