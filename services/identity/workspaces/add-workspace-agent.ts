import { z } from 'zod';
import { newMember } from '../../../schema/contract/workspaces.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { assertAction, assertCovers, scopesOfRole } from '../../../schema/actions.ts';
import { assertCredentialStands } from '../keys/credential-standing.ts';
import { assertNoEnd } from '../keys/key-bond.ts';
import { ROLES, type Principal, type RequestContext } from '../../../schema/principal.ts';
import {
  enterWorkspace,
  lockMembers,
  putMember,
  type WorkspaceMember,
  type WorkspaceStore,
} from './workspace-store.ts';
import { recordAuditEvent } from '../../audit/audit-event.ts';
import type { Settle } from '../../idempotency/exactly-once.ts';
import { agentUuid, publicId, shownId, uuid, type Uuid } from '../../../platform/identifiers.ts';
import { parseGraphInput } from '../../../platform/graph/parse-input.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { callerId } from './create-workspace.ts';

/** Who is to be what, unchecked, and where. */
export type MemberToAdd = object & { readonly workspaceId: string };

/** A membership, and whether this call made it; false where it was there and may have got another role. */
export const membershipEffect = z.object({
  workspaceId: uuid,
  member: z.object({ agentId: uuid, role: z.enum(ROLES), addedBy: z.string(), addedAt: z.coerce.date() }),
  isNew: z.boolean(),
});
export type Membership = z.output<typeof membershipEffect>;

export interface MembershipServices {
  readonly database: Database;
  readonly workspaces: WorkspaceStore;
  /** Whether there is such an agent, of whatever account. */
  readonly isAgent: (id: Uuid) => Promise<boolean>;
  readonly clock: () => Date;
}

/**
 * Adds an agent to a workspace, or gives a member another role. The caller must be an owner of that workspace, with a
 * key that has the scopes of what the role allows, and no end: a member stays when the key has gone.
 * @throws ProblemError `resource_not_found` (workspace), `insufficient_permissions` (`role`, `missing_scope`,
 * `outlives_maker`), `validation_error` (a bad member,
 *   `unknown_agent`), `conflict` / `last_owner`
 */
export async function addWorkspaceAgent(
  services: MembershipServices,
  context: RequestContext,
  principal: Principal,
  { workspaceId: namedWorkspace, ...rawInput }: MemberToAdd,
  settle: Settle<Membership>,
): Promise<Membership> {
  const input = parseGraphInput(newMember, rawInput);
  const inside = assertAction(
    await enterWorkspace(services.workspaces, principal, namedWorkspace, '/workspace_id'),
    'workspace:write',
  );
  // The agent comes with a key of its own, which may have every scope.
  assertCovers(principal, scopesOfRole(input.role), '/role');
  const acting = inside.workspace!;
  const workspace = { id: acting.id as Uuid, accountId: inside.accountId as Uuid };
  const agentId = input.agentId === 'me' ? (principal.agentId as Uuid | null) : agentUuid(input.agentId);
  if (agentId == null || !(await services.isAgent(agentId))) {
    throw new ProblemError('validation_error', `agent_id: there is no agent ${shownId(input.agentId)}.`, {
      code: 'unknown_agent',
      param: '/agent_id',
    });
  }
  const added: WorkspaceMember = { agentId, role: input.role, addedBy: callerId(principal), addedAt: services.clock() };

  return services.database.asTenant(workspace.accountId, async (em) => {
    const members = await lockMembers(em, workspace.id);
    // Another owner may have taken the role away since.
    assertAction(
      {
        ...inside,
        workspace: {
          ...acting,
          role: members.find((member) => member.agentId === principal.agentId)?.role ?? acting.role,
        },
      },
      'workspace:write',
    );
    await assertCredentialStands(em, principal);
    await assertNoEnd(em, principal, '/agent_id');
    const known = members.find((member) => member.agentId === agentId);
    const outcome: Membership = {
      workspaceId: workspace.id,
      member: { ...(known ?? added), role: input.role },
      isNew: known === undefined,
    };
    if (known?.role === input.role) {
      await settle(em, outcome);
      return outcome;
    }
    if (known?.role === 'owner' && members.filter(({ role }) => role === 'owner').length === 1) {
      throw new ProblemError(
        'conflict',
        'This agent is the last owner of the workspace. Make another agent an owner first.',
        { code: 'last_owner', param: '/role' },
      );
    }
    await putMember(em, workspace, outcome.member);
    await recordAuditEvent(em, context, {
      accountId: workspace.accountId,
      type: 'agent.scope_changed',
      actor: { type: principal.agentId === null ? 'key' : 'agent', id: callerId(principal) },
      target: { type: 'agent', id: publicId('agent', agentId) },
      outcome: 'success',
      environment: principal.environment,
      details: { workspace_id: publicId('ws', workspace.id), role: input.role, previous_role: known?.role ?? null },
    });
    await settle(em, outcome);
    return outcome;
  });
}
