import type { MigrationOwner } from '../postgres/migrate.ts';

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
        `comment on table events.told_audit_events is 'audit events that wait to be sealed into the chain of their tenant'`,
        `comment on column events.told_audit_events.tenant_id is 'null belongs to the installation'`,
        `create index told_audit_events_order on events.told_audit_events (tenant_id, event_id)`,
        `create function events.record_audit_event(in_event uuid, in_tenant uuid, in_body jsonb, in_address text) returns void
           language sql volatile security definer set search_path = events, pg_temp
           as $$ insert into events.told_audit_events (event_id, tenant_id, body, client_address) values (in_event, in_tenant, in_body, in_address) $$`,
        `revoke all on events.told_audit_events from liftgraph_app`,
      ],
    },
  ],
};
