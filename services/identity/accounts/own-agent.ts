import { ProblemError } from '../../../schema/problems.ts';
import { agentUuid, shownId } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';

/** Says that there is no such thing as the calling agent. */
export function boundToNoAgent(): ProblemError {
  return new ProblemError('resource_not_found', 'This key is bound to no agent. Use the key of the agent.');
}

/**
 * For what only the agent of the account itself may ask, which `em` acts for.
 * @param named public id, UUID or `me`
 * @throws ProblemError `resource_not_found`, for a foreign agent exactly as for an unknown one
 */
export async function requireOwnAgent(em: SqlEntityManager, named: string, accountId: string): Promise<void> {
  const [own] = await em.execute<[{ id: string }?]>(`select id from agents.agents where account_id = ?`, [accountId]);
  if (own !== undefined && (named === 'me' || agentUuid(named) === own.id)) return;
  throw named === 'me'
    ? boundToNoAgent()
    : new ProblemError('resource_not_found', `There is no agent ${shownId(named)}, or it is not yours.`);
}
