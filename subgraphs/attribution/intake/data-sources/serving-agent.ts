import { ProblemError } from '../../../../schema/problems.ts';
import type { Principal } from '../../../../schema/principal.ts';
import { agentUuid, shownId, type Uuid } from '../../../../platform/identifiers.ts';

/** Whether there is such an agent, of whatever account; the agents subgraph knows. */
export type IsAgent = (id: Uuid) => Promise<boolean>;

/**
 * The agent that serves a source or an analysis, which is whom commissions go to: the one that the caller names, else
 * the caller's own; null for an account without one. Accounts that people run may name the agent of any operator, since
 * it is they who pay; an agent names itself alone (decision table of the contract, data sources).
 * @throws ProblemError `validation_error` / `unknown_agent`
 */
export async function servingAgent(
  isAgent: IsAgent,
  principal: Principal,
  named: string | null | undefined,
): Promise<Uuid | null> {
  const own = principal.agentId as Uuid | null;
  if (named == null || (named === 'me' && own !== null)) return own;
  const id = agentUuid(named);
  if (id !== undefined && (own === null ? await isAgent(id) : id === own)) return id;
  const message =
    own === null
      ? `agent_id: there is no agent ${shownId(named)}.`
      : `agent_id: ${shownId(named)} is not the agent that calls, and an agent cannot work in the name of another ` +
        `one. Leave it out.`;
  throw new ProblemError('validation_error', message, { code: 'unknown_agent', param: '/agent_id' });
}
