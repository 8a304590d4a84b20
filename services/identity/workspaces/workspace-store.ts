import { z } from 'zod';
import { ProblemError } from '../../../schema/problems.ts';
import { REGIONS, type Region } from '../../../schema/value-lists.ts';
import { requireUuid, uuid, type Uuid } from '../../../platform/identifiers.ts';
import type { Database, SqlEntityManager } from '../../../platform/postgres/database.ts';
import { ROLES, type Environment, type Principal, type Role } from '../../../schema/principal.ts';
import { Rows, type Page } from '../../../platform/graph/connection.ts';
import { newestFirst } from '../../../platform/postgres/newest-first.ts';

/** An agent in a workspace; it may belong to another account than the workspace. */
export interface WorkspaceMember {
  readonly agentId: Uuid;
  readonly role: Role;
  /** Public id of the agent or key that added it. */
  readonly addedBy: string;
  readonly addedAt: Date;
}

/** A workspace of the caller's, with the caller's role in it. */
export interface Workspace {
  readonly id: Uuid;
  /** The tenant that owns it, and whose rows its members see. */
  readonly accountId: Uuid;
  readonly name: string;
  readonly region: Region;
  readonly brandIds: readonly string[];
  readonly createdAt: Date;
  readonly role: Role;
  readonly members: readonly WorkspaceMember[];
}

const workspaceRow = z
  .object({
    id: uuid,
    account_id: uuid,
    name: z.string(),
    region: z.enum(REGIONS),
    brand_ids: z.array(z.string()),
    created_at: z.coerce.date(),
    role: z.enum(ROLES),
    members: z.array(z.object({ agentId: uuid, role: z.enum(ROLES), addedBy: z.string(), addedAt: z.coerce.date() })),
  })
  .transform(({ account_id: accountId, brand_ids: brandIds, created_at: createdAt, ...rest }): Workspace => ({
    ...rest,
    accountId,
    brandIds,
    createdAt,
  }));

const workspaceRows = z.array(workspaceRow);

const CALLERS = 'auth.workspaces_of(?, ?, ?)';

/**
 * The workspaces that a caller belongs to, of its environment: those of its own account, and those that its agent is a
 * member of.
 */
export class WorkspaceStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Newest first, ties by id. */
  async list(caller: Principal, page: Page): Promise<Rows<Workspace>> {
    const { condition, window } = newestFirst(page, { sql: CALLERS, values: identityOf(caller) });
    const found = await this.#read(caller, `select * from ${CALLERS} where ${condition.sql} ${window.sql}`, [
      ...identityOf(caller),
      ...condition.values,
      ...window.values,
    ]);
    return Rows.of(found, page, ({ id }) => id);
  }

  async count(caller: Principal): Promise<number> {
    const [row] = await this.#database.asNobody(
      (em) => em.execute<[{ n: string }]>(`select count(*) as n from ${CALLERS}`, identityOf(caller)),
      { turnOf: caller.accountId },
    );
    return Number(row.n);
  }

  /**
   * @throws ProblemError `resource_not_found` for an unknown workspace and for one that the caller does not belong to
   * alike
   */
  async require(caller: Principal, id: string, param?: string): Promise<Workspace> {
    const [found] = await this.#read(caller, `select * from ${CALLERS} where id = ?`, [
      ...identityOf(caller),
      requireUuid('ws', id, 'workspace', param),
    ]);
    if (found === undefined)
      throw new ProblemError(
        'resource_not_found',
        `There is no workspace ${id}.`,
        param === undefined ? {} : { param },
      );
    return found;
  }

  async #read({ accountId }: Principal, sql: string, parameters: readonly unknown[]): Promise<readonly Workspace[]> {
    return workspaceRows.parse(
      await this.#database.asNobody((em) => em.execute(sql, [...parameters]), { turnOf: accountId }),
    );
  }
}

/** Adds a workspace inside the transaction of the tenant that owns it. */
export async function insertWorkspace(
  em: SqlEntityManager,
  workspace: Omit<Workspace, 'role'>,
  environment: Environment,
): Promise<void> {
  const { id, accountId, name, region, brandIds, createdAt } = workspace;
  await em.execute(
    `insert into auth.workspaces (id, account_id, environment, name, region, brand_ids, created_at) values (?, ?, ?, ` +
      `?, ?, (select coalesce(array_agg(b), '{}') from jsonb_array_elements_text(?::jsonb) b), ?)`,
    [id, accountId, environment, name, region, JSON.stringify(brandIds), createdAt],
  );
  for (const member of workspace.members) await putMember(em, workspace, member);
}

/** Writes a membership anew; who added the agent, and when, stays as it was. */
export async function putMember(
  em: SqlEntityManager,
  workspace: Pick<Workspace, 'id' | 'accountId'>,
  member: WorkspaceMember,
): Promise<void> {
  await em.execute(
    `insert into auth.workspace_members (workspace_id, account_id, agent_id, role, added_by, added_at)
      values (?, ?, ?, ?, ?, ?)
     on conflict (workspace_id, agent_id) do update set role = excluded.role`,
    [workspace.id, workspace.accountId, member.agentId, member.role, member.addedBy, member.addedAt],
  );
}

/** Ends what agents of other accounts are in all workspaces of an account, inside its tenant's transaction. */
export async function removeGuests(em: SqlEntityManager, accountId: Uuid, agentId: Uuid): Promise<number> {
  const gone = await em.execute<object[]>(
    `delete from auth.workspace_members where account_id = ? and agent_id <> ? returning agent_id`,
    [accountId, agentId],
  );
  return gone.length;
}

/**
 * The members of a workspace inside its tenant's transaction, which keeps everybody else from changing them until it
 * ends.
 */
export async function lockMembers(em: SqlEntityManager, workspaceId: Uuid): Promise<readonly WorkspaceMember[]> {
  await em.execute(`select 1 from auth.workspaces where id = ? for update`, [workspaceId]);
  const rows = await em.execute<{ agent_id: Uuid; role: Role; added_by: string; added_at: string }[]>(
    `select agent_id, role, added_by, added_at from auth.workspace_members where workspace_id = ? order by added_at, ` +
      `agent_id`,
    [workspaceId],
  );
  return rows.map((row) => ({
    agentId: row.agent_id,
    role: row.role,
    addedBy: row.added_by,
    addedAt: new Date(row.added_at),
  }));
}

/**
 * The caller as it acts in a workspace: for the account that owns it, with the role it has there. Scopes, environment
 * and proof stay those of its credential.
 * @param id public id, and where it was named
 * @throws ProblemError `resource_not_found` for an unknown workspace and for one that the caller does not belong to
 * alike
 */
export async function enterWorkspace(
  workspaces: WorkspaceStore,
  principal: Principal,
  id: string,
  param: string,
): Promise<Principal> {
  const { accountId, role, id: workspaceId } = await workspaces.require(principal, id, param);
  return { ...principal, accountId, workspace: { id: workspaceId, role, homeAccountId: homeOf(principal) } };
}

/** The account that the caller came from, wherever it acts. */
export function homeOf(principal: Principal): string {
  return principal.workspace?.homeAccountId ?? principal.accountId;
}

/** A token that an account granted opens the workspaces of that account, not those that the agent itself belongs to. */
function identityOf(principal: Principal): [accountId: string, agentId: string | null, environment: Environment] {
  return [homeOf(principal), principal.proof === 'delegated' ? null : principal.agentId, principal.environment];
}
