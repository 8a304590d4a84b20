import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { HTTP_SERVER_OPTIONS } from '../rest-adapter/server.ts';

export interface ListeningServer {
  readonly port: number;
  /** From now on every answer ends its connection, so that its client comes back elsewhere. Everything is still answered. */
  announceEnd(): void;
  /** Takes no more connections and lets requests under way finish. @returns how many connections had to be cut off at the end of the time */
  drain(timeoutMs: number): Promise<number>;
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

const IDLE_SWEEP_MS = 100;

/** Listens with time limits that no slow client outlives. @throws ListenError */
export async function listen(options: ServerOptions): Promise<ListeningServer> {
  const server = createServer(HTTP_SERVER_OPTIONS, options.handler);
  const connections = new Connections(server);
  if (options.upgrade !== undefined) server.on('upgrade', options.upgrade);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new ListenError(listenFailure(error, options), { cause: error })));
    server.listen(options.port, options.host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, announceEnd: () => connections.announceEnd(), drain: (timeoutMs) => connections.drain(timeoutMs) };
}

function listenFailure(error: NodeJS.ErrnoException, { host, port }: ServerOptions): string {
  if (error.code === 'EADDRINUSE') return `port ${port} on ${host} is taken by another program. Choose another one: PORT=${port + 1} npm start`;
  if (error.code === 'EACCES') return `port ${port} needs rights that this user does not have. Choose one above 1023: PORT=4000 npm start`;
  return `cannot listen on ${host}:${port}: ${error.message}`;
}

/** Knows what is being answered, so that a server can end without cutting anyone off. */
class Connections {
  readonly #server: Server;
  readonly #answers = new Set<ServerResponse>();
  #ending = false;

  constructor(server: Server) {
    this.#server = server;
    server.prependListener('request', (_request, response) => {
      this.#answers.add(response);
      response.once('close', () => this.#answers.delete(response));
      if (this.#ending) response.setHeader('Connection', 'close');
    });
  }

  announceEnd(): void {
    this.#ending = true;
    for (const answer of this.#answers) if (!answer.headersSent) answer.setHeader('Connection', 'close');
  }

  async drain(timeoutMs: number): Promise<number> {
    let cutOff = 0;
    this.announceEnd();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    // A connection whose answer had begun before the end was announced stays open behind it.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), IDLE_SWEEP_MS);
    const cut = setTimeout(() => {
      this.#server.getConnections((_error, connections) => (cutOff = connections));
      this.#server.closeAllConnections();
    }, timeoutMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
    return cutOff;
  }
}
