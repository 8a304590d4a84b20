import type { Migration } from '../../../platform/postgres/migrate.ts';
import { tenantTable } from '../../../platform/postgres/tenant-tables.ts';

/** `count_call` changes a row in place for each call; what is put in place of what. */
const patched = (signature: string, from: string, to: string): string => `
  do $patch$
  declare
    was constant text := pg_get_functiondef('${signature}'::regprocedure);
    is_now constant text := replace(was, '${from}', '${to}');
  begin
    if is_now = was then raise exception '${signature} does not read as it should'; end if;
    execute is_now;
  end $patch$`;

/** Subjects of accounts: not of their sandboxes, of agents that act for them, or of strangers. */
const LIVE = '^[0-9a-f-]{36}:live$';

/**
 * How often an account has called. The windows forget after a day; what they have counted is booked now and then, by
 * day, so that a call costs no write of its own. A crash of the database, which empties the windows, loses what was not
 * booked yet.
 */
export const callTotalMigration: Migration = {
  name: '040-call-totals',
  up: [
    `alter table auth.rate_windows add column unbooked integer not null default 0`,
    // The first call of a subject makes its row.
    `alter table auth.rate_windows alter column unbooked set default 1`,
    `comment on column auth.rate_windows.unbooked is 'calls that auth.calls does not have yet'`,
    patched(
      'auth.count_call(text, integer, integer)',
      'day = greatest(seen.day, today)',
      'day = greatest(seen.day, today), unbooked = seen.unbooked + 1',
    ),
    patched(
      'auth.count_calls(text, integer, integer, integer)',
      'day_calls = w.day_calls + in_calls - 1',
      'day_calls = w.day_calls + in_calls - 1, unbooked = w.unbooked + in_calls - 1',
    ),
    `create table auth.calls (
       account_id uuid not null,
       day date not null,
       calls bigint not null check (calls > 0),
       primary key (account_id, day)
     )`,
    `comment on table auth.calls is 'live calls with the keys and tokens of the account itself, by the UTC day in ` +
      `which they were booked'`,
    ...tenantTable('auth.calls'),
    `revoke insert, update, delete, truncate on auth.calls from liftgraph_app`,
    `create function auth.book_calls() returns void
       language sql volatile security definer set search_path = auth, pg_temp
       as $$ with due as (
               select subject, unbooked from rate_windows where unbooked > 0 and subject ~ '${LIVE}'
               for update skip locked),
             taken as (
               update rate_windows w set unbooked = 0 from due where w.subject = due.subject
               returning split_part(due.subject, ':', 1)::uuid as account_id, due.unbooked)
             insert into calls as known (account_id, day, calls)
               select account_id, (auth.clock() at time zone 'UTC')::date, unbooked from taken
             on conflict (account_id, day) do update set calls = known.calls + excluded.calls $$`,
    `create function auth.live_calls() returns bigint
       language sql stable security definer set search_path = auth, pg_temp
       as $$ select coalesce((select sum(calls) from calls where account_id = asking.id), 0)::bigint
               + coalesce((select unbooked from rate_windows where subject = asking.id || ':live'), 0)
             from (select nullif(current_setting('liftgraph.account_id', true), '')::uuid as id) asking $$`,
    `comment on function auth.live_calls() is 'of the account that asks, up to this moment'`,
    `create or replace function auth.forget_old_rate_windows() returns bigint
       language sql volatile security definer set search_path = auth, pg_temp
       as $$ select auth.book_calls();
             with gone as (delete from rate_windows where day < auth.clock() - interval '2 days'
               and not (unbooked > 0 and subject ~ '${LIVE}') returning 1)
             select count(*) from gone $$`,
  ],
};
