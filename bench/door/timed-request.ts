import { randomUUID } from 'node:crypto';
import { request as httpRequest, type Agent } from 'node:http';

export interface TimedRequest {
  readonly root: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly timeoutMs: number;
  /** Address of this machine that the request comes from. */
  readonly localAddress?: string;
  /** A connection of its own, without. */
  readonly agent?: Agent;
}

export interface TimedAnswer {
  /** 0 when there was none: the connection broke, was refused, or the time was over. */
  readonly status: number;
  readonly text: string;
  readonly tookMs: number;
}

/** Sends a request and never throws: what was not answered has the status 0, and why as its text. */
export function send(request: TimedRequest): Promise<TimedAnswer> {
  const { root, method, path, key, headers = {}, body, timeoutMs, localAddress, agent } = request;
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const end = (status: number, text: string): void => {
      clearTimeout(timer);
      resolve({ status, text, tookMs: performance.now() - startedMs });
    };
    const sending = httpRequest(
      `${root}${path}`,
      {
        method,
        agent: agent ?? false,
        ...(localAddress === undefined ? {} : { localAddress }),
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(method === 'GET' ? {} : { 'x-nonce': randomUUID() }),
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () => end(response.statusCode!, Buffer.concat(chunks).toString()));
        response.once('error', (error) => end(0, String(error)));
      },
    );
    const timer = setTimeout(() => sending.destroy(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
    sending.once('error', (error) => end(0, error.message));
    sending.on('error', () => undefined);
    sending.end(body);
  });
}

export function sendJson(request: Omit<TimedRequest, 'body' | 'method'>, body: unknown): Promise<TimedAnswer> {
  const headers = { 'content-type': 'application/json', ...request.headers };
  return send({ ...request, method: 'POST', headers, body: JSON.stringify(body) });
}

/** A member of an answer's body. @throws Error when there is none */
export function memberOf({ status, text }: TimedAnswer, name: string): string {
  const value = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>)[name] : undefined;
  if (typeof value !== 'string') throw new Error(`no ${name} in an answer of ${status}: ${text.slice(0, 300)}`);
  return value;
}
