import type { IncomingMessage } from 'node:http';
import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { ApolloServer } from '@apollo/server';
import { koaMiddleware } from '@as-integrations/koa';
import type { Context, Middleware } from 'koa';
import { ProblemError } from '../schema/problems.ts';
import { addressedEnvironment } from '../services/identity/admission/addressed-environment.ts';
import { countRefused } from '../services/identity/admission/count-refused.ts';
import { challengeOf, insufficientScope } from '../services/identity/admission/challenge.ts';
import type { RequestContext } from '../schema/principal.ts';
import { trustHeaders } from '../schema/trust-headers.ts';
import type { AnsweredCall } from '../services/identity/limits/call-meter.ts';
import { RateLimitError, rateLimitHeaders } from '../services/identity/limits/rate-limits.ts';
import { whileCredentialLasts } from '../services/identity/admission/while-credential-lasts.ts';
import { readIdempotencyKey } from '../services/idempotency/idempotency-key.ts';
import { problemIn } from '../platform/graph/crossing-errors.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { graphiqlPage } from './graphiql-page.ts';
import { publicAdmission, type PublicAdmissionOptions } from './public-admission.ts';
import { problemBehind, type PublicErrors } from './public-errors.ts';
import { publicRequests } from './public-request.ts';

export interface HttpDoorOptions extends PublicAdmissionOptions {
  readonly server: ApolloServer<RequestContext>;
  readonly errors: PublicErrors;
  readonly logger: Logger;
  readonly newRequestId: () => string;
  /** Of the service, without `/v1`. */
  readonly rootUrl: string;
  readonly versionHeaders: (version: string) => Readonly<Record<string, string>>;
  readonly readJson: (request: IncomingMessage, maxBytes: number) => Promise<unknown>;
  readonly path: string;
  readonly maxBodyBytes: number;
  readonly graphiql: boolean;
  /** Hears of each call of somebody who is known, once it is answered. */
  readonly onAnswered?: ((call: AnsweredCall) => void) | undefined;
}

const GRAPHQL_JSON = 'application/graphql-response+json';
const JSON_TYPE = 'application/json';
const IN_SANDBOX = { 'SVC-Environment': 'sandbox' };
const METHODS: readonly string[] = ['GET', 'POST'];

/** GraphQL over HTTP: POST, GET for queries, and GraphiQL for browsers. */
export function httpDoor(options: HttpDoorOptions): Middleware {
  const { server, logger } = options;
  const admit = publicAdmission(options);
  const executed = koaMiddleware(server, { context: () => Promise.resolve(publicRequests.getStore()!.context) });
  const page = options.graphiql ? graphiql() : undefined;

  return async (ctx, next) => {
    if (ctx.path !== options.path) return next();
    if (page !== undefined && wantsPage(ctx)) return page(ctx);
    const startedMs = performance.now();
    let caller: AnsweredCall['principal'] | null = null;
    let failed = false;
    const requestId = options.newRequestId();
    ctx.set('X-Request-Id', requestId);
    ctx.set('Cache-Control', 'no-store');
    ctx.set('SVC-API-Version', options.resolveApiVersion(undefined));
    ctx.set(trustHeaders(undefined));
    if (addressedEnvironment(options.isSandboxHost(ctx.req), ctx.get('authorization')) === 'sandbox')
      ctx.set(IN_SANDBOX);
    ctx.vary('Accept');
    try {
      if (!METHODS.includes(ctx.method))
        throw new ProblemError('method_not_allowed', `GraphQL takes ${METHODS.join(' and ')}, not ${ctx.method}.`);
      const request = await admit(
        ctx.req,
        {
          requestId,
          authorization: ctx.get('authorization') || undefined,
          workspaceId: ctx.get('svc-workspace').trim() || undefined,
          nonce: ctx.get('x-nonce') || undefined,
          idempotencyKey: readIdempotencyKey(
            ctx.get('svc-idempotency-key') || undefined,
            ctx.get('idempotency-key') || undefined,
          ),
          wishes: {
            delay: ctx.get('svc-sandbox-delay') || undefined,
            force: ctx.get('svc-sandbox-force') || undefined,
          },
        },
        ({ principal, windows }) => {
          caller = principal;
          ctx.set(rateLimitHeaders(windows));
          if (principal.environment === 'sandbox') ctx.set(IN_SANDBOX);
        },
      );
      const { credential } = request;
      ctx.set({ 'SVC-API-Version': request.context.apiVersion, ...options.versionHeaders(request.context.apiVersion) });
      // Where Apollo's integration looks for it.
      if (ctx.method !== 'GET') {
        const reading = options.readJson(ctx.req, options.maxBodyBytes);
        Object.assign(ctx.request, {
          body: jsonObject(
            await whileCredentialLasts(
              (ended) => (credential === null ? () => undefined : options.admission.whenEnded(credential, ended)),
              reading,
            ),
          ),
        });
      }
      await publicRequests.run(request, () => executed(ctx, () => Promise.resolve()));
      // A stranger is counted once the document is known.
      ctx.set(rateLimitHeaders(request.windows));
      if (request.trust === null) for (const name of Object.keys(trustHeaders(undefined))) ctx.remove(name);
      else ctx.set(trustHeaders(request.trust));
      // RFC 6750 §3.1, also where other fields of the document have an answer.
      if (request.missingScopes.size > 0)
        ctx.set('WWW-Authenticate', insufficientScope([...request.missingScopes].join(' ')));
      if (request.failure !== undefined) await refuse(ctx, request.failure, requestId);
      failed = request.refused || request.failure !== undefined || ctx.status >= 400;
      if (request.refused || request.failure !== undefined) ctx.status = statusFor(ctx);
    } catch (error) {
      failed = true;
      await refuse(ctx, error, requestId);
      // Of a request that could not be read it is not known whether it is GraphQL at all.
      if (problemIn(error)?.type !== 'invalid_request') ctx.status = statusFor(ctx);
    }
    if (caller !== null)
      options.onAnswered?.({
        principal: caller,
        endpoint: `POST ${options.path}`,
        failed,
        elapsedMs: performance.now() - startedMs,
      });
  };

  /** What is refused before anybody knows who is calling is counted by its address, as over REST. */
  async function refuse(ctx: Context, error: unknown, requestId: string): Promise<void> {
    const known = problemBehind(error, requestId, logger);
    const { problem } = known;
    ctx.status = problem.status;
    if (problem.status === 405 && !ctx.res.hasHeader('Allow')) ctx.set('Allow', METHODS.join(', '));
    // What is left of the body would be taken for the next request.
    if (!ctx.req.complete) ctx.set('Connection', 'close');
    const challenge = challengeOf(known, options.rootUrl, null);
    if (challenge !== undefined) ctx.set('WWW-Authenticate', challenge);
    if (error instanceof RateLimitError) ctx.set(rateLimitHeaders(error.windows));
    else if (problem.status < 500 && !ctx.res.hasHeader('RateLimit')) {
      const windows = await countRefused(options.admission, { requestId, origin: options.originOf(ctx.req) });
      ctx.set(rateLimitHeaders(windows));
    }
    if (problem.retryAfterS !== undefined) ctx.set('Retry-After', String(problem.retryAfterS));
    ctx.type = ctx.accepts(JSON_TYPE, GRAPHQL_JSON) || JSON_TYPE;
    ctx.body = JSON.stringify({ errors: [options.errors.present(error, requestId)] });
  }
}

/** What no client of GraphQL sees as an answer to its operation: others ask less often, or elsewhere, by it. */
const TOLD_BY_STATUS: ReadonlySet<number> = new Set([405, 406, 413, 415, 429]);

/**
 * GraphQL over HTTP §6.4.1: a client that takes plain JSON only cannot tell our 4xx from a proxy's, so that a refused
 * operation is 200 for it. What is about the transport stays, and so do 5xx.
 */
function statusFor({ status, response }: Context): number {
  return response.type === JSON_TYPE && status < 500 && !TOLD_BY_STATUS.has(status) ? 200 : status;
}

function wantsPage(ctx: Context): boolean {
  return ctx.method === 'GET' && ctx.accepts(JSON_TYPE, GRAPHQL_JSON, 'text/html') === 'text/html';
}

/** @throws ProblemError `invalid_request` */
function jsonObject(body: unknown): object {
  if (typeof body === 'object' && body !== null) return body;
  throw new ProblemError('invalid_request', 'The body is not a JSON object with a query.', {
    code: 'malformed_json',
    param: '',
  });
}

/**
 * The page is large and never changes: it is made once in either form, and all who do not read their answer share it.
 */
function graphiql(): (ctx: Context) => Promise<void> {
  let plain: Buffer | undefined;
  let compressed: Promise<Buffer> | undefined;
  return async (ctx) => {
    ctx.type = 'text/html; charset=utf-8';
    ctx.set('Cache-Control', 'no-cache');
    ctx.vary('Accept');
    ctx.vary('Accept-Encoding');
    // Everything is inline: scripts, styles, and workers made from blobs.
    ctx.set(
      'Content-Security-Policy',
      "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; style-src " +
        "'unsafe-inline'; img-src data:; font-src data:; connect-src 'self'; base-uri 'none'; " +
        "frame-ancestors 'none'; " +
        "form-action 'none'",
    );
    if (ctx.acceptsEncodings('gzip') !== 'gzip') {
      ctx.body = plain ??= Buffer.from(graphiqlPage());
      return;
    }
    compressed ??= promisify(gzip)(graphiqlPage());
    ctx.body = await compressed;
    ctx.set('Content-Encoding', 'gzip');
  };
}
