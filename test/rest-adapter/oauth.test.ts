import * as fc from 'fast-check';
import { once } from 'node:events';
import { connect } from 'node:net';
import { ProblemError } from '../../schema/problems.ts';
import type { Oauth } from '../../services/identity/oauth/oauth.ts';
import type { TokenRequest } from '../../services/identity/oauth/token-endpoint.ts';
import { errorBody, oauthErrorBody } from '../../rest-adapter/representations/error.ts';
import { openDoor, type TestDoor } from './door.ts';

const CLIENT = 'agent_0351EFSwMCuWsp5CADuBq8';
const SECRET = 'svc_agent_sk_ABCDEFGHIJKLMNOPQRSTUVWX';
const FORM = 'application/x-www-form-urlencoded';

/** What reached the authorization server, and what it is to answer. */
const asked: TokenRequest[] = [];
const ended: string[] = [];
let failure: Error | null = null;
const oauth: Oauth['tokens'] = {
  async exchange(request) {
    asked.push(request);
    if (failure !== null) throw failure;
    return {
      accessToken: `svc_at_${'a'.repeat(43)}`,
      refreshToken: `svc_rt_${'r'.repeat(43)}`,
      expiresInS: 3600,
      scopes: ['attribution:read', 'health:read'],
    };
  },
  async revoke(token) {
    ended.push(token);
  },
};

let door: TestDoor;
beforeAll(async () => {
  door = await openDoor({
    oauth: {
      tokens: oauth,
      authorizations: {
        examine: async () => ({ outcome: 'refused', message: 'No.' }),
        approve: async () => '',
        deny: () => '',
      },
    },
  });
});
afterAll(() => door[Symbol.asyncDispose]());
beforeEach(() => {
  asked.length = 0;
  ended.length = 0;
  failure = null;
});

const form = (path: string, members: Record<string, string> | string, headers: Record<string, string | null> = {}) =>
  door.call('POST', `/v1/oauth${path}`, {
    body: typeof members === 'string' ? members : new URLSearchParams(members).toString(),
    headers: { 'content-type': FORM, authorization: null, 'x-nonce': null, ...headers },
  });
const json = (path: string, body: unknown, headers: Record<string, string | null> = {}) =>
  door.call('POST', `/v1/oauth${path}`, {
    body,
    headers: { authorization: null, 'content-type': 'application/json', ...headers },
  });
const credentials = { grant_type: 'client_credentials', client_id: CLIENT, client_secret: SECRET };

describe('forms', () => {
  test('are answered as RFC 6749 §5.1 has it, without a nonce', async () => {
    const response = await form('/token', {
      ...credentials,
      scope: 'attribution:read',
      resource: 'https://api.example/mcp',
    });
    expect(response.status).toBe(200);
    expect([response.headers.get('cache-control'), response.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    expect(await response.json()).toMatchObject({
      access_token: `svc_at_${'a'.repeat(43)}`,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: `svc_rt_${'r'.repeat(43)}`,
      scope: 'attribution:read health:read',
    });
    expect(asked).toEqual([
      { grantType: 'client_credentials', clientId: CLIENT, clientSecret: SECRET, scope: 'attribution:read' },
    ]);
  });

  test('may come with a client in the Authorization header, each part form-encoded', async () => {
    const basic = `Basic ${Buffer.from(`${CLIENT}:${SECRET.replace('_', '%5F')}`).toString('base64')}`;
    expect((await form('/token', { grant_type: 'client_credentials' }, { authorization: basic })).status).toBe(200);
    expect(
      (await form('/token', { grant_type: 'client_credentials', client_id: CLIENT }, { authorization: basic })).status,
    ).toBe(200);
    expect(asked).toEqual(
      Array.from({ length: 2 }, () => ({ grantType: 'client_credentials', clientId: CLIENT, clientSecret: SECRET })),
    );
  });

  test('a parameter without a value counts as left out', async () => {
    await form('/token', { ...credentials, scope: '', code: '' });
    expect(asked).toEqual([{ grantType: 'client_credentials', clientId: CLIENT, clientSecret: SECRET }]);
  });

  const basicOf = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  const refusals: [
    name: string,
    members: Record<string, string> | string,
    headers: Record<string, string>,
    status: number,
    error: string,
  ][] = [
    ['no grant type', { client_id: CLIENT }, {}, 400, 'invalid_request'],
    ['an unknown grant type', { ...credentials, grant_type: 'password' }, {}, 400, 'unsupported_grant_type'],
    ['a client id of another form', { ...credentials, client_id: 'client-1' }, {}, 400, 'invalid_request'],
    ['a secret of another form', { ...credentials, client_secret: 'secret' }, {}, 400, 'invalid_request'],
    ['a verifier that is too short', { ...credentials, code_verifier: 'short' }, {}, 400, 'invalid_request'],
    ['a resource elsewhere', { ...credentials, resource: 'https://elsewhere.example' }, {}, 400, 'invalid_target'],
    [
      'a parameter that comes twice',
      'grant_type=client_credentials&client_id=a&client_id=a',
      {},
      400,
      'invalid_request',
    ],
    [
      'two ways of authentication',
      credentials,
      { authorization: basicOf(`${CLIENT}:${SECRET}`) },
      400,
      'invalid_request',
    ],
    [
      'two clients',
      { grant_type: 'client_credentials', client_id: 'agent_123456' },
      { authorization: basicOf(`${CLIENT}:${SECRET}`) },
      400,
      'invalid_request',
    ],
    ['a broken header', { grant_type: 'client_credentials' }, { authorization: 'Basic ???' }, 401, 'invalid_client'],
    [
      'a header without a colon',
      { grant_type: 'client_credentials' },
      { authorization: basicOf(CLIENT) },
      401,
      'invalid_client',
    ],
    ['bytes that are no form', '\u0000%%%&&==', {}, 400, 'invalid_request'],
    ['another character set', credentials, { 'content-type': `${FORM}; charset=utf-16` }, 415, 'invalid_request'],
    ['a compressed form', credentials, { 'content-encoding': 'gzip' }, 415, 'invalid_request'],
    ['a form that is too large', { ...credentials, scope: 'x'.repeat(70_000) }, {}, 413, 'invalid_request'],
    ['an unknown version', credentials, { 'svc-api-version': '1999-01-01' }, 400, 'invalid_request'],
  ];
  test.each(refusals)('%s is refused', async (_name, members, headers, status, error) => {
    const response = await form('/token', members, headers);
    const body = oauthErrorBody.strict().parse(await response.json());
    expect([response.status, body.error]).toEqual([status, error]);
    expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(body.error_uri).toMatch(/^https:\/\/api\.example\/docs\/errors\/\w+$/);
    expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Basic realm="svc", charset="UTF-8"' : null);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(asked).toEqual([]);
  });

  test.each<[string, Error, number, string, string | null]>([
    ['a refused code', new ProblemError('invalid_grant', 'Used “before” …'), 400, 'invalid_grant', null],
    [
      'a refused refresh token',
      new ProblemError('invalid_grant', 'Used before.', { status: 401 }),
      401,
      'invalid_grant',
      null,
    ],
    [
      'a limit',
      new ProblemError('rate_limit_exceeded', 'Slowly.', { retryAfterS: 7 }),
      429,
      'temporarily_unavailable',
      '7',
    ],
    ['an outage', new ProblemError('service_unavailable', 'Down.'), 503, 'temporarily_unavailable', '5'],
    ['a foreign address', new ProblemError('ip_not_allowed', 'Not from here.'), 403, 'unauthorized_client', null],
    ['what nobody expected', new Error('secret detail'), 500, 'server_error', null],
  ])('%s is told', async (_name, error, status, code, retryAfter) => {
    failure = error;
    const response = await form('/token', credentials);
    const text = await response.text();
    expect([
      response.status,
      oauthErrorBody.parse(JSON.parse(text)).error,
      response.headers.get('retry-after'),
    ]).toEqual([status, code, retryAfter]);
    expect(text).not.toContain('secret detail');
  });

  test('whatever else they hold, the answer is one that OAuth clients can read', async () => {
    const name = fc.constantFrom(
      'grant_type',
      'client_id',
      'client_secret',
      'scope',
      'code',
      'redirect_uri',
      'code_verifier',
      'refresh_token',
      'token',
      'resource',
      'x',
    );
    const value = fc.oneof(
      fc.constantFrom(
        'client_credentials',
        'authorization_code',
        'refresh_token',
        CLIENT,
        SECRET,
        'https://api.example',
        '\0',
        '%',
        '&&=',
        '__proto__',
      ),
      fc.string({ unit: 'binary' }),
    );
    const body = fc.oneof(
      fc.array(fc.tuple(name, value), { maxLength: 6 }).map((members) => new URLSearchParams(members).toString()),
      fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    );
    const authorization = fc.oneof(
      fc.constant(null),
      fc.string({ unit: fc.constantFrom(...'Basic QWx=:%-') }).map((text) => `Basic ${text}`.trim()),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('/token', '/token/refresh', '/revoke'),
        body,
        authorization,
        async (path, sent, header) => {
          const response = await form(path, sent, { authorization: header });
          const answer: unknown = await response.json();
          if (response.status === 200) return;
          expect([400, 401]).toContain(response.status);
          expect(oauthErrorBody.strict().parse(answer).error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('one that never ends is given up', async () => {
    await using slow = await openDoor({ config: { bodyTimeoutMs: 100 } });
    const socket = connect(Number(new URL(slow.url).port), '127.0.0.1');
    socket.write(
      `POST /v1/oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nContent-Length: 100\r\n\r\ngrant_type=`,
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":"invalid_request"/);
    socket.destroy();
  });
});

describe('JSON', () => {
  test('needs a nonce and is answered in the Error structure', async () => {
    expect(errorBody.parse(await (await json('/token', credentials, { 'x-nonce': null })).json()).error.type).toBe(
      'missing_nonce',
    );
    const response = await json('/token', { ...credentials, grant_type: 'password' });
    expect(response.status).toBe(400);
    expect(errorBody.parse(await response.json()).error).toMatchObject({
      type: 'unsupported_grant_type',
      param: '/grant_type',
    });
  });

  test.each<[unknown, string | undefined]>([
    [{}, '/grant_type'],
    [{ grant_type: 'client_credentials' }, '/client_id'],
    [{ ...credentials, client_id: 7 }, '/client_id'],
    [{ ...credentials, scope: ['a'] }, '/scope'],
    [[], ''],
    ['"text"', ''],
  ])('%j is 400 and names the member', async (body, param) => {
    const response = await json('/token', body);
    expect(response.status).toBe(400);
    expect(errorBody.parse(await response.json()).error).toMatchObject({ type: 'invalid_request', param });
  });

  test('a refusal of 401 does not speak of tokens', async () => {
    failure = new ProblemError('invalid_client', 'No.');
    const response = await json('/token', credentials);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(
      'Bearer realm="svc", resource_metadata="https://api.example/.well-known/oauth-protected-resource"',
    );
    expect(errorBody.parse(await response.json()).error.type).toBe('invalid_client');
  });

  test('an Authorization header is no way to authenticate here', async () => {
    await json('/token', credentials, { authorization: 'Basic ???' });
    expect(asked).toHaveLength(1);
  });
});

test('the address for refreshing takes nothing else, in JSON and in forms', async () => {
  const refresh = { grant_type: 'refresh_token', refresh_token: 'svc_rt_x', client_id: CLIENT };
  expect((await json('/token/refresh', refresh)).status).toBe(200);
  expect((await form('/token/refresh', refresh)).status).toBe(200);
  expect(asked).toEqual(
    Array.from({ length: 2 }, () => ({ grantType: 'refresh_token', refreshToken: 'svc_rt_x', clientId: CLIENT })),
  );
  expect(await (await form('/token/refresh', credentials)).json()).toMatchObject({ error: 'unsupported_grant_type' });
  expect(await (await form('/token/refresh', { grant_type: 'refresh_token', client_id: CLIENT })).json()).toMatchObject(
    { error: 'invalid_request' },
  );
});

test('revocation answers 200, whatever the hint and whoever asks', async () => {
  for (const members of [
    { token: 'one' },
    { token: 'one', token_type_hint: 'access_token' },
    { token: 'one', token_type_hint: 'nonsense', client_id: 'anything' },
  ]) {
    expect((await form('/revoke', members)).status).toBe(200);
    expect((await json('/revoke', members)).status).toBe(200);
  }
  expect(ended).toEqual(Array.from({ length: 6 }, () => 'one'));
  expect((await json('/revoke', {})).status).toBe(400);
});

test('metadata says what there is', async () => {
  const read = async (path: string) =>
    (await (await fetch(`${door.url}/.well-known/${path}`)).json()) as Record<string, unknown>;
  expect(await read('oauth-authorization-server')).toMatchObject({
    issuer: 'https://api.example',
    authorization_endpoint: 'https://api.example/v1/oauth/authorize',
    token_endpoint: 'https://api.example/v1/oauth/token',
    revocation_endpoint: 'https://api.example/v1/oauth/revoke',
    jwks_uri: 'https://api.example/.well-known/jwks.json',
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });
  expect(await read('oauth-protected-resource')).toMatchObject({
    resource: 'https://api.example',
    authorization_servers: ['https://api.example'],
  });
  expect(await read('oauth-protected-resource/mcp')).toMatchObject({
    resource: 'https://api.example/mcp',
    authorization_servers: ['https://api.example'],
  });
  const anywhere = await fetch(`${door.url}/.well-known/oauth-authorization-server`);
  expect([anywhere.headers.get('access-control-allow-origin'), anywhere.headers.get('content-type')]).toEqual([
    '*',
    'application/json; charset=utf-8',
  ]);
});
