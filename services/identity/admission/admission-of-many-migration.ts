import type { Migration } from '../../../platform/postgres/migrate.ts';

/** Several calls are counted by one question, for those who show the same credential at the same time. */
export const admissionOfManyMigration: Migration = {
  name: '028-admission-of-many',
  up: [
    // As many as the windows hold: together where there is room for all, which is nearly always, else one by one.
    `create function auth.count_calls(in_subject text, in_minute_limit integer, in_day_limit integer, in_calls integer,
         out counted integer, out exceeded text, out minute_left integer, out day_left integer,
           out minute_resets_s integer, out day_resets_s integer, out is_news boolean)
       language plpgsql volatile security definer set search_path = auth, pg_temp
       as $$
       declare
         at constant timestamptz := auth.clock();
         this_minute constant timestamptz := date_trunc('minute', at);
         today constant timestamptz := date_trunc('day', at, 'UTC');
         one record;
       begin
         counted := 0;
         if in_calls > 1 then
           -- All but the last, which tells where the windows stand. ` +
      `Those of an earlier time are the first call's to begin.
           update auth.rate_windows w set minute_calls = w.minute_calls + in_calls - 1,
             day_calls = w.day_calls + in_calls - 1
           where w.subject = in_subject and w.minute = this_minute and w.day = today
             and w.minute_calls + in_calls <= in_minute_limit
               and (in_day_limit is null or w.day_calls + in_calls <= in_day_limit);
           if found then counted := in_calls - 1; end if;
         end if;
         while counted < in_calls and exceeded is null loop
           select * into one from auth.count_call(in_subject, in_minute_limit, in_day_limit);
           exceeded := one.exceeded; is_news := one.is_news;
           minute_left := one.minute_left; day_left := one.day_left; minute_resets_s := one.minute_resets_s;
             day_resets_s := one.day_resets_s;
           if exceeded is null then counted := counted + 1; end if;
         end loop;
       end $$`,
    `drop function auth.admit(bytea, inet, boolean, jsonb)`,
    // As before, for \`in_calls\` calls: \`calls\` of them are let in, and \`verdict\` is what the others hear.
    `create function auth.admit(in_lookup bytea, in_address inet, in_on_sandbox_host boolean, in_limits jsonb,
      in_calls integer default 1)
       returns table (id uuid, key_id uuid, account_id uuid, agent_id uuid, salt bytea, hash bytea, scopes text[],
         environment text, proof text, api_version text,
         verdict text, minute_limit integer, day_limit integer, minute_left integer, day_left integer,
           minute_resets_s integer, day_resets_s integer, is_news boolean, calls integer)
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
           calls := 0;
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
             select * into counted from auth.count_calls(
               concat_ws(':', shown.account_id, shown.environment, case shown.proof
                 when 'delegated' then shown.agent_id end), minute_limit, day_limit, in_calls);
             calls := counted.counted;
             verdict := coalesce(counted.exceeded, verdict);
             minute_left := counted.minute_left; day_left := counted.day_left;
             minute_resets_s := counted.minute_resets_s; day_resets_s := counted.day_resets_s; is_news
               := counted.is_news;
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

/** Nonces of many callers are used up by one question. */
export const noncesOfManyMigration: Migration = {
  name: '029-nonces-of-many',
  up: [
    // Places of those that had not been used, counted from 1; of equal ones the first. All processes write them in one
    // order, so that none waits for another that waits for it. The commit is not waited for, as with one nonce
    // (003-admission).
    `create function auth.consume_nonces(in_scopes text[], in_nonces text[]) returns setof integer
       language plpgsql volatile security definer set search_path = auth, pg_temp
       as $$ begin
         perform set_config('synchronous_commit', 'off', true);
         return query
           with given as (
             select g.scope, g.nonce, min(g.place)::integer as place
             from unnest(in_scopes, in_nonces) with ordinality as g(scope, nonce, place) group by g.scope, g.nonce),
           taken as (
             insert into auth.nonces as seen (scope, nonce, used_at)
             select g.scope, g.nonce, auth.clock() from given g order by g.scope, g.nonce
             on conflict (scope, nonce) do update set used_at = excluded.used_at
               where seen.used_at < excluded.used_at - interval '24 hours'
             returning seen.scope, seen.nonce)
           select g.place from given g join taken t on t.scope = g.scope and t.nonce = g.nonce;
       end $$`,
  ],
};
