import type { Migration } from '../../platform/postgres/migrate.ts';
import {
  ENVIRONMENT_DEFAULT,
  environmentTable,
  IN_WORKSPACE,
  narrowTenant,
  sharedInSandbox,
  tenantTable,
} from '../../platform/postgres/tenant-tables.ts';

/** Of the sandbox's source in error. A part of a migration: it must never change. */
const SANDBOX_ERROR = JSON.stringify({
  code: 'credentials_rejected',
  message:
    'The sandbox keeps this source in error, so that you can see what an unavailable one looks like. ' +
    'Use another ds_sandbox_ source.',
  at: '2024-01-01T00:00:00.000Z',
  retryable: false,
});

/** The first of attribution's migrations, up to 022. */
export const FIRST_MIGRATIONS: readonly Migration[] = [
  {
    name: '001-sources-and-attributions',
    up: [
      `create table attribution.data_sources (
         id uuid primary key,
         account_id uuid not null,
         agent_id uuid,
         type text not null,
         name text not null,
         syncing_until timestamptz(3),
         sync_schedule text not null default 'daily',
         timezone text not null default 'UTC',
         currency text,
         delimiter text,
         mapping jsonb,
         baseline_channels text[] not null,
         statistics jsonb,
         rows_accepted bigint not null default 0,
         rows_rejected bigint not null default 0,
         error jsonb,
         last_sync timestamptz(3),
         created_at timestamptz(3) not null,
         deleted_at timestamptz(3)
       )`,
      `create index data_sources_account on attribution.data_sources (account_id, created_at desc)`,
      ...tenantTable('attribution.data_sources'),
      `create table attribution.uploads (
         id uuid primary key,
         account_id uuid not null,
         data_source_id uuid not null references attribution.data_sources on delete cascade,
         cause text not null check (cause in ('upload', 'sync')),
         status text not null check (status in ('queued', 'running', 'completed', 'failed')),
         kind text,
         rows_accepted bigint not null default 0,
         rows_rejected bigint not null default 0,
         bytes bigint not null default 0,
         content_digest text,
         error jsonb,
         started_at timestamptz(3) not null,
         completed_at timestamptz(3)
       )`,
      `create index uploads_source on attribution.uploads (data_source_id, started_at desc)`,
      ...tenantTable('attribution.uploads'),
      `create table attribution.attributions (
         id uuid primary key,
         account_id uuid not null,
         agent_id uuid,
         data_source_id uuid not null,
         model text not null,
         status text not null,
         date_start date not null,
         date_end date not null,
         granularity text not null,
         channels text[],
         baseline_channels text[],
         lookback_window_days integer not null,
         conversion_event text not null,
         confidence_level double precision not null,
         markov_order integer not null,
         environment text not null,
         revision integer not null default 1,
         result jsonb,
         failure jsonb,
         created_at timestamptz(3) not null,
         completed_at timestamptz(3)
       )`,
      `create index attributions_account on attribution.attributions (account_id, created_at desc, id desc)`,
      ...tenantTable('attribution.attributions'),
      `create table attribution.attribution_progress (
         attribution_id uuid not null references attribution.attributions on delete cascade,
         account_id uuid not null,
         sequence integer not null,
         event jsonb not null,
         at timestamptz(3) not null default now(),
         primary key (attribution_id, sequence)
       )`,
      ...tenantTable('attribution.attribution_progress'),
      `create function attribution.forget_old_progress() returns bigint
         language sql volatile security definer set search_path = attribution, pg_temp
         as $$ with gone as (
                 delete from attribution.attribution_progress p using attribution.attributions a
                 where a.id = p.attribution_id and a.completed_at < now() - interval '1 hour' returning 1)
               select count(*) from gone $$`,
    ],
  },
  {
    name: '002-signatures',
    up: [
      `alter table attribution.attributions add column signature text`,
      // Asked for ids that our own signature vouches for, by whoever holds the signed result: it tells a number, and
      // nothing of the tenant.
      `create function attribution.current_revision(wanted uuid) returns integer
         language sql stable security definer set search_path = attribution, pg_temp
         as $$ select revision from attribution.attributions where id = wanted $$`,
    ],
  },
  {
    name: '011-experiments',
    up: [
      `create table attribution.experiments (
         id uuid primary key,
         account_id uuid not null,
         data_source_id uuid not null references attribution.data_sources on delete cascade,
         environment text not null,
         channel text not null,
         method text not null check (method in ('holdout', 'geo')),
         period_start date not null,
         period_end date not null check (period_end >= period_start),
         incremental_revenue double precision not null,
         standard_error double precision not null check (standard_error > 0),
         currency text not null,
         notes text,
         created_at timestamptz(3) not null,
         constraint experiments_natural_key unique (data_source_id, environment, channel, method, period_start,
           period_end)
       )`,
      `create index experiments_account on attribution.experiments (account_id, created_at desc, id desc)`,
      ...tenantTable('attribution.experiments'),
    ],
  },
  {
    name: '008-trust-evidence',
    up: [
      // Null: completed before the evidence was kept, or not completed.
      `alter table attribution.attributions add column trust jsonb`,
      `alter table attribution.data_sources add column verified_parts text`,
      `create table attribution.source_days (
         data_source_id uuid not null references attribution.data_sources on delete cascade,
         account_id uuid not null,
         day date not null,
         rows bigint not null,
         digest text not null,
         changed_at timestamptz(3) not null,
         primary key (data_source_id, day)
       )`,
      ...tenantTable('attribution.source_days'),
    ],
  },
  {
    name: '018-environments',
    up: [
      // What was there before belongs to live keys.
      ...['data_sources', 'uploads', 'source_days', 'attribution_progress'].flatMap((table) => [
        `alter table attribution.${table} add column environment text not null default 'live' check (environment ` +
          `in ('live', 'sandbox'))`,
        `alter table attribution.${table} alter column environment set default ${ENVIRONMENT_DEFAULT}`,
      ]),
      `update attribution.attribution_progress p set environment = a.environment from attribution.attributions a ` +
        `where a.id = p.attribution_id`,
      ...['data_sources', 'uploads', 'source_days', 'attributions', 'attribution_progress', 'experiments'].flatMap(
        (table) => environmentTable(`attribution.${table}`),
      ),
    ],
  },
  {
    name: '018-sandbox-sources',
    up: [
      ...['data_sources', 'source_days'].flatMap((table) => sharedInSandbox(`attribution.${table}`)),
      // Many accounts may measure one shared source.
      `alter table attribution.experiments drop constraint experiments_natural_key,
         add constraint experiments_natural_key unique (account_id, data_source_id, environment, channel, method,
           period_start, period_end)`,
      // The sources of schema/sandbox-sources.ts; their rows follow when one of them is first used.
      `insert into attribution.data_sources (id, account_id, environment, type, name, currency, baseline_channels,
        created_at, error)
         select ('5a4db0c5-11f7-8000-8000-0000000000' || number)::uuid, '5a4db0c5-11f7-8000-8000-000000000000',
           'sandbox', type, name, 'USD',
                '{direct,organic*,(none),unassigned}', '2024-01-01T00:00:00Z', error::jsonb
         from (values ('01', 'ga4', 'Sandbox GA4 property', null), ('02', 'shopify', 'Sandbox Shopify shop', null),
                      ('03', 'meta_ads', 'Sandbox Meta ad account', null),
                        ('04', 'google_ads', 'Sandbox Google Ads account', null),
                      ('05', 'csv_upload', 'Sandbox CSV upload', null),
                      ('99', 'csv_upload', 'Sandbox source in error',
                        '${SANDBOX_ERROR}'))
              as sources (number, type, name, error)`,
      // After thirty days a sandbox object is gone; what the sandbox itself owns stays. Rows in the columnar store go
      // by the job that the caller enqueues.
      `create function attribution.forget_old_sandbox_results() returns bigint
         language sql volatile security definer set search_path = attribution, pg_temp
         as $$ with analyses as (delete from attribution.attributions
           where environment = 'sandbox' and created_at < now() - interval '30 days' returning 1),
                    experiments as (delete from attribution.experiments
                      where environment = 'sandbox' and created_at < now() - interval '30 days' returning 1),
                    syncs as (delete from attribution.uploads u using attribution.data_sources d
                              where d.id = u.data_source_id and d.account_id = '5a4db0c5-11f7-8000-8000-000000000000'
                                and u.started_at < now() - interval '30 days' returning 1)
               select (select count(*) from analyses) + (select count(*) from experiments) + (select count(*)
                 from syncs) $$`,
      `create function attribution.retire_old_sandbox_sources() returns table (account_id uuid, data_source_id uuid)
         language sql volatile security definer set search_path = attribution, pg_temp
         as $$ update attribution.data_sources set deleted_at = now(), mapping = null
               where environment = 'sandbox' and account_id <> '5a4db0c5-11f7-8000-8000-000000000000'
                 and deleted_at is null and created_at < now() - interval '30 days'
               returning account_id, id $$`,
    ],
  },
  {
    name: '017-workspaces',
    up: [
      // Null: of the account, in none of its workspaces.
      `alter table attribution.data_sources add column workspace_id uuid`,
      `alter table attribution.attributions add column workspace_id uuid`,
      narrowTenant('attribution.data_sources', IN_WORKSPACE),
      narrowTenant('attribution.attributions', IN_WORKSPACE),
      // What hangs on a source or an analysis is where that is: the inner table is under its own policy.
      ...['uploads', 'source_days', 'experiments'].map((table) =>
        narrowTenant(
          `attribution.${table}`,
          'exists (select from attribution.data_sources s where s.id = data_source_id)',
        ),
      ),
      narrowTenant(
        'attribution.attribution_progress',
        'exists (select from attribution.attributions a where a.id = attribution_id)',
      ),
    ],
  },
  {
    name: '018-auto-refresh',
    up: [
      `alter table attribution.attributions add column auto_refresh boolean not null default false, add column ` +
        `last_event integer not null default 0`,
      `update attribution.attributions a set last_event = coalesce((select max(sequence) from ` +
        `attribution.attribution_progress where attribution_id = a.id), 0)`,
      `comment on column attribution.attributions.last_event is 'number of the last progress event: numbers are ` +
        `never given again, also when the events are gone'`,
      `create index attributions_auto_refresh on attribution.attributions (data_source_id) where auto_refresh`,
      `alter table attribution.data_sources add column feeds_refreshes boolean not null default false`,
      `comment on column attribution.data_sources.feeds_refreshes is 'an analysis of it was asked for with ` +
        `auto_refresh, so late rows matter'`,
      // The events of a refresh that is under way are younger than its figures.
      `create or replace function attribution.forget_old_progress() returns bigint
         language sql volatile security definer set search_path = attribution, pg_temp
         as $$ with gone as (
                 delete from attribution.attribution_progress p using attribution.attributions a
                 where a.id = p.attribution_id and a.status in ('completed', 'failed')
                   and a.completed_at < now() - interval '1 hour' returning 1)
               select count(*) from gone $$`,
    ],
  },
  {
    name: '022-source-versions',
    up: [
      `alter table attribution.data_sources add column status_version integer not null default 0`,
      `comment on column attribution.data_sources.status_version is 'counts the changes that watchers of the ` +
        `source are told of'`,
      `create function attribution.tell_source_change() returns trigger language plpgsql
         as $$ begin
           if new.status_version = old.status_version then new.status_version := old.status_version + 1; end if;
           perform pg_notify('liftgraph', json_build_object('topic', 'data-source:' || new.id, 'payload',
             null)::text);
           return new;
         end $$`,
      `create trigger tell_change before update on attribution.data_sources for each row
         when ((old.syncing_until, old.error, old.last_sync, old.rows_accepted, old.rows_rejected, old.statistics,
           old.name, old.sync_schedule, old.deleted_at, old.workspace_id, old.status_version)
           is distinct from (new.syncing_until, new.error, new.last_sync, new.rows_accepted, new.rows_rejected,
             new.statistics, new.name, new.sync_schedule, new.deleted_at, new.workspace_id, new.status_version))
         execute function attribution.tell_source_change()`,
      // A sync that was asked for changes nothing else yet.
      `create function attribution.count_requested_sync() returns trigger language plpgsql
         as $$ begin
           update attribution.data_sources set status_version = status_version + 1 where id = new.data_source_id;
           return null;
         end $$`,
      `create trigger count_requested_sync after insert on attribution.uploads for each row when (new.cause = ` +
        `'sync') execute function attribution.count_requested_sync()`,
    ],
  },
];
