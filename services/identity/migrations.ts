import type { MigrationOwner } from '../../platform/postgres/migrate.ts';
import { agentEndMigration } from './keys/agent-end-migration.ts';
import { endpointCallsMigration } from './limits/endpoint-calls-migration.ts';
import { oldEndpointCallsMigration } from './limits/old-endpoint-calls-migration.ts';
import { callTotalMigration } from './limits/call-total-migration.ts';
import { proTrialMigration } from './limits/pro-trial-migration.ts';
import { selfHostedMigration } from './limits/self-hosted-migration.ts';
import { livingGrantsMigration, oauthMigration } from './oauth/migration.ts';
import { tenantTable } from '../../platform/postgres/tenant-tables.ts';
import { admissionMigration, admissionUnderLoadMigration } from './admission/admission-migration.ts';
import { admissionOfManyMigration, noncesOfManyMigration } from './admission/admission-of-many-migration.ts';
import { bondsAtTheDoorMigration, derivedKeysMigration, uncountedUseMigration } from './keys/derived-keys-migration.ts';
import { keyManagementMigration } from './keys/key-management-migration.ts';
import { workspaceEnvironmentMigration, workspaceMigration } from './workspaces/workspace-migration.ts';

/**
 * Owner `auth`: accounts (the tenants), their keys, OAuth's codes and tokens, and the nonces seen in the last day.
 * Keys and nonces are looked up before a tenant is known, so both go through SECURITY DEFINER functions
 * that answer exactly one question; the application role has no rights on `auth.nonces` itself.
 */
export const authOwner: MigrationOwner = {
  schema: 'auth',
  migrations: [
    {
      name: '001-accounts-keys-nonces',
      up: [
        `create table auth.accounts (
           account_id uuid primary key,
           operator_id text,
           operator_email text,
           created_at timestamptz not null default now(),
           check (operator_id is not null or operator_email is not null)
         )`,
        `create unique index accounts_operator_id on auth.accounts (operator_id)`,
        `create unique index accounts_operator_email on auth.accounts (lower(operator_email))`,
        ...tenantTable('auth.accounts'),
        `create table auth.api_keys (
           id uuid primary key,
           account_id uuid not null references auth.accounts,
           agent_id uuid,
           kind text not null,
           display_prefix text not null,
           last4 text not null,
           lookup bytea not null,
           salt bytea not null,
           hash bytea not null,
           scopes text[] not null,
           created_at timestamptz not null default now(),
           expires_at timestamptz,
           revoked_at timestamptz
         )`,
        `create index api_keys_lookup on auth.api_keys (lookup)`,
        ...tenantTable('auth.api_keys'),
        `create function auth.find_api_keys(wanted bytea)
           returns table (id uuid, account_id uuid, agent_id uuid, kind text, salt bytea, hash bytea, scopes text[],
             ended boolean)
           language sql stable security definer set search_path = auth, pg_temp
           as $$ select id, account_id, agent_id, kind, salt, hash, scopes,
                        revoked_at is not null or coalesce(expires_at <= now(), false)
                 from auth.api_keys where lookup = wanted $$`,
        `create table auth.nonces (
           scope text not null,
           nonce text not null,
           used_at timestamptz not null default now(),
           primary key (scope, nonce)
         )`,
        `create index nonces_used_at on auth.nonces (used_at)`,
        `create function auth.consume_nonce(in_scope text, in_nonce text) returns boolean
           language sql volatile security definer set search_path = auth, pg_temp
           as $$ with taken as (
                   insert into auth.nonces as seen (scope, nonce) values (in_scope, in_nonce)
                   on conflict (scope, nonce) do update set used_at = now()
                     where seen.used_at < now() - interval '24 hours'
                   returning 1)
                 select exists (select 1 from taken) $$`,
        `create function auth.forget_old_nonces() returns bigint
           language sql volatile security definer set search_path = auth, pg_temp
           as $$ with gone as (delete from auth.nonces where used_at < now() - interval '24 hours' returning 1)
                 select count(*) from gone $$`,
        `revoke all on auth.nonces from liftgraph_app`,
      ],
    },
    {
      name: '002-plans-key-pairs-tokens',
      up: [
        `alter table auth.accounts
           add column name text,
           add column plan text not null default 'pay_per_analysis' check
             (plan in ('pay_per_analysis', 'pro', 'enterprise')),
           add column tier text check (tier in ('discovery', 'builder', 'partner', 'ambassador', 'enterprise')),
           add column requests_per_minute integer check (requests_per_minute > 0),
           add column requests_per_day integer check (requests_per_day > 0)`,
        `comment on column auth.accounts.tier is 'of the account''s agent; null for operators without one'`,
        `comment on column auth.accounts.requests_per_minute is 'agreed with this account; null follows plan and tier'`,
        `update auth.accounts set tier = 'discovery' where account_id in (select account_id from auth.api_keys where ` +
          `agent_id is not null)`,
        `alter table auth.api_keys
           add column key_pair_id uuid,
           add column name text,
           add column allowed_ips cidr[],
           add column api_version text,
           add column last_used_at timestamptz,
           add column rotated_to uuid references auth.api_keys,
           add column grace_ends_at timestamptz`,
        `create table auth.tokens (
           id uuid primary key,
           account_id uuid not null references auth.accounts,
           agent_id uuid not null,
           use text not null check (use in ('access', 'refresh')),
           proof text not null check (proof in ('secret', 'delegated')),
           family_id uuid not null,
           parent_id uuid references auth.tokens,
           key_id uuid not null references auth.api_keys,
           lookup bytea not null,
           salt bytea not null,
           hash bytea not null,
           scopes text[] not null,
           environment text not null check (environment in ('live', 'sandbox')),
           api_version text,
           created_at timestamptz not null default now(),
           expires_at timestamptz not null,
           used_at timestamptz,
           revoked_at timestamptz
         )`,
        `comment on column auth.tokens.account_id is 'whose data the token opens: of the resource owner, not of the ` +
          `agent, when it was delegated'`,
        `comment on column auth.tokens.key_id is 'the key that was shown for it; revoking that key ends the token'`,
        `create index tokens_lookup on auth.tokens (lookup)`,
        `create index tokens_family on auth.tokens (family_id)`,
        `create index tokens_key on auth.tokens (key_id)`,
        ...tenantTable('auth.tokens'),
      ],
    },
    admissionMigration,
    keyManagementMigration,
    oauthMigration,
    admissionUnderLoadMigration,
    workspaceMigration,
    admissionOfManyMigration,
    noncesOfManyMigration,
    workspaceEnvironmentMigration,
    livingGrantsMigration,
    derivedKeysMigration,
    bondsAtTheDoorMigration,
    uncountedUseMigration,
    selfHostedMigration,
    callTotalMigration,
    agentEndMigration,
    endpointCallsMigration,
    proTrialMigration,
    oldEndpointCallsMigration,
  ],
};
