import { randomUUID } from 'node:crypto';
import { restAttribution } from '../../../../schema/attribution-result.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import { resultDigest, signClaims } from '../../../../services/trust/signed-result.ts';
import type { SigningKeyStore } from '../../../../services/trust/signing-key-store.ts';
import type { Attribution } from './attribution.ts';
import { presentAttribution } from './present-attribution.ts';

/** Of the presentation that is signed; the version touches the trust envelope alone, which is not. */
const SIGNED_API_VERSION = '2026-02-01';

/** The fee is not covered: it is charged later. */
const NOT_SIGNED = { platformFeeCents: null, billed: null };

/**
 * Signs completed analyses for `issuer`, the address of the service without `/v1`. A live result is signed by the live
 * key, a sandbox result by the sandbox key.
 */
export function resultSigner(keys: Pick<SigningKeyStore, 'current'>, issuer: string) {
  return async (em: SqlEntityManager, completed: Attribution): Promise<string> => {
    const completedAt = completed.completedAt;
    if (completed.status !== 'completed' || completedAt == null)
      throw new Error(`attribution ${completed.id} is not completed: there is nothing to sign`);
    const result = presentAttribution(completed, 1, completedAt, SIGNED_API_VERSION);
    const claims = {
      iss: issuer,
      sub: result.id,
      iat: Math.floor(completedAt.getTime() / 1000),
      jti: randomUUID(),
      revision: result.revision,
      delta_r_cents: result.deltaRCents ?? 0,
      digest: resultDigest(restAttribution(result, NOT_SIGNED)),
    };
    return signClaims(claims, await keys.current(em, completed.environment));
  };
}
