import type { Context } from 'koa';

/**
 * Web pages of other origins that may speak to the service: none, any (`*`), or those listed (`https://app.example`).
 */
export type CorsOrigins = readonly string[];

/** Documents that anyone may read from any page: they are public, and verifiers and tools of others live by them. */
const PUBLIC_DOCUMENT = /^\/(?:openapi\.json|\.well-known\/.+)$/;
/** A page for people, which no script of another origin has any business with (RFC 9700 §2.6). */
const CONSENT_PAGE = /\/oauth\/authorize$/;

const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'Content-Encoding',
  'X-Nonce',
  'SVC-API-Version',
  'SVC-Idempotency-Key',
  'Idempotency-Key',
  'SVC-Workspace',
  'SVC-Sandbox-Delay',
  'SVC-Sandbox-Force',
  'Prefer',
  'If-None-Match',
  'Last-Event-ID',
  'Apollo-Require-Preflight',
].join(', ');
const EXPOSED_HEADERS = [
  'X-Request-Id',
  'SVC-API-Version',
  'SVC-HREI-Score',
  'SVC-HREI-Risk',
  'SVC-Environment',
  'SVC-Idempotent-Replayed',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Link',
  'Location',
  'ETag',
  'Deprecation',
  'Sunset',
  'Preference-Applied',
  'WWW-Authenticate',
  'Content-Disposition',
  'Allow',
].join(', ');
/** Browsers ask again after this; Chromium keeps no answer for longer. */
const PREFLIGHT_CACHE_S = 7200;
const HSTS = `max-age=${365 * 24 * 3600}`;

/**
 * What browsers are told with every answer, doors may say more: not to guess types, not to frame, not to leak
 * addresses, and, where the service is https, never to come without it (RFC 6797).
 */
export function securityHeaders(isHttps: boolean): Record<string, string> {
  return {
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    ...(isHttps ? { 'Strict-Transport-Security': HSTS } : {}),
  };
}

/**
 * Cross-origin rules (WHATWG Fetch §3.3). Credentials are never allowed: who calls is told by a bearer token alone,
 * and no cookie means that a page can do nothing in the name of its visitor.
 * @returns true when the request was a preflight and is answered
 */
export function answerCrossOrigin(http: Context, allowed: CorsOrigins): boolean {
  const allowedOrigin = originFor(http, allowed);
  if (allowed.length > 0) http.vary('Origin');
  if (allowedOrigin === undefined) return false;
  http.set({ 'Access-Control-Allow-Origin': allowedOrigin, 'Access-Control-Expose-Headers': EXPOSED_HEADERS });
  if (http.method !== 'OPTIONS' || http.get('Access-Control-Request-Method') === '') return false;
  http.set({
    'Access-Control-Allow-Methods': ALLOWED_METHODS,
    'Access-Control-Allow-Headers': ALLOWED_HEADERS,
    'Access-Control-Max-Age': String(PREFLIGHT_CACHE_S),
  });
  http.status = 204;
  return true;
}

function originFor(http: Context, allowed: CorsOrigins): string | undefined {
  if (PUBLIC_DOCUMENT.test(http.path)) return '*';
  const origin = http.get('Origin');
  if (origin === '') return undefined;
  if (CONSENT_PAGE.test(http.path)) return undefined;
  if (allowed.includes('*')) return '*';
  return allowed.includes(origin) ? origin : undefined;
}

/**
 * Whether a page may open a WebSocket. Browsers ask nobody before they do, so that the server has to look at Origin
 * itself (RFC 6455 §10.2): programs send none, the service's own pages send its own.
 */
export function mayOpenSocket(
  origin: string | undefined,
  host: string | undefined,
  publicBaseUrl: string,
  allowed: CorsOrigins,
): boolean {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return true;
  if (!URL.canParse(origin)) return false;
  return new URL(origin).host === host || new URL(origin).origin === new URL(publicBaseUrl).origin;
}
