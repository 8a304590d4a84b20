import { gzipSync } from 'node:zlib';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { HTTP_SERVER_OPTIONS } from '../../rest-adapter/server.ts';
import { Caller, openHouse, type House } from '../house.ts';
import { exchange, heard, open, parseAnswer } from '../raw-http.ts';
import { threadTimeMs } from '../thread-time.ts';

let house: House;
let caller: Caller;
beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false });
  caller = await Caller.register(house.root);
});
afterAll(() => house?.stop());

const AUTHORIZED = () => `Authorization: Bearer ${caller.key}\r\nX-Nonce: ${crypto.randomUUID()}\r\n`;
/** Bytes that come one after the other, never too late for a limit on pauses. */
async function trickle(socket: ReturnType<typeof open>, text: string, everyMs: number): Promise<void> {
  for (const character of text) {
    if (socket.destroyed || !socket.writable) return;
    socket.write(character);
    await sleep(everyMs);
  }
}

/** Side by side: each of them takes as long as a limit of the server. */
const SLOW: Readonly<Record<string, () => Promise<void>>> = {
  async 'headers that trickle are answered with 408 while others are served'() {
    const startedMs = performance.now();
    const sockets = Array.from({ length: 40 }, () => open(house.root));
    const answers = sockets.map((socket) => heard(socket));
    const trickling = sockets.map((socket) =>
      trickle(socket, `GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: ${'x'.repeat(100)}`, 200),
    );
    expect((await fetch(`${house.root}/v1/health`)).status).toBe(200);
    for (const said of await Promise.all(answers))
      expect(parseAnswer(said)).toMatchObject({
        status: 408,
        headers: { connection: 'close' },
        body: expect.stringContaining('"request_timeout"'),
      });
    // The limit, one look at the connections, and some seconds for a busy machine.
    expect(performance.now() - startedMs).toBeLessThan(
      HTTP_SERVER_OPTIONS.headersTimeout + 2 * HTTP_SERVER_OPTIONS.connectionsCheckingInterval + 3_000,
    );
    await Promise.all(trickling);
  },
  async 'a connection that says nothing is closed'() {
    expect(parseAnswer(await heard(open(house.root))).status).toBe(408);
  },
  'a body that trickles into REST is answered in good time': () => trickleBody('/v1/verify'),
  'a body that trickles into the graph is answered in good time': () => trickleBody('/graphql'),
  async 'the limits of the server are what keeps them out: with the defaults of Node the same trickle goes on'() {
    const server: Server = createServer((_request, response) => void response.end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = open(`http://127.0.0.1:${String((server.address() as { port: number }).port)}`);
    await Promise.race([trickle(socket, `GET / HTTP/1.1\r\nX: ${'x'.repeat(45)}`, 200), heard(socket)]);
    expect(socket.destroyed).toBe(false);
    socket.destroy();
    server.close();
  },
};

async function trickleBody(path: string): Promise<void> {
  const startedMs = performance.now();
  const socket = open(house.root);
  const answer = heard(socket);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${AUTHORIZED()}Accept: application/json\r\nContent-Type: ` +
      `application/json\r\nContent-Length: 1000\r\n\r\n`,
  );
  await trickle(socket, `{"query":"${'x'.repeat(200)}`, 100);
  expect(parseAnswer(await answer)).toMatchObject({ status: 400, body: expect.stringContaining('body_timeout') });
  expect(performance.now() - startedMs).toBeLessThan(22_000);
}

describe('clients that are slow on purpose', () => {
  const running = new Map<string, Promise<unknown>>();
  beforeAll(() => {
    for (const [name, run] of Object.entries(SLOW))
      running.set(
        name,
        run().then(
          () => null,
          (error: unknown) => error,
        ),
      );
  });

  test.each(Object.keys(SLOW))('%s', async (name) => {
    expect(await running.get(name)).toBeNull();
  });
});

describe('bodies that are made to hurt', () => {
  const post = (path: string, body: BodyInit, headers: Record<string, string> = {}) =>
    caller.send('POST', path, body, { 'content-type': 'application/json', ...headers });

  test('a gzip bomb is refused where JSON is expected, and cut off where files are', async () => {
    const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024, 'u1,2026-01-01T00:00:00Z,email,1\n'));
    expect(bomb.length).toBeLessThan(1024 * 1024);
    expect((await post('/attribution', bomb, { 'content-encoding': 'gzip' })).status).toBe(415);
    const source = String(
      (await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { filename: 'x.csv' } })).body[
        'data_source_id'
      ],
    );
    const answer = await caller.send('POST', `/data-sources/${source}/records`, bomb, {
      'content-type': 'text/csv',
      'content-encoding': 'gzip',
    });
    expect({ status: answer.status, type: answer.body['error']?.['type'] }).toEqual({
      status: 422,
      type: 'validation_error',
    });
  });

  test.each([
    ['nested', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
    ['nested in lists', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['with a member twice', '{"query":"{ __typename }","query":"{ __typename }","jws":"x"}'],
    ['with half a character', '{"query":"\\udc00","jws":"\\udc00"}'],
    ['with bytes that are no UTF-8', new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])],
    ['with a number beyond all numbers', `{"query":"{ __typename }","jws":1${'0'.repeat(400)},"variables":[1e999]}`],
    ['of a million empty lists', `{"jws":[${'[],'.repeat(300_000)}[]]}`],
  ])('JSON %s is refused at once by every door', async (_what, body) => {
    for (const path of ['/v1/verify', '/graphql']) {
      const startedMs = threadTimeMs();
      const response = await fetch(`${house.root}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json, application/json;q=0.9',
          'x-nonce': crypto.randomUUID(),
        },
        body,
      });
      expect({ path, refused: response.status >= 400 && response.status < 500 }).toEqual({ path, refused: true });
      expect(threadTimeMs() - startedMs).toBeLessThan(2_000);
      await response.text();
    }
  });

  test('two requests in one packet are two requests, and nothing is smuggled behind a refused body', async () => {
    const inner = 'GET /v1/smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
    const said = await exchange(
      house.root,
      `POST /v1/verify HTTP/1.1\r\nHost: x\r\nX-Nonce: ${crypto.randomUUID()}\r\nContent-Type: ` +
        `text/plain\r\nContent-Length: ${inner.length}\r\n\r\n${inner}GET /v1/health HTTP/1.1\r\nHost: ` +
        `x\r\nConnection: ` +
        `close\r\n\r\n`,
    );
    expect([...said.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)).toEqual(['415', '200']);
    expect(said).not.toContain('smuggled');
  });
});
