import type { Principal } from '../../../schema/principal.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { homeOf } from '../../../services/identity/workspaces/workspace-store.ts';

/**
 * Lets nobody decide what another account spends, whatever his role in a workspace of it.
 * @throws ProblemError `conflict` / `foreign_account`
 */
export function requireOwnAccount(principal: Principal): void {
  if (homeOf(principal) === principal.accountId) return;
  throw new ProblemError(
    'conflict',
    'This workspace belongs to another account, which alone decides on its plan and its limit.',
    { code: 'foreign_account' },
  );
}
