import { ENVIRONMENTS } from '../../schema/value-lists.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whose rows a transaction is for, and which of them. A principal is one. */
export interface TenantScope {
  /** A UUID. */
  readonly accountId: string;
  readonly environment: (typeof ENVIRONMENTS)[number];
  /**
   * The only workspace whose rows are there (a UUID); null: all rows of the account. Required, so that nobody leaves it
   * out by mistake.
   */
  readonly workspace: { readonly id: string } | null;
}

/**
 * All rows that an account has in an environment, for work that nobody is waiting for in person, and for what follows a
 * permitted request.
 */
export function wholeAccount({ accountId, environment }: Pick<TenantScope, 'accountId' | 'environment'>): TenantScope {
  return { accountId, environment, workspace: null };
}

/**
 * The transaction-local settings that the policies compare rows with. A bare account id opens what belongs to the
 * account as such (keys, members, audit), and nothing of what lies in an environment or a workspace.
 * @throws TypeError for what is not a UUID or environment: the values go into SQL text
 */
export function settingsOf(tenant: TenantScope | string | undefined): Record<string, string> {
  const {
    accountId = '',
    environment = '',
    workspace = { id: '' },
  } = typeof tenant === 'object' ? tenant : { accountId: tenant };
  if (tenant !== undefined && !UUID.test(accountId)) throw new TypeError('an account id has to be a UUID');
  if (environment !== '' && !ENVIRONMENTS.includes(environment))
    throw new TypeError('an environment has to be one of the contract');
  if (workspace !== null && workspace.id !== '' && !UUID.test(workspace.id))
    throw new TypeError('a workspace id has to be a UUID');
  return {
    'liftgraph.account_id': accountId,
    'liftgraph.environment': environment,
    'liftgraph.workspace_id': workspace === null ? '*' : workspace.id.toLowerCase(),
  };
}
