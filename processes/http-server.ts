import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { HTTP_SERVER_OPTIONS } from '../rest-adapter/server.ts';

export interface ListeningServer {
  readonly port: number;
  /** Takes no more connections, lets requests under way finish, and resolves when the last one has. */
  drain(timeoutMs: number): Promise<void>;
}

export interface ServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly handler: RequestListener;
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** The address is taken, or may not be listened on; the message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Listens with time limits that no slow client outlives. @throws ListenError */
export async function listen(options: ServerOptions): Promise<ListeningServer> {
  const server = createServer(HTTP_SERVER_OPTIONS, options.handler);
  if (options.upgrade !== undefined) server.on('upgrade', options.upgrade);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new ListenError(listenFailure(error, options), { cause: error })));
    server.listen(options.port, options.host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, drain: (timeoutMs) => drain(server, timeoutMs) };
}

function listenFailure(error: NodeJS.ErrnoException, { host, port }: ServerOptions): string {
  if (error.code === 'EADDRINUSE') return `port ${port} on ${host} is taken by another program. Choose another one: PORT=${port + 1} npm start`;
  if (error.code === 'EACCES') return `port ${port} needs rights that this user does not have. Choose one above 1023: PORT=4000 npm start`;
  return `cannot listen on ${host}:${port}: ${error.message}`;
}

async function drain(server: Server, timeoutMs: number): Promise<void> {
  // Without this, a client that keeps its connection alive would hold the server open for ever.
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
  await closed;
  clearTimeout(cut);
}
