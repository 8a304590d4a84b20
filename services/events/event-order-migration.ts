import type { Migration } from '../../platform/postgres/migrate.ts';

/**
 * One order over all events of an account in an environment. The lock is held to the commit, so that a position is
 * never seen before all lower ones: whoever resumes behind a position skips nothing. It covers the subjects, too, whose
 * own lock is gone: two locks taken in turn by two transactions that record several events would be a deadlock.
 */
export const EVENT_ORDER: Migration = {
  name: '005-event-order',
  up: [
    `alter table events.outbox add column position integer`,
    `update events.outbox o set position = placed.place
       from (select event_id, row_number() over (partition by account_id, environment
         order by occurred_at, subject, sequence) as place from events.outbox) placed
       where placed.event_id = o.event_id`,
    `alter table events.outbox alter column position set not null, add unique (account_id, environment, position)`,
    `create or replace function events.record_event(in_event uuid, in_account uuid, in_environment text, in_type text,
      in_subject text, in_data jsonb, in_workspace uuid) returns setof events.outbox
       language plpgsql volatile set search_path = events, pg_temp
       as $$ begin
         perform pg_advisory_xact_lock(hashtextextended(in_account::text || in_environment, 5));
         return query insert into events.outbox (event_id, account_id, environment, type, subject, sequence, position,
           data, workspace_id)
           select in_event, in_account, in_environment, in_type, in_subject,
             1 + coalesce((select max(o.sequence) from events.outbox o
               where o.account_id = in_account and o.environment = in_environment and o.subject = in_subject), 0),
             1 + coalesce((select max(o.position) from events.outbox o
               where o.account_id = in_account and o.environment = in_environment), 0),
             in_data, in_workspace
           returning *;
       end $$`,
    `comment on column events.outbox.position is 'place among the events of the account and environment, in the ` +
      `order of the commits'`,
  ],
};
