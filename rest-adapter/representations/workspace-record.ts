import { z } from 'zod';
import { ROLES } from '../../schema/principal.ts';
import { REGIONS } from '../../schema/value-lists.ts';
import { inOrder } from '../members.ts';
import type { Json } from '../operation.ts';

export const workspaceMember = z
  .object({
    agent_id: z.string(),
    role: z.enum(ROLES),
    added_by: z.string().meta({ description: 'Agent or key that added the member' }),
    added_at: z.iso.datetime(),
  })
  .meta({ id: 'WorkspaceMember' });

/** A workspace, without the trust envelope; the order of the members is the order in the body. */
export const workspaceRecord = z
  .object({
    workspace_id: z.string(),
    name: z.string(),
    region: z.enum(REGIONS),
    brand_ids: z.array(z.string()),
    role: z.enum(ROLES).meta({ description: 'What the caller may do in it' }),
    members: z.array(workspaceMember),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Workspace' });

/** A workspace with its members in order. */
export function presentWorkspace({ id, ...workspace }: Json): Json {
  return inOrder(workspaceRecord, { workspace_id: id, ...workspace });
}

export const exampleMember: Json = { agent_id: 'agent_01JQ2jX9bLq7RtYpMwVsZe', role: 'owner', added_by: 'agent_01JQ2jX9bLq7RtYpMwVsZe', added_at: '2026-02-01T09:20:11.000Z' };

export const exampleWorkspace: Json = {
  workspace_id: 'ws_01JQ2pD4s7WyQhTzBdMpRs',
  name: 'Spring collection',
  region: 'eu',
  brand_ids: ['brand_spring'],
  role: 'owner',
  members: [exampleMember],
  created_at: '2026-02-01T09:20:11.000Z',
};
