import { ProblemError, type ProblemType } from '../../schema/problems.ts';
import { errorDescription } from '../../services/identity/oauth/error-description.ts';
import type { Step } from '../call.ts';
import { errorObject } from '../error-answer.ts';
import { UNCACHED } from './answer-token-request.ts';
import { masked } from './report-problems.ts';

/** RFC 6749 §5.2 and §4.1.2.1, for what OAuth has no name of its own for. */
const CODES: Partial<Record<ProblemType, string>> = {
  internal_error: 'server_error',
  service_unavailable: 'temporarily_unavailable',
  rate_limit_exceeded: 'temporarily_unavailable',
  ip_not_allowed: 'unauthorized_client',
};
const OWN_CODES: ReadonlySet<ProblemType> = new Set<ProblemType>([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'invalid_scope',
  'unsupported_grant_type',
]);

/**
 * Turns whatever the later steps throw into the errors that stock OAuth clients read: `error`, `error_description`,
 * `error_uri`.
 */
export const reportOauthErrors: Step = {
  name: 'report-oauth-errors',
  problems: ['internal_error', 'service_unavailable'],
  async run(call, next) {
    try {
      await next();
    } catch (error) {
      const problem = error instanceof ProblemError ? error : masked(error);
      const { doc_url: page, retry_after: retryAfter } = errorObject(
        problem,
        call.requestId,
        call.door.config.publicBaseUrl,
      );
      const { status, code } = problem.problem;
      const tookBasic = /^basic\b/i.test(call.http.get('Authorization'));
      call.answer = {
        status,
        body: {
          error:
            code === 'invalid_target'
              ? code
              : (CODES[problem.type] ?? (OWN_CODES.has(problem.type) ? problem.type : 'invalid_request')),
          error_description: errorDescription(problem.message),
          error_uri: page,
        },
        headers: {
          ...UNCACHED,
          ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
          // A challenge for anything else than failed Basic authentication would hide the error from stock clients.
          ...(problem.type === 'invalid_client' && tookBasic
            ? { 'WWW-Authenticate': 'Basic realm="svc", charset="UTF-8"' }
            : {}),
        },
      };
      if (status >= 500) call.logger.error({ err: error }, 'request failed');
    }
  },
};
