import type { Migration } from '../../platform/postgres/migrate.ts';
import { environmentTable, IN_WORKSPACE, narrowTenant, tenantTable } from '../../platform/postgres/tenant-tables.ts';

const DEFINER = 'security definer set search_path = events, pg_temp';

/**
 * Goes from endpoint to endpoint and not through the backlog, so that a long one costs the others nothing. The room of
 * an endpoint may be overdrawn by processes that look in the same moment.
 * @param isOn whether something may be sent to the endpoint `e`
 */
const claimDeliveries = (
  isOn: string,
): string => `events.claim_deliveries(in_sender uuid, in_most integer, in_per_endpoint integer,
  in_per_slow_endpoint integer, in_lease interval) returns setof uuid
       language plpgsql volatile ${DEFINER}
       as $$ declare moment timestamptz := clock_timestamp(); begin
         return query
           with recursive waiting as (
             (select d.endpoint_id as id from webhook_deliveries d
               where d.status = 'pending' order by d.endpoint_id limit 1)
             union all
             select (select d.endpoint_id from webhook_deliveries d
               where d.status = 'pending' and d.endpoint_id > w.id order by d.endpoint_id limit 1) from waiting w
                 where w.id is not null
           ), roomy as (
             select e.id, case when e.timeouts_in_a_row > 0 then in_per_slow_endpoint else in_per_endpoint end
                 - (select count(*) from webhook_deliveries d
                   where d.endpoint_id = e.id and d.status = 'pending' and d.sender is not null
                     and d.leased_until > moment) as room
             from waiting w join webhook_endpoints e on e.id = w.id where ${isOn}
           ), due as (
             select candidate.id from roomy cross join lateral (
               select d.id, d.scheduled_at from webhook_deliveries d
               where d.endpoint_id = roomy.id and d.status = 'pending' and d.scheduled_at <= moment
                 and (d.leased_until is null or d.leased_until <= moment)
               order by d.scheduled_at limit greatest(roomy.room, 0) for update skip locked) candidate
             order by candidate.scheduled_at limit in_most
           )
           update webhook_deliveries d set sender = in_sender, leased_until = moment + in_lease, sent_at = moment
             from due where d.id = due.id returning d.id;
       end $$`;

/** Subscriptions and callbacks, and every attempt to deliver to them. The attempts that wait are their own queue. */
export const WEBHOOKS: Migration = {
  name: '004-webhooks',
  up: [
    `alter table events.outbox add column workspace_id uuid`,
    `comment on column events.outbox.workspace_id is 'the workspace that it happened in; null: of the account, in ` +
      `none of them'`,
    `drop function events.record_event(uuid, uuid, text, text, text, jsonb)`,
    // The lock makes the order of a subject the order of its commits: a number is never seen after a higher one.
    `create function events.record_event(in_event uuid, in_account uuid, in_environment text, in_type text,
      in_subject text, in_data jsonb, in_workspace uuid) returns setof events.outbox
       language plpgsql volatile set search_path = events, pg_temp
       as $$ begin
         perform pg_advisory_xact_lock(hashtextextended(in_account::text || in_environment || in_subject, 3));
         return query insert into events.outbox (event_id, account_id, environment, type, subject, sequence, data,
           workspace_id)
           select in_event, in_account, in_environment, in_type, in_subject, 1 + coalesce(max(o.sequence), 0), in_data,
             in_workspace
           from events.outbox o where o.account_id = in_account and o.environment = in_environment
             and o.subject = in_subject
           returning *;
       end $$`,
    `create or replace function events.take_event() returns setof events.outbox
       language plpgsql volatile ${DEFINER}
       as $$ declare taken events.outbox; begin
         select * into taken from events.outbox o
           where o.relayed_at is null and o.relay_after <= clock_timestamp()
             and not exists (
               select from events.outbox e
               where e.account_id = o.account_id and e.environment = o.environment and e.subject = o.subject
                 and e.relayed_at is null and e.sequence < o.sequence)
           order by o.occurred_at limit 1 for update skip locked;
         if not found then return; end if;
         perform set_config('liftgraph.account_id', taken.account_id::text, true),
           set_config('liftgraph.environment', taken.environment, true),
             set_config('liftgraph.workspace_id', '*', true);
         return next taken;
       end $$`,

    `create table events.webhook_endpoints (
       id uuid primary key,
       account_id uuid not null,
       environment text not null check (environment in ('live', 'sandbox')),
       workspace_id uuid,
       kind text not null check (kind in ('webhook', 'callback')),
       url text not null,
       events text[] not null,
       scopes text[] not null,
       is_active boolean not null default true,
       disabled_reason text check (disabled_reason in ('gone', 'consecutive_failures')),
       metadata jsonb not null,
       secret bytea not null,
       secret_prefix text not null,
       replaced_secret bytea,
       replaced_secret_until timestamptz,
       api_version text not null,
       delivered integer not null default 0,
       failed integer not null default 0,
       last_success_at timestamptz(3),
       last_failure_at timestamptz(3),
       failures_in_a_row integer not null default 0,
       timeouts_in_a_row integer not null default 0,
       created_at timestamptz(3) not null default clock_timestamp(),
       updated_at timestamptz(3) not null default clock_timestamp()
     )`,
    `comment on column events.webhook_endpoints.kind is 'a callback is the subscription of an agent to its ` +
      `commissions: its callback_url'`,
    `comment on column events.webhook_endpoints.scopes is 'of the key that chose the events: what a star stands for'`,
    `create index webhook_endpoints_of_account on events.webhook_endpoints (account_id, environment, id)`,
    `create unique index webhook_endpoints_callback on events.webhook_endpoints (account_id) where kind = 'callback'`,
    ...tenantTable('events.webhook_endpoints'),
    ...environmentTable('events.webhook_endpoints'),
    narrowTenant('events.webhook_endpoints', IN_WORKSPACE),

    `create table events.webhook_deliveries (
       id uuid primary key,
       account_id uuid not null,
       environment text not null check (environment in ('live', 'sandbox')),
       endpoint_id uuid not null references events.webhook_endpoints on delete cascade,
       event_id uuid not null,
       event_type text not null,
       is_test boolean not null,
       attempt integer not null check (attempt between 1 and 6),
       status text not null default 'pending' check (status in ('pending', 'success', 'failed')),
       begun_at timestamptz(3) not null,
       url text not null,
       response_status integer,
       response_time_ms integer,
       response_body text,
       error text check (error in ('timeout', 'dns', 'tls', 'connection', 'blocked_address', 'http_error')),
       request_headers jsonb,
       scheduled_at timestamptz(3) not null,
       sent_at timestamptz(3),
       completed_at timestamptz(3),
       next_attempt_at timestamptz(3),
       sender uuid,
       leased_until timestamptz
     )`,
    `comment on column events.webhook_deliveries.begun_at is 'when the event happened, or was asked to be delivered ` +
      `again: what the 24 hours are counted from'`,
    `comment on column events.webhook_deliveries.leased_until is 'a sender that falls silent loses the attempt to ` +
      `another at this moment'`,
    `create index webhook_deliveries_of_endpoint on events.webhook_deliveries (endpoint_id, id)`,
    `create index webhook_deliveries_waiting on events.webhook_deliveries (endpoint_id, scheduled_at) where status = ` +
      `'pending'`,
    `create index webhook_deliveries_sending on events.webhook_deliveries (endpoint_id) where status = 'pending' and ` +
      `sender is not null`,
    `create index webhook_deliveries_next on events.webhook_deliveries (scheduled_at) where status = 'pending'`,
    `create index webhook_deliveries_completed on events.webhook_deliveries (completed_at) where status <> 'pending'`,
    ...tenantTable('events.webhook_deliveries'),
    ...environmentTable('events.webhook_deliveries'),
    narrowTenant(
      'events.webhook_deliveries',
      'exists (select from events.webhook_endpoints e where e.id = endpoint_id)',
    ),

    `create function ${claimDeliveries('e.is_active')}`,
    // What a sender needs, of whichever tenant; nothing of it is shown to anybody who has not claimed it.
    `create function events.claimed_deliveries(in_sender uuid, in_ids uuid[])
       returns table (id uuid, account_id uuid, environment text, endpoint_id uuid, event_id uuid, event_type text,
         is_test boolean, attempt integer, sent_at timestamptz,
                      kind text, url text, metadata jsonb, api_version text, secret bytea, replaced_secret bytea,
                        data jsonb, occurred_at timestamptz)
       language sql volatile ${DEFINER}
       as $$ with addressed as (
               update webhook_deliveries d set url = e.url from webhook_endpoints e
               where d.id = any (in_ids) and d.sender = in_sender and d.status = 'pending' and e.id = d.endpoint_id
               returning d.id, d.account_id, d.environment, d.endpoint_id, d.event_id, d.event_type, d.is_test,
                 d.attempt, d.sent_at, d.begun_at, e.kind, e.url, e.metadata, e.api_version, e.secret,
                         case when e.replaced_secret_until > clock_timestamp() then
                           e.replaced_secret end as replaced_secret)
             select a.id, a.account_id, a.environment, a.endpoint_id, a.event_id, a.event_type, a.is_test, a.attempt,
               a.sent_at, a.kind, a.url, a.metadata, a.api_version, a.secret, a.replaced_secret,
                    o.data, coalesce(o.occurred_at, a.begun_at)
             from addressed a left join outbox o on o.event_id = a.event_id and not a.is_test $$`,
    `create function events.extend_delivery_leases(in_sender uuid, in_ids uuid[], in_lease interval) returns void
       language sql volatile ${DEFINER}
       as $$ update webhook_deliveries set leased_until = clock_timestamp() + in_lease
         where id = any (in_ids) and sender = in_sender and status = 'pending' $$`,
    `create function events.ms_to_next_delivery() returns double precision
       language sql volatile ${DEFINER}
       as $$ select extract(epoch from min(scheduled_at) - clock_timestamp()) * 1000 from webhook_deliveries
         where status = 'pending' and scheduled_at > now() $$`,
    `create function events.forget_old_deliveries() returns bigint
       language sql volatile ${DEFINER}
       as $$ with gone as (delete from webhook_deliveries
         where status <> 'pending' and completed_at < now() - interval '90 days' returning 1) select count(*)
           from gone $$`,
  ],
};

/**
 * A subscription that a key made which ends, or changed last, ends with the key; those of all tokens end with their
 * grants.
 */
export const WEBHOOKS_OF_ENDING_KEYS: Migration = {
  name: '009-webhooks-of-ending-keys',
  up: [
    `alter table events.webhook_endpoints add column key_id uuid`,
    `comment on column events.webhook_endpoints.key_id is 'the key that made it, or changed it last, where that key ` +
      `ends; null: a key without an end, or a token'`,
    `comment on column events.webhook_endpoints.grant_id is 'the family of the token that made it, or changed it ` +
      `last; null: a key'`,
    `create or replace function ` +
      `${claimDeliveries(
        'e.is_active and (e.grant_id is null or auth.grant_lives(e.grant_id)) and (e.key_id is null or ' +
          'auth.key_lives(e.key_id))',
      )}`,
  ],
};

/** A subscription that a granted token made, or changed last, ends with the grant. */
export const WEBHOOKS_OF_GRANTS: Migration = {
  name: '008-webhooks-of-grants',
  up: [
    `alter table events.webhook_endpoints add column grant_id uuid`,
    `comment on column events.webhook_endpoints.grant_id is 'the family of the granted token that made it, or ` +
      `changed it last; null: a key of the account'`,
    `create or replace function ` +
      `${claimDeliveries('e.is_active and (e.grant_id is null or auth.grant_lives(e.grant_id))')}`,
  ],
};

/**
 * Attempts are handed out by accounts: whoever has the fewest under way comes first, so that one with many endpoints
 * that answer slowly never stands before the others.
 */
export const WEBHOOKS_BY_ACCOUNT: Migration = {
  name: '010-webhooks-by-account',
  up: [
    `drop function events.claim_deliveries(uuid, integer, integer, integer, interval)`,
    `create function events.claim_deliveries(in_sender uuid, in_most integer, in_per_account integer,
         in_per_endpoint integer, in_per_slow_endpoint integer, in_lease interval) returns setof uuid
       language plpgsql volatile ${DEFINER}
       as $$ declare moment timestamptz := clock_timestamp(); begin
         return query
           with recursive waiting as (
             (select d.endpoint_id as id from webhook_deliveries d
               where d.status = 'pending' order by d.endpoint_id limit 1)
             union all
             select (select d.endpoint_id from webhook_deliveries d
                     where d.status = 'pending' and d.endpoint_id > w.id order by d.endpoint_id limit 1)
             from waiting w where w.id is not null
           ), busy as (
             select d.endpoint_id, d.account_id, count(*) as sending from webhook_deliveries d
             where d.status = 'pending' and d.sender is not null and d.leased_until > moment group by 1, 2
           ), busy_accounts as (
             select b.account_id, sum(b.sending) as sending from busy b group by 1
           ), roomy as (
             select e.id, e.account_id, coalesce(a.sending, 0) as sending,
                 case when e.timeouts_in_a_row > 0 then in_per_slow_endpoint
                   else in_per_endpoint end - coalesce(b.sending, 0) as room
             from waiting w join webhook_endpoints e on e.id = w.id
               left join busy b on b.endpoint_id = e.id left join busy_accounts a on a.account_id = e.account_id
             where e.is_active and (e.grant_id is null or auth.grant_lives(e.grant_id))
               and (e.key_id is null or auth.key_lives(e.key_id))
               and coalesce(a.sending, 0) < in_per_account
           ), candidates as (
             select due.id, due.scheduled_at, roomy.account_id, roomy.sending from roomy cross join lateral (
               select d.id, d.scheduled_at from webhook_deliveries d
               where d.endpoint_id = roomy.id and d.status = 'pending' and d.scheduled_at <= moment
                 and (d.leased_until is null or d.leased_until <= moment)
               order by d.scheduled_at limit greatest(roomy.room, 0) for update skip locked) due
           ), turns as (
             select c.id, c.scheduled_at, c.sending + row_number() over (partition by c.account_id
               order by c.scheduled_at, c.id) as turn
             from candidates c
           ), chosen as (
             select t.id from turns t where t.turn <= in_per_account order by t.turn, t.scheduled_at limit in_most
           )
           update webhook_deliveries d set sender = in_sender, leased_until = moment + in_lease, sent_at = moment
             from chosen where d.id = chosen.id returning d.id;
       end $$`,
  ],
};
