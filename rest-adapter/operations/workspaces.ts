import { workspaces } from '../../schema/contract/workspaces.ts';
import { operationsOf } from '../contract-operations.ts';
import { objectAt } from '../members.ts';

export const workspaceOperations = operationsOf(workspaces, {
  addWorkspaceAgent: {
    lesserSuccess: {
      status: 200,
      description: 'The agent was a member already; the membership as it is now',
      applies: (data) => objectAt(data, 'add_workspace_agent')['is_new'] === false,
    },
  },
});
