import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { handleProtocols, type Server } from 'graphql-ws';
import { WebSocketServer, type WebSocket } from 'ws';
import { ProblemError } from '../../schema/problems.ts';
import { jsonExtent } from '../json-extent.ts';
import type { Logger } from '../telemetry/logs.ts';
import { TokenBucket } from '../token-bucket.ts';

/** Thrown from a hook of the GraphQL server: closes the socket with this code and reason. */
export class SocketClosure extends Error {
  override readonly name = 'SocketClosure';
  readonly closeCode: number;

  constructor(closeCode: number, reason: string) {
    super(reason);
    this.closeCode = closeCode;
  }
}

/** What the hooks of the GraphQL server know of the socket beneath. */
export interface SocketExtra {
  /** The upgrade. */
  readonly request: IncomingMessage;
  readonly socketClosed: AbortSignal;
  close(code: number, reason: string): void;
}

export interface WebSocketEndpoint {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes every socket with 1001 and waits until all are gone. */
  close(): Promise<void>;
}

export interface WebSocketEndpointOptions {
  readonly logger: Logger;
  readonly pingIntervalMs: number;
  readonly maxMessageBytes: number;
  /** Names the answer to an upgrade. */
  readonly newRequestId?: (() => string) | undefined;
  /** The whole HTTP answer to a request that offers to become a WebSocket and cannot; a line of text when absent. */
  readonly refuseHandshake?: ((problem: ProblemError) => string) | undefined;
}

/** Whoever has this much to read has stopped reading. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
/** What one socket may say: a hundred operations at once and their ends, then more than any client does. */
const MESSAGES = { burst: 500, perSecond: 50 };
const BYTES = { burst: 2 * 1024 * 1024, perSecond: 64 * 1024 };
/** Of one message; and before the socket is let in, when a key is all that there is to say. */
const MAX_VALUES = 10_000;
const MAX_UNADMITTED_BYTES = 8 * 1024;
/** How the first answer of the protocol begins. */
const ACKNOWLEDGED = '{"type":"connection_ack"';
const BAD_MESSAGE = 4400;
const TOO_MANY_REQUESTS = 4429;
const INTERNAL_ERROR = 4500;
const GOING_AWAY = 1001;
/** A peer that does not answer a close frame is cut off after this. */
const CLOSE_GRACE_MS = 1_000;

/**
 * Carries the `graphql-transport-ws` protocol over WebSockets (RFC 6455). Unlike graphql-ws's own adapter it logs
 * through our logger, never names an internal error to the peer, and lets hooks choose the close code.
 */
export function webSocketEndpoint(server: Server<SocketExtra>, options: WebSocketEndpointOptions): WebSocketEndpoint {
  const { logger } = options;
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols,
    maxPayload: options.maxMessageBytes,
    perMessageDeflate: false,
  });
  const { newRequestId } = options;
  if (newRequestId !== undefined)
    sockets.on('headers', (headers) => void headers.push(`X-Request-Id: ${newRequestId()}`));
  if (options.refuseHandshake !== undefined) refuseHandshakes(sockets, options.refuseHandshake);

  const open = (socket: WebSocket, request: IncomingMessage): void => {
    const gone = new AbortController();
    let isAdmitted = false;
    const messages = new TokenBucket(MESSAGES, performance.now());
    const bytes = new TokenBucket(BYTES, performance.now());
    const closed = server.opened(
      {
        protocol: socket.protocol,
        // Resolves when the bytes are handed over, so that a slow reader slows its streams down.
        send: (data) =>
          new Promise((resolve, reject) => {
            if (socket.readyState !== socket.OPEN) return resolve();
            isAdmitted ||= data.startsWith(ACKNOWLEDGED);
            // A peer that is gone is not a failure of ours.
            socket.send(data, (error) => (error && socket.readyState === socket.OPEN ? reject(error) : resolve()));
            // Answers to questions that somebody goes on asking without reading any.
            if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate();
            return undefined;
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) =>
          socket.on('message', (data: Buffer) => {
            const nowMs = performance.now();
            if (socket.readyState !== socket.OPEN) return;
            if (!messages.take(1, nowMs) || !bytes.take(data.length, nowMs))
              return socket.close(TOO_MANY_REQUESTS, 'Too many messages');
            if ((!isAdmitted && data.length > MAX_UNADMITTED_BYTES) || jsonExtent(data).values > MAX_VALUES)
              return socket.close(BAD_MESSAGE, 'Message too large');
            handle(String(data)).catch((error: unknown) => closeAfter(error));
          }),
      },
      { request, socketClosed: gone.signal, close: (code, reason) => socket.close(code, reason) },
    );
    const closeAfter = (error: unknown): void => {
      if (error instanceof SocketClosure) return socket.close(error.closeCode, error.message);
      if (isOfServers(error)) return socket.close(BAD_MESSAGE, 'Invalid message received');
      logger.error({ err: error }, 'a WebSocket message could not be handled');
      socket.close(INTERNAL_ERROR, 'Internal server error');
    };
    const stopPings = keepAlive(socket, options.pingIntervalMs);
    socket.on('error', (error) => logger.debug({ err: error }, 'a WebSocket broke'));
    socket.once('close', (code, reason) => {
      stopPings();
      gone.abort();
      Promise.resolve(closed(code, String(reason))).catch((error: unknown) =>
        logger.error({ err: error }, 'a closed WebSocket could not be cleaned up'),
      );
    });
  };

  return {
    handleUpgrade: (request, socket, head) => sockets.handleUpgrade(request, socket, head, open),
    async close() {
      for (const socket of sockets.clients) socket.close(GOING_AWAY, 'Going away');
      const cutOff = setTimeout(() => sockets.clients.forEach((socket) => socket.terminate()), CLOSE_GRACE_MS);
      await new Promise<void>((resolve) => sockets.close(() => resolve()));
      clearTimeout(cutOff);
    },
  };
}

/** Pings at every interval and cuts off a peer that has not answered the one before. */
function keepAlive(socket: WebSocket, intervalMs: number): () => void {
  let answered = true;
  socket.on('pong', () => (answered = true));
  const pings = setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
  }, intervalMs);
  return () => clearInterval(pings);
}

/** graphql-ws takes a message that only servers may send for a fault of its own, where the protocol has 4400. */
function isOfServers(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Unexpected message of type ');
}

/** ws would answer a handshake that it cannot accept (RFC 6455 §4.2.1) with a line of text. */
function refuseHandshakes(sockets: WebSocketServer, refusal: (problem: ProblemError) => string): void {
  sockets.on('wsClientError', (error: Error, socket: Duplex) => {
    const header = /Sec-WebSocket-\w+/.exec(error.message)?.[0];
    // RFC 6455 §4.4, RFC 9110 §15.5.22.
    const status = header === 'Sec-WebSocket-Version' ? 426 : 400;
    socket.once('finish', () => socket.destroy());
    socket.end(
      refusal(
        new ProblemError(
          'invalid_request',
          `${error.message}. Open the WebSocket as RFC 6455 says, in its version 13.`,
          { code: 'invalid_handshake', status, ...(header === undefined ? {} : { param: `header:${header}` }) },
        ),
      ),
    );
  });
}
