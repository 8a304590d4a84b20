import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { recordAuditEvent } from '../../audit/audit-event.ts';
import { newUuid, publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { createAccount } from '../accounts/account-store.ts';
import { UNBOUND } from '../keys/key-bond.ts';
import type { IssuedKeyPair, KeyStore } from '../keys/key-store.ts';
import type { Plan, RequestContext } from '../../../schema/principal.ts';

/** An account that people run; agents open theirs when they register. */
export interface AccountRequest {
  readonly email: string;
  readonly name?: string;
  readonly plan: Plan;
  /** Agreed with this account; the plan decides where they are absent. */
  readonly requestsPerMinute?: number;
  readonly requestsPerDay?: number;
}

/** An account with its first keys, which are shown once. */
export interface OpenedAccount {
  readonly accountId: Uuid;
  readonly email: string;
  readonly pair: IssuedKeyPair;
}

export interface AccountOpening {
  readonly database: Database;
  readonly keys: KeyStore;
  readonly context: Pick<RequestContext, 'requestId' | 'origin'>;
  /** Runs first in the transaction; what it throws leaves everything as it was. */
  readonly precondition?: (em: SqlEntityManager) => Promise<void>;
}

/**
 * Opens an account without an agent, with its first pair of keys: all scopes, no end.
 * @throws ProblemError `conflict` / `operator_already_registered`
 */
export async function openAccount(
  { database, keys, context, precondition }: AccountOpening,
  { email, ...request }: AccountRequest,
): Promise<OpenedAccount> {
  const accountId = newUuid();
  return database.asTenant(accountId, async (em) => {
    await precondition?.(em);
    await createAccount(em, { accountId, operatorId: null, operatorEmail: email, ...request });
    const pair = await keys.createPair(em, { accountId, agentId: null, bond: UNBOUND, name: 'first' });
    await recordAuditEvent(em, context, {
      accountId,
      type: 'agent.scope_changed',
      actor: { type: 'system', id: null },
      target: { type: 'key_pair', id: publicId('kp', pair.keyPairId) },
      outcome: 'success',
      environment: 'live',
      details: { change: 'account_opened', key_ids: [publicId('key', pair.live.id), publicId('key', pair.test.id)] },
    });
    return { accountId, email, pair };
  });
}
