import { z } from 'zod';
import { capabilitiesRequest } from '../../../schema/contract/agent-requests.ts';
import type { Settle } from '../../../services/idempotency/exactly-once.ts';
import type { Principal } from '../../../schema/principal.ts';
import { homeOf } from '../../../services/identity/workspaces/workspace-store.ts';
import { parseGraphInput } from '../../../platform/graph/parse-input.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { boundToNoAgent } from '../../../services/identity/accounts/own-agent.ts';
import { Agent } from './agent.ts';

/** What tells the answer again: when it was. */
export const capabilitiesEffect = z.object({ updatedAt: z.coerce.date() });

/**
 * Replaces the capabilities that the calling agent declares, or with a test key what the sandbox says. Descriptive
 * only: scopes decide what it may do.
 * @throws ProblemError `validation_error` with status 400, as the contract has it for this operation;
 * `resource_not_found` for a
 *   key that is bound to no agent
 */
export async function updateCapabilities(
  database: Database,
  principal: Principal,
  rawInput: unknown,
  now: Date,
  settle: Settle<z.output<typeof capabilitiesEffect>>,
): Promise<void> {
  const { capabilities } = parseGraphInput(capabilitiesRequest, rawInput, 400);
  await database.asTenant(homeOf(principal), async (em) => {
    const agent = principal.agentId === null ? null : await em.findOne(Agent, { id: principal.agentId as Uuid });
    if (agent === null) throw boundToNoAgent();
    agent.present({ capabilities: [...new Set(capabilities)] }, principal.environment);
    if (principal.environment === 'live') agent.capabilitiesUpdatedAt = now;
    await em.flush();
    await settle(em, { updatedAt: now });
  });
}
