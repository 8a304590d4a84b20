import { ProblemError } from '../../schema/problems.ts';
import type { Principal, Scope } from './principal.ts';

/**
 * The permission table: the only place where a permission is named. Every REST operation, GraphQL field,
 * subscription and entity resolver asserts one of these actions; `null` needs authentication and nothing more.
 */
export const ACTIONS = {
  'agent:readSelf': null,
  'agent:read': null,
  'attribution:read': 'attribution:read',
  'attribution:run': 'attribution:write',
  'dataSource:read': 'attribution:read',
  'dataSource:connect': 'attribution:write',
  'dataSource:write': 'attribution:write',
  'dataSource:delete': 'attribution:write',
  'experiment:read': 'attribution:read',
  'experiment:write': 'attribution:write',
  'billing:read': 'billing:read',
} as const satisfies Record<string, Scope | null>;

export type Action = keyof typeof ACTIONS;

/**
 * Asserts that the caller may do `action` and returns the caller.
 * @throws ProblemError `invalid_api_key` without a principal, `insufficient_permissions` without the scope.
 */
export function assertAction(principal: Principal | null, action: Action): Principal {
  if (principal === null) {
    throw new ProblemError('invalid_api_key', 'This operation needs an Authorization header: Bearer <API key>.');
  }
  const scope = ACTIONS[action];
  if (scope !== null && !principal.scopes.includes(scope)) {
    throw new ProblemError('insufficient_permissions', `The key lacks the scope ${scope}, which ${action} needs.`, { code: 'missing_scope', param: 'header:Authorization' });
  }
  return principal;
}
