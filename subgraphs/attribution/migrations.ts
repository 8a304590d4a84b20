import type { MigrationOwner } from '../../platform/postgres/migrate.ts';
import {
  ENVIRONMENT_DEFAULT,
  environmentTable,
  narrowTenant,
  tenantTable,
} from '../../platform/postgres/tenant-tables.ts';
import { FIRST_MIGRATIONS } from './first-migrations.ts';

/** SQLSTATE of a further data source than an account may have. */
export const TOO_MANY_SOURCES = 'LG002';

/**
 * What closes a table with `account_id`, `environment` and `data_source_id`: its rows are where their source is, and go
 * at once when somebody deletes it. Released migrations say it: what it makes of a table must not change.
 */
function hangingOnSource(table: string, trigger = `forget_${table}`): readonly string[] {
  const name = `attribution.${table}`;
  return [
    ...tenantTable(name),
    ...environmentTable(name),
    narrowTenant(name, 'exists (select from attribution.data_sources s where s.id = data_source_id)'),
    // A source is deleted by deleted_at, and no foreign key fires.
    `create function attribution.${trigger}() returns trigger language plpgsql
           as $$ begin
             delete from ${name} where data_source_id = new.id;
             return null;
           end $$`,
    `create trigger ${trigger} after update of deleted_at on attribution.data_sources for each row
           when (new.deleted_at is not null) execute function attribution.${trigger}()`,
  ];
}

/**
 * Owner `attribution`: sources, what was uploaded to them, analyses and their progress. Touchpoints live in ClickHouse.
 */
export const attributionOwner: MigrationOwner = {
  schema: 'attribution',
  migrations: [
    ...FIRST_MIGRATIONS,
    {
      name: '026-brands',
      up: [
        `alter table attribution.data_sources add column brand_id text`,
        `comment on column attribution.data_sources.brand_id is 'names the brand that the rows are of, in the words ` +
          `of the account'`,
      ],
    },
    {
      name: '027-recovered-by-agent',
      up: [
        // An agent serves the accounts of others, too, and sees of them this sum alone.
        `create function attribution.recovered_by(agent uuid) returns bigint
           language sql stable security definer set search_path = attribution, pg_temp
           as $$ select coalesce(sum((result ->> 'deltaRCents')::bigint), 0)::bigint from attribution.attributions
             where agent_id = agent and status = 'completed' and environment = 'live' $$`,
        `create index attributions_served on attribution.attributions (agent_id) where status = 'completed' and ` +
          `environment = 'live'`,
      ],
    },
    {
      name: '028-values-in-range',
      up: [
        // Stops at 2^53 - 1, the largest number of cents that readers can tell from the next.
        `create or replace function attribution.recovered_by(agent uuid) returns bigint
           language sql stable security definer set search_path = attribution, pg_temp
           as $$ select least(coalesce(sum((result ->> 'deltaRCents')::numeric), 0), 9007199254740991)::bigint
             from attribution.attributions where agent_id = agent and status = 'completed' and environment = 'live' $$`,
        // Days that no row may have were recorded before rows were checked for their dates, and every day between them
        // was listed as missing.
        `delete from attribution.source_days
          where day <> '1970-01-01' and (day < '2000-01-01' or day > current_date + 62)`,
        `update attribution.data_sources source set statistics = statistics || (
           select jsonb_build_object('earliest', earliest, 'latest', latest, 'missingDays', coalesce((
             select jsonb_agg(missing::date order by missing)
               from generate_series(greatest(earliest, latest - 730), latest, interval '1 day') missing
             where not exists (select from attribution.source_days known
               where known.data_source_id = source.id and known.day = missing::date and known.rows > 0)), '[]'))
           from (select min(day) as earliest, max(day) as latest from attribution.source_days
                 where data_source_id = source.id and rows > 0 and day between '2000-01-01' and current_date + 2) known)
         where jsonb_array_length(statistics -> 'missingDays') > 731 or statistics ->> 'earliest' < '2000-01-01'
           or statistics ->> 'latest' > (current_date + 62)::text`,
      ],
    },
    {
      name: '029-result-bytes',
      up: [
        `alter table attribution.attributions add column result_bytes integer generated always as ` +
          `(octet_length(result::text)) stored`,
        `comment on column attribution.attributions.result_bytes is 'what reading the figures takes'`,
      ],
    },
    {
      name: '030-path-steps',
      up: [
        `alter table attribution.source_days add column path_steps bigint not null default 0`,
        `comment on column attribution.source_days.path_steps is 'steps of the aggregated paths among the rows; 0 ` +
          `until the source is measured again'`,
      ],
    },
    {
      name: '031-deleted-attributions',
      up: [
        `alter table attribution.attributions add column deleted_at timestamptz(3)`,
        `comment on column attribution.attributions.deleted_at is 'from then on nobody sees it; the recovered ` +
          `revenue stays, since it was billed'`,
        `create or replace function attribution.current_revision(wanted uuid) returns integer
           language sql stable security definer set search_path = attribution, pg_temp
           as $$ select revision from attribution.attributions where id = wanted and deleted_at is null $$`,
      ],
    },
    {
      name: '032-channel-rules',
      up: [
        `create table attribution.channel_rules (
           data_source_id uuid primary key references attribution.data_sources on delete cascade,
           account_id uuid not null,
           environment text not null default ${ENVIRONMENT_DEFAULT} check (environment in ('live', 'sandbox')),
           rules jsonb not null
         )`,
        ...hangingOnSource('channel_rules'),
        `alter table attribution.data_sources add column channel_rules_digest text`,
        `comment on column attribution.data_sources.channel_rules_digest is 'names the rules in ` +
          `force; null for none'`,
        `alter table attribution.attributions add column channel_rules_digest text`,
        `comment on column attribution.attributions.channel_rules_digest is 'names the rules that its figures ` +
          `follow; null for none'`,
      ],
    },
    {
      // The progress of every kind of run has the same columns: see runs/run-table.ts.
      name: '033-progress-of-runs',
      up: [
        `alter table attribution.attribution_progress rename column attribution_id to run_id`,
        `create or replace function attribution.forget_old_progress() returns bigint
           language sql volatile security definer set search_path = attribution, pg_temp
           as $$ with gone as (
                   delete from attribution.attribution_progress p using attribution.attributions a
                   where a.id = p.run_id and a.status in ('completed', 'failed')
                     and a.completed_at < now() - interval '1 hour' returning 1)
                 select count(*) from gone $$`,
      ],
    },
    {
      name: '034-connector-credentials',
      up: [
        `create table attribution.connector_credentials (
           data_source_id uuid primary key references attribution.data_sources on delete cascade,
           account_id uuid not null,
           environment text not null default ${ENVIRONMENT_DEFAULT} check (environment in ('live', 'sandbox')),
           sealed bytea not null
         )`,
        `comment on column attribution.connector_credentials.sealed is 'AES-256-GCM under a key derived from ` +
          `KEY_ENCRYPTION_KEY; opens for its source alone'`,
        ...hangingOnSource('connector_credentials', 'forget_credentials'),
      ],
    },
    {
      name: '036-start-date',
      up: [
        `alter table attribution.data_sources add column start_date date`,
        `comment on column attribution.data_sources.start_date is 'first day that the first sync asks for, UTC; null ` +
          `for all that there is'`,
      ],
    },
    {
      name: '037-few-sources',
      up: [
        // As a statement of the transaction that inserts one, so that the check costs no journey of its own.
        `create function attribution.assert_few_sources(in_account uuid, in_most integer, in_kept_days integer)
           returns void language plpgsql stable
           as $$ begin
             if (select count(*) from attribution.data_sources
                 where account_id = in_account
                   and (deleted_at is null or deleted_at > now() - in_kept_days * interval '1 day')) >= in_most then
               raise exception 'as many data sources as may be' using errcode = '${TOO_MANY_SOURCES}';
             end if;
           end $$`,
      ],
    },
    {
      name: '042-experiments-on-several-channels',
      up: [
        `alter table attribution.experiments add column channels text[] check (cardinality(channels) > 1)`,
        `comment on column attribution.experiments.channels is 'what was kept away together; null for the one ` +
          `channel that channel names'`,
      ],
    },
    {
      name: '043-insights',
      up: [
        `create table attribution.insights (
           id uuid primary key,
           account_id uuid not null,
           data_source_id uuid not null references attribution.data_sources on delete cascade,
           environment text not null default ${ENVIRONMENT_DEFAULT} check (environment in ('live', 'sandbox')),
           date_start date not null,
           date_end date not null check (date_end >= date_start),
           ground text not null,
           status text not null,
           revision integer not null default 1,
           last_event integer not null default 0,
           result jsonb,
           trust jsonb,
           failure jsonb,
           created_at timestamptz(3) not null,
           completed_at timestamptz(3),
           deleted_at timestamptz(3)
         )`,
        `comment on table attribution.insights is 'runs that a read needed: nobody lists them, hears of them or pays ` +
          `for them'`,
        `comment on column attribution.insights.ground is 'names the rows, rules and experiments that it stands on'`,
        `create index insights_source on attribution.insights (account_id, data_source_id, created_at desc)`,
        ...hangingOnSource('insights'),
        `create table attribution.insight_progress (
           run_id uuid not null references attribution.insights on delete cascade,
           account_id uuid not null,
           environment text not null default ${ENVIRONMENT_DEFAULT} check (environment in ('live', 'sandbox')),
           sequence integer not null,
           event jsonb not null,
           at timestamptz(3) not null default now(),
           primary key (run_id, sequence)
         )`,
        ...tenantTable('attribution.insight_progress'),
        ...environmentTable('attribution.insight_progress'),
        narrowTenant('attribution.insight_progress', 'exists (select from attribution.insights i where i.id = run_id)'),
        `create function attribution.forget_old_insights() returns bigint
           language sql volatile security definer set search_path = attribution, pg_temp
           as $$ with gone as (
                   delete from attribution.insights where completed_at < now() - interval '30 days' returning 1)
                 select count(*) from gone $$`,
      ],
    },
    {
      name: '044-data-quality',
      up: [
        `alter table attribution.uploads add column quality jsonb`,
        `comment on column attribution.uploads.quality is 'what its reader says of the quality of the file; null for ` +
          `files from before it did'`,
        `alter table attribution.attributions add column accept_quality text[]`,
        `comment on column attribution.attributions.accept_quality is 'codes of data quality that whoever asked ` +
          `accepts; null for none'`,
      ],
    },
    {
      name: '045-joined-sources',
      up: [
        `alter table attribution.data_sources add column identities_digest text`,
        `comment on column attribution.data_sources.identities_digest is 'names which ids are one person; null ` +
          `where no file says it'`,
        `alter table attribution.attributions add column data_source_ids uuid[]`,
        `comment on column attribution.attributions.data_source_ids is 'all sources in the order of the request, the ` +
          `first being data_source_id; null for one alone'`,
        `create index attributions_joined on attribution.attributions using gin (data_source_ids)
          where data_source_ids is not null`,
        `comment on column attribution.attributions.channel_rules_digest is 'names how the rows of its figures were ` +
          `read: channel rules, identities, sources; null for one source without any'`,
      ],
    },
    {
      name: '046-remembered-options',
      up: [
        `create table attribution.remembered_options (
           data_source_id uuid not null references attribution.data_sources on delete cascade,
           account_id uuid not null,
           environment text not null default ${ENVIRONMENT_DEFAULT} check (environment in ('live', 'sandbox')),
           header_digest text not null,
           options jsonb not null,
           said_at timestamptz(3) not null,
           primary key (data_source_id, header_digest)
         )`,
        `comment on table attribution.remembered_options is 'what was said of the last file with a header'`,
        ...hangingOnSource('remembered_options'),
      ],
    },
    {
      name: '047-insights-of-several',
      up: [
        `alter table attribution.insights add column data_source_ids uuid[]`,
        `comment on column attribution.insights.data_source_ids is 'all sources in the order of the request, the ` +
          `first being data_source_id; null for one alone'`,
      ],
    },
    {
      name: '048-margins',
      up: ['data_sources', 'attributions'].flatMap((table) => [
        `alter table attribution.${table} add column margin double precision check (margin > 0 and margin <= 1)`,
        `comment on column attribution.${table}.margin is 'share of revenue left after the cost of goods, as stated; ` +
          `null where nothing was'`,
      ]),
    },
    {
      name: '049-recovered-revenue-is-billings',
      up: [`drop function attribution.recovered_by(uuid)`, `drop index attribution.attributions_served`],
    },
  ],
};
