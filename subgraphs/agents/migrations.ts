import type { MigrationOwner } from '../../platform/postgres/migrate.ts';
import { tenantTable } from '../../platform/postgres/tenant-tables.ts';
import { earnersMigration } from './referrals/earners-migration.ts';
import { fraudMigration, referralsMigration, sumsInRangeMigration } from './referrals/migration.ts';

/** Owner `agents`: the registry of AI agents, one per account. */
export const agentsOwner: MigrationOwner = {
  schema: 'agents',
  migrations: [
    {
      name: '001-registry',
      up: [
        `create table agents.agents (
           id uuid primary key,
           account_id uuid not null unique,
           name text not null,
           operator_id text,
           operator_email text,
           capabilities text[] not null,
           referral_code text not null unique,
           referred_by uuid,
           callback_url text,
           tier text not null default 'discovery',
           trust_score double precision not null default 0.5 check (trust_score between 0 and 1),
           status text not null default 'active',
           created_at timestamptz not null default now()
         )`,
        ...tenantTable('agents.agents'),
        `create function agents.find_referrer(code text) returns uuid
           language sql stable security definer set search_path = agents, pg_temp
           as $$ select id from agents.agents where referral_code = code and status = 'active' $$`,
      ],
    },
    {
      name: '002-trust-rules',
      up: [
        `alter table agents.agents add column narrow_scopes_rewarded_at timestamptz, add column rotation_rewarded_at ` +
          `timestamptz`,
        `comment on column agents.agents.narrow_scopes_rewarded_at is 'asking for less is rewarded once'`,
        `comment on column agents.agents.rotation_rewarded_at is 'rotating a key is rewarded once in a calendar ` +
          `quarter'`,
      ],
    },
    {
      name: '003-oauth-clients',
      up: [
        `alter table agents.agents
           add column redirect_uris text[] not null default '{}',
           add column is_public boolean not null default false`,
        `comment on column agents.agents.is_public is 'an OAuth client that cannot keep a secret'`,
        `create function agents.find_oauth_client(agent uuid)
           returns table (account_id uuid, name text, redirect_uris text[], is_public boolean)
           language sql stable security definer set search_path = agents, pg_temp
           as $$ select account_id, name, redirect_uris, is_public from agents.agents
             where id = agent and status = 'active' $$`,
      ],
    },
    {
      name: '004-workspaces',
      up: [
        `alter table agents.agents add column capabilities_updated_at timestamptz(3)`,
        // What anybody may know of an agent, and nothing of its operator.
        `create function agents.public_face(wanted uuid)
           returns table (id uuid, name text, capabilities text[], tier text, trust_score double precision,
             created_at timestamptz)
           language sql stable security definer set search_path = agents, pg_temp
           as $$ select id, name, capabilities, tier, trust_score, created_at from agents.agents where id = wanted $$`,
      ],
    },
    referralsMigration,
    {
      name: '006-sandbox-presentation',
      up: [
        `alter table agents.agents add column sandbox_presentation jsonb`,
        `comment on column agents.agents.sandbox_presentation is 'what test keys have changed: the sandbox shows it, ` +
          `and nothing else knows of it'`,
      ],
    },
    sumsInRangeMigration,
    earnersMigration,
    fraudMigration,
  ],
};
