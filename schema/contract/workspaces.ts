import { z } from 'zod';
import { ROLES } from '../principal.ts';
import { REGIONS } from '../value-lists.ts';
import { noun } from './noun.ts';
import { memberOf } from './rest-form.ts';
import { graphTypes, id, idInPath, moment, namedId } from './terms.ts';

export const region = z.enum(REGIONS).register(graphTypes, {
  name: 'Region',
  description: 'Where the data of a workspace lies.',
});
export const workspaceRole = z.enum(ROLES).register(graphTypes, {
  name: 'WorkspaceRole',
  description:
    'OWNER may do everything in the workspace, ANALYST all but manage members, billing and audit, VIEWER read, ' +
    'AUDITOR read (no raw journeys) and audit.',
});

export const workspaceMember = z
  .object({
    agentId: id('agent').meta({ graph: 'Public id of the agent, which may be of another account.' }),
    role: workspaceRole.meta({ graph: 'What it may do there.' }),
    addedBy: z.string().meta({
      scalar: 'ID',
      description: 'Agent or key that added the member',
      graph: 'Public id of the agent or key that added it.',
    }),
    addedAt: moment.meta({ graph: 'When it was added.' }),
  })
  .meta({ id: 'WorkspaceMember', graph: 'An agent in a workspace.' });

/** A part of an account; the order of the members is the order in every answer. */
export const workspace = z
  .object({
    id: id('ws').meta({ rest: 'workspace_id', graph: 'Public id, ws_ and 22 characters.' }),
    name: z.string().meta({ graph: '1 to 80 characters.' }),
    region: region.meta({ graph: 'Where its data lies; never changes.' }),
    brandIds: z.array(z.string()).meta({ graph: 'Brands that it is about.' }),
    role: workspaceRole.meta({ description: 'What the caller may do in it' }),
    members: z.array(workspaceMember).meta({ graph: 'The agents in it, in the order of joining.' }),
    createdAt: moment.meta({ graph: 'When it was made.' }),
  })
  .meta({
    id: 'Workspace',
    graph:
      'A part of an account that agents, also of other accounts, work in together. Requests act in it with ' +
      'SVC-Workspace.',
  });

export const newWorkspace = z
  .object({
    name: z.string().trim().min(1, 'must not be empty').max(80).meta({ graph: '1 to 80 characters.' }),
    region: region.optional().meta({
      description: 'The one that this deployment serves, which is also the default; never changes',
      graph: 'The region that this deployment serves; others are refused.',
    }),
    brandIds: z.array(z.string().min(1).max(128)).max(100).optional().meta({
      default: [],
      graph: 'Up to 100 brands of 1 to 128 characters.',
    }),
  })
  .meta({ id: 'WorkspaceRequest', graph: 'A new workspace.' });

export const newMember = z
  .object({
    agentId: namedId('agent').meta({
      description: 'An agent of any account, agent_… or its UUID',
      graph: 'Public id or UUID of an agent of any account.',
    }),
    role: workspaceRole.meta({ graph: 'What it may do there.' }),
  })
  .meta({ id: 'WorkspaceMemberRequest', graph: 'An agent for a workspace, or another role for one that is there.' });

const workspaceOfMember = id('ws').meta({ graph: 'Public id of the workspace.' });

/** A membership as the graph tells of it; REST shows the member itself, and says by its status whether it is new. */
const membership = z
  .object({
    workspaceId: workspaceOfMember,
    member: memberOf(workspaceMember, 'The member.'),
    isNew: z.boolean().meta({ graph: 'False when the agent was a member already.' }),
  })
  .register(graphTypes, { name: 'AddWorkspaceAgentPayload', description: 'The membership as it is now.' });

/** A membership as REST shows it. */
const flatMembership = z
  .object({
    workspaceId: workspaceOfMember,
    ...workspaceMember.shape,
  })
  .meta({ id: 'WorkspaceMembership' });

const exampleMember = {
  agent_id: 'agent_01JQ2jX9bLq7RtYpMwVsZe',
  role: 'owner',
  added_by: 'agent_01JQ2jX9bLq7RtYpMwVsZe',
  added_at: '2026-02-01T09:20:11.000Z',
};
const example = {
  workspace_id: 'ws_01JQ2pD4s7WyQhTzBdMpRs',
  name: 'Spring collection',
  region: 'eu',
  brand_ids: ['brand_spring'],
  role: 'owner',
  members: [exampleMember],
  created_at: '2026-02-01T09:20:11.000Z',
};
const newcomer = { agent_id: 'agent_01JQ2qW8nTc5YhKzFdMpRs', role: 'analyst' };

export const workspaces = noun({
  one: 'workspace',
  many: 'workspaces',
  tag: 'Workspaces',
  record: workspace,
  isEntity: true,
  example,
  operations: {
    createWorkspace: {
      method: 'POST',
      path: '/workspaces',
      kind: 'write',
      action: 'workspace:create',
      summary: 'Make a workspace',
      description:
        'A part of your account that agents, also of other accounts, work in together. The calling agent becomes its ' +
        'owner. Another region than the one this deployment serves is refused.',
      graph:
        'Makes a workspace of the caller’s account. Errors: VALIDATION_ERROR (also region_not_served), ' +
        'INSUFFICIENT_PERMISSIONS.',
      input: newWorkspace,
      answer: {
        one: workspace,
        payload: {
          description: 'The workspace that was made.',
          member: 'The new workspace.',
          trust: 'Trust envelope of the workspace.',
        },
      },
      answered: 'The workspace',
      example: { leavesOut: ['region'] },
    },
    listWorkspaces: {
      method: 'GET',
      path: '/workspaces',
      kind: 'read',
      action: 'workspace:read',
      field: 'workspaces',
      summary: 'List the workspaces that you belong to',
      description:
        'Those of your account and those that your agent was added to, newest first, each with your role in it.',
      graph: 'Workspaces that the caller belongs to, newest first.',
      answer: { page: workspace },
      answered: 'A page of workspaces',
    },
    addWorkspaceAgent: {
      method: 'POST',
      path: '/workspaces/{id}/agents',
      kind: 'write',
      action: 'workspace:write',
      summary: 'Add an agent to a workspace, or change its role',
      description:
        'For owners of the workspace. An agent that is a member already gets the role that is named, with 200. The ' +
        'last owner keeps its role. The key needs the scopes of all that the role allows, and no end: a member ' +
        'stays when the key has gone.',
      graph:
        'Adds an agent of any account, or gives a member another role. Errors: VALIDATION_ERROR, RESOURCE_NOT_FOUND, ' +
        'INSUFFICIENT_PERMISSIONS, CONFLICT (last_owner).',
      named: z.object({
        workspaceId: idInPath({
          rest: 'id',
          description: 'Workspace, ws_…',
          graph: 'Public id of a workspace that the caller owns.',
        }),
      }),
      input: newMember,
      answer: {
        outcome: membership,
        trust: 'Trust envelope of the membership.',
        inRest: { shows: flatMembership, flat: 'member' },
      },
      status: 201,
      answered: 'The new membership',
      problems: ['conflict'],
      example: {
        path: { id: example.workspace_id },
        body: newcomer,
        response: { workspace_id: example.workspace_id, ...exampleMember, ...newcomer },
      },
    },
  },
});
