import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen, type ListeningServer, type ServerOptions } from '../../processes/http-server.ts';
import { exchange, heard } from '../raw-http.ts';

const DRAIN_MS = 15_000;
/** Two seconds for whoever has not said anything, and what a slow machine takes. */
const SOON_MS = 6_000;
const LONG_ANSWER_MS = 3_000;
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const REFUSAL = 'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
const LIMITS = { max: 1_000, maxPerAddress: 1_000 };

const longAnswer: ServerOptions['handler'] = (_request, response) =>
  void sleep(LONG_ANSWER_MS).then(() => response.end('whole'));

async function open(handler = longAnswer, limits = LIMITS): Promise<ListeningServer> {
  return listen({ host: '127.0.0.1', port: 0, handler, refusal: () => REFUSAL, limits });
}

const answered = (text: string): number => text.match(/HTTP\/1\.1 200/g)?.length ?? 0;

async function connected(server: ListeningServer, said: string): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  if (said !== '') socket.write(said);
  return socket;
}

test.each([
  ['has said nothing', ''],
  ['has sent half of its headers', 'GET / HTTP/1.1\r\nHost: a\r\n'],
])('a connection that %s does not hold up the end, and nobody else is cut off', async (_what, said) => {
  const server = await open();
  const silent = await connected(server, said);
  const asking = await connected(server, GET);
  const answer = text(asking);
  await sleep(50);

  const startedMs = performance.now();
  const told = heard(silent);
  expect(await server.drain(DRAIN_MS)).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
  expect(await told).toMatch(/^HTTP\/1\.1 503/);
  expect(await answer).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*whole/);
});

test('at the end, requests that came together are all answered, and the last answer ends the connection', async () => {
  const server = await open((_request, response) => void sleep(100).then(() => response.end('whole')));
  const socket = await connected(server, GET + GET);
  const answers = heard(socket);
  await sleep(50);
  server.announceEnd();
  socket.write(GET);
  expect(answered(await answers)).toBe(3);
  expect((await answers).match(/Connection: close/gi)).toHaveLength(1);
  await server.drain(DRAIN_MS);
});

test('at the end, who comes anew for each request, as each answer ends its connection, is never too fast', async () => {
  const server = await open((_request, response) => void response.end('whole'), { max: 1_000, maxPerAddress: 16 });
  server.announceEnd();
  let answers = 0;
  for (let time = 0; time < 1_000; time += 1)
    answers += answered(await exchange(`http://127.0.0.1:${server.port}`, GET));
  await server.drain(DRAIN_MS);
  expect(answers).toBe(1_000);
});

test('behind the answer that ends a connection nothing is answered, so nothing is done', async () => {
  let handled = 0;
  const server = await open((_request, response) => {
    handled += 1;
    response.write('begun');
    setTimeout(() => response.end(), 200);
  });
  server.announceEnd();
  const socket = await connected(server, GET);
  const answers = heard(socket);
  await once(socket, 'data');
  socket.write(GET);
  expect(answered(await answers)).toBe(1);
  expect(handled).toBe(1);
  await server.drain(DRAIN_MS);
});

test('a kept connection may bring one more request at the end, and who brings none is told', async () => {
  const server = await open((_request, response) => void response.end('whole'));
  const [atWork, idle] = await Promise.all([connected(server, GET), connected(server, GET)]);
  const [work, rest] = [heard(atWork), heard(idle)];
  await Promise.all([once(atWork, 'data'), once(idle, 'data')]);
  const over = server.drain(DRAIN_MS);
  await sleep(100);
  atWork.write(GET);
  expect(answered(await work)).toBe(2);
  expect(await rest).toMatch(/^HTTP\/1\.1 200[^]*whole(?<told>HTTP\/1\.1 503[^]*)$/);
  expect(await over).toBe(0);
});

test('a request that comes as its connection is ended reads that it was not made, and is not', async () => {
  let handled = 0;
  const server = await open((_request, response) => void response.end(String((handled += 1))));
  const sockets = await Promise.all(Array.from({ length: 50 }, () => connected(server, GET)));
  const all = sockets.map((socket) => heard(socket));
  await Promise.all(sockets.map((socket) => once(socket, 'data')));
  const over = server.drain(DRAIN_MS);
  // Around the moment when they have been idle for too long.
  const asking = sockets.map(async (socket, index) => {
    await sleep(400 + index * 5);
    if (socket.writable) socket.write(GET);
  });
  await Promise.all(asking);
  const texts = await Promise.all(all);
  expect(await over).toBe(0);
  for (const each of texts) expect(each.match(/HTTP\/1\.1 (?:200|503)/g)).toHaveLength(2);
  expect(texts.reduce((sum, each) => sum + answered(each), 0)).toBe(handled);
});
