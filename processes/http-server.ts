import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { HTTP_SERVER_OPTIONS } from '../rest-adapter/server.ts';
import type { Certificate } from './certificate.ts';
import { Connections, type ConnectionsOptions } from './connections.ts';
import { ListeningSockets } from './listening-sockets.ts';

/** A server that accepts connections. */
export interface ListeningServer {
  readonly port: number;
  /**
   * From now on every answer ends its connection, so that its client comes back elsewhere. Everything is still
   * answered.
   */
  announceEnd(): void;
  /**
   * Takes no more connections and lets requests under way finish. Upgraded ones (WebSockets) are left to who upgraded
   * them.
   * @returns how many answers had to be cut off at the end of the time
   */
  drain(timeoutMs: number): Promise<number>;
}

export interface ServerOptions extends ConnectionsOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /**
   * Which requests become WebSockets. Other offers to upgrade are ignored, as RFC 9110 §7.8 allows (curl --http2 makes
   * one with every request).
   */
  readonly mayUpgrade?: (request: IncomingMessage) => boolean;
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Serves HTTPS, TLS 1.3 only, when given. */
  readonly certificate?: Certificate;
}

/** The address is taken, or may not be listened on; the message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/**
 * A connection on which nothing moves for so long is cut: somebody who asks for much and does not read it. Event
 * streams have heartbeats, uploads a limit of their own.
 */
const SILENCE_MS = 180_000;

/** Listens with time limits that no slow client outlives. @throws ListenError */
export async function listen(options: ServerOptions): Promise<ListeningServer> {
  const { upgrade, mayUpgrade = () => false, certificate } = options;
  const settings = { ...HTTP_SERVER_OPTIONS, shouldUpgradeCallback: mayUpgrade };
  const tls = { minVersion: 'TLSv1.3', handshakeTimeout: settings.headersTimeout } as const;
  const secured = () => createSecureServer({ ...settings, ...certificate!.current(), ...tls });
  const server = certificate === undefined ? createServer(settings) : secured();
  server.setTimeout(SILENCE_MS);
  if ('setSecureContext' in server)
    certificate!.whenReplaced((pair) => server.setSecureContext({ ...pair, minVersion: 'TLSv1.3' }));
  const connections = new Connections(server, options);
  if (upgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (connections.upgrade(socket)) upgrade(request, socket, head);
    });
  }
  const sockets = await ListeningSockets.open(server, options).catch((error: NodeJS.ErrnoException) => {
    throw new ListenError(listenFailure(error, options), { cause: error });
  });
  return {
    port: sockets.port,
    announceEnd: () => connections.announceEnd(),
    drain: (timeoutMs) => connections.drain(sockets, timeoutMs),
  };
}

function listenFailure(error: NodeJS.ErrnoException, { host, port }: ServerOptions): string {
  if (error.code === 'EADDRINUSE')
    return `port ${port} on ${host} is taken by another program. Choose another one: PORT=${port + 1} npm start`;
  if (error.code === 'EACCES')
    return `port ${port} needs rights that this user does not have. Choose one above 1023: PORT=4000 npm start`;
  return `cannot listen on ${host}:${port}: ${error.message}`;
}
