import { ProblemError } from '../../../schema/problems.ts';
import { agentUuid, shownId } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { boundToNoAgent } from './agent.ts';

/**
 * Lets nobody ask about another agent than that of the account, which `em` acts for.
 * @throws ProblemError `resource_not_found`, for a foreign agent exactly as for an unknown one
 */
export async function requireOwnAgent(em: SqlEntityManager, named: string, accountId: string): Promise<void> {
  const [own] = await em.execute<[{ id: string }?]>(`select id from agents.agents where account_id = ?`, [accountId]);
  if (own !== undefined && (named === 'me' || agentUuid(named) === own.id)) return;
  throw named === 'me'
    ? boundToNoAgent()
    : new ProblemError('resource_not_found', `There is no agent ${shownId(named)}, or it is not yours.`);
}
