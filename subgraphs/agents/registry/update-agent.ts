import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { agentUpdate } from '../../../schema/contract/agent-requests.ts';
import { assertNoEnd } from '../../../services/identity/keys/key-bond.ts';
import type { Principal, RequestContext } from '../../../schema/principal.ts';
import { homeOf } from '../../../services/identity/workspaces/workspace-store.ts';
import { auditActor, recordAuditEvent } from '../../../services/audit/audit-event.ts';
import { parseGraphInput } from '../../../platform/graph/parse-input.ts';
import type { Settle } from '../../../services/idempotency/exactly-once.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { boundToNoAgent } from '../../../services/identity/accounts/own-agent.ts';
import { Agent } from './agent.ts';
import { assertCallableAddress } from '../../../platform/outgoing/callable-address.ts';
import { callbackScope, setCallback } from './callback.ts';
import type { RegistryServices } from './registry-services.ts';

/** The secret, where the agent had no callback address before: shown once, and told again to a retry. */
export const agentUpdateEffect = z.object({ callbackSecret: z.string().nullable() });

/**
 * Changes the calling agent, or with a test key how the sandbox shows it. Where its codes and notifications go, only a
 * key without an end says.
 * @throws ProblemError `validation_error`; `insufficient_permissions` / `outlives_maker`; `resource_not_found` for a
 * caller that is not an agent of its account
 */
export async function updateAgent(
  services: RegistryServices,
  context: RequestContext,
  principal: Principal,
  rawInput: unknown,
  settle: Settle<z.output<typeof agentUpdateEffect>>,
): Promise<z.output<typeof agentUpdateEffect>> {
  const input = parseGraphInput(agentUpdate, rawInput);
  if (input.callbackUrl != null)
    await assertCallableAddress(services.outgoing, input.callbackUrl, '/callback_url', 422);
  return services.database.asTenant(callbackScope(homeOf(principal)), async (em) => {
    const agent = principal.agentId === null ? null : await em.findOne(Agent, { id: principal.agentId as Uuid });
    if (agent === null) throw boundToNoAgent();
    const leading = principal.environment === 'live' ? leadingElsewhere(input) : undefined;
    if (leading !== undefined) await assertNoEnd(em, principal, leading);
    const clientBefore = clientOf(agent);
    agent.present(
      {
        ...(input.name === undefined ? {} : { name: input.name }),
        ...(input.callbackUrl === undefined ? {} : { callbackUrl: input.callbackUrl }),
        ...(input.redirectUris === undefined ? {} : { redirectUris: [...new Set(input.redirectUris)] }),
        ...(input.public === undefined ? {} : { isPublic: input.public }),
      },
      principal.environment,
    );
    await em.flush();
    if (!isDeepStrictEqual(clientOf(agent), clientBefore)) await tellClient(em, context, principal, agent);
    // Commissions are never earned in the sandbox.
    const callbackSecret =
      input.callbackUrl === undefined || principal.environment !== 'live'
        ? null
        : await setCallback(
            em,
            services.endpointSecrets,
            agent.accountId as Uuid,
            input.callbackUrl,
            context.apiVersion,
          );
    await settle(em, { callbackSecret });
    return { callbackSecret };
  });
}

/** The member of a change that sends codes, or notifications, to where they did not go before. */
function leadingElsewhere(changes: z.output<typeof agentUpdate>): string | undefined {
  const { redirectUris, public: isPublic, callbackUrl } = changes;
  if (redirectUris !== undefined) return '/redirect_uris';
  if (isPublic !== undefined) return '/public';
  return callbackUrl == null ? undefined : '/callback_url';
}

/** What decides who gets the codes that resource owners grant the agent. */
function clientOf({ redirectUris, isPublic }: Agent): Pick<Agent, 'redirectUris' | 'isPublic'> {
  return { redirectUris, isPublic };
}

/**
 * Where codes go, by host: what else stands in an address is the agent's own business, and the log keeps it for ever.
 */
async function tellClient(
  em: SqlEntityManager,
  context: RequestContext,
  principal: Principal,
  { id, accountId, redirectUris, isPublic }: Agent,
): Promise<void> {
  await recordAuditEvent(em, context, {
    accountId,
    type: 'agent.scope_changed',
    actor: auditActor(principal),
    target: { type: 'agent', id: publicId('agent', id as Uuid) },
    outcome: 'success',
    environment: principal.environment,
    details: {
      change: 'oauth_client_changed',
      redirects_to: [...new Set(redirectUris.map((uri) => new URL(uri).origin))],
      public: isPublic,
    },
  });
}
