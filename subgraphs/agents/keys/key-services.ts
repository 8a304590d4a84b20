import { assertAction } from '../../../platform/auth/actions.ts';
import type { KeyStore } from '../../../platform/auth/key-store.ts';
import type { Principal, RequestContext } from '../../../platform/auth/principal.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { ProblemError } from '../../../schema/problems.ts';

export interface KeyServices {
  readonly database: Database;
  readonly keys: KeyStore;
  readonly clock: () => Date;
  /** Added to an agent's trust score for each scope that it does without. */
  readonly narrowScopeBonus: number;
}

/**
 * The caller, who may manage the keys of its own account.
 * @throws ProblemError those of {@link assertAction}, and `insufficient_permissions` / `workspace`: keys open a whole
 *   account, and a role in one of its workspaces must not lead to them
 */
export function assertKeyManager(context: RequestContext, action: 'key:read' | 'key:create' | 'key:write'): Principal {
  const principal = assertAction(context.principal, action);
  if (principal.workspace === null) return principal;
  throw new ProblemError('insufficient_permissions', 'Keys belong to an account, not to a workspace. Send the request without SVC-Workspace.', { code: 'workspace' });
}
