import type { Migration } from '../../../platform/postgres/migrate.ts';

const DEFINER = `security definer set search_path = auth, pg_temp`;

/**
 * Keys that end with what made them. The end of such a key is kept in its own row, so that admission, lists and
 * streams judge it as they judge any other; triggers keep it right whatever changes the rows of its makers. Keys from
 * before have no maker.
 */
export const derivedKeysMigration: Migration = {
  name: '036-derived-keys',
  up: [
    `alter table auth.api_keys
       add column maker_id uuid references auth.api_keys,
       add column grant_id uuid,
       add column own_expires_at timestamptz,
       add constraint api_keys_grant_has_key check (grant_id is null or maker_id is not null)`,
    `comment on column auth.api_keys.maker_id is
       'the key that made it, or that was shown for the token that did; it ends with that. Null ends by itself alone'`,
    `comment on column auth.api_keys.grant_id is 'the family of the token that made it; it ends with that, too'`,
    `comment on column auth.api_keys.own_expires_at is
       'the end that the maker of a derived key named; expires_at follows its makers, and is never later'`,
    `create index api_keys_maker on auth.api_keys (maker_id) where maker_id is not null`,
    `create index api_keys_grant on auth.api_keys (grant_id) where grant_id is not null`,

    // A family has one refresh token that was not used: the last. Without one there is no grant any more.
    `create function auth.life_of_makers(
         in_key uuid, in_grant uuid, out ends_at timestamptz, out revoked_at timestamptz)
       language sql stable ${DEFINER}
       as $$ select least(key.expires_at, key.grace_ends_at,
                          case when in_grant is not null then coalesce(last.expires_at, '-infinity') end),
                    least(key.revoked_at, last.revoked_at)
             from api_keys key
             left join lateral (
               select t.expires_at, t.revoked_at from tokens t
               where t.family_id = in_grant and t.use = 'refresh' and t.used_at is null
               order by t.created_at desc limit 1) last on true
             where key.id = in_key $$`,
    `comment on function auth.life_of_makers(uuid, uuid) is
       'how long a key, and the grant where one is named, live; null ends never by itself'`,
    // The end is never put before now: what is over was over when it was.
    `create function auth.derived_end(in_own timestamptz, in_makers timestamptz, in_so_far timestamptz)
       returns timestamptz
       language sql stable
       as $$ select case when least(in_own, in_makers) < auth.clock() then least(in_so_far, auth.clock())
                         else least(in_own, in_makers) end $$`,
    // A key without an end leaves what stands by itself; one that ends, and a token, leaves nothing that outlives it.
    `create function auth.bond_of(in_credential uuid)
       returns table (maker_id uuid, grant_id uuid, ends_at timestamptz, allowed_ips cidr[])
       language sql stable ${DEFINER}
       as $$ select case when shown.grant_id is not null or life.ends_at is not null then shown.key_id end,
                    shown.grant_id, auth.derived_end(null, life.ends_at, null), shown.allowed_ips
             from (select id as key_id, null::uuid as grant_id, allowed_ips from api_keys where id = in_credential
                   union all
                   select t.key_id, t.family_id, key.allowed_ips from tokens t join api_keys key on key.id = t.key_id
                   where t.id = in_credential) shown
             cross join lateral auth.life_of_makers(shown.key_id, shown.grant_id) life $$`,
    `comment on function auth.bond_of(uuid) is
       'what keys end with that this key or token makes; without a maker they stand by themselves'`,
    `create function auth.key_lives(in_key uuid) returns boolean
       language sql stable ${DEFINER}
       as $$ select exists (select from api_keys where id = in_key and revoked_at is null
                            and coalesce(least(expires_at, grace_ends_at) > clock(), true)) $$`,

    // Waits for a rotation, revocation or refresh of its makers that is under way; makes later ones wait for the key.
    `create function auth.bind_key_to_makers() returns trigger
       language plpgsql ${DEFINER}
       as $$ declare life record;
             begin
               perform from api_keys where id = new.maker_id for share;
               perform from tokens where family_id = new.grant_id and use = 'refresh' and used_at is null for share;
               select * into strict life from auth.life_of_makers(new.maker_id, new.grant_id);
               new.own_expires_at := new.expires_at;
               new.expires_at := auth.derived_end(new.own_expires_at, life.ends_at, null);
               new.revoked_at := coalesce(new.revoked_at, life.revoked_at);
               return new;
             end $$`,
    `create trigger bound_to_makers before insert on auth.api_keys for each row
       when (new.maker_id is not null) execute function auth.bind_key_to_makers()`,
    // One generation after the other, as long as anything changes: a chain of makers may be of any length. By the
    // indexes, whatever the planner believes of the tables: one account's keys are few among all.
    `create function auth.settle_derived_keys(in_keys uuid[]) returns void
       language plpgsql volatile ${DEFINER} set enable_seqscan = off
       as $$ declare generation uuid[] := in_keys;
             begin
               while cardinality(generation) > 0 loop
                 with due as (
                   select key.id, coalesce(key.revoked_at, life.revoked_at) as revoked_at,
                          auth.derived_end(key.own_expires_at, life.ends_at, key.expires_at) as expires_at
                   from api_keys key cross join lateral auth.life_of_makers(key.maker_id, key.grant_id) life
                   where key.id = any (generation)),
                 settled as (
                   update api_keys key set revoked_at = due.revoked_at, expires_at = due.expires_at from due
                   where key.id = due.id
                     and (key.revoked_at, key.expires_at) is distinct from (due.revoked_at, due.expires_at)
                   returning key.id)
                 select array_agg(id) into generation from settled;
                 generation := array(select id from api_keys where maker_id = any (generation));
               end loop;
             end $$`,
    `create function auth.settle_keys_of_key() returns trigger
       language plpgsql ${DEFINER}
       as $$ begin
               perform auth.settle_derived_keys(array(select id from api_keys where maker_id = new.id));
               return null;
             end $$`,
    // Not for what settling itself writes: it goes through all generations.
    `create trigger settle_derived after update of revoked_at, expires_at, grace_ends_at on auth.api_keys for each row
       when (pg_trigger_depth() = 0 and (old.revoked_at, old.expires_at, old.grace_ends_at)
             is distinct from (new.revoked_at, new.expires_at, new.grace_ends_at))
       execute function auth.settle_keys_of_key()`,
    `create function auth.settle_keys_of_grant() returns trigger
       language plpgsql ${DEFINER}
       as $$ declare family uuid := coalesce(new.family_id, old.family_id);
             begin
               perform auth.settle_derived_keys(array(select id from api_keys where grant_id = family));
               return null;
             end $$`,
    // A refresh uses one token up and gives the next: the latter is what counts.
    `create trigger settle_refreshed after insert on auth.tokens for each row
       when (new.use = 'refresh' and new.parent_id is not null) execute function auth.settle_keys_of_grant()`,
    `create trigger settle_derived after update of revoked_at, expires_at on auth.tokens for each row
       when (new.use = 'refresh' and new.used_at is null
             and (old.revoked_at, old.expires_at) is distinct from (new.revoked_at, new.expires_at))
       execute function auth.settle_keys_of_grant()`,
    `create trigger settle_removed after delete on auth.tokens for each row
       when (old.use = 'refresh' and old.used_at is null) execute function auth.settle_keys_of_grant()`,
  ],
};

/**
 * Whoever is let in is told apart by what ends him: answers that are kept for an account are not told to one that ends
 * sooner. A rotation makes no difference: the answer that a key in its grace asks for again may be that of its
 * rotation.
 */
export const bondsAtTheDoorMigration: Migration = {
  name: '037-bonds-at-the-door',
  up: [
    `create or replace view auth.credentials with (security_invoker = true) as
       select id, id as key_id, account_id, agent_id, lookup, salt, hash, scopes,
              case kind when 'svc_test_sk' then 'sandbox' else 'live' end as environment,
              'secret' as proof, api_version, allowed_ips, last_used_at,
              revoked_at is not null as revoked, least(expires_at, grace_ends_at) as ends_at,
              case when expires_at is not null then id end as bond
       from auth.api_keys
       union all
       select token.id, token.key_id, token.account_id, token.agent_id, token.lookup, token.salt, token.hash,
              token.scopes, token.environment, token.proof, coalesce(token.api_version, key.api_version),
              key.allowed_ips, null,
              token.revoked_at is not null or key.revoked_at is not null,
              least(token.expires_at, key.expires_at, key.grace_ends_at), token.family_id
       from auth.tokens token join auth.api_keys key on key.id = token.key_id
       where token.use = 'access'`,
    `drop function auth.admit(bytea, inet, boolean, jsonb, integer)`,
    // As before (028-admission-of-many), and tells the bond.
    `create function auth.admit(
         in_lookup bytea, in_address inet, in_on_sandbox_host boolean, in_limits jsonb, in_calls integer default 1)
       returns table (
         id uuid, key_id uuid, account_id uuid, agent_id uuid, salt bytea, hash bytea, scopes text[], environment text,
         proof text, api_version text, verdict text, minute_limit integer, day_limit integer, minute_left integer,
         day_left integer, minute_resets_s integer, day_resets_s integer, is_news boolean, calls integer, bond uuid)
       language plpgsql volatile security definer set search_path = auth, pg_temp
       as $$
       #variable_conflict use_column
       declare
         at constant timestamptz := auth.clock();
         shown record;
         rate_class text;
         counted record;
       begin
         for shown in
           select c.*, a.plan, a.tier, a.requests_per_minute, a.requests_per_day
           from auth.credentials c join auth.accounts a on a.account_id = c.account_id
           where c.lookup = in_lookup
         loop
           id := shown.id; key_id := shown.key_id; account_id := shown.account_id; agent_id := shown.agent_id;
           salt := shown.salt; hash := shown.hash; scopes := shown.scopes;
           environment := shown.environment; proof := shown.proof; api_version := shown.api_version; bond := shown.bond;
           calls := 0;
           verdict := case
             when shown.revoked or shown.ends_at <= at then 'ended'
             when in_on_sandbox_host and shown.environment <> 'sandbox' then 'wrong_host'
             when not coalesce(shown.allowed_ips is null or in_address <<= any (shown.allowed_ips::inet[]), false)
               then 'wrong_address'
             else 'admitted' end;
           if verdict = 'admitted' then
             rate_class := case
               when shown.environment = 'sandbox' then 'sandbox'
               when shown.plan in ('pro', 'enterprise') then shown.plan
               when shown.tier = 'enterprise' then 'agent_enterprise'
               else coalesce(shown.tier, 'standard') end;
             minute_limit := (in_limits -> rate_class ->> 0)::integer;
             day_limit := (in_limits -> rate_class ->> 1)::integer;
             if shown.environment = 'live' then
               minute_limit := coalesce(shown.requests_per_minute, minute_limit);
               day_limit := coalesce(shown.requests_per_day, day_limit);
             end if;
             select * into counted from auth.count_calls(
               concat_ws(':', shown.account_id, shown.environment,
                         case shown.proof when 'delegated' then shown.agent_id end),
               minute_limit, day_limit, in_calls);
             calls := counted.counted;
             verdict := coalesce(counted.exceeded, verdict);
             minute_left := counted.minute_left; day_left := counted.day_left;
             minute_resets_s := counted.minute_resets_s; day_resets_s := counted.day_resets_s;
             is_news := counted.is_news;
             if calls > 0 and shown.id = shown.key_id
               and coalesce(shown.last_used_at < at - interval '1 minute', true) then
               perform set_config('synchronous_commit', 'off', true);
               update auth.api_keys k set last_used_at = at
               where k.id = shown.key_id and coalesce(k.last_used_at < at - interval '1 minute', true);
             end if;
           end if;
           return next;
         end loop;
       end $$`,
  ],
};

/** A key that is shown without a call being counted is in use as well. */
export const uncountedUseMigration: Migration = {
  name: '038-uncounted-use',
  up: [
    `do $$
     declare
       was constant text := pg_get_functiondef('auth.admit(bytea, inet, boolean, jsonb, integer)'::regprocedure);
       is_now constant text := replace(was, 'if calls > 0 and', 'if (calls > 0 or in_calls = 0) and');
     begin
       if is_now = was then raise exception 'auth.admit does not read as it should'; end if;
       execute is_now;
     end $$`,
  ],
};
