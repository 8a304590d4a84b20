import { z } from 'zod';
import { AccountKeys } from './account-keys.ts';
import { lockAccount } from '../accounts/account-store.ts';
import { endedWith } from './key-bond.ts';
import type { Principal, RequestContext } from '../../../schema/principal.ts';
import { auditActor, recordAuditEvent } from '../../audit/audit-event.ts';
import type { Settle } from '../../idempotency/exactly-once.ts';
import { publicId, requireUuid } from '../../../platform/identifiers.ts';
import type { KeyServices } from './key-services.ts';

/** The end as a retry tells of it again. */
export const revocationEffect = z.object({ revokedAt: z.coerce.date() });

/**
 * Ends a key, the caller's own included, every token that it was shown for and every key that ends with it. A key that
 * was revoked before stays so.
 * @returns the moment at which the key was revoked first
 * @throws ProblemError `resource_not_found`
 */
export async function revokeKey(
  { database }: Pick<KeyServices, 'database'>,
  context: RequestContext,
  principal: Principal,
  id: string,
  settle: Settle<z.output<typeof revocationEffect>>,
): Promise<Date> {
  const keyId = requireUuid('key', id, 'key');
  return database.asTenant(principal.accountId, async (em) => {
    await lockAccount(em, principal.accountId);
    const keys = new AccountKeys(em, principal.environment);
    const { revokedAt } = await keys.require(keyId);
    if (revokedAt !== null) {
      await settle(em, { revokedAt });
      return revokedAt;
    }
    const revoked = await keys.revoke(keyId);
    const derived = await endedWith(em, keyId);
    await recordAuditEvent(em, context, {
      accountId: principal.accountId,
      type: 'agent.key_revoked',
      actor: auditActor(principal),
      target: { type: 'key', id: publicId('key', keyId) },
      outcome: 'success',
      environment: principal.environment,
      details: { own: keyId === principal.credentialId, derived_keys: derived.count, derived_key_ids: derived.ids },
    });
    await settle(em, { revokedAt: revoked });
    return revoked;
  });
}
