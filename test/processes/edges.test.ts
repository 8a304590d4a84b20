import { errorBody, problemBody } from '../../rest-adapter/representations/error.ts';
import { Caller, openHouse, type House } from '../house.ts';
import { exchange, parseAnswer, type RawAnswer } from '../raw-http.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false });
});
afterAll(() => house?.stop());

/** What every refusal carries, wherever it was made. */
function expectRefusal({ status, headers, body }: RawAnswer, expected: { status: number; type: string }): void {
  expect({ status, headers, body }).toMatchObject({
    status: expected.status,
    headers: {
      'x-request-id': expect.stringMatching(/^req_[0-9A-Za-z]{22}$/),
      'svc-api-version': '2026-02-01',
      'svc-hrei-score': '0.00',
      'svc-hrei-risk': 'minimal',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json; charset=utf-8',
    },
  });
  expect(errorBody.parse(JSON.parse(body)).error).toMatchObject({
    type: expected.type,
    request_id: headers['x-request-id'],
    doc_url: `http://127.0.0.1:4000/docs/errors/${expected.type}`,
  });
}

const NO_BODY = 'Host: x\r\nConnection: close\r\n\r\n';

describe('what no door takes', () => {
  test.each([
    ['a path', `GET /elsewhere HTTP/1.1\r\n${NO_BODY}`, 404, 'resource_not_found'],
    ['a path with a body', `POST /elsewhere HTTP/1.1\r\nContent-Length: 2\r\n${NO_BODY}{}`, 404, 'resource_not_found'],
    ['a path of the interface', `GET /v1/elsewhere HTTP/1.1\r\n${NO_BODY}`, 404, 'resource_not_found'],
    ['bad percent-encoding', `GET /%E0%A4%A HTTP/1.1\r\n${NO_BODY}`, 404, 'resource_not_found'],
    [
      'bad percent-encoding in the query',
      `GET /v1/health?%E0%A4%A=%ff HTTP/1.1\r\n${NO_BODY}`,
      422,
      'validation_error',
    ],
    ['two slashes', `GET //v1/health HTTP/1.1\r\n${NO_BODY}`, 404, 'resource_not_found'],
    ['climbing', `GET /v1/../../etc/passwd HTTP/1.1\r\n${NO_BODY}`, 404, 'resource_not_found'],
    ['an asterisk', `OPTIONS * HTTP/1.1\r\n${NO_BODY}`, 404, 'resource_not_found'],
    [
      'an absolute address',
      `GET http://elsewhere.example/v1/nowhere HTTP/1.1\r\n${NO_BODY}`,
      404,
      'resource_not_found',
    ],
    ['a page by POST', `POST /docs HTTP/1.1\r\n${NO_BODY}`, 405, 'method_not_allowed'],
    ['a probe by DELETE', `DELETE /readyz HTTP/1.1\r\n${NO_BODY}`, 405, 'method_not_allowed'],
    ['a document by PUT', `PUT /openapi.json HTTP/1.1\r\n${NO_BODY}`, 405, 'method_not_allowed'],
    ['a strange method', `PROPFIND /v1/health HTTP/1.1\r\n${NO_BODY}`, 405, 'method_not_allowed'],
    ['options without a preflight', `OPTIONS /v1/health HTTP/1.1\r\n${NO_BODY}`, 405, 'method_not_allowed'],
  ])('%s', async (_what, request, status, type) => {
    const answer = parseAnswer(await exchange(house.root, request));
    if (status === 200) expect(answer.status).toBe(200);
    else expectRefusal(answer, { status, type });
    expect(answer.headers['allow']).toBe(status === 405 ? 'GET, HEAD' : undefined);
  });

  test('problem details are sent there too', async () => {
    const response = await fetch(`${house.root}/elsewhere`, { headers: { accept: 'application/problem+json' } });
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(problemBody.parse(await response.json())).toMatchObject({
      status: 404,
      instance: `urn:request:${response.headers.get('x-request-id')}`,
    });
  });

  test('HEAD says the same without a body', async () => {
    for (const path of ['/elsewhere', '/v1/attribution', '/v1/elsewhere']) {
      const [head, get] = await Promise.all(['HEAD', 'GET'].map((method) => fetch(`${house.root}${path}`, { method })));
      expect(head!.status).toBe(get!.status);
      expect(await head!.text()).toBe('');
      const names = ({ headers }: Response) => [...headers.keys()].filter((name) => name !== 'keep-alive').toSorted();
      expect(names(head!)).toEqual(names(get!));
    }
  });

  test.each(['OPTIONS', 'PUT', 'DELETE', 'PATCH', 'HEAD'])('%s /graphql', async (method) => {
    const response = await fetch(`${house.root}/graphql`, { method, headers: { accept: 'application/json' } });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, POST');
    if (method !== 'HEAD')
      expect(await response.json()).toMatchObject({ errors: [{ extensions: { type: 'method_not_allowed' } }] });
  });
});

describe('what cannot become a WebSocket', () => {
  const handshake = (changes: Record<string, string | null>, method = 'GET') => {
    const headers = {
      Host: 'x',
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Protocol': 'graphql-transport-ws',
      ...changes,
    };
    return [
      `${method} /graphql HTTP/1.1`,
      ...Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`])),
      '',
      '',
    ].join('\r\n');
  };

  test.each([
    ['an old version', { 'Sec-WebSocket-Version': '12' }, 426, 'Sec-WebSocket-Version'],
    ['no version', { 'Sec-WebSocket-Version': null }, 426, 'Sec-WebSocket-Version'],
    ['no key', { 'Sec-WebSocket-Key': null }, 400, 'Sec-WebSocket-Key'],
    ['a key that is none', { 'Sec-WebSocket-Key': 'x' }, 400, 'Sec-WebSocket-Key'],
    ['protocols that are none', { 'Sec-WebSocket-Protocol': 'a b' }, 400, 'Sec-WebSocket-Protocol'],
  ])('%s', async (_what, changes, status, header) => {
    const answer = parseAnswer(await exchange(house.root, handshake(changes)));
    expectRefusal(answer, { status, type: 'invalid_request' });
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'invalid_handshake', param: `header:${header}` } });
    expect([answer.headers['sec-websocket-version'], answer.headers['upgrade']]).toEqual(
      status === 426 ? ['13', 'websocket'] : [undefined, undefined],
    );
  });

  test('an operation by POST that offers to is answered as it is', async () => {
    const body = '{"query":"{ __typename }"}';
    const head = handshake(
      {
        'Content-Type': 'application/json',
        'Content-Length': String(body.length),
        Connection: 'Upgrade, close',
      },
      'POST',
    );
    const answer = parseAnswer(await exchange(house.root, `${head}${body}`));
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('{"data":{"__typename":"Query"}}') });
  });
});

describe('what is no request', () => {
  test.each([
    ['words', 'hello\r\n\r\n', 400, 'invalid_request'],
    ['an unknown method', `BREW /v1/health HTTP/1.1\r\n${NO_BODY}`, 400, 'invalid_request'],
    ['a newer protocol', `GET /v1/health HTTP/3.7\r\n${NO_BODY}`, 400, 'invalid_request'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'invalid_request'],
    ['a header with a NUL', `GET /v1/health HTTP/1.1\r\nX: a\0b\r\n${NO_BODY}`, 400, 'invalid_request'],
    [
      'two lengths',
      `POST /v1/verify HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n${NO_BODY}{}`,
      400,
      'invalid_request',
    ],
    [
      'a length and chunks',
      `POST /v1/verify HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n${NO_BODY}0\r\n\r\n`,
      400,
      'invalid_request',
    ],
    ['two hosts', `GET /v1/health HTTP/1.1\r\nHost: y\r\n${NO_BODY}`, 400, 'invalid_request'],
    [
      'a host that is none',
      `GET /v1/health HTTP/1.1\r\n${NO_BODY.replace('Host: x', 'Host: x/y z')}`,
      400,
      'invalid_request',
    ],
    [
      'two credentials',
      `GET /v1/agents/me HTTP/1.1\r\nAuthorization: Bearer x\r\nauthorization: Bearer y\r\n${NO_BODY}`,
      400,
      'invalid_request',
    ],
    [
      'two media types',
      `POST /v1/verify HTTP/1.1\r\nContent-Type: application/json\r\nContent-Type: text/csv\r\n${NO_BODY}`,
      400,
      'invalid_request',
    ],
    ['no host', 'GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'invalid_request'],
    ['headers of 20 KiB', `GET /v1/health HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n${NO_BODY}`, 431, 'invalid_request'],
    ['an address of 20 KiB', `GET /v1/health?${'x'.repeat(20_000)} HTTP/1.1\r\n${NO_BODY}`, 431, 'invalid_request'],
    [
      'a strange expectation',
      `POST /v1/verify HTTP/1.1\r\nExpect: the-spanish-inquisition\r\nContent-Length: 2\r\n${NO_BODY}`,
      417,
      'invalid_request',
    ],
    [
      'a tunnel',
      'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n',
      405,
      'method_not_allowed',
    ],
  ])('%s', async (_what, request, status, type) => {
    expectRefusal(parseAnswer(await exchange(house.root, request)), { status, type });
  });

  test('a chunk that is none, when the answer cannot tell any more, ends the connection', async () => {
    const said = await exchange(
      house.root,
      `POST /v1/verify HTTP/1.1\r\nHost: x\r\nX-Nonce: nonce-of-edges\r\nContent-Type: ` +
        `application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    );
    expectRefusal(parseAnswer(said), { status: 400, type: 'invalid_request' });
    expect(said.match(/HTTP\/1\.1 \d{3} /g)).toHaveLength(1);
  });

  test('what comes behind a request and is none takes nothing of its answer away', async () => {
    const said = await exchange(house.root, 'GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\nhello\r\n\r\n');
    expect(parseAnswer(said)).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(said.match(/HTTP\/1\.1 \d{3} /g)).toHaveLength(1);
  });

  test('an address with a host of its own counts, not the header', async () => {
    const livesInSandbox = async (target: string, host: string) => {
      const { body } = parseAnswer(
        await exchange(
          house.root,
          `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
        ),
      );
      return body.includes('live_key_in_sandbox');
    };
    const { key } = await Caller.register(house.root);
    expect(await livesInSandbox('http://sandbox.example/v1/agents/me', 'x')).toBe(true);
    expect(await livesInSandbox('http://elsewhere.example/v1/agents/me', 'sandbox.example')).toBe(false);
    expect(await livesInSandbox('/v1/agents/me', 'sandbox.example')).toBe(true);
  });

  test.each([
    ['h2c', '/v1/health', 200],
    ['websocket', '/v1/health', 200],
    ['websocket', '/elsewhere', 404],
    ['TLS/1.2', '/graphql', 400],
  ])('an offer to upgrade to %s at %s is ignored', async (protocol, path, status) => {
    const answer = parseAnswer(
      await exchange(
        house.root,
        `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Key: ` +
          `dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
        (text) => text.includes('\r\n\r\n'),
      ),
    );
    expect(answer.status).toBe(status);
  });
});

/** A JWS by nobody that we know. */
const NO_RESULT = `${Buffer.from('{"alg":"EdDSA","kid":"x"}').toString('base64url')}.e30.AA`;

describe('versions in the graph', () => {
  const version = async (headers: Record<string, string>) => {
    const response = await fetch(`${house.root}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-nonce': crypto.randomUUID(), ...headers },
      body: JSON.stringify({
        query: 'query ($jws: String!) { verifyResult(input: {jws: $jws}) { trust { metadata { hreiVersion } } } }',
        variables: { jws: NO_RESULT },
      }),
    });
    return {
      response,
      body: (await response.json()) as { data?: { verifyResult: { trust: { metadata: { hreiVersion: string } } } } },
    };
  };

  test.each([
    ['2026-02-01', null],
    ['2025-11-01', null],
    ['2025-08-01', '@1769904000'],
  ])('%s is echoed, with its end', async (asked, deprecation) => {
    const { response, body } = await version({ 'svc-api-version': asked });
    expect(body.data?.verifyResult.trust.metadata.hreiVersion).toBe(asked === '2026-02-01' ? '1.1.0' : '1.0.0');
    expect(response.headers.get('svc-api-version')).toBe(asked);
    expect(response.headers.get('deprecation')).toBe(deprecation);
    expect(response.headers.get('sunset') === null).toBe(deprecation === null);
  });

  test('an unknown one is refused in the current one', async () => {
    const { response, body } = await version({
      'svc-api-version': '1999-01-01',
      accept: 'application/graphql-response+json',
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('svc-api-version')).toBe('2026-02-01');
    expect(body).toMatchObject({ errors: [{ extensions: { type: 'unsupported_api_version' } }] });
  });
});
