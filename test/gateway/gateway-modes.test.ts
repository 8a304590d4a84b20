import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import { callerContext, MODES, post, startToyGateway, type PublicError, type ToyGateway } from './toy-gateway.ts';

const AUTHORIZED = { authorization: 'Bearer good' };

/** Waits for something that another side does in its own time. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe.each(MODES)('the graph, subgraphs %s', (mode) => {
  let toy: ToyGateway;
  let socket: Client;

  beforeAll(async () => {
    toy = await startToyGateway(mode);
  });
  afterAll(() => toy.close());
  beforeEach(() => {
    toy.reads.length = 0;
    toy.logs.length = 0;
    socket = createClient({
      url: toy.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: { authorization: 'Bearer good' },
      retryAttempts: 0,
    });
  });
  afterEach(async () => {
    await socket.dispose();
    await until(() => toy.events.open === 0);
  });

  const bookSold =
    'subscription ($shop: String!, $withAuthor: Boolean!) { bookSold(shop: $shop) { n: sequence book { title rating ' +
    'author @include(if: $withAuthor) { name } } } }';
  const watch = (shop: string, withAuthor = true) =>
    socket.iterate<Record<string, unknown>>({ query: bookSold, variables: { shop, withAuthor } });

  describe('queries', () => {
    test('join entities of two subgraphs, with every scalar in its wire form', async () => {
      const data = await toy.gateway.client.execute('Book', { id: 'b4' }, callerContext());
      expect(JSON.parse(JSON.stringify(data))).toEqual({
        book: {
          id: 'b4',
          genre: 'SHORT_STORY',
          priceCents: 4_294_967_296,
          createdAt: '2026-02-01T08:30:00.125Z',
          published: '2026-01-31',
          sales: { google_ads: 3, nested: { a_b: [1, null] } },
          page: 'https://shop.example/books',
          rating: 4,
          author: { id: 'a1', name: 'Author a1' },
        },
      });
      // Text already inside the process: what a door sees does not depend on where the subgraph runs.
      expect(typeof (data['book'] as Record<string, unknown>)['createdAt']).toBe('string');
    });

    test('read each entity once per request, all at once, and anew for the next request', async () => {
      for (const _request of [1, 2]) await toy.gateway.client.execute('Books', { first: 9 }, callerContext());
      expect(toy.reads.map((ids) => ids.toSorted())).toEqual([
        ['a0', 'a1', 'a2'],
        ['a0', 'a1', 'a2'],
      ]);
    });

    test('two executions of one caller context do not share what they loaded', async () => {
      const context = callerContext();
      await toy.gateway.client.execute('Book', { id: 'b1' }, context);
      await toy.gateway.client.execute('Book', { id: 'b1' }, context);
      expect(toy.reads).toEqual([['a1'], ['a1']]);
    });

    test('leave out what a variable excludes', async () => {
      const data = await toy.gateway.client.execute('Book', { id: 'b4', withAuthor: false }, callerContext());
      expect(data['book']).not.toHaveProperty('author');
      expect(toy.reads).toEqual([]);
    });

    test('know the caller, the request and the version', async () => {
      const { status, headers, body } = await post(
        toy.url,
        { query: '{ caller }' },
        { headers: { ...AUTHORIZED, 'svc-api-version': '2025-11-01', 'x-liftgraph-principal': 'forged' } },
      );
      expect(status).toBe(200);
      const [requestId, accountId, apiVersion] = JSON.parse(String(body.data?.['caller'])) as string[];
      expect(requestId).toBe(headers.get('x-request-id'));
      expect(accountId).toBe('0190a000-0000-7000-8000-000000000001');
      expect(apiVersion).toBe('2025-11-01');
    });
  });

  describe('errors', () => {
    test('problems keep all they say, for doors', async () => {
      await expect(toy.gateway.client.execute('Book', { id: 'nope' }, callerContext())).rejects.toMatchObject({
        name: 'ProblemError',
        type: 'resource_not_found',
        message: 'There is no book nope.',
        problem: { status: 404, code: 'unknown_book', param: 'path:id' },
      });
      await expect(toy.gateway.client.execute('Broken', { how: 'problem' }, callerContext())).rejects.toMatchObject({
        problem: {
          type: 'data_source_unavailable',
          status: 409,
          retryAfterS: 7,
          errors: [{ param: '/how', code: 'odd', message: 'odd' }],
        },
      });
    });

    test('problems keep all they say, for strangers', async () => {
      const { status, headers, body } = await post(toy.url, { query: '{ b: book(id: "nope") { id } }' });
      expect(status).toBe(200);
      expect(body.errors).toEqual([
        {
          message: 'There is no book nope.',
          path: ['b'],
          extensions: {
            code: 'RESOURCE_NOT_FOUND',
            type: 'resource_not_found',
            http_status: 404,
            request_id: headers.get('x-request-id'),
            doc_url: 'https://api.example/docs/errors/resource_not_found',
            param: '/id',
            reason: 'unknown_book',
          },
        },
      ]);
    });

    test.each(['error', 'text'])('an unforeseen %s is masked and logged with its stack', async (how) => {
      const { headers, body } = await post(toy.url, { query: `{ broken(how: "${how}") }` });
      expect(body.errors?.[0]).toMatchObject({
        message: 'An unexpected error occurred.',
        extensions: { code: 'INTERNAL_ERROR', http_status: 500 },
      });
      expect(JSON.stringify(body)).not.toContain('hunter2');
      const logged = toy.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(logged).toContainEqual(
        expect.objectContaining({
          subgraph: 'books',
          requestId: headers.get('x-request-id'),
          err: expect.objectContaining({ message: expect.stringContaining('hunter2'), stack: expect.any(String) }),
        }),
      );
    });

    test('an entity that another subgraph does not know is an error, not a hole', async () => {
      const { body } = await post(toy.url, { query: '{ book(id: "b99") { author { name } } }' });
      expect(body).toEqual({
        data: null,
        errors: [
          expect.objectContaining({
            path: ['book', 'author', 'name'],
            extensions: expect.objectContaining({ code: 'INTERNAL_ERROR' }),
          }),
        ],
      });
      await expect(toy.gateway.client.execute('Book', { id: 'b99' }, callerContext())).rejects.toMatchObject({
        type: 'internal_error',
      });
    });

    test('a door gets the masked error too', async () => {
      await expect(toy.gateway.client.execute('Broken', { how: 'error' }, callerContext())).rejects.toMatchObject({
        type: 'internal_error',
        message: 'An unexpected error occurred.',
      });
    });

    test('what a caller may not do is refused', async () => {
      await expect(toy.gateway.client.execute('Caller', {}, callerContext(null))).rejects.toMatchObject({
        type: 'invalid_api_key',
      });
    });

    test.each([
      [
        'a variable',
        {
          query: 'mutation ($input: AddBookInput!) { addBook(input: $input) { book { id } } }',
          variables: { input: { title: 'T', priceCents: 'many' } },
        },
      ],
      ['a literal', { query: 'mutation { addBook(input: {title: "T", priceCents: 1.5}) { book { id } } }' }],
    ])('%s of a wrong scalar is a client error', async (_what, body) => {
      const answer = await post(toy.url, body, { headers: { ...AUTHORIZED, 'x-nonce': `nonce-${mode}-${_what}` } });
      expect(answer.status).toBe(422);
      expect(answer.body.errors?.[0]?.extensions['http_status']).toBe(422);
      expect(toy.logs).toEqual([]);
    });
  });

  describe('subscriptions', () => {
    test('join an entity of another subgraph, read anew for each event', async () => {
      const stream = watch('north');
      const first = stream.next();
      await until(() => toy.events.open === 1);
      toy.events.publish('north', { sequence: 1, bookId: 'b3' }, { sequence: 2, bookId: 'b3' });
      expect(await first).toEqual({
        done: false,
        value: { data: { bookSold: { n: 1, book: { title: 'Title b3', rating: 3, author: { name: 'Author a0' } } } } },
      });
      expect(await stream.next()).toMatchObject({ value: { data: { bookSold: { n: 2 } } } });
      expect(toy.reads).toEqual([['a0'], ['a0']]);
      await stream.return?.();
    });

    test('leave out what a variable excludes', async () => {
      const stream = watch('north', false);
      const first = stream.next();
      await until(() => toy.events.open === 1);
      toy.events.publish('north', { sequence: 1, bookId: 'b3' });
      expect(await first).toEqual({
        done: false,
        value: { data: { bookSold: { n: 1, book: { title: 'Title b3', rating: 3 } } } },
      });
      expect(toy.reads).toEqual([]);
    });

    test('of many watchers each gets its own shop, in order', async () => {
      const shops = ['s1', 's2', 's3', 's4'];
      const seen = Promise.all(
        shops.map(async (shop) => {
          const numbers: unknown[] = [];
          for await (const { data } of watch(shop)) numbers.push((data as { bookSold: { n: number } }).bookSold.n);
          return numbers;
        }),
      );
      await until(() => toy.events.open === shops.length);
      for (let n = 1; n <= 20; n += 1)
        shops.forEach((shop, index) => toy.events.publish(shop, { sequence: n * 10 + index, bookId: 'b1' }));
      toy.events.end();
      expect(await seen).toEqual(shops.map((_, index) => Array.from({ length: 20 }, (__, n) => (n + 1) * 10 + index)));
    });

    test('a watcher who leaves while nothing happens frees the source at once', async () => {
      const stream = watch('quiet');
      const pending = stream.next();
      await until(() => toy.events.open === 1);
      await stream.return?.();
      await until(() => toy.events.open === 0);
      expect(await pending).toMatchObject({ done: true });
    });

    test('an event that fails carries a masked error, and the stream goes on', async () => {
      const stream = watch('north');
      const first = stream.next();
      await until(() => toy.events.open === 1);
      toy.events.publish('north', { sequence: 1, bookId: 'broken' }, { sequence: 2, bookId: 'b1' });
      const broken = (await first).value as { errors: PublicError[] };
      expect(broken.errors).toEqual([
        expect.objectContaining({
          message: 'An unexpected error occurred.',
          extensions: expect.objectContaining({
            code: 'INTERNAL_ERROR',
            request_id: expect.stringMatching(/^req_[0-9A-Za-z]{22}$/),
          }),
        }),
      ]);
      expect(await stream.next()).toMatchObject({ value: { data: { bookSold: { n: 2 } } } });
    });

    test.each([
      ['an Error', new Error('hunter2')],
      ['a text', 'hunter2'],
    ])('a source that breaks with %s ends in an error', async (_what, reason) => {
      const stream = watch('north');
      const first = stream.next();
      await until(() => toy.events.open === 1);
      toy.events.lose(reason);
      const outcome = (await first).value as { errors: PublicError[] };
      expect(outcome.errors[0]?.extensions['code']).toBe('INTERNAL_ERROR');
      expect(JSON.stringify(outcome)).not.toContain('hunter2');
      expect(await stream.next()).toMatchObject({ done: true });
    });

    test('who may not watch is refused, and the socket stays', async () => {
      const anonymous = createClient({
        url: toy.url.replace('http', 'ws'),
        webSocketImpl: WebSocket,
        retryAttempts: 0,
      });
      const refused = await anonymous
        .iterate({ query: bookSold, variables: { shop: 'north', withAuthor: true } })
        .next();
      expect(refused).toMatchObject({
        value: { errors: [{ extensions: { code: 'INVALID_API_KEY', http_status: 401 } }] },
      });
      expect(await anonymous.iterate({ query: '{ book(id: "b1") { rating } }' }).next()).toMatchObject({
        value: { data: { book: { rating: 1 } } },
      });
      await anonymous.dispose();
    });

    test('doors get data, and the problem by throwing', async () => {
      const stream = toy.gateway.client.subscribe('BookSold', { shop: 'door' }, callerContext());
      await until(() => toy.events.open === 1);
      toy.events.publish('door', { sequence: 7, bookId: 'b1' });
      expect(await stream.next()).toEqual({
        done: false,
        value: {
          bookSold: {
            sequence: 7,
            book: { id: 'b1', title: 'Title b1', rating: 1, author: { id: 'a1', name: 'Author a1' } },
          },
        },
      });
      const pending = stream.next();
      await stream.return?.();
      expect(await pending).toEqual({ done: true, value: undefined });
      await until(() => toy.events.open === 0);

      const refused = toy.gateway.client.subscribe('BookSold', { shop: 'door' }, callerContext(null));
      await expect(refused.next()).rejects.toMatchObject({ type: 'invalid_api_key' });
      expect(await refused.next()).toEqual({ done: true, value: undefined });

      const wrong = toy.gateway.client.subscribe('BookSold', {}, callerContext());
      await expect(wrong.next()).rejects.toMatchObject({ type: 'validation_error' });
    });
  });

  describe('mutations', () => {
    const add = {
      query:
        'mutation ($title: String!) { addBook(input: {title: $title, priceCents: 9007199254740991}) { book { title ' +
        'priceCents rating } } }',
      variables: { title: 'New' },
    };
    const added = { data: { addBook: { book: { title: 'New', priceCents: 9_007_199_254_740_991, rating: 1 } } } };

    test('run with a fresh nonce over HTTP', async () => {
      const headers = { ...AUTHORIZED, 'x-nonce': `http-${mode}` };
      expect(await post(toy.url, add, { headers })).toMatchObject({ status: 200, body: added });
      expect(await post(toy.url, add, { headers })).toMatchObject({
        status: 409,
        body: { errors: [{ extensions: { code: 'DUPLICATE_NONCE' } }] },
      });
    });

    test('run with a fresh nonce over WebSocket', async () => {
      const run = (extensions: Record<string, unknown>) => socket.iterate({ ...add, extensions }).next();
      expect(await run({ nonce: `ws-${mode}` })).toMatchObject({ value: added });
      await expect(run({ nonce: `ws-${mode}` })).rejects.toMatchObject([{ extensions: { code: 'DUPLICATE_NONCE' } }]);
      await expect(run({})).rejects.toMatchObject([{ extensions: { code: 'MISSING_NONCE', param: 'header:X-Nonce' } }]);
    });

    test('of doors need none: they consumed it', async () => {
      expect(
        await toy.gateway.client.execute('AddBook', { input: { title: 'Door', priceCents: 5 } }, callerContext()),
      ).toMatchObject({ addBook: { book: { title: 'Door', priceCents: 5, author: { name: 'Author a1' } } } });
    });
  });
});
