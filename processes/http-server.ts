import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, Server as SecureServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IncomingMessage } from 'node:http';
import { HTTP_SERVER_OPTIONS } from '../rest-adapter/server.ts';
import type { Certificate } from './certificate.ts';
import { ListeningSockets } from './listening-sockets.ts';

/** A server that accepts connections. */
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
  /** Which requests become WebSockets. Other offers to upgrade are ignored, as RFC 9110 §7.8 allows (curl --http2 makes one with every request). */
  readonly mayUpgrade?: (request: IncomingMessage) => boolean;
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** The whole answer to what is not a request that could be handled, by the parser's code; the connection ends behind it. */
  readonly refusal: (code: string | undefined) => string;
  /** Serves HTTPS, TLS 1.3 only, when given. */
  readonly certificate?: Certificate;
}

/** The address is taken, or may not be listened on; the message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const SWEEP_MS = 50;
/** How long a refused peer may take to read why, and a connection without a request may stay when the server ends. */
const LINGER_MS = 2_000;
/** A connection on which nothing moves for so long is cut: somebody who asks for much and does not read it. Event streams have heartbeats, uploads a limit of their own. */
const SILENCE_MS = 180_000;

/** Listens with time limits that no slow client outlives. @throws ListenError */
export async function listen(options: ServerOptions): Promise<ListeningServer> {
  const { upgrade, mayUpgrade = () => false, certificate } = options;
  const settings = { ...HTTP_SERVER_OPTIONS, shouldUpgradeCallback: mayUpgrade };
  const server = certificate === undefined ? createServer(settings, options.handler) : createSecureServer({ ...settings, ...certificate.current(), minVersion: 'TLSv1.3' }, options.handler);
  server.setTimeout(SILENCE_MS);
  if ('setSecureContext' in server) certificate!.whenReplaced((pair) => server.setSecureContext({ ...pair, minVersion: 'TLSv1.3' }));
  refuseUnparsed(server, options.refusal);
  const connections = new Connections(server);
  if (upgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      connections.upgrade(socket);
      upgrade(request, socket, head);
    });
  }
  const sockets = await ListeningSockets.open(server, options).catch((error: NodeJS.ErrnoException) => {
    throw new ListenError(listenFailure(error, options), { cause: error });
  });
  return { port: sockets.port, announceEnd: () => connections.announceEnd(), drain: (timeoutMs) => connections.drain(sockets, timeoutMs) };
}

/** Node would close the connection, or answer without a body. */
function refuseUnparsed(server: Server, refusal: ServerOptions['refusal']): void {
  const end = (socket: Duplex, code: string | undefined): void => {
    if (!socket.writable) return void socket.destroy();
    socket.end(refusal(code));
    // The peer may go on sending forever.
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answer = answerUnderWay(socket);
    // Half an answer may be out: nothing of another may come behind it.
    if (error.code === 'ECONNRESET' || answer?.headersSent === true) socket.destroy();
    // What could not be read came behind a whole request: its answer is the next one, and the last.
    else if (answer?.req.complete === true) answer.setHeader('Connection', 'close');
    else end(socket, error.code);
  });
  server.on('connect', (_request, socket) => end(socket, 'CONNECT'));
  server.on('checkExpectation', (_request, response) => end(response.socket!, 'EXPECTATION'));
}

/** The answer that a connection waits for or is in the middle of, if any: Node keeps it there. */
function answerUnderWay(socket: Duplex): ServerResponse | null {
  return (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
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
  readonly #open = new Set<Duplex>();
  readonly #upgraded = new Set<Duplex>();
  #ending = false;

  constructor(server: Server) {
    this.#server = server;
    // Of TLS the inner side, which is the one that answers name.
    server.on(server instanceof SecureServer ? 'secureConnection' : 'connection', (socket: Duplex) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
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

  async drain(sockets: ListeningSockets, timeoutMs: number): Promise<number> {
    this.announceEnd();
    sockets.close();
    const lingerMs = performance.now() + Math.min(LINGER_MS, timeoutMs);
    for (const deadlineMs = performance.now() + timeoutMs; ; await sleep(SWEEP_MS)) {
      // A connection whose answer had begun before the end was announced stays open behind it.
      this.#server.closeIdleConnections();
      if (performance.now() > lingerMs) this.#closeSilent();
      const left = (await sockets.countConnections()) - this.#upgraded.size;
      if (left > 0 && performance.now() < deadlineMs) continue;
      this.#server.closeAllConnections();
      return left;
    }
  }

  /**
   * Closes connections that have brought no request, or not all of its headers: browsers and HTTP libraries open some
   * before they need them. To Node they are not idle, and a closed server no longer watches how long headers take.
   */
  #closeSilent(): void {
    const answered = new Set<Duplex | null>([...this.#answers].map(({ socket }) => socket));
    for (const socket of this.#open) if (!answered.has(socket) && !this.#upgraded.has(socket)) socket.destroy();
  }
}
