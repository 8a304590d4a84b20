import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { callerContext, post, startToyGateway, type PublicAnswer, type ToyGateway } from './toy-gateway.ts';

const AUTHORIZED = { authorization: 'Bearer good' };

describe('GraphQL over HTTP', () => {
  let toy: ToyGateway;
  beforeAll(async () => {
    toy = await startToyGateway('in process');
  });
  afterAll(() => toy.close());

  const get = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${toy.url}?${new URLSearchParams(parameters).toString()}`, {
      headers: { accept: 'application/graphql-response+json', 'apollo-require-preflight': '1', ...headers },
    });

  describe('a document that cannot run', () => {
    const documents: readonly (readonly [string, object, string])[] = [
      ['does not parse', { query: '{ book(' }, 'INVALID_REQUEST'],
      ['asks for an unknown field', { query: '{ nothing }' }, 'INVALID_REQUEST'],
      [
        'has an unfit variable',
        { query: 'query ($id: ID!) { book(id: $id) { id } }', variables: { id: [] } },
        'VALIDATION_ERROR',
      ],
      ['lacks a variable', { query: 'query ($id: ID!) { book(id: $id) { id } }' }, 'VALIDATION_ERROR'],
      ['names no operation', { query: 'query A { caller } query B { caller }' }, 'INVALID_REQUEST'],
      ['names an unknown operation', { query: 'query A { caller }', operationName: 'C' }, 'INVALID_REQUEST'],
      ['is a subscription', { query: 'subscription { bookSold(shop: "x") { sequence } }' }, 'INVALID_REQUEST'],
      [
        'is a subscription under a condition',
        {
          query: 'subscription ($on: Boolean!) { bookSold(shop: "x") @include(if: $on) { sequence } }',
          variables: { on: true },
        },
        'INVALID_REQUEST',
      ],
      [
        'has a value that does not fit',
        { query: 'query { bookList: book(id: "b1") { id } other: book(id: [1]) { id } }' },
        'VALIDATION_ERROR',
      ],
      [
        'has a member that nobody knows',
        { query: 'mutation { addBook(input: {title: "x", priceCents: 1, titel: 2}) { book { id } } }' },
        'VALIDATION_ERROR',
      ],
      ['has such a value, and an unknown field', { query: 'query { book(id: [1]) { nothing } }' }, 'INVALID_REQUEST'],
      [
        'is a mutation without nonce',
        { query: 'mutation { addBook(input: {title: "x", priceCents: 1}) { book { id } } }' },
        'MISSING_NONCE',
      ],
    ];
    test.each(documents)('that %s is refused, with 200 for clients of plain JSON', async (_what, body, code) => {
      const refused = code === 'VALIDATION_ERROR' ? 422 : 400;
      for (const [accept, status] of [
        ['application/graphql-response+json', refused],
        ['application/json', 200],
        ['*/*', 200],
      ] as const) {
        const answer = await post(toy.url, body, { accept });
        expect(answer.status).toBe(status);
        expect(answer.headers.get('content-type')).toContain(accept === '*/*' ? 'application/json' : accept);
        expect(answer.body.errors?.[0]?.extensions).toMatchObject({
          code,
          http_status: refused,
          request_id: answer.headers.get('x-request-id'),
        });
        expect(answer.body).not.toHaveProperty('data');
      }
    });
  });

  describe('a request that carries no document', () => {
    test.each([
      ['no JSON', '{"query":'],
      ['a JSON text', '"text"'],
      ['an empty object', {}],
      ['an unfit query', { query: { kind: 'Document' } }],
      ['unfit variables', { query: '{ caller }', variables: 'text' }],
      ['a batch', [{ query: '{ caller }' }]],
      ['a persisted query', { extensions: { persistedQuery: { version: 1, sha256Hash: 'ab' } } }],
    ])('but %s is refused', async (_what, body) => {
      for (const accept of ['application/graphql-response+json', 'application/json']) {
        const answer = await post(toy.url, body, { accept });
        expect([400, 200]).toContain(answer.status);
        // Only the persisted query is understood; Apollo's clients expect 200 for it.
        expect(answer.status === 200).toBe('extensions' in Object(body));
        expect(answer.body.errors?.[0]?.extensions).toMatchObject({
          code: 'INVALID_REQUEST',
          type: 'invalid_request',
          request_id: answer.headers.get('x-request-id'),
        });
      }
    });

    test('of another media type is refused', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
        expect(await post(toy.url, { query: '{ caller }' }, { headers: { 'content-type': type } })).toMatchObject({
          status: 415,
          body: { errors: [{ extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } }] },
        });
      }
    });

    test('of more bytes than allowed is refused', async () => {
      for (const length of [1024 * 1024, 20 * 1024 * 1024]) {
        const answer = await post(toy.url, { query: '{ caller }', variables: { pad: 'x'.repeat(length) } });
        expect(answer).toMatchObject({
          status: 413,
          body: { errors: [{ extensions: { code: 'PAYLOAD_TOO_LARGE' } }] },
        });
      }
    });

    test('with another method is refused', async () => {
      const response = await fetch(toy.url, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: '{"query":"{ caller }"}',
      });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, POST');
      expect(((await response.json()) as PublicAnswer['body']).errors?.[0]?.extensions['code']).toBe(
        'METHOD_NOT_ALLOWED',
      );
    });

    test('that accepts nothing we have is refused', async () => {
      expect((await post(toy.url, { query: '{ book(id: "b1") { id } }' }, { accept: 'image/png' })).status).toBe(406);
    });
  });

  describe('GET', () => {
    test('runs queries', async () => {
      const response = await get({ query: 'query ($id: ID!) { book(id: $id) { rating } }', variables: '{"id":"b1"}' });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ data: { book: { rating: 1 } } });
    });

    test.each([
      'mutation { addBook(input: {title: "x", priceCents: 1}) { book { id } } }',
      'subscription { bookSold(shop: "x") { sequence } }',
    ])('refuses %s', async (query) => {
      for (const accept of ['application/graphql-response+json', 'application/json']) {
        const response = await get({ query }, { accept, 'x-nonce': 'nonce-of-get' });
        expect(response.status).toBe(405);
        expect(response.headers.get('allow')).toBe('POST');
      }
      expect(toy.admission.nonces.filter((entry) => entry.includes('nonce-of-get'))).toEqual([]);
    });

    test('with a bearer token needs nothing else, since no page of another site can send one', async () => {
      const response = await fetch(`${toy.url}?query=%7Bcaller%7D`, {
        headers: { accept: 'application/json', authorization: 'Bearer good' },
      });
      expect(await response.json()).toEqual({ data: { caller: expect.any(String) } });
    });

    test('that a page of another site could send is refused', async () => {
      const response = await fetch(`${toy.url}?query=%7Bcaller%7D`, { headers: { accept: 'application/json' } });
      expect(response.status).toBe(400);
      expect(((await response.json()) as PublicAnswer['body']).errors?.[0]?.message).toMatch(/CSRF/);
    });
  });

  describe('authentication', () => {
    test.each([
      ['nobody', 401, 'INVALID_API_KEY'],
      ['elsewhere', 403, 'IP_NOT_ALLOWED'],
      ['busy', 429, 'RATE_LIMIT_EXCEEDED'],
    ])('a refused key (%s) is %i, with 200 for clients of plain JSON', async (key, status, code) => {
      for (const accept of ['application/graphql-response+json', 'application/json']) {
        const answer = await post(
          toy.url,
          { query: '{ book(id: "b1") { id } }' },
          { headers: { authorization: `Bearer ${key}` }, accept },
        );
        // How soon to ask again is for whoever sends, not for whoever reads the answer.
        const isTold = status === 429 || accept !== 'application/json';
        expect(answer.status).toBe(isTold ? status : 200);
        expect(answer.body.errors?.[0]?.extensions).toMatchObject({
          code,
          http_status: status,
          request_id: answer.headers.get('x-request-id'),
        });
        expect(answer.headers.get('www-authenticate') !== null).toBe(status === 401);
        expect(answer.headers.get('retry-after')).toBe(status === 429 ? '3' : null);
      }
    });

    test('without a key the public part works', async () => {
      expect(await post(toy.url, { query: '{ book(id: "b1") { id } }' })).toMatchObject({
        status: 200,
        body: { data: { book: { id: 'b1' } } },
      });
      expect(await post(toy.url, { query: '{ caller }' })).toMatchObject({
        status: 200,
        body: { data: null, errors: [{ path: ['caller'], extensions: { http_status: 401 } }] },
      });
    });

    test('an unknown version is refused', async () => {
      expect(
        await post(toy.url, { query: '{ caller }' }, { headers: { ...AUTHORIZED, 'svc-api-version': '1999-01-01' } }),
      ).toMatchObject({ status: 400, body: { errors: [{ extensions: { code: 'UNSUPPORTED_API_VERSION' } }] } });
    });
  });

  test('every answer has a request id of its own and is not cached', async () => {
    const answers = await Promise.all([
      post(toy.url, { query: '{ caller }' }),
      post(toy.url, '{'),
      post(toy.url, { query: '{ nothing }' }),
    ]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^req_[0-9A-Za-z]{22}$/);
    expect(answers.map(({ headers }) => headers.get('cache-control'))).toEqual(['no-store', 'no-store', 'no-store']);
  });

  test('other paths are passed on', async () => {
    expect((await fetch(toy.url.replace('/graphql', '/graphql/x'))).status).toBe(404);
  });

  describe('for browsers', () => {
    test('GraphiQL is one page that loads nothing', async () => {
      const response = await fetch(toy.url, {
        headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-encoding': 'identity' },
      });
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
      const html = await response.text();
      expect(html.slice(0, 200)).toContain('<title>Liftgraph</title>');
      expect(html).not.toMatch(/<(script|link)[^>]+(src|href)="(?!data:)/);
      expect(html).not.toContain('"graphiql-fetcher"');
    });

    test('GraphiQL is compressed for those who take it', async () => {
      const response = await fetch(toy.url, { headers: { accept: 'text/html', 'accept-encoding': 'gzip' } });
      expect(response.headers.get('content-encoding')).toBe('gzip');
      expect(Number(response.headers.get('content-length'))).toBeLessThan(4_000_000);
      expect((await response.text()).length).toBeGreaterThan(5_000_000);
    });
  });
});

describe('with introspection switched off', () => {
  let toy: ToyGateway;
  beforeAll(async () => {
    toy = await startToyGateway('in process', {
      config: { publicBaseUrl: 'https://api.example/v1', graphqlIntrospection: false },
    });
  });
  afterAll(() => toy.close());

  test('it stays private over WebSocket, too', async () => {
    const client = createClient({ url: toy.url.replace('http', 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 });
    const refusal = (query: string) =>
      client
        .iterate<unknown>({ query })
        .next()
        .then(
          ({ value }) => JSON.stringify(value),
          (errors: unknown) => JSON.stringify(errors),
        );
    expect(await refusal('{ __schema { queryType { name } } }')).toContain('INVALID_REQUEST');
    const guess = await refusal('{ bok(id: "b1") { id } }');
    expect(guess).toContain('INVALID_REQUEST');
    expect(guess).not.toMatch(/Did you mean/);
    await client.dispose();
  });

  test('the schema stays private: no introspection, no suggestions, no GraphiQL', async () => {
    expect((await post(toy.url, { query: '{ __schema { queryType { name } } }' })).status).toBe(400);
    const { body } = await post(toy.url, { query: '{ bok(id: "b1") { id } }' });
    expect(body.errors?.[0]?.message).not.toMatch(/Did you mean/);
    const response = await fetch(toy.url, { headers: { accept: 'text/html' } });
    expect(response.headers.get('content-type')).not.toContain('html');
    expect(await toy.gateway.client.execute('Book', { id: 'b1' }, callerContext())).toHaveProperty('book');
  });
});
