import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen, type ListeningServer } from '../../processes/http-server.ts';

const DRAIN_MS = 15_000;
/** Two seconds for whoever has not said anything, and what a slow machine takes. */
const SOON_MS = 6_000;
const LONG_ANSWER_MS = 3_000;

async function open(): Promise<ListeningServer> {
  return listen({ host: '127.0.0.1', port: 0, handler: (_request, response) => void sleep(LONG_ANSWER_MS).then(() => response.end('whole')), refusal: () => '', limits: { max: 100, maxPerAddress: 100 } });
}

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
  const asking = await connected(server, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const answer = text(asking);
  await sleep(50);

  const startedMs = performance.now();
  const gone = once(silent, 'close');
  expect(await server.drain(DRAIN_MS)).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
  await gone;
  expect(await answer).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*whole/);
});
