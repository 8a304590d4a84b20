import { ProblemError } from '../../../../schema/problems.ts';
import type { Principal } from '../../../../schema/principal.ts';
import { WorkspaceStore } from '../../../../services/identity/workspaces/workspace-store.ts';
import { shownId, type Uuid } from '../../../../platform/identifiers.ts';
import type { Database } from '../../../../platform/postgres/database.ts';

/**
 * The workspace that something new lies in: the one that the caller names, or acts in; null for neither.
 * @param named public id of a workspace of the account that the caller acts for; of no other than the one it acts in
 * @throws ProblemError `validation_error` / `unknown_workspace`
 */
export async function workspaceOf(
  database: Database,
  principal: Principal,
  named: string | null | undefined,
): Promise<Uuid | null> {
  const acting = (principal.workspace?.id ?? null) as Uuid | null;
  if (named == null) return acting;
  const found = await new WorkspaceStore(database).require(principal, named).catch((error: unknown) => {
    if (error instanceof ProblemError && error.type === 'resource_not_found') return null;
    throw error;
  });
  if (found === null || found.accountId !== principal.accountId || (acting !== null && found.id !== acting)) {
    throw new ProblemError(
      'validation_error',
      `workspace_id: ${shownId(named)} is not a workspace that this request can write to. Name one of your account, ` +
        `or the one in SVC-Workspace.`,
      { code: 'unknown_workspace', param: '/workspace_id' },
    );
  }
  return found.id;
}
