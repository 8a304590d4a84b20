import type { Context } from 'koa';
import { ProblemError } from '../schema/problems.ts';
import type { KeySet } from '../services/trust/signing-key.ts';
import type { Door } from './call.ts';
import { errorObject } from './error-answer.ts';
import { oauthMetadata } from './oauth/metadata.ts';

export const KEY_SET_PATH = '/.well-known/jwks.json';
/** What clients may keep a key set for; the next key is published long before its first use. */
const CLIENT_CACHE_S = 300;
/** Anyone may ask, as often as they like: the database is asked once a second. */
const KEEP_MS = 1_000;

/**
 * Serves the keys that results are verified with (RFC 7517) and what OAuth clients need to know, to anyone and from any
 * page. The returned function says whether it answered.
 */
export function createWellKnown({
  keySet,
  newRequestId,
  config,
  logger,
}: Pick<Door, 'keySet' | 'newRequestId' | 'config' | 'logger'>): (http: Context) => Promise<boolean> {
  const freshKeySet = keptFor(KEEP_MS, keySet);
  const metadata = oauthMetadata(config.publicBaseUrl);
  return async (http) => {
    const document = http.method === 'GET' || http.method === 'HEAD' ? metadata.get(http.path) : undefined;
    if (document !== undefined) {
      http.set({
        'Access-Control-Allow-Origin': '*',
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'no-store',
      });
      http.type = 'application/json';
      http.body = JSON.stringify(document);
      return true;
    }
    if (http.path !== KEY_SET_PATH || (http.method !== 'GET' && http.method !== 'HEAD')) return false;
    http.type = 'application/json';
    try {
      const text = JSON.stringify(await freshKeySet());
      http.set('Cache-Control', `public, max-age=${CLIENT_CACHE_S}`);
      http.body = text;
    } catch (error) {
      const problem =
        error instanceof ProblemError
          ? error
          : new ProblemError('internal_error', 'The keys cannot be read. Try again in a moment.', { cause: error });
      const requestId = newRequestId();
      logger.error({ err: error, requestId }, 'the key set could not be read');
      const body = errorObject(problem, requestId, config.publicBaseUrl);
      http.status = problem.problem.status;
      http.set({
        'Cache-Control': 'no-store',
        'X-Request-Id': requestId,
        ...(body['retry_after'] === undefined ? {} : { 'Retry-After': String(body['retry_after']) }),
      });
      http.body = JSON.stringify({ error: body });
    }
    return true;
  };
}

/** Asks at most once per `keepMs`, and once for all who ask meanwhile; a failure is told to those alone. */
function keptFor(keepMs: number, ask: () => Promise<KeySet>): () => Promise<KeySet> {
  let kept: { readonly answer: Promise<KeySet>; readonly atMs: number } | undefined;
  return () => {
    if (kept === undefined || performance.now() - kept.atMs > keepMs) {
      const answer = ask();
      kept = { answer, atMs: performance.now() };
      answer.catch(() => (kept = undefined));
    }
    return kept.answer;
  };
}
