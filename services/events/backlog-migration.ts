import type { Migration } from '../../platform/postgres/migrate.ts';

/** What waits, over all tenants: figures only, for those who run the service. */
export const BACKLOG: Migration = {
  name: '007-backlog',
  up: [
    // A postponed delivery is not late; one whose time has come and that nobody sends is.
    `create function events.backlog(out events bigint, out oldest_event_s double precision, out deliveries bigint,
      out oldest_delivery_s double precision)
       language sql stable security definer set search_path = events, pg_temp
       as $$ select o.waiting, o.oldest_s, d.waiting, d.oldest_s
             from (select count(*) as waiting,
               coalesce(extract(epoch from clock_timestamp() - min(occurred_at)), 0)::float8 as oldest_s from outbox
                 where relayed_at is null) o,
                  (select count(*) as waiting, coalesce(extract(epoch from clock_timestamp() - min(scheduled_at)),
                    0)::float8 as oldest_s
                   from webhook_deliveries where status = 'pending' and scheduled_at <= clock_timestamp()
                     and (leased_until is null or leased_until <= clock_timestamp())) d $$`,
  ],
};
