import type { Migration } from '../../../platform/postgres/migrate.ts';

/** Lists and lines of keys, the first account, and the bond between a token and the key that was shown for it. */
export const keyManagementMigration: Migration = {
  name: '004-key-management',
  up: [
    `create index api_keys_of_account on auth.api_keys (account_id, created_at desc, id desc)`,
    `create index api_keys_rotated_to on auth.api_keys (rotated_to) where rotated_to is not null`,
    // Waits for a rotation or revocation of the key that is under way, and makes a later one wait for the token.
    `create function auth.bind_token_to_key() returns trigger
       language plpgsql security definer set search_path = auth, pg_temp
       as $$ declare shown auth.api_keys;
             begin
               select * into shown from auth.api_keys where id = new.key_id for share;
               new.expires_at := least(new.expires_at, shown.expires_at, shown.grace_ends_at);
               new.revoked_at := coalesce(new.revoked_at, shown.revoked_at);
               return new;
             end $$`,
    `comment on function auth.bind_token_to_key() is 'no token outlives the key that was shown for it'`,
    `create trigger bound_to_key before insert on auth.tokens for each row execute function auth.bind_token_to_key()`,
    // One at a time, so that two requests do not both find nobody there.
    `create function auth.claim_first_account() returns boolean
       language plpgsql volatile security definer set search_path = auth, pg_temp
       as $$ begin
               perform pg_advisory_xact_lock(hashtext('auth.claim_first_account'));
               return not exists (select from auth.accounts where tier is null);
             end $$`,
    `comment on function auth.claim_first_account() is 'whether there is no account yet that people run; those of ` +
      `agents have a tier'`,
  ],
};
