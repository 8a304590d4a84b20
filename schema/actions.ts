import { channel } from 'node:diagnostics_channel';
import { ProblemError } from './problems.ts';
import type { Principal, Role, Scope } from './principal.ts';

/**
 * What the members of a workspace may be allowed; the columns of the contract's role matrix, raw journeys apart.
 * `self` concerns the caller alone, wherever it acts; `account` concerns what no workspace holds, such as keys.
 */
type Right = 'self' | 'read' | 'readJourneys' | 'run' | 'configure' | 'administer' | 'audit' | 'account';

interface Permission {
  /** Null needs authentication and nothing more. */
  readonly scope: Scope | null;
  /** What a role must allow where the caller acts in a workspace. */
  readonly right: Right;
  /** Refused to delegated tokens: keys and money. */
  readonly secret?: true;
  /** Refused to test keys: what it changes is not the sandbox's. */
  readonly live?: true;
}

/**
 * The permission table: the only place where a permission is named. Every REST operation, GraphQL field,
 * subscription and entity resolver asserts one of these actions.
 */
export const ACTIONS = {
  'agent:readSelf': { scope: null, right: 'self' },
  'agent:read': { scope: null, right: 'self' },
  'agent:write': { scope: 'referrals:write', right: 'self' },
  // It ends every key, the caller's own included.
  'agent:close': { scope: null, right: 'account', secret: true, live: true },
  'referral:read': { scope: 'referrals:read', right: 'administer' },
  'attribution:read': { scope: 'attribution:read', right: 'read' },
  'attribution:run': { scope: 'attribution:write', right: 'run' },
  'attribution:delete': { scope: 'attribution:write', right: 'run' },
  'attribution:export': { scope: 'attribution:read', right: 'read' },
  'dataSource:read': { scope: 'attribution:read', right: 'read' },
  'dataSource:connect': { scope: 'attribution:write', right: 'run' },
  'dataSource:write': { scope: 'attribution:write', right: 'run' },
  'dataSource:delete': { scope: 'attribution:write', right: 'run' },
  'experiment:read': { scope: 'attribution:read', right: 'read' },
  'experiment:write': { scope: 'attribution:write', right: 'run' },
  'journey:read': { scope: 'attribution:read', right: 'readJourneys' },
  'key:read': { scope: null, right: 'account', secret: true },
  // One half of each pair is live.
  'key:create': { scope: null, right: 'account', secret: true, live: true },
  'key:write': { scope: null, right: 'account', secret: true },
  // Each event type needs the scope of its family besides.
  'webhook:read': { scope: null, right: 'configure' },
  'webhook:write': { scope: null, right: 'configure' },
  'workspace:read': { scope: null, right: 'self' },
  // A membership outlives the token that made it.
  'workspace:create': { scope: null, right: 'account', secret: true },
  'workspace:write': { scope: null, right: 'administer', secret: true },
  'audit:read': { scope: 'audit:read', right: 'audit' },
  // What may be heard, the scopes of each type decide; in a workspace, what happened there.
  'event:read': { scope: null, right: 'read' },
  // Whoever has an analysis before him may know what it costs.
  'fee:read': { scope: null, right: 'read' },
  'billing:read': { scope: 'billing:read', right: 'administer' },
  'billing:write': { scope: 'billing:read', right: 'administer', secret: true },
} as const satisfies Record<string, Permission>;

export type Action = keyof typeof ACTIONS;

/** Hears which action is asserted, whatever comes of it: how the permission tests find out what covers an operation. */
export const ASSERTED_ACTIONS = channel('liftgraph.auth.asserted-action');

/** `account` is nobody's: whoever manages a workspace does not manage the account that it belongs to. */
const RIGHTS_OF_ROLE: Readonly<Record<Role, readonly Right[]>> = {
  owner: ['self', 'read', 'readJourneys', 'run', 'configure', 'administer', 'audit'],
  analyst: ['self', 'read', 'readJourneys', 'run', 'configure'],
  viewer: ['self', 'read', 'readJourneys'],
  auditor: ['self', 'read', 'audit'],
};

/** The scopes of all that a role allows: what giving it away gives away. */
export function scopesOfRole(role: Role): readonly Scope[] {
  const permissions: readonly Permission[] = Object.values(ACTIONS);
  return [
    ...new Set(
      permissions.flatMap(({ scope, right }) =>
        scope !== null && right !== 'self' && RIGHTS_OF_ROLE[role].includes(right) ? [scope] : [],
      ),
    ),
  ];
}

/**
 * Nobody gets more out of a key than it has itself.
 * @param param of what would give more
 * @throws ProblemError `insufficient_permissions` / `missing_scope`
 */
export function assertCovers(principal: Principal, scopes: readonly Scope[], param: string): void {
  const beyond = scopes.filter((scope) => !principal.scopes.includes(scope));
  if (beyond.length === 0) return;
  throw new ProblemError(
    'insufficient_permissions',
    `Your own key lacks ${beyond.join(', ')}, and a key cannot grant what it lacks. Use a key that has these scopes.`,
    { code: 'missing_scope', param, scope: beyond.join(' ') },
  );
}

/**
 * Asserts that the caller may do `action` and returns the caller: its scopes must hold the action's, and in a workspace
 * its role must allow it.
 * @throws ProblemError `invalid_api_key` without a principal; `insufficient_permissions` with code `missing_scope`,
 *   `secret_required`, `live_key_required` or `role`
 */
export function assertAction(principal: Principal | null, action: Action): Principal {
  if (ASSERTED_ACTIONS.hasSubscribers) ASSERTED_ACTIONS.publish(action);
  if (principal === null) {
    throw new ProblemError('invalid_api_key', 'This operation needs an Authorization header: Bearer <API key>.');
  }
  const { scope, right, secret, live }: Permission = ACTIONS[action];
  if (scope !== null && !principal.scopes.includes(scope)) {
    throw new ProblemError('insufficient_permissions', `The key lacks the scope ${scope}, which ${action} needs.`, {
      code: 'missing_scope',
      param: 'header:Authorization',
      scope,
    });
  }
  if (secret === true && principal.proof !== 'secret') {
    throw new ProblemError(
      'insufficient_permissions',
      `${action} needs a secret key or a token of client_credentials; this token was granted by somebody else.`,
      { code: 'secret_required', param: 'header:Authorization' },
    );
  }
  if (live === true && principal.environment !== 'live') {
    throw new ProblemError(
      'insufficient_permissions',
      `${action} reaches beyond the sandbox, and so needs a live key, or the key of the agent.`,
      { code: 'live_key_required', param: 'header:Authorization' },
    );
  }
  if (principal.workspace !== null && !RIGHTS_OF_ROLE[principal.workspace.role].includes(right)) {
    const cure =
      right === 'account'
        ? 'It concerns the account itself: leave the header SVC-Workspace out.'
        : 'Ask an owner of the workspace for another role.';
    throw new ProblemError(
      'insufficient_permissions',
      `The role ${principal.workspace.role} of this workspace does not allow ${action}. ${cure}`,
      { code: 'role' },
    );
  }
  return principal;
}
