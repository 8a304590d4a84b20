import type { Context } from 'koa';
import { ProblemError } from '../../schema/problems.ts';
import { addressBlock } from '../../services/identity/admission/address-block.ts';
import type { FirstAccount } from '../../services/identity/opening/first-account.ts';
import type { Door } from '../call.ts';
import { originOf } from '../client-address.ts';
import { assertOwnForm, readForm, showForm } from '../form-page.ts';
import { bootstrapPage, firstAccountPage, type RefusedEntry } from './bootstrap-page.ts';

const PATH = '/bootstrap';
const METHODS = ['GET', 'HEAD', 'POST'];

/**
 * Serves the page that makes the first account. The form carries the token itself, so there is nothing that a foreign
 * page could ride on. The returned function says whether it answered; without `firstAccount` it never does.
 */
export function createBootstrap({
  firstAccount,
  admission,
  config,
  logger,
  newRequestId,
}: Pick<Door, 'firstAccount' | 'admission' | 'config' | 'logger' | 'newRequestId'>): (
  http: Context,
) => Promise<boolean> {
  async function take(http: Context, accounts: FirstAccount, requestId: string): Promise<void> {
    const origin = originOf(http.req, config.trustedProxyHops);
    let entered = { token: '', email: '', name: '' };
    try {
      // The token cannot be guessed, but neither should it be tried.
      await admission.countStranger('bootstrap', addressBlock(origin.clientAddress), { requestId, origin });
      assertOwnForm(http, 'Open the page here and send it again.');
      const form = await readForm(http, config.bodyTimeoutMs);
      entered = { token: form.get('token') ?? '', email: form.get('email') ?? '', name: form.get('name') ?? '' };
      const opened = await accounts.open(entered, { requestId, origin });
      logger.info({ requestId, accountId: opened.accountId }, 'the first account was made');
      showForm(http, 201, firstAccountPage(opened, config.publicBaseUrl));
    } catch (error) {
      const problem =
        error instanceof ProblemError
          ? error
          : new ProblemError(
              'internal_error',
              'Something went wrong on our side. Try again, and look into the log if it persists.',
              { cause: error },
            );
      const { status, code, retryAfterS } = problem.problem;
      if (status >= 500) logger.error({ err: error, requestId }, 'the first account could not be made');
      else logger.warn({ requestId, clientAddress: origin.clientAddress, code }, 'the first account was refused');
      if (retryAfterS !== undefined) http.set('Retry-After', String(retryAfterS));
      showForm(http, status, bootstrapPage({ ...entered, message: problem.message, field: fieldOf(problem) }));
    }
  }

  return async (http) => {
    if (firstAccount === null || http.path !== PATH) return false;
    const requestId = newRequestId();
    http.set('X-Request-Id', requestId);
    if (http.method === 'POST') await take(http, firstAccount, requestId);
    else if (METHODS.includes(http.method)) showForm(http, 200, bootstrapPage(null));
    else {
      http.set('Allow', METHODS.join(', '));
      showForm(
        http,
        405,
        bootstrapPage({ email: '', name: '', message: 'This address takes GET and POST.', field: null }),
      );
    }
    return true;
  };
}

function fieldOf({ problem }: ProblemError): RefusedEntry['field'] {
  const name = problem.param?.slice(1);
  return name === 'token' || name === 'email' || name === 'name' ? name : null;
}
