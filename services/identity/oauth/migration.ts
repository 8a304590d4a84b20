import type { Migration } from '../../../platform/postgres/migrate.ts';
import { tenantTable } from '../../../platform/postgres/tenant-tables.ts';

/** Authorization codes, and what finds codes and tokens before a tenant is known. */
export const oauthMigration: Migration = {
  name: '005-oauth',
  up: [
    `create table auth.authorization_codes (
       id uuid primary key,
       account_id uuid not null references auth.accounts,
       agent_id uuid not null,
       key_id uuid not null references auth.api_keys,
       family_id uuid not null,
       lookup bytea not null,
       salt bytea not null,
       hash bytea not null,
       redirect_uri text not null,
       code_challenge text not null,
       scopes text[] not null,
       environment text not null check (environment in ('live', 'sandbox')),
       created_at timestamptz not null default now(),
       expires_at timestamptz not null,
       used_at timestamptz
     )`,
    `comment on column auth.authorization_codes.family_id is 'of the tokens that the code gives; known beforehand, ` +
      `so that they can be found when it comes again'`,
    `create index authorization_codes_lookup on auth.authorization_codes (lookup)`,
    `create index authorization_codes_expiry on auth.authorization_codes (expires_at)`,
    ...tenantTable('auth.authorization_codes'),
    `create function auth.find_authorization_codes(wanted bytea)
       returns table (id uuid, account_id uuid, agent_id uuid, salt bytea, hash bytea, redirect_uri text,
         code_challenge text, environment text, used boolean)
       language sql stable security definer set search_path = auth, pg_temp
       as $$ select id, account_id, agent_id, salt, hash, redirect_uri, code_challenge, environment, used_at is not null
             from auth.authorization_codes where lookup = wanted $$`,
    `create function auth.find_oauth_tokens(wanted bytea)
       returns table (id uuid, account_id uuid, agent_id uuid, use text, family_id uuid, salt bytea, hash bytea,
         scopes text[], environment text)
       language sql stable security definer set search_path = auth, pg_temp
       as $$ select id, account_id, agent_id, use, family_id, salt, hash, scopes, environment from auth.tokens
         where lookup = wanted $$`,
    // Families that refresh forever shed their oldest tokens; what descends from those stays.
    `alter table auth.tokens
       drop constraint tokens_parent_id_fkey,
       add constraint tokens_parent_id_fkey foreign key (parent_id) references auth.tokens on delete set null`,
    `create index tokens_parent on auth.tokens (parent_id) where parent_id is not null`,
    `create index tokens_expiry on auth.tokens (expires_at)`,
    `create function auth.forget_old_grants() returns bigint
       language sql volatile security definer set search_path = auth, pg_temp
       as $$ with tokens as (delete from auth.tokens where expires_at < auth.clock() - interval '1 day' returning 1),
                  codes as (delete from auth.authorization_codes where expires_at < auth.clock() - interval '31 days'
                    returning 1)
             select (select count(*) from tokens) + (select count(*) from codes) $$`,
  ],
};

/**
 * Whether what a grant began may go on: subscriptions outlive the token that made them, and must not outlive its grant.
 */
export const livingGrantsMigration: Migration = {
  name: '035-living-grants',
  up: [
    `create function auth.grant_lives(in_family uuid) returns boolean
       language sql stable security definer set search_path = auth, pg_temp
       as $$ select exists (
               select from tokens token join api_keys key on key.id = token.key_id
               where token.family_id = in_family and token.used_at is null and token.revoked_at is null
                 and key.revoked_at is null
                 and least(token.expires_at, key.expires_at, key.grace_ends_at) > clock()) $$`,
  ],
};
