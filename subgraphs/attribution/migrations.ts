import type { MigrationOwner } from '../../platform/postgres/migrate.ts';
import { ENVIRONMENT_DEFAULT, environmentTable, tenantTable } from '../../platform/postgres/tenant-tables.ts';

/** Owner `attribution`: sources, what was uploaded to them, analyses and their progress. Touchpoints live in ClickHouse. */
export const attributionOwner: MigrationOwner = {
  schema: 'attribution',
  migrations: [
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
        // Asked for ids that our own signature vouches for, by whoever holds the signed result: it tells a number, and nothing of the tenant.
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
           constraint experiments_natural_key unique (data_source_id, environment, channel, method, period_start, period_end)
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
          `alter table attribution.${table} add column environment text not null default 'live' check (environment in ('live', 'sandbox'))`,
          `alter table attribution.${table} alter column environment set default ${ENVIRONMENT_DEFAULT}`,
        ]),
        `update attribution.attribution_progress p set environment = a.environment from attribution.attributions a where a.id = p.attribution_id`,
        ...['data_sources', 'uploads', 'source_days', 'attributions', 'attribution_progress', 'experiments'].flatMap((table) => environmentTable(`attribution.${table}`)),
      ],
    },
  ],
};
