import { z } from 'zod';
import { closing } from '../../../schema/contract/agent-requests.ts';
import type { Principal, RequestContext } from '../../../schema/principal.ts';
import { uuid, type Uuid } from '../../../platform/identifiers.ts';
import { parseGraphInput } from '../../../platform/graph/parse-input.ts';
import { wholeAccount, type Database } from '../../../platform/postgres/database.ts';
import { boundToNoAgent, requireOwnAgent } from '../../../services/identity/accounts/own-agent.ts';
import type { Settle } from '../../../services/idempotency/exactly-once.ts';
import { homeOf } from '../../../services/identity/workspaces/workspace-store.ts';
import { endAgent } from './end-agent.ts';

/** Which agent was closed, as a retry tells of it again. */
export const closingEffect = z.object({ agentId: uuid });

/**
 * Closes the calling agent and its account, on its own wish.
 * @throws ProblemError `validation_error`; `resource_not_found` for a caller that is bound to no agent, or to
 * another than it says
 */
export async function closeAgent(
  database: Database,
  context: RequestContext,
  principal: Principal,
  rawInput: unknown,
  settle: Settle<z.output<typeof closingEffect>>,
): Promise<z.output<typeof closingEffect>> {
  const { reason = null, confirm } = parseGraphInput(closing, rawInput);
  if (principal.agentId === null) throw boundToNoAgent();
  const agent = { accountId: homeOf(principal) as Uuid, agentId: principal.agentId as Uuid };
  return database.asTenant(wholeAccount({ accountId: agent.accountId, environment: 'live' }), async (em) => {
    if (confirm !== undefined) await requireOwnAgent(em, confirm, agent.accountId);
    await endAgent(em, context, agent, 'closed', principal, reason);
    const closed = { agentId: agent.agentId };
    await settle(em, closed);
    return closed;
  });
}
