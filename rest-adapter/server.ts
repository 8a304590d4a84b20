import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { createBootstrap } from './bootstrap/bootstrap.ts';
import { Call, type Door, type Route } from './call.ts';
import { CONTRACT, matchRoute } from './contract.ts';
import { createDocumentation } from './documentation.ts';
import { createConsent } from './oauth/consent.ts';
import { runPipeline } from './pipeline.ts';
import { createWellKnown } from './well-known.ts';

/** How long an answered request may go on sending a body that nobody wants, before its connection is cut. */
const LINGER_MS = 2000;

const BASE_PATH = '/v1';

/**
 * Settings for the HTTP server that the door is mounted on (slow clients, oversized headers). The time limit of a
 * body is the door's own, since uploads may last: `requestTimeout` must stay off.
 */
export const HTTP_SERVER_OPTIONS = { headersTimeout: 5000, requestTimeout: 0, connectionsCheckingInterval: 1000, maxHeaderSize: 16 * 1024, keepAliveTimeout: 65_000 } as const;

export interface RestDoor {
  /** Serves `/v1/**`, `/openapi.json`, `/docs/**`, `/bootstrap` and `/.well-known/**`; everything else goes to the next middleware. */
  readonly middleware: Middleware;
  /** Ends waits and event streams, so that the server can drain; requests under way are answered. */
  close(): void;
}

/**
 * The REST door.
 * @throws Error at start when the client lacks a document that a row of the contract says.
 */
export function createRestDoor(options: Omit<Door, 'closing'>): RestDoor {
  const closing = new AbortController();
  const door: Door = { ...options, closing: closing.signal };
  for (const { document, job } of CONTRACT) {
    for (const name of [document, job?.progressDocument, job?.resourceDocument]) if (typeof name === 'string') door.client.document(name);
  }
  const documentation = createDocumentation(options.config.publicBaseUrl);
  const wellKnown = createWellKnown(options);
  const bootstrap = createBootstrap(options);
  const consent = createConsent(options);

  return {
    async middleware(http, next) {
      if (documentation(http) || (await wellKnown(http)) || (await bootstrap(http)) || (await consent(http))) return;
      if (http.path !== BASE_PATH && !http.path.startsWith(`${BASE_PATH}/`)) {
        await next();
        return;
      }
      await serve(http, door, matchRoute(http.method, http.path.slice(BASE_PATH.length)));
    },
    close: () => closing.abort(),
  };
}

async function serve(http: Context, door: Door, route: Route): Promise<void> {
  const startedMs = performance.now();
  const call = new Call(http, door, route);
  // Koa hands over only after this returns, so the listener is in time for every answer.
  http.res.once('finish', () => cutUnwantedBody(http.req));
  await runPipeline(call);
  const level = route.operation?.kind === 'publicRead' ? 'debug' : 'info';
  call.logger[level]({ method: http.method, path: http.path, operation: route.operation?.id, status: http.status, elapsedMs: Math.round(performance.now() - startedMs) }, 'request');
}

/**
 * A refused upload may still be on its way. Cutting it at once could lose the answer (the peer sees a reset before
 * it reads); swallowing all of it would be a free ride. So it is swallowed for a moment, then cut.
 */
function cutUnwantedBody(request: IncomingMessage): void {
  if (request.complete) return;
  const { socket } = request;
  const timer = setTimeout(() => {
    if (!request.complete) socket.destroy();
  }, LINGER_MS);
  // Of the request, not of its connection: that one may serve many more.
  request.once('close', () => clearTimeout(timer));
  // Whoever stopped reading half-way still listens, and a stream with such a listener does not flow.
  request.removeAllListeners('readable');
  request.resume();
}
