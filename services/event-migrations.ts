import type { MigrationOwner } from '../platform/postgres/migrate.ts';
import { tenantTable } from '../platform/postgres/tenant-tables.ts';
import { AUDIT_CHAIN } from './audit/audit-migration.ts';
import { BACKLOG } from './events/backlog-migration.ts';
import { EVENT_ORDER } from './events/event-order-migration.ts';
import { WEBHOOKS, WEBHOOKS_BY_ACCOUNT, WEBHOOKS_OF_ENDING_KEYS, WEBHOOKS_OF_GRANTS } from './webhooks/migration.ts';

/**
 * Owner `events`: what has happened. Events are told before a tenant is known, too (a key that does not exist), so they
 * are written by a SECURITY DEFINER function; the application role has no rights on the table itself.
 */
export const eventsOwner: MigrationOwner = {
  schema: 'events',
  migrations: [
    {
      name: '001-told-audit-events',
      up: [
        `create table events.told_audit_events (
           event_id uuid primary key,
           tenant_id uuid,
           body jsonb not null,
           client_address text,
           occurred_at timestamptz(3) not null default clock_timestamp()
         )`,
        `comment on table events.told_audit_events is 'audit events that wait to be sealed into the chain ` +
          `of their tenant'`,
        `comment on column events.told_audit_events.tenant_id is 'null belongs to the installation'`,
        `create index told_audit_events_order on events.told_audit_events (tenant_id, event_id)`,
        `create function events.record_audit_event(in_event uuid, in_tenant uuid, in_body jsonb, in_address text)
          returns void
           language sql volatile security definer set search_path = events, pg_temp
           as $$ insert into events.told_audit_events (event_id, tenant_id, body, client_address)
             values (in_event, in_tenant, in_body, in_address) $$`,
        `revoke all on events.told_audit_events from liftgraph_app`,
      ],
    },
    AUDIT_CHAIN,
    {
      name: '003-outbox',
      up: [
        `create table events.outbox (
           event_id uuid primary key,
           account_id uuid not null,
           environment text not null check (environment in ('live', 'sandbox')),
           type text not null,
           subject text not null,
           sequence integer not null,
           data jsonb not null,
           occurred_at timestamptz(3) not null default clock_timestamp(),
           relayed_at timestamptz,
           failed_relays integer not null default 0,
           relay_after timestamptz not null default clock_timestamp(),
           unique (account_id, environment, subject, sequence)
         )`,
        `create index outbox_waiting on events.outbox (occurred_at) where relayed_at is null`,
        `create index outbox_waiting_by_subject on events.outbox (account_id, environment, subject, sequence) where ` +
          `relayed_at is null`,
        ...tenantTable('events.outbox'),
        // The lock makes the order of a subject the order of its commits: a number is never seen after a higher one.
        `create function events.record_event(in_event uuid, in_account uuid, in_environment text, in_type text,
          in_subject text, in_data jsonb) returns setof events.outbox
           language plpgsql volatile set search_path = events, pg_temp
           as $$ begin
             perform pg_advisory_xact_lock(hashtextextended(in_account::text || in_environment || in_subject, 3));
             return query insert into events.outbox (event_id, account_id, environment, type, subject, sequence, data)
               select in_event, in_account, in_environment, in_type, in_subject, 1 + coalesce(max(o.sequence), 0),
                 in_data
               from events.outbox o where o.account_id = in_account and o.environment = in_environment
                 and o.subject = in_subject
               returning *;
           end $$`,
        `create function events.take_event() returns setof events.outbox
           language plpgsql volatile security definer set search_path = events, pg_temp
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
               set_config('liftgraph.environment', taken.environment, true);
             return next taken;
           end $$`,
        `create function events.postpone_event(in_event uuid) returns void
           language sql volatile security definer set search_path = events, pg_temp
           as $$ update events.outbox set failed_relays = failed_relays + 1,
             relay_after = clock_timestamp() + least(interval '1 minute',
               interval '250 milliseconds' * 2 ^ least(failed_relays, 10))
                 where event_id = in_event $$`,
        `create function events.forget_old_events() returns bigint
           language sql volatile security definer set search_path = events, pg_temp
           as $$ with gone as (
                   delete from events.outbox o where o.relayed_at < now() - interval '90 days'
                     and exists (select from events.outbox e
                       where e.account_id = o.account_id and e.environment = o.environment and e.subject = o.subject
                         and e.sequence > o.sequence)
                   returning 1)
                 select count(*) from gone $$`,
      ],
    },
    WEBHOOKS,
    EVENT_ORDER,
    {
      name: '006-taking-from-a-backlog',
      up: [
        // As "not exists" the question for earlier events is joined over everything that waits, at each taking; as a
        // scalar it is asked of one candidate after the other, in the order of the index, until one
        // will do. A planner that knows nothing of the table yet would sort all that waits.
        `create or replace function events.take_event() returns setof events.outbox
           language plpgsql volatile security definer set search_path = events, pg_temp set enable_sort = off
             set enable_seqscan = off set enable_bitmapscan = off
           as $$ declare taken events.outbox; begin
             select * into taken from events.outbox o
               where o.relayed_at is null and o.relay_after <= clock_timestamp()
                 and (select e.sequence from events.outbox e
                      where e.account_id = o.account_id and e.environment = o.environment and e.subject = o.subject
                        and e.relayed_at is null and e.sequence < o.sequence
                      order by e.sequence limit 1) is null
               order by o.occurred_at limit 1 for update skip locked;
             if not found then return; end if;
             perform set_config('liftgraph.account_id', taken.account_id::text, true),
               set_config('liftgraph.environment', taken.environment, true),
                 set_config('liftgraph.workspace_id', '*', true);
             return next taken;
           end $$`,
      ],
    },
    BACKLOG,
    WEBHOOKS_OF_GRANTS,
    WEBHOOKS_OF_ENDING_KEYS,
    WEBHOOKS_BY_ACCOUNT,
  ],
};
