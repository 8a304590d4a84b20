import type { Migration } from '../postgres/migrate.ts';

const DEFINER = `security definer set search_path = auth, pg_temp`;

/**
 * Keys that end with what made them. The end of such a key is kept in its own row, so that admission, lists and streams judge
 * it as they judge any other; triggers keep it right whatever changes the rows of its makers. Keys from before have no maker.
 */
export const derivedKeysMigration: Migration = {
  name: '036-derived-keys',
  up: [
    `alter table auth.api_keys
       add column maker_id uuid references auth.api_keys,
       add column grant_id uuid,
       add column own_expires_at timestamptz,
       add constraint api_keys_grant_has_key check (grant_id is null or maker_id is not null)`,
    `comment on column auth.api_keys.maker_id is 'the key that made it, or that was shown for the token that did; it ends with that key. Null ends by itself alone'`,
    `comment on column auth.api_keys.grant_id is 'the family of the token that made it; it ends with that, too'`,
    `comment on column auth.api_keys.own_expires_at is 'the end that the maker of a derived key named; expires_at follows its makers, and is never later'`,
    `create index api_keys_maker on auth.api_keys (maker_id) where maker_id is not null`,
    `create index api_keys_grant on auth.api_keys (grant_id) where grant_id is not null`,

    // A family has one refresh token that was not used: the last. Without one there is no grant any more.
    `create function auth.life_of_makers(in_key uuid, in_grant uuid, out ends_at timestamptz, out revoked_at timestamptz)
       language sql stable ${DEFINER}
       as $$ select least(key.expires_at, key.grace_ends_at, case when in_grant is not null then coalesce(last.expires_at, '-infinity') end), least(key.revoked_at, last.revoked_at)
             from api_keys key
             left join lateral (select t.expires_at, t.revoked_at from tokens t
                                where t.family_id = in_grant and t.use = 'refresh' and t.used_at is null order by t.created_at desc limit 1) last on true
             where key.id = in_key $$`,
    `comment on function auth.life_of_makers(uuid, uuid) is 'how long a key, and the grant where one is named, live; null ends never by itself'`,
    // The end is never put before now: what is over was over when it was.
    `create function auth.derived_end(in_own timestamptz, in_makers timestamptz, in_so_far timestamptz) returns timestamptz
       language sql stable
       as $$ select case when least(in_own, in_makers) < auth.clock() then least(in_so_far, auth.clock()) else least(in_own, in_makers) end $$`,
    // A key that has no end leaves what stands by itself; one that ends, and every token, leaves nothing that outlives it.
    `create function auth.bond_of(in_credential uuid) returns table (maker_id uuid, grant_id uuid, ends_at timestamptz)
       language sql stable ${DEFINER}
       as $$ select case when shown.grant_id is not null or life.ends_at is not null then shown.key_id end, shown.grant_id, auth.derived_end(null, life.ends_at, null)
             from (select id as key_id, null::uuid as grant_id from api_keys where id = in_credential
                   union all select t.key_id, t.family_id from tokens t where t.id = in_credential) shown
             cross join lateral auth.life_of_makers(shown.key_id, shown.grant_id) life $$`,
    `comment on function auth.bond_of(uuid) is 'what keys end with that this key or token makes; without a maker they stand by themselves'`,
    // Waits for a rotation, revocation or refresh of its makers that is under way, and makes later ones wait for the key.
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
    `create trigger bound_to_makers before insert on auth.api_keys for each row when (new.maker_id is not null) execute function auth.bind_key_to_makers()`,
    // One generation after the other, as long as anything changes: a chain of makers may be of any length.
    `create function auth.settle_derived_keys(in_keys uuid[]) returns void
       language plpgsql volatile ${DEFINER}
       as $$ declare generation uuid[] := in_keys;
             begin
               while cardinality(generation) > 0 loop
                 with due as (
                   select key.id, coalesce(key.revoked_at, life.revoked_at) as revoked_at, auth.derived_end(key.own_expires_at, life.ends_at, key.expires_at) as expires_at
                   from api_keys key cross join lateral auth.life_of_makers(key.maker_id, key.grant_id) life
                   where key.id = any (generation)),
                 settled as (
                   update api_keys key set revoked_at = due.revoked_at, expires_at = due.expires_at from due
                   where key.id = due.id and (key.revoked_at, key.expires_at) is distinct from (due.revoked_at, due.expires_at)
                   returning key.id)
                 select array_agg(child.id) into generation from settled join api_keys child on child.maker_id = settled.id;
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
       when (pg_trigger_depth() = 0 and (old.revoked_at, old.expires_at, old.grace_ends_at) is distinct from (new.revoked_at, new.expires_at, new.grace_ends_at)) execute function auth.settle_keys_of_key()`,
    `create function auth.settle_keys_of_grant() returns trigger
       language plpgsql ${DEFINER}
       as $$ begin
               perform auth.settle_derived_keys(array(select id from api_keys where grant_id = coalesce(new.family_id, old.family_id)));
               return null;
             end $$`,
    // A refresh uses one token up and gives the next: the latter is what counts.
    `create trigger settle_refreshed after insert on auth.tokens for each row when (new.use = 'refresh' and new.parent_id is not null) execute function auth.settle_keys_of_grant()`,
    `create trigger settle_derived after update of revoked_at, expires_at on auth.tokens for each row
       when (new.use = 'refresh' and new.used_at is null and (old.revoked_at, old.expires_at) is distinct from (new.revoked_at, new.expires_at)) execute function auth.settle_keys_of_grant()`,
    `create trigger settle_removed after delete on auth.tokens for each row when (old.use = 'refresh' and old.used_at is null) execute function auth.settle_keys_of_grant()`,
  ],
};
