import { flatMembership, workspaces } from '../../schema/contract/workspaces.ts';
import { restForm } from '../../schema/contract/rest-form.ts';
import { operationsOf } from '../contract-operations.ts';
import { inOrder, objectAt } from '../members.ts';
import type { Json } from '../operation.ts';
import { trustEnvelope } from '../representations/trust-envelope.ts';

const membership = restForm(flatMembership).extend({ trust: trustEnvelope }).meta({ id: 'WorkspaceMembership' });

export const workspaceOperations = operationsOf(workspaces, {
  addWorkspaceAgent: {
    success: { status: 201, description: 'The new membership', schema: membership },
    lesserSuccess: { status: 200, description: 'The agent was a member already; the membership as it is now', applies: (data) => objectAt(data, 'add_workspace_agent')['is_new'] === false },
    present: (data) => {
      const { workspace_id, member, trust } = objectAt(data, 'add_workspace_agent');
      return inOrder(membership, { workspace_id, ...(member as Json), trust });
    },
  },
});
