import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { mostHeld } from '../platform/most-held.ts';
import { addressBlock } from '../services/identity/admission/address-block.ts';
import { clientAddress } from '../rest-adapter/client-address.ts';
import { Arrivals } from './arrivals.ts';
import { ConnectionCaps, type ConnectionLimits } from './connection-caps.ts';
import type { ConnectionMetrics } from './connection-metrics.ts';
import type { ListeningSockets } from './listening-sockets.ts';

export interface ConnectionsOptions {
  readonly limits: ConnectionLimits;
  readonly handler: RequestListener;
  /** Whether a request is answered even when all places are taken. */
  readonly isProbe?: (request: IncomingMessage) => boolean;
  /**
   * The whole answer to what is not handled, by the code of Node's parser or one of ours: CONNECT, EXPECTATION,
   * CONNECTIONS_FULL, ADDRESS_FULL, CONNECTION_CLOSED. The connection ends behind it.
   */
  readonly refusal: (code: string | undefined) => string;
  readonly metrics?: ConnectionMetrics | undefined;
}

interface Connection {
  readonly tcp: Socket;
  /** What is spoken on; of TLS the inner side, null until hands are shaken. */
  inner: Duplex | null;
  /** What it is counted by. */
  readonly block: string;
  /** Which places were all taken when it came. It has one of the reserve then, and probes alone are answered on it. */
  full: 'address' | 'all' | null;
  /** How many answers have not ended. */
  answers: number;
  /** The last of them. */
  newest: ServerResponse | null;
  wasAnswered: boolean;
  isUpgraded: boolean;
  /** Nothing is answered on it any more: what still comes is read and dropped. */
  isGoing: boolean;
  idleSinceMs: number;
  /** What it had brought when it became idle: more is the beginning of a request. */
  idleSinceBytes: number;
}

/**
 * Places beside the limit: for probes, for telling others that there is no place, and for those that gave theirs up and
 * have not gone yet. Who has not brought a request gives way here, too, so that many silent ones don't keep probes out.
 */
export const RESERVE = { max: 128, maxPerAddress: 16 } as const;
/**
 * New connections from one address, once it has used up as many as it may have at a time: no client of its own opens
 * more.
 */
const ARRIVALS_PER_SECOND = 50;
const MIN_BURST = 512;
const SWEEP_MS = 50;
/** Of answers that all clients together have not taken yet. */
const MAX_UNREAD_BYTES = 256 * 1024 ** 2;
const UNREAD_LOOK_MS = 250;
/** How long who was told to go may take to read that; and when the server ends, who has not asked yet to do so. */
const LINGER_MS = 2_000;
/** When the server ends, a kept connection stays so long behind its last answer: who is at work asks again by then. */
const KEPT_MS = 500;
/** Nobody waits at the door when nothing happened for so long; after the longer time it is closed all the same. */
const QUIET_MS = 20;
const CROWDED_MS = 500;

/** The connections of a server: which may stay, what is being answered on them, and how they end without a loss. */
export class Connections {
  readonly #server: Server;
  readonly #options: ConnectionsOptions;
  readonly #places: ConnectionCaps<Connection>;
  readonly #reserve = new ConnectionCaps<Connection>(RESERVE);
  /** Null where all come from one address, that of a proxy. */
  readonly #arrivals: Arrivals | null;
  readonly #open = new Set<Connection>();
  readonly #bySocket = new WeakMap<Duplex, Connection>();
  /** By address and port of their peers. */
  readonly #shakingHands = new Map<string, Connection>();
  readonly #looks: NodeJS.Timeout;
  #isEnding = false;
  /** Requests that wait until the listening sockets are closed. */
  #held: (() => void)[] | null = null;
  /** Counts connections that came and answers that ended. */
  #moves = 0;

  constructor(server: Server, options: ConnectionsOptions) {
    this.#server = server;
    this.#options = options;
    this.#places = new ConnectionCaps(options.limits);
    const { max, maxPerAddress } = options.limits;
    this.#arrivals =
      maxPerAddress >= max
        ? null
        : new Arrivals({ burst: Math.max(MIN_BURST, maxPerAddress), perSecond: ARRIVALS_PER_SECOND });
    options.metrics?.show(options.limits.max, () => this.#open.size);
    // The one way in, whichever listening socket it was. Node's own listener, the only one yet, has to wait.
    const [letIn] = server.listeners('connection');
    server.removeAllListeners('connection').on('connection', (tcp: Socket) => {
      if (this.#takeIn(tcp)) Reflect.apply(letIn!, server, [tcp]);
    });
    server.on('secureConnection', (inner: Socket) => this.#secured(inner));
    server.on('request', (request, response) => this.#request(request, response));
    server.on('connect', (_request, socket) => this.#refuse(socket, 'CONNECT'));
    server.on('checkExpectation', (_request, response) => this.#refuse(response.socket!, 'EXPECTATION'));
    this.#looks = setInterval(() => this.#cutUnread(), UNREAD_LOOK_MS).unref();
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#unreadable(error.code, socket));
  }

  /** Whether a connection may become something else; it serves no requests then. If not, it has been answered. */
  upgrade(socket: Duplex): boolean {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || connection.isGoing || connection.full !== null) {
      this.#refuse(socket, fullCode(connection));
      return false;
    }
    connection.isUpgraded = true;
    this.#places.busy(connection);
    return true;
  }

  /** From now on the last answer of every connection ends it. */
  announceEnd(): void {
    this.#isEnding = true;
    for (const { newest } of this.#open) if (newest?.headersSent === false) newest.setHeader('Connection', 'close');
  }

  /**
   * Takes no more connections, and lets what is under way be answered.
   * @returns how many answers had to be cut off at the end of the time
   */
  async drain(sockets: ListeningSockets, timeoutMs: number): Promise<number> {
    const startedMs = performance.now();
    this.announceEnd();
    await this.#untilNobodyWaits(Math.min(CROWDED_MS, timeoutMs));
    sockets.close();
    this.#release();
    for (;;) {
      // Behind a look at what has come, so that no request that is here is taken for one that is missing.
      await setImmediate();
      for (const connection of this.#open) {
        if (hasStayedTooLong(connection, startedMs)) this.#dismiss(connection, 'CONNECTION_CLOSED');
      }
      const left = [...this.#open].filter(({ isUpgraded }) => !isUpgraded);
      if (left.length > 0 && performance.now() < startedMs + timeoutMs) {
        await sleep(SWEEP_MS);
        continue;
      }
      for (const { tcp } of left) tcp.destroy();
      clearInterval(this.#looks);
      // Ends Node's watch over headers that do not come, too.
      this.#server.close();
      return left.reduce((sum, { answers }) => sum + answers, 0);
    }
  }

  /**
   * A listening socket that is closed resets the connections that it has not handed over. So requests are held back
   * until nobody comes any more: who has an answer that ends its connection would be at the door at once with another.
   */
  async #untilNobodyWaits(timeoutMs: number): Promise<void> {
    this.#held = [];
    const deadlineMs = performance.now() + timeoutMs;
    for (let quiet = false; !quiet && performance.now() < deadlineMs;) {
      const before = this.#moves;
      await sleep(QUIET_MS);
      await setImmediate();
      quiet = this.#moves === before;
    }
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const handle of held) handle();
  }

  /** @returns whether there is a place for it */
  #takeIn(tcp: Socket): boolean {
    this.#moves += 1;
    const isSecure = this.#server instanceof SecureServer;
    const peer = peerOf(tcp);
    const block = addressBlock(clientAddress(tcp.remoteAddress, undefined, 0));
    if (this.#arrivals?.isTooFast(block, performance.now()) === true) {
      this.#options.metrics?.refused('rate');
      tcp.resetAndDestroy();
      return false;
    }
    const connection: Connection = {
      tcp,
      inner: isSecure ? null : tcp,
      block,
      full: null,
      answers: 0,
      newest: null,
      wasAnswered: false,
      isUpgraded: false,
      isGoing: false,
      idleSinceMs: performance.now(),
      idleSinceBytes: 0,
    };
    const outcome = this.#places.take(connection, connection.block);
    if (!outcome.taken) {
      connection.full = outcome.full;
      this.#options.metrics?.refused(outcome.full);
      if (!this.#takeReserve(connection)) {
        tcp.destroy();
        return false;
      }
    } else if (outcome.givesWay !== null) this.#giveWay(outcome.givesWay);
    this.#open.add(connection);
    if (isSecure) this.#shakingHands.set(peer, connection);
    else this.#bySocket.set(tcp, connection);
    tcp.once('close', () => {
      this.#open.delete(connection);
      this.#shakingHands.delete(peer);
      this.#places.leave(connection);
      this.#reserve.leave(connection);
    });
    return true;
  }

  #secured(inner: Socket): void {
    const connection = this.#shakingHands.get(peerOf(inner));
    if (connection === undefined) return void inner.destroy();
    this.#shakingHands.delete(peerOf(inner));
    this.#bySocket.set(inner, connection);
    connection.inner = inner;
    connection.idleSinceBytes = connection.tcp.bytesRead;
  }

  #cutUnread(): void {
    const readers = [...this.#open].map((connection) => ({
      connection,
      group: connection.block,
      bytes: (connection.inner ?? (connection.tcp as Duplex)).writableLength,
    }));
    for (const { connection } of mostHeld(readers, MAX_UNREAD_BYTES)) {
      this.#options.metrics?.unread();
      connection.tcp.resetAndDestroy();
    }
  }

  #takeReserve(connection: Connection): boolean {
    const outcome = this.#reserve.take(connection, connection.block);
    if (outcome.taken) outcome.givesWay?.tcp.destroy();
    return outcome.taken;
  }

  /** It has lost its place; there may be one in the reserve while it is told. */
  #giveWay(connection: Connection): void {
    this.#options.metrics?.gaveWay();
    if (connection.isGoing || !this.#takeReserve(connection)) connection.tcp.destroy();
    else this.#dismiss(connection, 'CONNECTION_CLOSED');
  }

  #request(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#bySocket.get(request.socket);
    const newest = connection?.newest ?? null;
    // Behind the answer that ends a connection nothing is answered, so nothing may be done (RFC 9112 §9.6).
    const isOver = newest?.headersSent === true && endsConnection(newest);
    if (connection === undefined || connection.isGoing || isOver) return void request.resume();
    if (connection.full !== null && this.#options.isProbe?.(request) !== true) {
      request.resume();
      return this.#dismiss(connection, fullCode(connection));
    }
    if (this.#isEnding || connection.full !== null) {
      if (newest?.headersSent === false) newest.removeHeader('Connection');
      response.setHeader('Connection', 'close');
    }
    connection.newest = response;
    connection.answers += 1;
    this.#placesOf(connection).busy(connection);
    response.once('close', () => this.#answered(connection, response));
    if (this.#held === null) this.#options.handler(request, response);
    else this.#held.push(() => this.#options.handler(request, response));
  }

  #answered(connection: Connection, response: ServerResponse): void {
    this.#moves += 1;
    connection.answers -= 1;
    if (endsConnection(response)) connection.isGoing = true;
    // Who would have kept its connection comes anew for every request now.
    if (this.#isEnding) this.#arrivals?.giveBack(connection.block);
    if (connection.answers > 0) return;
    connection.newest = null;
    connection.wasAnswered = true;
    connection.idleSinceMs = performance.now();
    connection.idleSinceBytes = connection.tcp.bytesRead;
    if (!connection.isUpgraded) this.#placesOf(connection).idle(connection);
  }

  #placesOf({ full }: Connection): ConnectionCaps<Connection> {
    return full === null ? this.#places : this.#reserve;
  }

  /** Node would close the connection, or answer without a body. */
  #unreadable(code: string | undefined, socket: Duplex): void {
    const { newest = null, answers = 0 } = this.#bySocket.get(socket) ?? {};
    const isBehindRequest = newest?.req.complete === true;
    // Part of an answer may be out: nothing of another may come behind it.
    if (code === 'ECONNRESET' || newest?.headersSent === true || (answers > 1 && !isBehindRequest)) socket.destroy();
    // What could not be read came behind a whole request: its answer is the next one, and the last.
    else if (isBehindRequest) newest.setHeader('Connection', 'close');
    else this.#refuse(socket, code);
  }

  #refuse(socket: Duplex, code: string | undefined): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined) socket.destroy();
    else this.#dismiss(connection, code);
  }

  /**
   * Says the last word and ends our side. A request that was on its way reads there that it was not carried out; who
   * has none open ignores it (RFC 9112 §9.2). Then the other side is read until it ends, too: a close with something
   * unread is a reset, which can overtake what was said (RFC 9112 §9.6).
   */
  #dismiss(connection: Connection, code: string | undefined): void {
    const { tcp, inner } = connection;
    connection.isGoing = true;
    if (inner?.writable !== true) return void tcp.destroy();
    inner.end(this.#options.refusal(code));
    // The peer may go on sending forever.
    setTimeout(() => tcp.destroy(), LINGER_MS).unref();
  }
}

/** Of a connection that is idle while the server ends. */
function hasStayedTooLong(connection: Connection, endSinceMs: number): boolean {
  const { tcp, wasAnswered, idleSinceMs, idleSinceBytes } = connection;
  if (connection.isUpgraded || connection.isGoing || connection.answers > 0) return false;
  const hasBegun = tcp.bytesRead !== idleSinceBytes;
  const sinceMs = hasBegun ? Math.max(idleSinceMs, endSinceMs) : idleSinceMs;
  return performance.now() - sinceMs > (wasAnswered && !hasBegun ? KEPT_MS : LINGER_MS);
}

function fullCode(connection: Connection | undefined): string {
  return connection?.full === 'address' ? 'ADDRESS_FULL' : 'CONNECTIONS_FULL';
}

function endsConnection(answer: ServerResponse): boolean {
  return answer.getHeader('connection') === 'close';
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
