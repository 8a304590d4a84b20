import { z } from 'zod';
import { ROLES } from '../../schema/principal.ts';
import { REGIONS } from '../../schema/value-lists.ts';
import { given, inOrder, nodesAt, objectAt } from '../members.ts';
import { operation, type Json } from '../operation.ts';
import { graphPage, meta, pageQuery, presentMeta } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';
import { exampleMember, exampleWorkspace, presentWorkspace, workspaceMember, workspaceRecord } from '../representations/workspace-record.ts';

const creation = z
  .object({
    name: z.string().trim().min(1, 'must not be empty').max(80),
    region: z.enum(REGIONS).optional().meta({ description: 'The one that this deployment serves, which is also the default; never changes' }),
    brand_ids: z.array(z.string().min(1).max(128)).max(100).optional().meta({ default: [] }),
  })
  .meta({ id: 'WorkspaceRequest' });

const addition = z
  .object({ agent_id: z.string().min(1).max(128).meta({ description: 'An agent of any account, agent_… or its UUID' }), role: z.enum(ROLES) })
  .meta({ id: 'WorkspaceMemberRequest' });

const created = workspaceRecord.extend({ trust: trustEnvelope }).meta({ id: 'WorkspaceAnswer' });
const membership = z.object({ workspace_id: z.string(), ...workspaceMember.shape, trust: trustEnvelope }).meta({ id: 'WorkspaceMembership' });

export const workspaceOperations = [
  operation({
    id: 'createWorkspace',
    tag: 'Workspaces',
    method: 'POST',
    path: '/workspaces',
    kind: 'write',
    action: 'workspace:create',
    document: 'CreateWorkspace',
    summary: 'Make a workspace',
    description: 'A part of your account that agents, also of other accounts, work in together. The calling agent becomes its owner. Another region than the one this deployment serves is refused.',
    bodySchema: creation,
    success: { status: 201, description: 'The workspace', schema: created },
    problems: [],
    variables: ({ body }) => ({ input: given({ name: body.name, region: body.region, brandIds: body.brand_ids }) }),
    present: (data) => {
      const { workspace, trust } = objectAt(data, 'create_workspace');
      return { ...presentWorkspace(workspace as Json), trust };
    },
    example: { body: { name: 'Spring collection', brand_ids: ['brand_spring'] }, response: { ...exampleWorkspace, trust: exampleTrust(1) } },
  }),
  operation({
    id: 'listWorkspaces',
    tag: 'Workspaces',
    method: 'GET',
    path: '/workspaces',
    kind: 'read',
    action: 'workspace:read',
    document: 'Workspaces',
    summary: 'List the workspaces that you belong to',
    description: 'Those of your account and those that your agent was added to, newest first, each with your role in it.',
    querySchema: pageQuery,
    success: { status: 200, description: 'A page of workspaces', schema: z.object({ workspaces: z.array(workspaceRecord), meta, trust: trustEnvelope }), headers: { Link: 'first, prev, next and last page' } },
    problems: [],
    variables: ({ query }) => graphPage(query),
    present: (data, { query }) => {
      const connection = objectAt(data, 'workspaces');
      return { workspaces: nodesAt(connection).map(presentWorkspace), meta: presentMeta(query, Number(connection['total_count'])), trust: connection['trust'] };
    },
    example: { response: { workspaces: [exampleWorkspace], meta: { page: 1, per_page: 20, total: 1, total_pages: 1 }, trust: exampleTrust(1) } },
  }),
  operation({
    id: 'addWorkspaceAgent',
    tag: 'Workspaces',
    method: 'POST',
    path: '/workspaces/{id}/agents',
    kind: 'write',
    action: 'workspace:write',
    document: 'AddWorkspaceAgent',
    summary: 'Add an agent to a workspace, or change its role',
    description: 'For owners of the workspace. An agent that is a member already gets the role that is named, with 200. The last owner keeps its role. The key needs the scopes of all that the role allows, and no end: a member stays when the key has gone.',
    pathSchema: z.object({ id: z.string().meta({ description: 'Workspace, ws_…' }) }),
    bodySchema: addition,
    success: { status: 201, description: 'The new membership', schema: membership },
    lesserSuccess: { status: 200, description: 'The agent was a member already; the membership as it is now', applies: (data) => objectAt(data, 'add_workspace_agent')['is_new'] === false },
    problems: ['resource_not_found', 'conflict'],
    variables: ({ path, body }) => ({ input: { workspaceId: path.id, agentId: body.agent_id, role: body.role } }),
    present: (data) => {
      const { workspace_id, member, trust } = objectAt(data, 'add_workspace_agent');
      return inOrder(membership, { workspace_id, ...(member as Json), trust });
    },
    example: {
      path: { id: exampleWorkspace['workspace_id'] as string },
      body: { agent_id: 'agent_01JQ2qW8nTc5YhKzFdMpRs', role: 'analyst' },
      response: { workspace_id: exampleWorkspace['workspace_id'], ...exampleMember, agent_id: 'agent_01JQ2qW8nTc5YhKzFdMpRs', role: 'analyst', trust: exampleTrust(1) },
    },
  }),
];
