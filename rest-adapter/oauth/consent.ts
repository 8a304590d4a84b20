import type { Context } from 'koa';
import { ProblemError } from '../../schema/problems.ts';
import type { AuthorizationRequest } from '../../services/identity/oauth/authorization-endpoint.ts';
import type { Door } from '../call.ts';
import { originOf } from '../client-address.ts';
import { assertOwnForm, readForm, showForm } from '../form-page.ts';
import { tellWindows } from '../rate-headers.ts';
import { isSandboxHost } from '../sandbox-host.ts';
import { CURRENT_VERSION } from '../versions.ts';
import { clientSubject } from './client-subject.ts';
import { consentPage, refusalPage } from './consent-page.ts';

/** Where the authorization endpoint stands. */
export const CONSENT_PATH = '/v1/oauth/authorize';

/**
 * Serves the authorization endpoint (RFC 6749 §3.1): GET asks the resource owner, POST takes the answer. The request
 * stays in the query and is judged anew each time; the key comes in the body of a form alone.
 */
export function createConsent({
  oauth,
  admission,
  config,
  logger,
  newRequestId,
}: Pick<Door, 'oauth' | 'admission' | 'config' | 'logger' | 'newRequestId'>): (http: Context) => Promise<void> {
  const { authorizations } = oauth;

  async function answer(http: Context): Promise<void> {
    const arrival = {
      requestId: newRequestId(),
      origin: originOf(http.req, config.trustedProxyHops),
      onSandboxHost: isSandboxHost(config.sandboxBaseUrl, http.get('Host')),
    };
    http.set('X-Request-Id', arrival.requestId);
    const query = new URLSearchParams(http.querystring);
    await tellWindows(
      http,
      admission.countStranger('oauth', clientSubject(query.get('client_id'), arrival.origin.clientAddress), arrival),
    );
    const examination = await authorizations.examine(query);
    if (examination.outcome === 'refused') return show(http, 400, refusalPage(examination.message), null);
    if (examination.outcome === 'redirected') return redirect(http, examination.location);
    const { request } = examination;
    if (http.method !== 'POST') return ask(http, 200, request, null);
    // There is no session that another site could ride on, but it could post a key of its own, and so bind the
    // application to the wrong account.
    assertOwnForm(http, 'Go back to the application and start again.');
    const form = await readForm(http, config.bodyTimeoutMs);
    if (form.get('decision') !== 'allow') return redirect(http, authorizations.deny(request));
    const key = (form.get('key') ?? '').trim();
    if (key === '') return ask(http, 400, request, 'Paste your secret key, or choose “Don’t allow”.');
    try {
      redirect(http, await authorizations.approve(request, key, arrival));
    } catch (error) {
      if (!(error instanceof ProblemError) || error.problem.status >= 500) throw error;
      ask(http, error.problem.status, request, keyFault(error));
    }
  }

  return async (http) => {
    if (!['GET', 'HEAD', 'POST'].includes(http.method)) {
      http.set('Allow', 'GET, HEAD, POST');
      show(http, 405, refusalPage('This address takes GET and POST.'), null);
      return;
    }
    try {
      await answer(http);
    } catch (error) {
      const problem =
        error instanceof ProblemError
          ? error
          : new ProblemError(
              'internal_error',
              'Something went wrong on our side. Go back to the application and try again.',
              { cause: error },
            );
      const { status, retryAfterS } = problem.problem;
      if (status >= 500) logger.error({ err: error }, 'an authorization request failed');
      if (status === 429 || status === 503) http.set('Retry-After', String(retryAfterS ?? 5));
      show(http, status, refusalPage(problem.message), null);
    }
  };
}

function ask(http: Context, status: number, request: AuthorizationRequest, fault: string | null): void {
  // Browsers hold the redirect behind a form to form-action, too.
  show(http, status, consentPage(request, fault), new URL(request.redirectUri).origin);
}

function show(http: Context, status: number, html: string, formTarget: string | null): void {
  http.set(PRIVATE);
  showForm(http, status, html, formTarget === null ? "'none'" : `'self' ${formTarget}`);
}

function redirect(http: Context, location: string): void {
  http.set(PRIVATE);
  http.redirect(location);
  // Koa would repeat the address, and the code in it, in a body.
  http.body = null;
  http.status = 302;
}

/**
 * Neither the key nor the code may stay behind, in a cache or in the next page's referrer. Beside that, what every
 * answer below the base URL tells.
 */
const PRIVATE = {
  'SVC-API-Version': CURRENT_VERSION,
  'SVC-HREI-Score': '0.00',
  'SVC-HREI-Risk': 'minimal',
  'Cache-Control': 'no-store',
  Pragma: 'no-cache',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;

/** Written for whoever pasted the key; the doors' own messages speak of headers. */
function keyFault(error: ProblemError): string {
  switch (error.type) {
    case 'expired_api_key':
      return 'This key was revoked or has expired. Use another one.';
    case 'invalid_api_key':
      return error.problem.param === undefined
        ? error.message
        : 'There is no such key. A secret key reads svc_live_sk_ or svc_test_sk_ and 24 letters or digits.';
    default:
      return error.message;
  }
}
