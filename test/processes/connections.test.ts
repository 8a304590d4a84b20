import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import { Registry } from 'prom-client';
import { ConnectionMetrics } from '../../processes/connection-metrics.ts';
import { RESERVE } from '../../processes/connections.ts';
import { listen, type ListeningServer, type ServerOptions } from '../../processes/http-server.ts';
import { isProbe } from '../../processes/probes.ts';
import { parserProblem, problemMessage } from '../../rest-adapter/edge.ts';
import { HTTP_SERVER_OPTIONS } from '../../rest-adapter/server.ts';
import { Caller, openHouse } from '../house.ts';
import { heard, parseAnswer, type RawAnswer } from '../raw-http.ts';

const MAX = 12;
const MAX_PER_ADDRESS = 8;
const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const UPGRADE = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
/** Answers, and keeps the connection. */
const QUICK = GET('/');
/** Is not answered before the test says so. */
const SLOW = GET('/slow');
const PROBE = GET('/readyz');

/** A server that takes few connections, and everybody who is connected to it. */
class Door {
  readonly registry = new Registry();
  /** Paths of requests that got to the handler. */
  readonly handled: string[] = [];
  readonly #slow: ServerResponse[] = [];
  readonly #sockets: Socket[] = [];
  #busy = 0;
  #server!: ListeningServer;

  static async open(options: Partial<ServerOptions> = {}): Promise<Door> {
    const door = new Door();
    door.#server = await listen({
      host: '127.0.0.1',
      port: 0,
      limits: { max: MAX, maxPerAddress: MAX_PER_ADDRESS },
      isProbe,
      handler: (request, response) => door.#handle(request, response),
      mayUpgrade: () => true,
      upgrade: (_request, socket) => {
        socket
          .on('error', () => undefined)
          .on('end', () => socket.end())
          .resume();
        socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
      },
      refusal: (code) => problemMessage(parserProblem(code), 'req_1', 'http://127.0.0.1/v1'),
      metrics: new ConnectionMetrics(door.registry),
      ...options,
    });
    return door;
  }

  get port(): number {
    return this.#server.port;
  }

  /** A connection from 127.0.0.`from`. */
  async connect(from: number): Promise<Socket> {
    const socket = this.keep(connect({ port: this.port, host: '127.0.0.1', localAddress: `127.0.0.${from}` }));
    await once(socket, 'connect');
    return socket;
  }

  keep(socket: Socket): Socket {
    this.#sockets.push(socket.on('error', () => undefined));
    return socket;
  }

  /** Connects, asks, and is answered or not as the request has it. */
  async busy(from: number, request = SLOW): Promise<Socket> {
    const socket = await this.connect(from);
    const path = `/slow/${(this.#busy += 1)}`;
    socket.write(request.replace('/slow', path));
    if (request === UPGRADE) await once(socket, 'data');
    else while (!this.handled.includes(path)) await sleep(1);
    return socket;
  }

  /** Has an answer, and no other request yet. */
  async idle(from: number): Promise<Socket> {
    const socket = await this.connect(from);
    socket.write(QUICK);
    await once(socket, 'data');
    return socket;
  }

  /** What somebody new is answered. */
  async ask(from: number, request = QUICK): Promise<RawAnswer> {
    const socket = await this.connect(from);
    const answer = heard(socket, (text) => text.includes('\r\n\r\n'));
    socket.write(request);
    return parseAnswer(await answer);
  }

  async metric(name: string): Promise<number> {
    const { values } = await this.registry.getSingleMetric(`liftgraph_http_connections_${name}`)!.get();
    return values.reduce((sum, { value }) => sum + value, 0);
  }

  /** Waits until the server has so many connections; one that was closed counts until the next turn of its loop. */
  async until(least: number, most = least): Promise<void> {
    for (let open = -1; open < least || open > most; open = await this.metric('open')) await sleep(5);
  }

  answerSlow(): void {
    for (const response of this.#slow.splice(0)) response.end('late');
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.#server.drain(0);
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    this.handled.push(request.url!);
    if (request.url!.startsWith('/slow')) this.#slow.push(response);
    else response.end('quick');
  }
}

const doors: Door[] = [];
afterEach(async () => {
  for (const door of doors.splice(0)) await door.close();
});

async function open(options: Partial<ServerOptions> = {}): Promise<Door> {
  const door = await Door.open(options);
  doors.push(door);
  return door;
}

function times<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)));
}
const REFUSED = { status: 503, headers: { connection: 'close', 'retry-after': '5' } };

describe('a server with few places', () => {
  test('gives one address no more than its share, tells it so, and serves others', async () => {
    const door = await open();
    await times(MAX_PER_ADDRESS, () => door.busy(1));
    const refused = await door.ask(1);
    expect(refused).toMatchObject(REFUSED);
    const error = { type: 'service_unavailable', code: 'too_many_connections_of_address', request_id: 'req_1' };
    expect(JSON.parse(refused.body)).toMatchObject({ error });
    expect((await door.ask(2)).status).toBe(200);
    expect(await door.metric('refused_total')).toBe(1);
  });

  test('tells who comes when all are at work, does nothing for them, and goes on when a place is free', async () => {
    const door = await open();
    const first = await door.busy(1);
    await times(MAX - 1, (index) => door.busy(index + 2));
    const refused = await door.ask(100, GET('/not-to-be-done'));
    expect(refused).toMatchObject(REFUSED);
    expect(JSON.parse(refused.body)).toMatchObject({ error: { code: 'too_many_connections' } });
    expect(door.handled).not.toContain('/not-to-be-done');
    first.destroy();
    await door.until(MAX - 1);
    expect((await door.ask(100)).status).toBe(200);
  });

  test('lets an idle connection give way, of who has the most, and tells its client', async () => {
    const door = await open();
    const [eldest, ...others] = [await door.idle(1), await door.idle(1), await door.idle(1)];
    const poor = await door.idle(2);
    await times(MAX - 4, (index) => door.busy(index + 10));
    const told = heard(eldest!);
    expect((await door.ask(100)).status).toBe(200);
    const { status, headers, body } = parseAnswer(await told);
    expect([status, headers['connection'], headers['retry-after']]).toEqual([503, 'close', '1']);
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'connection_closed' } });
    for (const kept of [...others, poor]) {
      kept.write(QUICK);
      expect(String(((await once(kept, 'data')) as [Buffer])[0])).toMatch(/^HTTP\/1.1 200/);
    }
    expect(await door.metric('gave_way_total')).toBe(1);
  });

  test('lets a crowd of kept connections from one address keep nobody out, and not that address either', async () => {
    const door = await open();
    for (let round = 0; round < 5 * MAX; round += 1) await door.idle(1);
    for (const from of [1, 2, 3]) expect((await door.ask(from)).status).toBe(200);
    expect(await door.metric('refused_total')).toBe(0);
    await door.until(0, MAX + RESERVE.max);
  });

  test('takes a request that comes when its connection has to go for one that was not made', async () => {
    const door = await open();
    const eldest = await door.idle(1);
    await times(MAX_PER_ADDRESS - 1, () => door.busy(1));
    const told = heard(eldest);
    await door.connect(1);
    eldest.write(GET('/too-late'));
    expect(parseAnswer(await told).status).toBe(503);
    await sleep(20);
    expect(door.handled).not.toContain('/too-late');
  });

  test.each([
    ['silent', ''],
    ['half asked', 'GET / HTTP/1.1\r\n'],
  ])('a %s connection is idle', async (_what, said) => {
    const door = await open();
    await times(MAX, async (index) => (await door.connect(1 + (index % 2))).write(said));
    await door.until(MAX);
    expect((await door.ask(100)).status).toBe(200);
  });

  test('counts WebSockets', async () => {
    const door = await open();
    const [first] = await times(MAX_PER_ADDRESS, () => door.busy(1, UPGRADE));
    expect((await door.ask(1)).status).toBe(503);
    expect((await door.ask(1, UPGRADE)).status).toBe(503);
    first!.destroy();
    await door.until(MAX_PER_ADDRESS - 1);
    expect((await door.ask(1, UPGRADE)).status).toBe(101);
  });

  test('knows an IPv4 address that came by an IPv6 socket', async () => {
    const door = await open({ host: '::' });
    await times(MAX_PER_ADDRESS, () => door.busy(1));
    expect((await door.ask(1)).status).toBe(503);
    expect((await door.ask(2)).status).toBe(200);
  });

  test('frees every place', async () => {
    const door = await open();
    for (let round = 0; round < 3; round += 1) {
      const ways = [() => door.busy(1), () => door.idle(2), () => door.connect(3)];
      const sockets = (await Promise.all(ways.map((way) => times(4, way)))).flat();
      await door.until(MAX);
      for (const socket of sockets) socket.resetAndDestroy();
      await door.until(0);
    }
  });
});

describe('probes when all places are taken', () => {
  test('are answered, and nothing else is on their connection', async () => {
    const door = await open();
    await times(MAX, (index) => door.busy(index + 1));
    for (const from of [1, 100]) {
      expect(await door.ask(from, PROBE)).toMatchObject({ status: 200, headers: { connection: 'close' } });
    }
    expect((await door.ask(100, GET('/healthz'))).status).toBe(200);
    expect((await door.ask(100, GET('/healthz').replace('GET', 'POST'))).status).toBe(503);
    const socket = await door.connect(100);
    const answers = heard(socket);
    socket.write(PROBE + GET('/smuggled'));
    expect(await answers).toMatch(/^HTTP\/1.1 200/);
    expect(door.handled).not.toContain('/smuggled');
  });

  test('are answered while crowds from many addresses wait in silence', async () => {
    const door = await open();
    await times(MAX, (index) => door.busy(index + 1));
    for (let round = 0; round < 3; round += 1) {
      await times(RESERVE.max, (index) => door.connect(10 + (index % 40)));
      expect((await door.ask(200, PROBE)).status).toBe(200);
    }
    await door.until(0, MAX + RESERVE.max);
  });
});

describe('a server with few places that speaks TLS', () => {
  const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'fixtures', name));
  const ca = fixture('one.crt');
  const pair = { cert: ca, key: fixture('one.key') };
  const certificate = { current: () => pair, whenReplaced: () => undefined, close: () => undefined };
  const secure = async (door: Door, from: number): Promise<Socket> => {
    const socket = connectSecurely({ socket: await door.connect(from), ca, host: '127.0.0.1' });
    door.keep(socket);
    await once(socket, 'secureConnect');
    return socket;
  };
  const ask = async (door: Door, from: number, request: string): Promise<RawAnswer> => {
    const socket = await secure(door, from);
    socket.write(request);
    return parseAnswer(await heard(socket, (text) => text.includes('\r\n\r\n')));
  };

  test('counts handshakes that are not finished as idle, whoever has them, and tells others there', async () => {
    const door = await open({ certificate });
    await times(MAX, (index) => door.connect(1 + (index % 3)));
    await door.until(MAX);
    expect((await ask(door, 100, QUICK)).status).toBe(200);
    for (let index = 0; index < MAX; index += 1) (await secure(door, 10 + index)).write(SLOW);
    while (door.handled.length < MAX + 1) await sleep(1);
    expect((await ask(door, 100, QUICK)).status).toBe(503);
    expect((await ask(door, 100, PROBE)).status).toBe(200);
  });

  test('ends handshakes that dawdle', async () => {
    const door = await open({ certificate });
    const startedMs = performance.now();
    const silent = heard(await door.connect(1));
    const slow = await door.connect(1);
    const trickling = heard(slow);
    // The first bytes of a ClientHello that promises 512.
    const hello = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, ...Array<number>(40).fill(7)];
    for (const byte of hello) {
      if (slow.destroyed) break;
      slow.write(Buffer.of(byte));
      await sleep(200);
    }
    await Promise.all([silent, trickling]);
    expect(performance.now() - startedMs).toBeLessThan(HTTP_SERVER_OPTIONS.headersTimeout + 10_000);
    await door.until(0);
  });
});

test('the service whose places are taken by streams answers probes, and others with its Error structure', async () => {
  const config = { connectionsMax: 16, connectionsMaxPerAddress: 16 };
  const house = await openHouse('one process', { withWorker: false, config });
  try {
    const { key } = await Caller.register(house.root);
    const { hostname, port } = new URL(house.root);
    await times(16, async (index) => {
      const socket = connect({ port: Number(port), host: hostname, localAddress: `127.0.0.${2 + index}` });
      socket.write(`GET /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`);
      expect(String(((await once(socket, 'data')) as [Buffer])[0])).toMatch(/^HTTP\/1\.1 200/);
    });
    expect((await fetch(`${house.root}/readyz`)).status).toBe(200);
    const refused = await fetch(`${house.root}/v1/health`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    const error = { type: 'service_unavailable', code: 'too_many_connections', request_id: expect.any(String) };
    expect(await refused.json()).toMatchObject({ error });
  } finally {
    await house.stop();
  }
});
