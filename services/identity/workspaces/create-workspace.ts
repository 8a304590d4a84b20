import { z } from 'zod';
import { newWorkspace } from '../../../schema/contract/workspaces.ts';
import { ProblemError } from '../../../schema/problems.ts';
import type { Region } from '../../../schema/value-lists.ts';
import type { Principal } from '../../../schema/principal.ts';
import { insertWorkspace, type Workspace } from './workspace-store.ts';
import type { Settle } from '../../idempotency/exactly-once.ts';
import { parseGraphInput } from '../../../platform/graph/parse-input.ts';
import { newUuid, publicId, uuid, type Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';

/** What tells the answer again. */
export const workspaceEffect = z.object({ workspaceId: uuid });

/**
 * Makes a workspace of the caller's account in the caller's environment, with the calling agent as its owner. Neither
 * its environment nor its region ever changes.
 * @param region the one that this deployment serves
 * @throws ProblemError `validation_error` for a bad member, with code `region_not_served` for another region
 */
export async function createWorkspace(
  database: Database,
  region: Region,
  principal: Principal,
  rawInput: unknown,
  now: Date,
  settle: Settle<z.output<typeof workspaceEffect>>,
): Promise<Workspace> {
  const input = parseGraphInput(newWorkspace, rawInput);
  if (input.region !== undefined && input.region !== region) {
    throw new ProblemError(
      'validation_error',
      `region: this deployment serves ${region}; a workspace in ${input.region} needs a deployment there.`,
      { code: 'region_not_served', param: '/region' },
    );
  }
  const workspace: Workspace = {
    id: newUuid(now.getTime()),
    accountId: principal.accountId as Uuid,
    name: input.name,
    region,
    brandIds: [...new Set(input.brandIds ?? [])],
    createdAt: now,
    role: 'owner',
    members:
      principal.agentId === null
        ? []
        : [{ agentId: principal.agentId as Uuid, role: 'owner', addedBy: callerId(principal), addedAt: now }],
  };
  await database.asTenant(principal.accountId, async (em) => {
    await insertWorkspace(em, workspace, principal.environment);
    await settle(em, { workspaceId: workspace.id });
  });
  return workspace;
}

/** Public id of the agent that calls, or of the key where no agent stands behind it. */
export function callerId(principal: Principal): string {
  return principal.agentId === null
    ? publicId('key', principal.credentialId as Uuid)
    : publicId('agent', principal.agentId as Uuid);
}
