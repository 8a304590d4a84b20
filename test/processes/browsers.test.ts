import { once } from 'node:events';
import { WebSocket } from 'ws';
import { openHouse, type House } from '../house.ts';

const APP = 'https://app.example';
const CONFIG = { corsOrigins: [APP, 'https://admin.example'], publicBaseUrl: 'https://api.example/v1' };

let house: House;
let closed: House;
beforeAll(async () => {
  [house, closed] = await Promise.all([
    openHouse('one process', { withWorker: false, config: CONFIG }),
    openHouse('one process', { withWorker: false }),
  ]);
});
afterAll(() => Promise.all([house?.stop(), closed?.stop()]));

const preflight = (root: string, path: string, origin: string) =>
  fetch(`${root}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-nonce',
    },
  });
const simple = (root: string, path: string, origin: string) =>
  fetch(`${root}${path}`, { headers: { origin, accept: 'application/json' } });
const allowedOrigin = (response: Response) => response.headers.get('access-control-allow-origin');

describe('pages of other origins', () => {
  test.each(['/v1/attribution', '/v1/agents/register', '/graphql', '/v1/nowhere'])(
    'a listed one may send requests to %s and read all that it needs',
    async (path) => {
      const asked = await preflight(house.root, path, APP);
      expect(asked.status).toBe(204);
      expect(allowedOrigin(asked)).toBe(APP);
      const allowed = asked.headers.get('access-control-allow-headers')!.toLowerCase().split(', ');
      for (const name of [
        'authorization',
        'content-type',
        'x-nonce',
        'svc-api-version',
        'svc-idempotency-key',
        'prefer',
        'last-event-id',
        'if-none-match',
      ])
        expect(allowed).toContain(name);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
        expect(asked.headers.get('access-control-allow-methods')).toContain(method);

      const answer = await simple(house.root, path, APP);
      expect(allowedOrigin(answer)).toBe(APP);
      expect(answer.headers.get('vary')).toContain('Origin');
      const exposed = answer.headers.get('access-control-expose-headers')!.toLowerCase().split(', ');
      for (const name of [...answer.headers.keys()].filter((header) =>
        /^(x-request|svc-|retry|ratelimit|link|etag|deprecation|sunset|www-auth|allow$)/.test(header),
      ))
        expect(exposed).toContain(name);
    },
  );

  test.each([
    ['one that is not listed', 'https://evil.example'],
    ['one that begins like a listed one', `${APP}.evil.example`],
    ['one on another port', `${APP}:8443`],
    ['one without encryption', 'http://app.example'],
    ['one without a name', 'null'],
  ])('%s gets no leave', async (_what, origin) => {
    for (const path of ['/v1/attribution', '/graphql']) {
      const asked = await preflight(house.root, path, origin);
      expect(asked.status).toBe(405);
      expect(allowedOrigin(asked)).toBeNull();
      expect(allowedOrigin(await simple(house.root, path, origin))).toBeNull();
    }
  });

  test('credentials are never allowed', async () => {
    for (const response of [
      await preflight(house.root, '/v1/attribution', APP),
      await simple(house.root, '/v1/attribution', APP),
    ])
      expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test('without a list nobody gets leave, but everyone may read the public documents', async () => {
    expect(allowedOrigin(await simple(closed.root, '/v1/health', APP))).toBeNull();
    for (const path of ['/openapi.json', '/.well-known/jwks.json']) {
      expect(allowedOrigin(await simple(closed.root, path, APP))).toBe('*');
      expect(allowedOrigin(await preflight(closed.root, path, APP))).toBe('*');
    }
  });

  test('* is any', async () => {
    const open = await openHouse('one process', { withWorker: false, config: { corsOrigins: ['*'] } });
    expect(allowedOrigin(await preflight(open.root, '/v1/attribution', 'https://anyone.example'))).toBe('*');
    expect(allowedOrigin(await simple(open.root, '/v1/oauth/authorize', 'https://anyone.example'))).toBeNull();
    await open.stop();
  });

  test.each([
    [APP, true],
    [undefined, true],
    ['https://api.example', true],
    ['https://evil.example', false],
    ['null', false],
  ])('WebSocket from %s: %s', async (origin, isOpened) => {
    const socket = new WebSocket(
      `${house.root.replace('http', 'ws')}/graphql`,
      'graphql-transport-ws',
      origin === undefined ? {} : { origin },
    );
    const opened = await once(socket, 'open').then(
      () => true,
      () => false,
    );
    expect(opened).toBe(isOpened);
    socket.terminate();
  });

  test('WebSocket from a page of the service itself, whatever it is called there', async () => {
    const socket = new WebSocket(`${house.root.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      origin: house.root,
    });
    await once(socket, 'open');
    socket.terminate();
  });
});

test.each([
  '/',
  '/docs',
  '/docs/errors',
  '/docs/assets/start.js',
  '/openapi.json',
  '/.well-known/jwks.json',
  '/graphql',
  '/graphql?query=%7B__typename%7D',
  '/healthz',
  '/readyz',
  '/v1/health',
  '/v1/attribution',
  '/v1/nowhere',
  '/nowhere',
])('%s tells browsers not to guess, frame or tell', async (path) => {
  for (const accept of ['text/html', 'application/json']) {
    const { headers } = await fetch(`${house.root}${path}`, { headers: { accept }, redirect: 'manual' });
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
      'strict-transport-security': 'max-age=31536000',
    });
  }
  expect(
    (await fetch(`${closed.root}${path}`, { redirect: 'manual' })).headers.get('strict-transport-security'),
  ).toBeNull();
});

test.each(['/healthz', '/readyz', '/v1/health'])('%s is kept by no cache', async (path) => {
  expect((await fetch(`${closed.root}${path}`)).headers.get('cache-control')).toBe('no-store');
});

test.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x', ''])(
  'a form of another site (%s) changes nothing',
  async (type) => {
    const headers = { 'content-type': type, origin: 'https://evil.example', 'x-nonce': crypto.randomUUID() };
    const body = JSON.stringify({
      name: 'forged',
      operator_id: 'x',
      query: 'mutation { registerAgent(input: {name: "forged", operatorId: "x"}) { apiKey } }',
    });
    for (const path of ['/v1/agents/register', '/graphql'])
      expect((await fetch(`${closed.root}${path}`, { method: 'POST', headers, body: Buffer.from(body) })).status).toBe(
        415,
      );
  },
);
