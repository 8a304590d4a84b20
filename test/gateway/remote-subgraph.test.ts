import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createClient } from 'graphql-ws';
import { SignJWT } from 'jose';
import { WebSocket } from 'ws';
import { PRINCIPAL_HEADER, principalTokens } from '../../platform/graph/principal-token.ts';
import { EventSource } from './event-source.ts';
import { callerContext, post, SECRET, startToyGateway, type PublicError, type ToyGateway } from './toy-gateway.ts';
import { toySubgraphs } from './toy-subgraphs.ts';

const tokens = principalTokens(SECRET, () => new Date());
const QUERY = { query: '{ caller }' };

describe('a subgraph in a process of its own', () => {
  let toy: ToyGateway;
  let url: string;
  beforeAll(async () => {
    toy = await startToyGateway('remote');
    url = toy.subgraphServers[0]!.url;
  });
  afterAll(() => toy.close());

  const ask = async (token: string | undefined) => {
    const { status, body } = await post(url, QUERY, {
      headers: token === undefined ? {} : { [PRINCIPAL_HEADER]: token },
    });
    return { status, errors: body.errors?.map(({ extensions }) => extensions['code']) };
  };
  const forged = (
    claims: object,
    { secret = SECRET, alg = 'HS256', audience = 'books', issuer = 'liftgraph-gateway' } = {},
  ) =>
    new SignJWT({ context: callerContext(), ...claims })
      .setProtectedHeader({ alg })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime('30s')
      .sign(new TextEncoder().encode(secret));

  test('answers to what the gateway signed', async () => {
    expect(await ask(await tokens.sign(callerContext(), 'books'))).toEqual({ status: 200, errors: undefined });
  });

  test('leaves it to the gateway to end idle connections', async () => {
    const { headers } = await fetch(url, {
      method: 'POST',
      headers: { [PRINCIPAL_HEADER]: await tokens.sign(callerContext(), 'books') },
      body: JSON.stringify(QUERY),
    });
    expect([headers.get('connection'), headers.get('keep-alive')]).toEqual(['keep-alive', null]);
  });

  test('hears everything that the gateway knows of a request', async () => {
    const context = {
      ...callerContext(),
      origin: { clientAddress: '192.0.2.1', userAgent: 'test' },
      sandboxDelayMs: 1500,
    };
    expect(await tokens.verify(await tokens.sign(context, 'books'), 'books')).toEqual(context);
  });

  test('answers to nothing else', async () => {
    const refused = { status: 401, errors: ['INVALID_API_KEY'] };
    const old = principalTokens(SECRET, () => new Date(Date.now() - 60_000));
    const future = principalTokens(SECRET, () => new Date(Date.now() + 60_000));
    const good = await tokens.sign(callerContext(), 'books');
    const [header, payload] = good.split('.');
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    expect(await ask(undefined)).toEqual(refused);
    expect(await ask('Bearer good')).toEqual(refused);
    expect(await ask(unsigned)).toEqual(refused);
    expect(await ask(`${header}.${payload}.${Buffer.from('x'.repeat(32)).toString('base64url')}`)).toEqual(refused);
    expect(await ask(await old.sign(callerContext(), 'books'))).toEqual(refused);
    expect(await ask(await future.sign(callerContext(), 'books'))).toEqual(refused);
    expect(await ask(await tokens.sign(callerContext(), 'people'))).toEqual(refused);
    expect(await ask(await forged({}, { secret: `${SECRET}!` }))).toEqual(refused);
    expect(await ask(await forged({}, { issuer: 'someone' }))).toEqual(refused);
    expect(await ask(await forged({}, { alg: 'HS512' }))).toEqual(refused);
    expect(
      await ask(await forged({ context: { requestId: 'r', apiVersion: 'v', principal: { kind: 'root' } } })),
    ).toEqual(refused);
    expect(await ask(await forged({}))).toEqual({ status: 200, errors: undefined });
  });

  test('refuses sockets that are not the gateway’s', async () => {
    const closed = new Promise((resolve) => {
      const client = createClient({
        url: url.replace('http', 'ws'),
        webSocketImpl: WebSocket,
        lazy: false,
        retryAttempts: 0,
        onNonLazyError: () => undefined,
        connectionParams: { authorization: 'Bearer good' },
      });
      client.on('closed', (event) => resolve((event as { code: number }).code));
    });
    expect(await closed).toBe(4403);
  });

  test('refuses operations on a good socket that bring no principal of their own', async () => {
    const client = createClient({
      url: url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: async () => ({ [PRINCIPAL_HEADER]: await tokens.sign(callerContext(null), 'books') }),
    });
    await expect(client.iterate(QUERY).next()).rejects.toMatchObject([{ extensions: { code: 'INVALID_API_KEY' } }]);
    await client.dispose();
  });

  test('knows one address only', async () => {
    expect((await fetch(url, { method: 'GET' })).status).toBe(404);
    expect((await fetch(url.replace('/graphql', '/'), { method: 'POST', body: '{}' })).status).toBe(404);
    const malformed = await fetch(url, {
      method: 'POST',
      body: '{',
      headers: { [PRINCIPAL_HEADER]: await tokens.sign(callerContext(), 'books') },
    });
    expect(malformed.status).toBe(400);
  });
});

describe('a subgraph that goes away', () => {
  test('breaks its streams with an error, fails its fields, and leaves the others alone', async () => {
    const toy = await startToyGateway('remote');
    const client = createClient({
      url: toy.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: { authorization: 'Bearer good' },
      retryAttempts: 0,
    });
    const watched = client.iterate<unknown>({ query: 'subscription { bookSold(shop: "x") { sequence } }' });
    const first = watched.next();
    const byDoor = toy.gateway.client.subscribe('BookSold', { shop: 'x' }, callerContext());
    while (toy.events.open < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await toy.subgraphServers[0]!.close();

    const { errors } = (await first).value as { errors: PublicError[] };
    expect(errors[0]?.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', http_status: 503, retry_after: 2 });
    expect(await watched.next()).toMatchObject({ done: true });
    await expect(byDoor.next()).rejects.toMatchObject({ type: 'service_unavailable' });

    const again = await client.iterate<unknown>({ query: 'subscription { bookSold(shop: "x") { sequence } }' }).next();
    expect((again.value as { errors: PublicError[] }).errors[0]?.extensions['code']).toBe('SERVICE_UNAVAILABLE');
    expect(await post(toy.url, { query: '{ author(id: "a1") { name } book(id: "b1") { title } }' })).toMatchObject({
      status: 200,
      body: {
        data: null,
        errors: [
          {
            path: ['book'],
            message: expect.stringContaining('books service'),
            extensions: { code: 'SERVICE_UNAVAILABLE' },
          },
        ],
      },
    });
    expect(await post(toy.url, { query: '{ author(id: "a1") { name } }' })).toMatchObject({
      body: { data: { author: { name: 'Author a1' } } },
    });
    await expect(toy.gateway.client.execute('Book', { id: 'b1' }, callerContext())).rejects.toMatchObject({
      problem: { type: 'service_unavailable', status: 503, retryAfterS: 2 },
    });

    await client.dispose();
    await toy.close();
  });

  test('leaves an error at each field that it would have answered; nothing is taken for a fault of ours', async () => {
    const toy = await startToyGateway('remote');
    await toy.subgraphServers[1]!.close();
    const { body } = await post(
      toy.url,
      { query: '{ author(id: "a1") { name } caller books(first: 2) { edges { node { title author { name } } } } }' },
      { headers: { authorization: 'Bearer good' } },
    );
    const unavailable = {
      message: expect.stringContaining('people service'),
      extensions: expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }),
    };
    const paths = [['author'], ...[0, 1].map((place) => ['books', 'edges', place, 'node', 'author', 'name'])];
    expect(body.errors?.toSorted((one, other) => one.path!.join('.').localeCompare(other.path!.join('.')))).toEqual(
      paths.map((path) => ({ ...unavailable, path })),
    );
    await toy.close();
  });

  test('that takes connections and says nothing on them is given up, by streams too', async () => {
    const held = new Set<Socket>();
    const mute = createServer((socket) => held.add(socket)).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const url = `http://127.0.0.1:${(mute.address() as AddressInfo).port}/graphql`;
    const [books, people] = await toySubgraphs(new EventSource());
    const toy = await startToyGateway('in process', {
      subgraphs: [{ name: books!.name, sdl: books!.sdl, url }, people!],
      subgraphTimeoutMs: 300,
    });
    expect(await post(toy.url, { query: '{ author(id: "a1") { name } book(id: "b1") { title } }' })).toMatchObject({
      body: { errors: [{ path: ['book'], extensions: { code: 'SERVICE_UNAVAILABLE' } }] },
    });
    await expect(toy.gateway.client.subscribe('BookSold', { shop: 'x' }, callerContext()).next()).rejects.toMatchObject(
      { type: 'service_unavailable' },
    );
    for (const socket of held) socket.destroy();
    await Promise.all([toy.close(), new Promise((resolve) => mute.close(resolve))]);
  });

  test('a gateway without the secret does not start', async () => {
    await expect(startToyGateway('remote', { internalSecret: undefined as unknown as string })).rejects.toThrow(
      'internalSecret',
    );
  });
});
