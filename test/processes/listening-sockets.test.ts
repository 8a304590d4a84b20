import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { claimOf, ListeningSockets } from '../../processes/listening-sockets.ts';
import { freePort } from '../free-port.ts';

const HOST = '127.0.0.1';
const AT_ONCE = 8;

const opened: ListeningSockets[] = [];
afterEach(() => {
  for (const sockets of opened.splice(0)) sockets.close();
});

/** Opens the port for a server that answers with its name. */
async function open(
  port: number,
  name = 'it',
  server: HttpServer = createHttpServer((_request, response) => void response.end(name)),
): Promise<ListeningSockets> {
  const sockets = await ListeningSockets.open(server, { host: HOST, port });
  opened.push(sockets);
  return sockets;
}

const ask = async (port: number): Promise<string> =>
  (await fetch(`http://${HOST}:${port}/`, { headers: { connection: 'close' } })).text();

test('every connection reaches the one server', async () => {
  const { port } = await open(0);
  expect(await Promise.all(Array.from({ length: 200 }, () => ask(port)))).toEqual(Array(200).fill('it'));
});

test('of several instances that start at once one gets the port', async () => {
  const port = await freePort();
  const starts = await Promise.allSettled(Array.from({ length: AT_ONCE }, (_, index) => open(port, String(index))));
  expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const start of starts)
    if (start.status === 'rejected') expect(start.reason).toMatchObject({ code: 'EADDRINUSE' });
  expect(new Set(await Promise.all(Array.from({ length: 50 }, () => ask(port))))).toEqual(
    new Set([String(starts.findIndex(({ status }) => status === 'fulfilled'))]),
  );
});

test('an instance that has found the port free and does not listen yet has it', async () => {
  const port = await freePort();
  const other = createServer().listen({ path: claimOf({ host: HOST, port }) });
  await once(other, 'listening');
  await expect(open(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  other.close();
  await once(other, 'close');
  await open(port);
});

test('a port that another program listens on is refused, and free for it afterwards', async () => {
  const other = createServer().listen(0, HOST);
  await once(other, 'listening');
  const { port } = other.address() as { readonly port: number };
  await expect(open(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  other.close();
  await once(other, 'close');
  // Nothing of the refused attempt is left in the way.
  await open(port);
  expect(await ask(port)).toBe('it');
});

test('a port that was closed can be taken at once', async () => {
  const server = createHttpServer();
  const first = await open(0, 'the first', server);
  const { port } = first;
  const silent = connect(port, HOST);
  await once(server, 'connection');
  first.close();
  await open(port, 'the next one');
  expect(await ask(port)).toBe('the next one');
  silent.destroy();
});
