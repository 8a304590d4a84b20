import type { Migration } from '../../../platform/postgres/migrate.ts';
import { tenantTable } from '../../../platform/postgres/tenant-tables.ts';

/** Workspaces and their members; kept here rather than by the agents subgraph, since admission asks for them. */
export const workspaceMigration: Migration = {
  name: '006-workspaces',
  up: [
    `create table auth.workspaces (
       id uuid primary key,
       account_id uuid not null references auth.accounts,
       name text not null check (char_length(name) between 1 and 80),
       region text not null check (region in ('eu', 'us', 'apac')),
       brand_ids text[] not null,
       created_at timestamptz(3) not null
     )`,
    `create index workspaces_account on auth.workspaces (account_id)`,
    ...tenantTable('auth.workspaces'),
    // Where a workspace lies never changes.
    `revoke update on auth.workspaces from liftgraph_app`,
    `grant update (name, brand_ids) on auth.workspaces to liftgraph_app`,
    `create table auth.workspace_members (
       workspace_id uuid not null references auth.workspaces on delete cascade,
       account_id uuid not null,
       agent_id uuid not null,
       role text not null check (role in ('owner', 'analyst', 'viewer', 'auditor')),
       added_by text not null,
       added_at timestamptz(3) not null,
       primary key (workspace_id, agent_id)
     )`,
    `comment on column auth.workspace_members.account_id is 'whose workspace it is; the agent may be of any account'`,
    `comment on column auth.workspace_members.added_by is 'public id of the agent or key that added the member'`,
    `create index workspace_members_agent on auth.workspace_members (agent_id)`,
    ...tenantTable('auth.workspace_members'),
    // Asked before it is known whose workspace it is, and across accounts: it tells a caller of its own workspaces, and
    // of no others.
    `create function auth.workspaces_of(in_account uuid, in_agent uuid)
       returns table (id uuid, account_id uuid, name text, region text, brand_ids text[], created_at timestamptz,
         role text, members jsonb)
       language sql stable security definer set search_path = auth, pg_temp
       as $$ select w.id, w.account_id, w.name, w.region, w.brand_ids, w.created_at,
                    coalesce((select m.role from workspace_members m
                      where m.workspace_id = w.id and m.agent_id = in_agent), 'owner'),
                    (select coalesce(jsonb_agg(jsonb_build_object('agentId', m.agent_id, 'role', m.role, 'addedBy',
                      m.added_by, 'addedAt', m.added_at) order by m.added_at, m.agent_id), '[]')
                     from workspace_members m where m.workspace_id = w.id)
             from workspaces w
             where w.id in (select own.id from workspaces own where own.account_id = in_account
                            union all
                            select m.workspace_id from workspace_members m where m.agent_id = in_agent) $$`,
  ],
};

/**
 * A workspace lies in the environment of the key that made it: members of one that a test key made see nothing of
 * production.
 */
export const workspaceEnvironmentMigration: Migration = {
  name: '034-workspace-environments',
  up: [
    `alter table auth.workspaces add column environment text not null default 'live' check (environment in ('live', ` +
      `'sandbox'))`,
    `alter table auth.workspaces alter column environment drop default`,
    `drop function auth.workspaces_of(uuid, uuid)`,
    `create function auth.workspaces_of(in_account uuid, in_agent uuid, in_environment text)
       returns table (id uuid, account_id uuid, name text, region text, brand_ids text[], created_at timestamptz,
         role text, members jsonb)
       language sql stable security definer set search_path = auth, pg_temp
       as $$ select w.id, w.account_id, w.name, w.region, w.brand_ids, w.created_at,
                    coalesce((select m.role from workspace_members m
                      where m.workspace_id = w.id and m.agent_id = in_agent), 'owner'),
                    (select coalesce(jsonb_agg(jsonb_build_object('agentId', m.agent_id, 'role', m.role, 'addedBy',
                      m.added_by, 'addedAt', m.added_at) order by m.added_at, m.agent_id), '[]')
                     from workspace_members m where m.workspace_id = w.id)
             from workspaces w
             where w.environment = in_environment
               and w.id in (select own.id from workspaces own where own.account_id = in_account
                            union all
                            select m.workspace_id from workspace_members m where m.agent_id = in_agent) $$`,
  ],
};
