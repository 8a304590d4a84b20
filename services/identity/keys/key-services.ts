import { lockAccount } from '../accounts/account-store.ts';
import { assertAction } from '../../../schema/actions.ts';
import { assertCredentialStands } from './credential-standing.ts';
import type { KeyStore } from './key-store.ts';
import type { Plan, Principal, RequestContext, Scope } from '../../../schema/principal.ts';
import type { Database, SqlEntityManager } from '../../../platform/postgres/database.ts';
import { ProblemError } from '../../../schema/problems.ts';

export interface KeyServices {
  readonly database: Database;
  readonly keys: KeyStore;
  readonly clock: () => Date;
  readonly agentScores: AgentScores;
}

/** What the way keys are kept does to the trust score of the agent that has them; within the caller's transaction. */
export interface AgentScores {
  trustScoreOf(em: SqlEntityManager, agentId: string): Promise<number>;
  /** Once, for asking for less than it could have. */
  rewardNarrowScopes(em: SqlEntityManager, agentId: string, asked: readonly Scope[]): Promise<void>;
  /** Once in a calendar quarter. */
  rewardRotation(em: SqlEntityManager, agentId: string): Promise<void>;
}

/**
 * Holds the account to the end of the transaction, so that changes of its keys happen one after the other, for a caller
 * whose own key works still.
 * @throws ProblemError `expired_api_key`
 */
export async function lockKeys(em: SqlEntityManager, principal: Principal): Promise<{ readonly plan: Plan }> {
  const account = await lockAccount(em, principal.accountId);
  await assertCredentialStands(em, principal);
  return account;
}

/**
 * The caller, who may manage the keys of its own account.
 * @throws ProblemError those of {@link assertAction}, and `insufficient_permissions` / `workspace`: keys open a whole
 *   account, and a role in one of its workspaces must not lead to them
 */
export function assertKeyManager(context: RequestContext, action: 'key:read' | 'key:create' | 'key:write'): Principal {
  const principal = assertAction(context.principal, action);
  if (principal.workspace === null) return principal;
  throw new ProblemError(
    'insufficient_permissions',
    'Keys belong to an account, not to a workspace. Send the request without SVC-Workspace.',
    { code: 'workspace' },
  );
}
