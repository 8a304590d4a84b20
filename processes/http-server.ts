import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IncomingMessage } from 'node:http';
import { HTTP_SERVER_OPTIONS } from '../rest-adapter/server.ts';

export interface ListeningServer {
  readonly port: number;
  /** From now on every answer ends its connection, so that its client comes back elsewhere. Everything is still answered. */
  announceEnd(): void;
  /**
   * Takes no more connections and lets requests under way finish. Upgraded ones (WebSockets) are left to who upgraded them.
   * @returns how many connections had to be cut off at the end of the time
   */
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

const SWEEP_MS = 50;

/** Listens with time limits that no slow client outlives. @throws ListenError */
export async function listen(options: ServerOptions): Promise<ListeningServer> {
  const server = createServer(HTTP_SERVER_OPTIONS, options.handler);
  const connections = new Connections(server);
  const { upgrade } = options;
  if (upgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      connections.upgrade(socket);
      upgrade(request, socket, head);
    });
  }
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
  readonly #upgraded = new Set<Duplex>();
  #ending = false;

  constructor(server: Server) {
    this.#server = server;
    server.prependListener('request', (_request, response) => {
      this.#answers.add(response);
      response.once('close', () => this.#answers.delete(response));
      if (this.#ending) response.setHeader('Connection', 'close');
    });
  }

  /** The connection serves no requests any more. */
  upgrade(socket: Duplex): void {
    this.#upgraded.add(socket);
    socket.once('close', () => this.#upgraded.delete(socket));
  }

  announceEnd(): void {
    this.#ending = true;
    for (const answer of this.#answers) if (!answer.headersSent) answer.setHeader('Connection', 'close');
  }

  async drain(timeoutMs: number): Promise<number> {
    this.announceEnd();
    this.#server.close();
    for (const deadlineMs = performance.now() + timeoutMs; ; await sleep(SWEEP_MS)) {
      // A connection whose answer had begun before the end was announced stays open behind it.
      this.#server.closeIdleConnections();
      const left = (await this.#count()) - this.#upgraded.size;
      if (left > 0 && performance.now() < deadlineMs) continue;
      this.#server.closeAllConnections();
      return left;
    }
  }

  #count(): Promise<number> {
    return new Promise((resolve, reject) => this.#server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))));
  }
}
