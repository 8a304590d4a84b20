import { ProblemError } from '../../../../schema/problems.ts';
import { SourceRefusedError, type FetchingConnector } from './connector.ts';
import { SourceUnreachableError } from './source-unreachable.ts';

const RETRY_AFTER_S = 30;

/**
 * Asks the origin of a source whether it takes the credentials, and waits no longer than `timeoutMs` even for a
 * connector that does not heed its signal.
 * @throws ProblemError `validation_error` / `credentials_rejected`; `service_unavailable` / `source_unreachable` where
 * there was no answer, so that nobody knows
 */
export async function checkCredentials(
  connector: FetchingConnector,
  credentials: unknown,
  timeoutMs: number,
): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  const timeIsUp = new Promise<never>((_, fail) => {
    signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true });
  });
  try {
    await Promise.race([connector.check(credentials, signal), timeIsUp]);
  } catch (error) {
    if (error instanceof SourceRefusedError) {
      throw new ProblemError('validation_error', `credentials: ${error.message}`, {
        code: 'credentials_rejected',
        param: '/credentials',
      });
    }
    const [what, cause] = signal.aborted
      ? [`did not answer within ${timeoutMs / 1_000} s`, undefined]
      : ['could not be asked', new SourceUnreachableError(connector.title, error, credentials)];
    throw new ProblemError(
      'service_unavailable',
      `${connector.title} ${what} whether it takes these credentials. Nothing was stored; try again later.`,
      { code: 'source_unreachable', retryAfterS: RETRY_AFTER_S, cause },
    );
  }
}
