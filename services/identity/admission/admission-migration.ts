import type { Migration } from '../../../platform/postgres/migrate.ts';

/**
 * What stands behind admission. One function answers everything that a door asks of a credential, so that a request
 * costs one round trip; windows are counted in unlogged tables, which write no WAL and are empty after a crash.
 */
export const admissionMigration: Migration = {
  name: '003-admission',
  up: [
    `create function auth.clock() returns timestamptz language sql stable as $$ select now() $$`,
    `comment on function auth.clock() is 'the only clock that expiries and windows are judged by; ` +
      `only the owner can replace it, as tests do'`,

    `create view auth.credentials with (security_invoker = true) as
       select id, id as key_id, account_id, agent_id, lookup, salt, hash, scopes,
              case kind when 'svc_test_sk' then 'sandbox' else 'live' end as environment,
              'secret' as proof, api_version, allowed_ips, last_used_at,
              revoked_at is not null as revoked, least(expires_at, grace_ends_at) as ends_at
       from auth.api_keys
       union all
       select token.id, token.key_id, token.account_id, token.agent_id, token.lookup, token.salt, token.hash,
         token.scopes,
              token.environment, token.proof, coalesce(token.api_version, key.api_version), key.allowed_ips, null,
              token.revoked_at is not null or key.revoked_at is not null,
                least(token.expires_at, key.expires_at, key.grace_ends_at)
       from auth.tokens token join auth.api_keys key on key.id = token.key_id
       where token.use = 'access'`,
    `comment on view auth.credentials is 'whatever an Authorization header may show; a token never does more, or ` +
      `lives longer, than the key it was given for'`,

    `create unlogged table auth.rate_windows (
       subject text primary key,
       minute timestamptz not null,
       minute_calls integer not null,
       day timestamptz not null,
       day_calls integer not null,
       told_minute timestamptz
     ) with (fillfactor = 50)`,
    `revoke all on auth.rate_windows from liftgraph_app`,
    // One row per subject, changed in place: nothing but the primary key is indexed, so that each change is a HOT
    // update. A refused call is not counted, so that the day is not used up by a client that cannot wait.
    `create function auth.count_call(in_subject text, in_minute_limit integer, in_day_limit integer,
         out exceeded text, out minute_left integer, out day_left integer, out minute_resets_s integer,
           out day_resets_s integer, out is_news boolean)
       language plpgsql volatile security definer set search_path = auth, pg_temp
       as $$
       declare
         at constant timestamptz := auth.clock();
         this_minute constant timestamptz := date_trunc('minute', at);
         today constant timestamptz := date_trunc('day', at, 'UTC');
         counted auth.rate_windows;
       begin
         is_news := false;
         -- Whoever waited for the row across the end of a window finds one that is later than its own.
         insert into auth.rate_windows as seen (subject, minute, minute_calls, day, day_calls)
           values (in_subject, this_minute, 1, today, 1)
         on conflict (subject) do update set
           minute_calls = case when seen.minute >= this_minute then seen.minute_calls + 1 else 1 end,
           minute = greatest(seen.minute, this_minute),
           day_calls = case when seen.day >= today then seen.day_calls + 1 else 1 end,
           day = greatest(seen.day, today)
         where (seen.minute < this_minute or seen.minute_calls < in_minute_limit)
           and (in_day_limit is null or seen.day < today or seen.day_calls < in_day_limit)
         returning * into counted;
         if not found then
           select * into counted from auth.rate_windows where subject = in_subject;
           exceeded := case when in_day_limit is not null and counted.day >= today
             and counted.day_calls >= in_day_limit then 'day' else 'minute' end;
           if counted.told_minute is distinct from this_minute then
             update auth.rate_windows set told_minute = this_minute
               where subject = in_subject and told_minute is distinct from this_minute;
             is_news := found;
           end if;
         end if;
         minute_left := case when counted.minute < this_minute then in_minute_limit
           else greatest(0, in_minute_limit - counted.minute_calls) end;
         day_left := case when counted.day < today then in_day_limit
           else greatest(0, in_day_limit - counted.day_calls) end;
         minute_resets_s := greatest(1, ceil(extract(epoch from greatest(counted.minute, this_minute) + interval
           '1 minute' - at)));
         day_resets_s := greatest(1, ceil(extract(epoch from greatest(counted.day, today) + interval '1 day' - at)));
       end $$`,
    `create function auth.forget_old_rate_windows() returns bigint
       language sql volatile security definer set search_path = auth, pg_temp
       as $$ with gone as (delete from auth.rate_windows where day < auth.clock() - interval '2 days' returning 1)
         select count(*) from gone $$`,

    // A row of the answer is a credential with this lookup value, and a call is counted for it before its hash is
    // compared. The lookup value is the first 64 bits of an HMAC under the pepper, so that whoever has one that is here
    // either has the key or has guessed one of 2⁶⁴: nobody can use up somebody else's windows. Of two credentials with
    // the same lookup value (one chance in 10⁷ among a million of them) both are counted.
    `create function auth.admit(in_lookup bytea, in_address inet, in_on_sandbox_host boolean, in_limits jsonb)
       returns table (id uuid, key_id uuid, account_id uuid, agent_id uuid, salt bytea, hash bytea, scopes text[],
         environment text, proof text, api_version text,
         verdict text, minute_limit integer, day_limit integer, minute_left integer, day_left integer,
           minute_resets_s integer, day_resets_s integer, is_news boolean)
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
           salt := shown.salt; hash := shown.hash; scopes := shown.scopes; environment := shown.environment; proof
             := shown.proof; api_version := shown.api_version;
           verdict := case
             when shown.revoked or shown.ends_at <= at then 'ended'
             when in_on_sandbox_host and shown.environment <> 'sandbox' then 'wrong_host'
             when not coalesce(shown.allowed_ips is null
               or in_address <<= any (shown.allowed_ips::inet[]), false) then 'wrong_address'
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
             -- All keys of an account share its windows, else more keys would mean more calls. An agent that acts for
             -- somebody else has windows of its own there, and cannot use up those of its host.
             select * into counted from auth.count_call(
               concat_ws(':', shown.account_id, shown.environment, case shown.proof
                 when 'delegated' then shown.agent_id end), minute_limit, day_limit);
             verdict := coalesce(counted.exceeded, verdict);
             minute_left := counted.minute_left; day_left := counted.day_left;
             minute_resets_s := counted.minute_resets_s; day_resets_s := counted.day_resets_s; is_news
               := counted.is_news;
             if counted.exceeded is null and shown.id = shown.key_id
               and coalesce(shown.last_used_at < at - interval '1 minute', true) then
               perform set_config('synchronous_commit', 'off', true);
               update auth.api_keys k set last_used_at = at
                 where k.id = shown.key_id and coalesce(k.last_used_at < at - interval '1 minute', true);
             end if;
           end if;
           return next;
         end loop;
       end $$`,

    `create or replace function auth.find_api_keys(wanted bytea)
       returns table (id uuid, account_id uuid, agent_id uuid, kind text, salt bytea, hash bytea, scopes text[],
         ended boolean)
       language sql stable security definer set search_path = auth, pg_temp
       as $$ select id, account_id, agent_id, kind, salt, hash, scopes, revoked_at is not null
         or coalesce(least(expires_at, grace_ends_at) <= auth.clock(), false)
             from auth.api_keys where lookup = wanted $$`,

    // The commit is not waited for. WAL is written in order: once the effect of the request is durable, its nonce is,
    // and a nonce that a crash forgot belongs to a request that left no effect.
    `create or replace function auth.consume_nonce(in_scope text, in_nonce text) returns boolean
       language sql volatile security definer set search_path = auth, pg_temp
       as $$ select set_config('synchronous_commit', 'off', true);
             with taken as (
               insert into auth.nonces as seen (scope, nonce, used_at) values (in_scope, in_nonce, auth.clock())
               on conflict (scope, nonce) do update set used_at = excluded.used_at
                 where seen.used_at < excluded.used_at - interval '24 hours'
               returning 1)
             select exists (select 1 from taken) $$`,
    `create or replace function auth.forget_old_nonces() returns bigint
       language sql volatile security definer set search_path = auth, pg_temp
       as $$ with gone as (delete from auth.nonces where used_at < auth.clock() - interval '24 hours' returning 1)
             select count(*) from gone $$`,

    `create unlogged table auth.failures (
       subject text primary key,
       hour timestamptz not null,
       in_hour integer not null,
       untold integer not null,
       told_at timestamptz
     ) with (fillfactor = 50)`,
    `revoke all on auth.failures from liftgraph_app`,
    // Worth telling: the first of a minute, which tells of those before it that were not, and the one that alarms.
    `create function auth.count_failure(in_subject text, in_alarm_at integer, out in_hour integer, out untold integer,
      out is_news boolean)
       language plpgsql volatile security definer set search_path = auth, pg_temp
       as $$
       declare
         at constant timestamptz := auth.clock();
         this_hour constant timestamptz := date_trunc('hour', at, 'UTC');
         counted auth.failures;
       begin
         insert into auth.failures as seen (subject, hour, in_hour, untold) values (in_subject, this_hour, 1, 1)
         on conflict (subject) do update set
           in_hour = case when seen.hour >= this_hour then seen.in_hour + 1 else 1 end,
           hour = greatest(seen.hour, this_hour),
           untold = seen.untold + 1
         returning * into counted;
         in_hour := counted.in_hour;
         untold := counted.untold;
         is_news := counted.told_at is null or counted.told_at <= at - interval '1 minute'
           or counted.in_hour = in_alarm_at;
         if is_news then
           update auth.failures f set told_at = at, untold = 0 where f.subject = in_subject;
         end if;
       end $$`,
    `create function auth.forget_old_failures() returns bigint
       language sql volatile security definer set search_path = auth, pg_temp
       as $$ with gone as (delete from auth.failures where hour < auth.clock() - interval '2 hours' returning 1)
         select count(*) from gone $$`,

    // Whoever ends a credential writes the row and nothing else: doors with open streams hear of it from here. The
    // message has the form of pub_sub.send, which belongs to another owner.
    `create function auth.announce_end() returns trigger language plpgsql
       as $$ begin
         perform pg_notify('liftgraph', json_build_object('topic', 'auth.credential_ends', 'payload', old.id)::text);
         return null;
       end $$`,
    `create trigger announce_end after update of revoked_at, expires_at, grace_ends_at on auth.api_keys for each row
       when ((old.revoked_at, old.expires_at, old.grace_ends_at) is distinct from (new.revoked_at, new.expires_at,
         new.grace_ends_at)) execute function auth.announce_end()`,
    `create trigger announce_removal after delete on auth.api_keys for each row execute function auth.announce_end()`,
    `create trigger announce_end after update of revoked_at, expires_at on auth.tokens for each row
       when ((old.revoked_at, old.expires_at) is distinct from (new.revoked_at, new.expires_at)) execute function
         auth.announce_end()`,
    `create trigger announce_removal after delete on auth.tokens for each row execute function auth.announce_end()`,
    `create function auth.credential_ends(in_ids uuid[]) returns table (id uuid, ends_in_ms double precision)
       language sql stable security definer set search_path = auth, pg_temp
       as $$ select wanted.id, case when c.id is null or c.revoked then 0
         else extract(epoch from c.ends_at - auth.clock()) * 1000 end
             from unnest(in_ids) as wanted(id) left join auth.credentials c on c.id = wanted.id $$`,
    `comment on function auth.credential_ends(uuid[]) is 'null never ends by itself; what does not exist has ended'`,
  ],
};

/** What a flood of requests asked for: who is refused does not queue, and a revocation needs no further question. */
export const admissionUnderLoadMigration: Migration = {
  name: '007-admission-under-load',
  up: [
    `create or replace function auth.count_call(in_subject text, in_minute_limit integer, in_day_limit integer,
         out exceeded text, out minute_left integer, out day_left integer, out minute_resets_s integer,
           out day_resets_s integer, out is_news boolean)
       language plpgsql volatile security definer set search_path = auth, pg_temp
       as $$
       declare
         at constant timestamptz := auth.clock();
         this_minute constant timestamptz := date_trunc('minute', at);
         today constant timestamptz := date_trunc('day', at, 'UTC');
         counted auth.rate_windows;
         is_refused boolean;
       begin
         is_news := false;
         -- A window that is used up stays so: whoever is refused for it does not queue for the row.
         select * into counted from auth.rate_windows w where w.subject = in_subject
           and (w.minute >= this_minute and w.minute_calls >= in_minute_limit or in_day_limit is not null
             and w.day >= today and w.day_calls >= in_day_limit);
         is_refused := found;
         if not is_refused then
           -- Whoever waited for the row across the end of a window finds one that is later than its own.
           insert into auth.rate_windows as seen (subject, minute, minute_calls, day, day_calls)
             values (in_subject, this_minute, 1, today, 1)
           on conflict (subject) do update set
             minute_calls = case when seen.minute >= this_minute then seen.minute_calls + 1 else 1 end,
             minute = greatest(seen.minute, this_minute),
             day_calls = case when seen.day >= today then seen.day_calls + 1 else 1 end,
             day = greatest(seen.day, today)
           where (seen.minute < this_minute or seen.minute_calls < in_minute_limit)
             and (in_day_limit is null or seen.day < today or seen.day_calls < in_day_limit)
           returning * into counted;
           is_refused := not found;
         end if;
         if is_refused then
           select * into counted from auth.rate_windows where subject = in_subject;
           exceeded := case when in_day_limit is not null and counted.day >= today
             and counted.day_calls >= in_day_limit then 'day' else 'minute' end;
           if counted.told_minute is distinct from this_minute then
             update auth.rate_windows set told_minute = this_minute
               where subject = in_subject and told_minute is distinct from this_minute;
             is_news := found;
           end if;
         end if;
         minute_left := case when counted.minute < this_minute then in_minute_limit
           else greatest(0, in_minute_limit - counted.minute_calls) end;
         day_left := case when counted.day < today then in_day_limit
           else greatest(0, in_day_limit - counted.day_calls) end;
         minute_resets_s := greatest(1, ceil(extract(epoch from greatest(counted.minute, this_minute) + interval
           '1 minute' - at)));
         day_resets_s := greatest(1, ceil(extract(epoch from greatest(counted.day, today) + interval '1 day' - at)));
       end $$`,
    // Besides the id it says whether the credential is over; else only its time has changed, and holders of streams
    // ask.
    `create or replace function auth.announce_end() returns trigger language plpgsql
       as $$ begin
         perform pg_notify('liftgraph', json_build_object('topic', 'auth.credential_ends', 'payload', json_build_object(
           'id', old.id, 'isOver', case tg_op when 'DELETE' then true else new.revoked_at is not null end))::text);
         return null;
       end $$`,
  ],
};
