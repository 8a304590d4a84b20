import { credentialEnded } from '../keys/credential-standing.ts';

/** Nearly every body is there sooner; the others cost a question to the database. */
const PATIENCE_MS = 250;

/**
 * What a client is waited for, such as the rest of its body, unless the credential ends meanwhile: a request that was
 * let in before a revocation and sent to its end behind it would do what the revocation was to keep from happening.
 * @param watch calls back once the credential has ended, and returns what forgets the wish (see Admission.whenEnded)
 * @throws ProblemError `expired_api_key`; whatever `waited` throws
 */
export async function whileCredentialLasts<T>(
  watch: (ended: () => void) => () => void,
  waited: Promise<T>,
): Promise<T> {
  const ended = Promise.withResolvers<never>();
  let forget = (): void => undefined;
  const timer = setTimeout(() => {
    forget = watch(() => ended.reject(credentialEnded()));
  }, PATIENCE_MS);
  try {
    return await Promise.race([waited, ended.promise]);
  } finally {
    clearTimeout(timer);
    forget();
  }
}
