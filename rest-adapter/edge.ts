import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { ProblemError } from '../schema/problems.ts';
import { answerCrossOrigin, securityHeaders, type CorsOrigins } from './browser-rules.ts';
import { errorObject } from './error-answer.ts';
import { headerName } from './header-name.ts';
import { setHeaders } from './set-headers.ts';
import { CURRENT_VERSION } from './versions.ts';

export interface EdgeOptions {
  readonly publicBaseUrl: string;
  readonly corsOrigins: CorsOrigins;
  readonly newRequestId: () => string;
  /** Answers with the problem behind what was thrown, or masks it. */
  readonly refuse: (http: Context, thrown: unknown) => Promise<void>;
}

/** How long an answered request may go on sending a body that nobody wants, before its connection is cut. */
const LINGER_MS = 2000;
const MAX_UNWANTED_CHUNKED_BYTES = 16 * 1024;
const MAX_ACCEPT_LENGTH = 1024;

/** The outermost of all doors: what holds for every answer of the service, and the error of last resort. */
export function createEdge({ publicBaseUrl, corsOrigins, newRequestId, refuse }: EdgeOptions): Middleware {
  const headers = securityHeaders(publicBaseUrl.startsWith('https:'));
  return async (http, next) => {
    // Koa hands over only after this returns, so the listener is in time for every answer.
    http.res.once('finish', () => cutUnwantedBody(http.req));
    setHeaders(http, headers);
    // Doors that log and answer under an id of their own put it in place of this one.
    http.set('X-Request-Id', newRequestId());
    if (answerCrossOrigin(http, corsOrigins)) return;
    try {
      assertUnambiguous(http.req);
      // Weighing one choice against another costs milliseconds in a long one; it may be ignored (RFC 9110 §12.5.1).
      if ((http.req.headers.accept?.length ?? 0) > MAX_ACCEPT_LENGTH) http.req.headers.accept = '*/*';
      readAbsoluteTarget(http.req);
      await next();
    } catch (error) {
      await refuse(http, error);
    }
  };
}

/** Node keeps the first of these and forgets the others; a proxy in front may have gone by another. */
const SINGULAR: ReadonlySet<string> = new Set(['host', 'authorization', 'content-type']);
/** RFC 9110 §7.2; a name may be empty. */
const HOST_PATTERN = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/**
 * Refuses requests that somebody else could understand otherwise (RFC 9112 §3.2): for another host, with another key.
 * @throws ProblemError `invalid_request`
 */
function assertUnambiguous({ httpVersion, headers, rawHeaders }: IncomingMessage): void {
  if (httpVersion === '1.1' && headers.host === undefined)
    throw new ProblemError('invalid_request', 'An HTTP/1.1 request needs the header Host.', { param: 'header:Host' });
  if (headers.host !== undefined && !HOST_PATTERN.test(headers.host))
    throw new ProblemError('invalid_request', 'Host has to be the name or address of a server, and its port.', {
      param: 'header:Host',
    });
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (seen.has(name))
      throw new ProblemError('invalid_request', `The header ${rawHeaders[at]} is given more than once.`, {
        code: 'repeated',
        param: `header:${headerName(name)}`,
      });
    if (SINGULAR.has(name)) seen.add(name);
  }
}

/** A target with a host of its own counts instead of Host (RFC 9112 §3.2.2). */
function readAbsoluteTarget(request: IncomingMessage): void {
  if (request.url?.startsWith('/') !== false || !URL.canParse(request.url)) return;
  const { host, pathname, search } = new URL(request.url);
  request.url = `${pathname}${search}`;
  request.headers.host = host;
}

/**
 * A whole HTTP/1.1 message for what Node's parser refused, or is no handshake of a WebSocket: there is no answer object
 * then, only a socket.
 */
export function problemMessage(problem: ProblemError, requestId: string, publicBaseUrl: string): string {
  const { status } = problem.problem;
  const error = errorObject(problem, requestId, publicBaseUrl);
  const body = JSON.stringify({ error });
  const headers = {
    'X-Request-Id': requestId,
    'SVC-API-Version': CURRENT_VERSION,
    'SVC-HREI-Score': '0.00',
    'SVC-HREI-Risk': 'minimal',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...(error['retry_after'] === undefined ? {} : { 'Retry-After': String(error['retry_after']) }),
    ...(status === 405 ? { Allow: ALL_METHODS } : {}),
    ...(status === 426 ? { Upgrade: 'websocket', Connection: 'Upgrade, close', 'Sec-WebSocket-Version': '13' } : {}),
  };
  return [
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n');
}

const ALL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  417: 'Expectation Failed',
  426: 'Upgrade Required',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
};

const FULL = 'The server has as many connections as it takes. Come back a little later.';
const ADDRESS_FULL =
  'Your address has as many connections at work as one may have. Send requests over fewer, or wait for answers.';
const CLOSED = 'The connection was closed before this request had come: nothing was done. Send it again over another.';

/**
 * Why a request got no further than its connection, as a problem; the codes are those of Node's `clientError` event,
 * and CONNECT, EXPECTATION, CONNECTIONS_FULL, ADDRESS_FULL and CONNECTION_CLOSED.
 */
export function parserProblem(code: string | undefined): ProblemError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ProblemError('invalid_request', 'The headers are larger than 16 KiB together.', {
        status: 431,
        code: 'headers_too_large',
      });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ProblemError('payload_too_large', 'The chunk extensions of the body are larger than 16 KiB.', {
        code: 'chunk_extensions_too_large',
      });
    case 'CONNECT':
      return new ProblemError('method_not_allowed', 'This server is not a proxy and does not take CONNECT.');
    case 'EXPECTATION':
      return new ProblemError('invalid_request', 'The only expectation that can be met is 100-continue.', {
        status: 417,
        param: 'header:Expect',
      });
    case 'CONNECTIONS_FULL':
      return new ProblemError('service_unavailable', FULL, { code: 'too_many_connections' });
    case 'ADDRESS_FULL':
      return new ProblemError('service_unavailable', ADDRESS_FULL, { code: 'too_many_connections_of_address' });
    case 'CONNECTION_CLOSED':
      return new ProblemError('service_unavailable', CLOSED, { code: 'connection_closed', retryAfterS: 1 });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ProblemError('invalid_request', 'The headers did not arrive in time.', {
        status: 408,
        code: 'request_timeout',
      });
    default:
      return new ProblemError('invalid_request', 'This is not an HTTP/1.1 request.', { code: 'malformed_http' });
  }
}

/**
 * A refused upload may still be on its way. Cutting it at once could lose the answer (the peer sees a reset before
 * it reads); swallowing all of it would be a free ride. So it is swallowed for a moment, then cut.
 */
export function cutUnwantedBody(request: IncomingMessage): void {
  if (request.complete) return;
  const { socket } = request;
  const timer = setTimeout(() => {
    if (!request.complete) socket.destroy();
  }, LINGER_MS).unref();
  // Chunks may be of one byte each, and each costs the parser as much as a large one.
  if (request.headers['transfer-encoding'] !== undefined) {
    const before = socket.bytesRead;
    request.on('data', () => {
      if (socket.bytesRead - before > MAX_UNWANTED_CHUNKED_BYTES) socket.destroy();
    });
  }
  // Of the request, not of its connection: that one may serve many more.
  request.once('close', () => clearTimeout(timer));
  // Whoever stopped reading half-way still listens, and a stream with such a listener does not flow.
  request.removeAllListeners('readable');
  request.resume();
}
