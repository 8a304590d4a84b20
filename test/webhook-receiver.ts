import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A request that reached a receiver. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As it came, for signatures. */
  readonly body: string;
  readonly message: {
    readonly id: string;
    readonly type: string;
    readonly webhook_id: string | null;
    readonly [member: string]: unknown;
  };
  readonly atMs: number;
}

export type Behaviour = (
  request: IncomingMessage,
  response: ServerResponse,
  received: Received,
) => void | Promise<void>;

/** A customer's server on this machine; each path may behave in a way of its own. */
export interface Receiver {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  readonly received: readonly Received[];
  /** How a path answers from now on; 200 where nothing is said. */
  behave(path: string, behaviour: Behaviour): void;
  /** Resolves with what fits, as soon as there are so many. @throws Error when it takes too long */
  until(count: number, fits?: (received: Received) => boolean, timeoutMs?: number): Promise<readonly Received[]>;
  close(): Promise<void>;
}

export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const behaviours = new Map<string, Behaviour>();
  const server = createServer(async (request, response) => {
    const atMs = Date.now();
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const each: Received = {
      path: request.url!,
      headers: request.headers as Record<string, string>,
      body,
      message: JSON.parse(body) as Received['message'],
      atMs,
    };
    received.push(each);
    const behaviour = behaviours.get(request.url!);
    if (behaviour === undefined) response.end('ok');
    else await behaviour(request, response, each);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    behave: (path, behaviour) => void behaviours.set(path, behaviour),
    async until(count, fits = () => true, timeoutMs = 15_000) {
      for (const deadlineMs = performance.now() + timeoutMs; ; await sleep(5)) {
        const fitting = received.filter(fits);
        if (fitting.length >= count) return fitting;
        if (performance.now() > deadlineMs) throw new Error(`${fitting.length} of ${count} messages came`);
      }
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const answer =
  (status: number, body = '', headers: Record<string, string> = {}): Behaviour =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);
export const hang: Behaviour = () => undefined;
export const reset: Behaviour = (request) => void request.socket.resetAndDestroy();
/** Says 200 and then breaks off in the middle of the body that it announced. */
export const lie: Behaviour = (request, response) => {
  response.writeHead(200, { 'content-length': '1000' }).write('all is', () => request.socket.resetAndDestroy());
};
/** A body without an end, faster than anybody should read it. */
export const flood: Behaviour = (_request, response) => {
  response.writeHead(200);
  const pour = (): void => void (response.destroyed || (response.write('x'.repeat(65_536)), setImmediate(pour)));
  pour();
};
/** A byte now and then, and never all of them. */
export const dribble: Behaviour = (_request, response) => {
  response.writeHead(200, { 'content-length': '500' });
  const timer = setInterval(() => (response.destroyed ? clearInterval(timer) : void response.write('.')), 20);
};
/** Fails so many times and then goes on as told. */
export const failFirst = (times: number, failing: Behaviour, then: Behaviour = answer(200)): Behaviour => {
  let left = times;
  return (request, response, received) => (left-- > 0 ? failing : then)(request, response, received);
};
