import type { Context, Middleware } from 'koa';
import { Coalescer } from '../platform/coalescer.ts';
import { createBootstrap } from './bootstrap/bootstrap.ts';
import { Call, type Door, type Route } from './call.ts';
import { CONTRACT, matchRoute } from './contract.ts';
import { createDocumentation } from './documentation.ts';
import { createEdge } from './edge.ts';
import { CONSENT_PATH, createConsent } from './oauth/consent.ts';
import { runPipeline } from './pipeline.ts';
import { documentAnswer } from './steps/execute-document.ts';
import { createWellKnown, KEY_SET_PATH } from './well-known.ts';

const BASE_PATH = '/v1';

/**
 * Settings for the HTTP server that the door is mounted on (slow clients, oversized headers). The time limit of a body
 * is the door's own, since uploads may last: `requestTimeout` must stay off. A missing Host is the edge's to refuse.
 */
export const HTTP_SERVER_OPTIONS = {
  headersTimeout: 5000,
  requestTimeout: 0,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16 * 1024,
  keepAliveTimeout: 65_000,
  requireHostHeader: false,
} as const;

export interface RestDoor {
  /** Comes before every other door: headers for browsers, cross-origin rules, and the error of last resort. */
  readonly edge: Middleware;
  /**
   * Serves `/v1/**`, `/openapi.json`, `/docs/**`, `/bootstrap` and `/.well-known/**`; everything else goes to the next
   * middleware.
   */
  readonly middleware: Middleware;
  /**
   * Comes behind every other door and answers what none of them took: 404, or 405 at an address that can only be read.
   * @param readable addresses of other doors that take GET and HEAD
   */
  unmatched(readable?: readonly string[]): Middleware;
  /** Ends waits and event streams, so that the server can drain; requests under way are answered. */
  close(): void;
}

/**
 * The REST door.
 * @throws Error at start when the client lacks a document that a row of the contract says.
 */
export function createRestDoor(options: Omit<Door, 'closing' | 'reads'>): RestDoor {
  const closing = new AbortController();
  const door: Door = { ...options, reads: new Coalescer(documentAnswer), closing: closing.signal };
  for (const { document, job } of CONTRACT) {
    for (const name of [document, job?.progressDocument, job?.resourceDocument])
      if (typeof name === 'string') door.client.document(name);
  }
  const documentation = createDocumentation(options.config.publicBaseUrl);
  const wellKnown = createWellKnown(options);
  const bootstrap = createBootstrap(options);
  const consent = createConsent(options);

  return {
    edge: createEdge({
      publicBaseUrl: options.config.publicBaseUrl,
      corsOrigins: options.config.corsOrigins ?? [],
      newRequestId: options.newRequestId,
      refuse: (http, failure) => serve(http, door, { operation: null, allow: [], failure }),
    }),
    unmatched(readable = []) {
      return (http) =>
        serve(http, door, {
          operation: null,
          allow:
            documentation.has(http.path) || http.path === KEY_SET_PATH || readable.includes(http.path)
              ? ['GET', 'HEAD']
              : [],
        });
    },
    async middleware(http, next) {
      const { path } = http;
      if (path !== BASE_PATH && !path.startsWith(`${BASE_PATH}/`)) {
        if (!documentation.answer(http) && !(await wellKnown(http)) && !(await bootstrap(http))) await next();
      } else if (path === CONSENT_PATH) {
        await consent(http);
      } else {
        await serve(http, door, matchRoute(http.method, path.slice(BASE_PATH.length)));
      }
    },
    close: () => closing.abort(),
  };
}

async function serve(http: Context, door: Door, route: Route): Promise<void> {
  const startedMs = performance.now();
  if (route.operation !== null) door.onMatched?.(http.req, route.operation);
  const call = new Call(http, door, route);
  await runPipeline(call);
  const elapsedMs = performance.now() - startedMs;
  const { principal } = call;
  if (principal !== null && route.operation !== null) {
    const endpoint = `${route.operation.method} ${route.operation.path}`;
    door.onAnswered?.({ principal, endpoint, failed: http.status >= 400, elapsedMs });
  }
  const level = route.operation?.kind === 'publicRead' ? 'debug' : 'info';
  if (!door.logger.isLevelEnabled(level)) return;
  call.logger[level](
    {
      method: http.method,
      path: http.path,
      operation: route.operation?.id,
      status: http.status,
      elapsedMs: Math.round(elapsedMs),
    },
    'request',
  );
}
