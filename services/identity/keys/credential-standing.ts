import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { Principal } from '../../../schema/principal.ts';
import { ProblemError } from '../../../schema/problems.ts';

/**
 * Asks once more, within the transaction, whether what the caller showed works still. For what outlives the credential,
 * such as another key: one that was revoked since it was let in leaves nothing behind that lets its holder in again.
 * @throws ProblemError `expired_api_key`
 */
export async function assertCredentialStands(
  em: SqlEntityManager,
  { credentialId }: Pick<Principal, 'credentialId'>,
): Promise<void> {
  const [caller] = await em.execute<[{ is_over: boolean }]>(
    `select coalesce(ends_in_ms <= 0, false) as is_over from auth.credential_ends(array[?::uuid])`,
    [credentialId],
  );
  if (caller.is_over) throw credentialEnded();
}

/** The refusal of a credential that is over. */
export function credentialEnded(): ProblemError {
  return new ProblemError(
    'expired_api_key',
    'The key or token was revoked or has expired. Use another key, or ask for a new token.',
    { param: 'header:Authorization' },
  );
}
